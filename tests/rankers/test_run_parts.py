"""A folder of parts, or a pattern, is one run."""

import gzip
import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from pytest_rankcheck import Evaluation, GoldenSet, Run, RunError, evaluate, evaluate_part
from tests.libraries import HAS_POLARS

RANKINGS: Mapping[str, Mapping[str, float]] = {
    f"q{q}": {f"d{(q + d) % 30}": float(-(d // 2)) for d in range(20)} for q in range(9)
}
GOLDEN = GoldenSet.from_dict({query: {"d3": 1, "d7": 2} for query in RANKINGS})
WHOLE = Run.from_dict(RANKINGS)
FORMATS = ["trec", "jsonl", "csv", "tsv", *(["parquet"] if HAS_POLARS else [])]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "2026-11-21").mkdir()
    return tmp_path / "2026-11-21"


def rows(rankings: Mapping[str, Mapping[str, float]] = RANKINGS) -> pd.DataFrame:
    return pd.DataFrame(
        [(query, doc, s) for query, docs in rankings.items() for doc, s in docs.items()],
        columns=["query_id", "doc_id", "score"],
    )


def save_parts(folder: Path, format: str, count: int = 3) -> None:
    queries = list(RANKINGS)
    for number in range(count):
        own = {query: RANKINGS[query] for query in queries[number::count]}
        Run.from_dict(own).save(folder / f"part-{number}.{format}", format)


def assert_whole(run: Run) -> None:
    """The same rankings, whatever the order of the queries."""
    assert sorted(run) == sorted(WHOLE)
    assert {query: list(run[query]) for query in run} == {
        query: list(WHOLE[query]) for query in WHOLE
    }
    for name in ("nDCG@5", "AP", "ERR@20"):
        assert evaluate(run, GOLDEN).values(name).tobytes() == (
            evaluate(WHOLE, GOLDEN).values(name).tobytes()
        )


def test_a_folder_is_one_run(tmp_path: Path) -> None:
    for kind in FORMATS:
        folder = tmp_path / kind / "2026-11-21"
        folder.mkdir(parents=True)
        save_parts(folder, kind)
        for path in (folder, f"{folder}/", str(folder / "part-*")):
            assert_whole(Run.load(path))
        assert Run.load(folder).name == "2026-11-21"
        assert Run.load(folder / "part-*").name == "part"
        scanned = Run.scan(folder)
        assert not scanned.is_in_memory
        assert evaluate(scanned, GOLDEN).mean("AP") == evaluate(WHOLE, GOLDEN).mean("AP"), kind
        assert scanned.top(5)["q0"] == WHOLE.top(5)["q0"]
        merged = Evaluation.merge([evaluate_part(folder, GOLDEN)], GOLDEN)
        assert merged.mean("AP") == evaluate(WHOLE, GOLDEN).mean("AP"), kind


def test_a_query_whose_rows_are_in_several_parts_is_put_together(tmp_path: Path) -> None:
    shuffled = rows().sample(frac=1, random_state=1)
    for kind in {"trec", "csv", *FORMATS} - {"jsonl"}:
        folder = tmp_path / kind
        folder.mkdir()
        for number in range(4):
            some = shuffled[number::4]
            file = folder / f"part-{number}.{kind}"
            if kind == "trec":
                lines = (f"{q} Q0 {d} 1 {s} t\n" for q, d, s in some.itertuples(index=False))
                file.write_text("".join(lines))
            elif kind == "parquet":
                some.to_parquet(file, index=False)
            else:
                some.to_csv(file, index=False, sep="," if kind == "csv" else "\t")
        assert_whole(Run.scan(folder))
        assert_whole(Run.load(folder))


def test_a_part_may_continue_a_query_of_the_part_before(folder: Path) -> None:
    half = len(rows()) // 2 + 3  # within the fifth of nine queries
    rows()[:half].to_csv(folder / "part-0.csv", index=False)
    rows()[half:].to_csv(folder / "part-1.csv", index=False)
    assert_whole(Run.load(folder))


def test_ranks_may_go_on_in_the_next_part(folder: Path) -> None:
    frame = rows()
    frame["rank"] = frame.groupby("query_id").cumcount() + 1
    frame = frame.drop(columns="score")
    half = len(frame) // 2 + 3  # within a query
    frame[:half].to_csv(folder / "part-0.csv", index=False)
    frame[half:].to_csv(folder / "part-1.csv", index=False)
    run = Run.load(folder)
    assert {query: list(run[query]) for query in run} == {
        query: list(docs) for query, docs in RANKINGS.items()
    }


def test_packed_parts(folder: Path) -> None:
    save_parts(folder, "trec")
    for file in list(folder.iterdir()):
        (folder / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert_whole(Run.load(folder))


def test_parts_may_be_in_folders_but_no_column_is(folder: Path) -> None:
    for query_id, own in rows().groupby("query_id"):
        below = folder / "date=2026-11-21" / f"query_id={query_id}"
        below.mkdir(parents=True)
        own.to_csv(below / "part-0.csv", index=False)
    assert_whole(Run.load(folder))
    own.drop(columns="query_id").to_csv(below / "part-0.csv", index=False)
    with pytest.raises(RunError, match=r"part-0\.csv"):
        Run.load(folder)


def test_a_problem_of_all_parts_names_the_run(folder: Path) -> None:
    for day in (1, 2):
        below = folder / f"date=2026-11-0{day}"
        below.mkdir()
        lines = (f"q{day} Q0 d{rank} {rank} {rank / 10} tag\n" for rank in range(1, 10))
        (below / "part-0.run").write_text("".join(lines))
    for path in (folder, folder / "**" / "*.run"):
        with pytest.raises(RunError, match=f"^{re.escape(str(path))}: the ranks say the opposite"):
            Run.load(path)


WRONG: list[tuple[str, str, bytes | str | int, str]] = [
    (
        "csv",
        "readme.jsonl",
        b'{"query_id": "q", "ranking": ["d"]}\n',
        "different formats: .*part-0",
    ),
    ("csv", "part-3.csv", b"query_id,doc_id,rank\nq,d,1\n", r"columns: .*, score; query_id, "),
    *([("parquet", "part-1.parquet", -40, "part-1.parquet: cannot be read")] if HAS_POLARS else []),
    ("trec", "part-1.trec", -20, r"part-1\.trec:\d+: "),
    ("csv", "part-1.csv", b"", r"part-1\.csv is empty: was it written to the end\?"),
    ("csv", "_temporary", b"", "the job that writes it has not finished: _temporary still exists"),
    ("", "_SUCCESS", b"", "no parts match .*; names that begin with _ or"),
    ("jsonl", "part-9.jsonl", "part-0.jsonl", r"part-9\.jsonl:1: duplicate query 'q0'"),
    ("csv", "part-9.csv", "part-0.csv", r"query 'q0': document 'd\d' is ranked twice"),
]
"""The format of the parts; a file, and its content: as given, cut, or that of another file; and
what is said."""


def test_wrong_parts_are_one_clear_error(tmp_path: Path) -> None:
    for number, (kind, name, spoilt, message) in enumerate(WRONG):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        if kind:
            save_parts(folder, kind)
        if isinstance(spoilt, int):
            content = (folder / name).read_bytes()[:spoilt]
        else:
            content = (folder / spoilt).read_bytes() if isinstance(spoilt, str) else spoilt
        (folder / name).write_bytes(content)
        for read in (Run.load, lambda path: evaluate_part(path, GOLDEN)):
            with pytest.raises(RunError, match=message):
                read(folder)


def test_patterns_match_files_and_folders(folder: Path) -> None:
    with pytest.raises(RunError, match=r"no parts match '.*part-\*\.csv'"):
        Run.load(folder / "part-*.csv")
    save_parts(folder, "csv")
    (folder / "more").mkdir()
    (folder / "part-1.csv").rename(folder / "more" / "part-1.csv")
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-0.csv.crc").write_text("crc")
    (folder / "_logs").mkdir()
    (folder / "_logs" / "part-9.csv").write_text("query_id,doc_id,score\nq0,zzz,99\n")
    for pattern in ("*", "**", "../2026-11-2?/*", "../2026-*-21", "../2026-11-2*"):
        assert_whole(Run.load(folder / pattern))
    (folder / "_temporary").mkdir()
    save_parts(folder / "_temporary", "csv", count=1)
    message = f"^{re.escape(str(folder))}: the job that writes it has not finished"
    for pattern in ("*", "**/part-*.csv"):
        with pytest.raises(RunError, match=message):
            Run.load(folder / pattern)


def test_parts_have_one_order_in_a_folder_and_by_a_pattern(tmp_path: Path) -> None:
    names = ["B/part-1", "a2/part-1", "a10/x", "part-1", "part-09", "part-9", "part-10"]
    folder = tmp_path / "run"
    for name in reversed(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.csv").write_text(f"query_id,doc_id,score\n{name},d,1\n")
    for path in (folder, *map(folder.joinpath, ("*", "**", "**/*.csv", "../*"))):
        assert list(Run.load(path)) == names
