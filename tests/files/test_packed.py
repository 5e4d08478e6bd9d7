"""Packed files: gzip and Zstandard, read wherever text is read, written if the name says so."""

import gzip
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError, Run, RunError, evaluate
from pytest_rankcheck.files import packed_files
from tests.libraries import NEEDS_POLARS

zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

PACKERS = {"gz": gzip.compress, "zst": zstd.compress}
QRELS = b"q1 0 d3 2\nq1 0 d7 0\nq2 0 d1 1\n"
RUN = b"".join(b"q%d Q0 d%d %d %d tag\n" % (q, d, d, 9 - d) for q in (1, 2) for d in range(1, 8))
both = pytest.mark.parametrize("ending", list(PACKERS))


@both
@pytest.mark.parametrize("name", ["web.qrels.{}", "no_ending"])
def test_packed_files_are_read_whatever_their_name(tmp_path: Path, ending: str, name: str) -> None:
    file = tmp_path / name.format(ending)
    file.write_bytes(PACKERS[ending](QRELS))
    golden = GoldenSet.load(file)
    assert golden.name == name.partition(".")[0]
    assert golden.grades("q1") == {"d3": 2, "d7": 0}
    file.write_bytes(PACKERS[ending](b'{"query_id": "q", "relevance": {"d": 1}}\n'))
    assert GoldenSet.load(file).grades("q") == {"d": 1}
    file.write_bytes(PACKERS[ending](b"query,docid,rating\nq,d,1\nr\n"))
    assert GoldenSet.load(file).query_ids == ("q", "r")


@both
def test_packed_runs_are_scanned_and_loaded(tmp_path: Path, ending: str) -> None:
    golden = GoldenSet.from_dict({"q1": {"d3": 2}, "q2": {"d1": 1}})
    file = tmp_path / f"bm25.run.{ending}"
    file.write_bytes(PACKERS[ending](RUN))
    assert list(Run.load(file)["q2"]) == [f"d{d}" for d in range(1, 8)]
    evaluation = evaluate(Run.scan(file), golden)
    assert evaluation.mean("RR") == (1 / 3 + 1) / 2


@NEEDS_POLARS
@both
def test_large_packed_runs_are_read_in_columns(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_files, "LARGE_FILE", 0)
    test_packed_runs_are_scanned_and_loaded(tmp_path, ending)


@both
def test_a_file_saved_under_a_packed_name_is_packed(tmp_path: Path, ending: str) -> None:
    golden = GoldenSet.from_dict({"q": {"d": 1}}, {"q": "a text"})
    for name in ("set.qrels", "set.jsonl", "set.csv"):
        file = tmp_path / f"{name}.{ending}"
        golden.save(file)
        assert file.read_bytes()[:2] == PACKERS[ending](b"")[:2]
        first = file.read_bytes()
        assert GoldenSet.load(file).fingerprint == golden.fingerprint
        golden.save(file)
        assert file.read_bytes() == first
    assert (tmp_path / "set.queries.tsv").exists()
    Run.from_dict({"q": ["b", "a"]}).save(tmp_path / f"r.run.{ending}")
    assert list(Run.load(tmp_path / f"r.run.{ending}")["q"]) == ["b", "a"]


@both
@pytest.mark.parametrize("where", [0.3, 0.6, 0.95])
def test_a_truncated_packed_file_is_reported(tmp_path: Path, ending: str, where: float) -> None:
    lines = b"".join(b"q%d 0 d%d %d\n" % (n % 97, n * 7919, n % 4) for n in range(20_000))
    whole = PACKERS[ending](lines)
    file = tmp_path / f"cut.qrels.{ending}"
    file.write_bytes(whole[: int(len(whole) * where)])
    with pytest.raises(
        GoldenSetError, match=r"cut\.qrels\.\w+: the packed file is .*copy it again"
    ):
        GoldenSet.load(file)
    run = tmp_path / f"cut.run.{ending}"
    whole = PACKERS[ending](RUN * 2000)
    run.write_bytes(whole[: int(len(whole) * where)])
    with pytest.raises(RunError, match=r"cut\.run\.\w+: the packed file is .*copy it again"):
        Run.load(run, ties="input", duplicates="close_gaps")


@both
def test_a_damaged_packed_file_is_reported(tmp_path: Path, ending: str) -> None:
    whole = bytearray(PACKERS[ending](QRELS * 500))
    whole[len(whole) // 2] ^= 0xFF
    whole[-6] ^= 0xFF
    file = tmp_path / f"bad.qrels.{ending}"
    file.write_bytes(bytes(whole))
    with pytest.raises(GoldenSetError, match=r"bad\.qrels\.\w+: "):
        GoldenSet.load(file)


def test_without_zstandard_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "web.qrels.zst"
    file.write_bytes(zstd.compress(QRELS))

    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name}", name=name)

    monkeypatch.setattr(packed_files, "import_module", missing)
    with pytest.raises(GoldenSetError, match=r"pip install backports.zstd"):
        GoldenSet.load(file)
    with pytest.raises(GoldenSetError, match=r"pip install backports.zstd"):
        GoldenSet.from_dict({"q": {"d": 1}}).save(tmp_path / "new.jsonl.zst")
    with pytest.raises(RunError, match=r"pip install backports.zstd"):
        Run.from_dict({"q": ["d"]}).save(tmp_path / "new.run.zst")
    assert [path.name for path in tmp_path.iterdir()] == ["web.qrels.zst"]


@both
def test_what_unpacks_to_far_more_than_its_size_is_refused(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"web.qrels.{ending}"
    path.write_bytes(PACKERS[ending](QRELS + b"\n" * (3 << 20)))
    monkeypatch.setattr(packed_files, "max_unpacked", 1 << 20)
    size = f"{path.stat().st_size:,}"
    message = rf"{path}: .* more than 1 MiB, over 50 times its {size} bytes.* name the unpacked"
    with pytest.raises(GoldenSetError, match=message):
        GoldenSet.load(path)
    monkeypatch.setattr(packed_files, "max_unpacked", 4 << 20)
    assert GoldenSet.load(path).query_ids == ("q1", "q2")
