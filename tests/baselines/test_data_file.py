"""The record of a large golden set: a header, and a data file that the header names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_rankcheck.baselines.record as record_module
from pytest_rankcheck import BaselineError, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines import data_file
from pytest_rankcheck.baselines.data_file import (
    DataFiles,
    MissingDataError,
    data_path,
    leftover_data,
    write_data,
)
from pytest_rankcheck.baselines.data_lines import lines_text, queries_of
from pytest_rankcheck.baselines.record_contents import digest_of
from pytest_rankcheck.baselines.record_writer import record_text, record_texts, write_record
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries, RecordedQuery

SCHEMA = json.loads(Path(record_module.__file__).with_suffix(".schema.json").read_text("utf-8"))
RR = Metric.parse("RR")


@pytest.fixture(autouse=True)
def compact_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let records of ten queries be large."""
    monkeypatch.setattr(data_file, "COMPACT_FROM", 10)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "test_mrr--web.json"


def record_of(count: int, wrong: int = 0) -> Record:
    """Return the record of some queries, of which the first ones have an RR of 0.5."""
    ids = [f"q{number:03}" for number in range(count)]
    golden = GoldenSet.from_dict({query: {"good": 1} for query in ids}, name="web")
    answers = {query: ["bad", "good"] if n < wrong else ["good"] for n, query in enumerate(ids)}
    return Record.of(evaluate(Run.from_dict(answers), golden), [RR], test="test_mrr")


def data_of(path: Path) -> Path:
    """Return the only data file beside a header."""
    (data,) = path.parent.glob("*.tsv")
    return data


# --- the two files ---------------------------------------------------------------------------


def test_a_small_record_is_one_file_and_a_large_one_is_two(path: Path) -> None:
    write_record(path, record_of(9))
    assert path.read_text("utf-8") == record_text(record_of(9))
    assert list(path.parent.iterdir()) == [path]
    write_record(path, record_of(10, wrong=1))
    header = json.loads(path.read_text("utf-8"))
    assert "queries" not in header
    data = data_of(path)
    assert data.name == f"test_mrr--web.{header['data']['sha256'][:16]}.tsv"
    lines = data.read_text("utf-8").splitlines()
    assert len(lines) == header["data"]["lines"] == 10
    assert header["data"]["columns"] == ["id", "fingerprint", "RR", "top"]
    fingerprint = record_of(10).queries["q000"].fingerprint
    assert lines[0] == f"q000\t{fingerprint}\t0.5\tbad\tgood"
    assert lines[1].endswith("\t1.0\tgood")
    assert Record.load(path) == record_of(10, wrong=1)
    write_record(path, record_of(9))
    assert path.read_text("utf-8") == record_text(record_of(9))
    assert list(path.parent.iterdir()) == [path], "the lines of the large record are gone"


def test_the_threshold_is_the_one_of_the_manual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    manual = (Path(__file__).parents[2] / "docs" / "baselines.md").read_text("utf-8")
    assert f"From {data_file.COMPACT_FROM:,} queries on" in manual


def test_both_forms_say_the_same(path: Path) -> None:
    record = record_of(12, wrong=3)
    write_record(path, record)
    header, whole = json.loads(path.read_text("utf-8")), json.loads(record_text(record))
    for key in header.keys() - {"data", "digest"}:
        assert header[key] == whole[key], key
    assert Record.from_text(record_text(record)) == Record.load(path)


def test_unchanged_results_are_the_same_bytes(path: Path) -> None:
    record = record_of(12, wrong=3)
    write_record(path, record)
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    time = data_of(path).stat().st_mtime_ns
    write_record(path, Record.load(path))
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before
    assert data_of(path).stat().st_mtime_ns == time, "the same lines are not written again"


def test_a_change_of_the_header_alone_keeps_the_data_file(path: Path) -> None:
    write_record(path, record_of(12))
    data = data_of(path)
    write_record(path, replace(record_of(12), is_merged=True))
    assert data_of(path) == data
    assert Record.load(path).is_merged


def test_the_header_has_the_schema(path: Path) -> None:
    write_record(path, record_of(12))
    header = json.loads(path.read_text("utf-8"))
    jsonschema.validate(header, SCHEMA)
    for wrong in (
        {**header, "queries": []},
        {key: value for key, value in header.items() if key != "data"},
        {**header, "data": {**header["data"], "sha256": "0123"}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA)


texts = st.text(max_size=6) | st.sampled_from(
    ["\t", "\n", "\r\n", "\\", '"', "\\t", "\\u0041", "\x1b", "\u202e", "\ud800", "ä", ""]
)
lines_of_queries = st.dictionaries(
    texts,
    st.builds(
        RecordedQuery,
        fingerprint=texts,
        values=st.fixed_dictionaries(
            {"RR": st.none() | st.floats(0, 1), "P@3": st.floats(-1e9, 1e9)}
        ),
        top=st.lists(texts, max_size=4).map(tuple),
        weight=st.just(0.5),
        slices=st.dictionaries(texts, st.lists(texts, max_size=3).map(tuple), max_size=2),
    ),
    min_size=1,
    max_size=6,
)


@given(lines_of_queries, st.booleans())
def test_lines_survive_writing_and_reading(
    lines: dict[str, RecordedQuery], has_weights: bool
) -> None:
    if not has_weights:
        lines = {query: replace(line, weight=None) for query, line in lines.items()}
    queries = RecordedQueries.of(lines, ["RR", "P@3"])
    text = lines_text(queries)
    assert text.count("\n") == len(lines), "one line a query"
    slices = ["slices"] if any(line.slices for line in lines.values()) else []
    columns = ["id", "fingerprint", "RR", "P@3", *["weight"] * has_weights, *slices, "top"]
    back = queries_of(text.encode("utf-8").decode("utf-8"), columns, ["RR", "P@3"])
    assert dict(back) == lines
    assert list(back) == sorted(lines)
    assert lines_text(back) == text


def test_ids_that_hide_text_are_escaped_and_others_are_readable() -> None:
    line = RecordedQuery("f", {"RR": 1.0}, ("ä b", "\x1b[2J", "x\u2028y", 'say "hi"', "c:\\d"))
    text = lines_text(RecordedQueries.of({"q\t1": line}, ["RR"]))
    assert text == ('q\\t1\tf\t1.0\tä b\t\\u001b[2J\tx\\u2028y\tsay \\"hi\\"\tc:\\\\d\n')


# --- what can have happened to a data file -----------------------------------------------------


def edited(data: Path, old: bytes, new: bytes) -> None:
    content = data.read_bytes()
    assert old in content
    data.write_bytes(content.replace(old, new, 1))


def cut_short(data: Path) -> None:
    data.write_bytes(data.read_bytes()[: data.stat().st_size // 2])


def merged(data: Path) -> None:
    data.write_bytes(b"<<<<<<< HEAD\n" + data.read_bytes() + b"=======\n>>>>>>> main\n")


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda data: edited(data, b"0.5", b"1.0"), "it was edited by hand"),
        (lambda data: edited(data, b"good", b"best"), "it was edited by hand"),
        (cut_short, "it was cut short: "),
        (merged, "a merge has put it together from two branches"),
        (lambda data: data.write_bytes(LFS), "Fetch the file with git lfs pull"),
        (lambda data: data.write_bytes(b"\x1f\x8b" + data.read_bytes()), "it is packed"),
        (lambda data: data.write_bytes(b"\xef\xbb\xbf" + data.read_bytes()), "byte order mark"),
        (lambda data: data.write_bytes(b""), "it was cut short: 0 of 12 lines"),
        (lambda data: data.write_bytes(b"\xff\xfe" * 30), "it was cut short"),
    ],
)
def test_another_content_is_refused_and_its_cause_named(
    path: Path, damage: Callable[[Path], object], says: str
) -> None:
    write_record(path, record_of(12, wrong=1))
    damage(data_of(path))
    damaged = data_of(path).read_bytes()
    with pytest.raises(BaselineError) as error:
        Record.load(path)
    assert says in str(error.value)
    assert f"{path}: its data file {data_of(path).name}" in str(error.value)
    if "Restore" in str(error.value):
        assert f"git checkout HEAD -- {data_of(path)}" in str(error.value)
    assert data_of(path).read_bytes() == damaged


def test_line_ends_that_git_has_converted_do_not_matter(path: Path) -> None:
    record = record_of(12, wrong=1)
    write_record(path, record)
    for file in path.parent.iterdir():
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert Record.load(path) == record


def test_a_missing_data_file_is_an_error_that_says_what_to_do(path: Path) -> None:
    write_record(path, record_of(12))
    name = data_of(path).name
    data_of(path).unlink()
    with pytest.raises(BaselineError, match=r"is missing, .*Commit both files together") as error:
        Record.load(path)
    assert name in str(error.value)


def test_a_folder_in_the_place_of_a_data_file_is_an_error(path: Path) -> None:
    write_record(path, record_of(12))
    data = data_of(path)
    data.unlink()
    data.mkdir()
    with pytest.raises(BaselineError, match="this is not a file"):
        Record.load(path)


def rewritten(path: Path, edit: Callable[[dict[str, object]], object], lines: bytes) -> None:
    """Write a header and lines by hand, with digests that agree."""
    header = json.loads(path.read_text("utf-8"))
    header["data"]["sha256"] = data_file.sha256_of(lines)
    edit(header)
    header["digest"] = digest_of(header)
    data_of(path).unlink()
    path.write_text(json.dumps(header), "utf-8")
    data_path(path, data_file.sha256_of(lines)).write_bytes(lines)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b"q001", b"q000", "not sorted, or one of them is a duplicate"),
        (b"q000", b"q999", "not sorted"),
        (b"\t0.5\t", b"\tnan\t", "RR of line 1 is nan, not a number"),
        (b"\t0.5\t", b"\t1e999\t", "RR of line 1 is 1e999, not a number"),
        (b"\t0.5\t", b"\thigh\t", "could not convert"),
        (b"\t0.5\t", b"\t0.4\t", "but its queries give"),
        (b"\t0.5\tbad\tgood\n", b"\n", "line 1 has 2 cells, not at least 3"),
        (b"q000", b"\\x", "this is not a baseline"),
        (b"q011", b"q011\ttoo many", "could not convert"),
        (b"q001", b"q000a\tf\t0.5\nq001", "has 13 lines, not 12"),
    ],
)
def test_every_kind_of_invalid_line_is_reported(
    path: Path, old: bytes, new: bytes, says: str
) -> None:
    write_record(path, record_of(12, wrong=1))
    lines = data_of(path).read_bytes()
    assert old in lines
    rewritten(path, lambda header: None, lines.replace(old, new, 1))
    with pytest.raises(BaselineError) as error:
        Record.load(path)
    assert says in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"sha256": "../../../etc/passwd"}, "the digest of its data file is ../../../etc/passwd"),
        ({"sha256": 3}, "the digest of its data file is 3"),
        ({"columns": ["id", "RR", "fingerprint", "top"]}, "its columns are"),
        ({"columns": ["id", "fingerprint", "RR"]}, "its columns are"),
        ({"lines": 11}, "its data file has 12 lines, not 11"),
        ({"lines": "many"}, "this is not a baseline"),
    ],
)
def test_every_kind_of_invalid_header_is_reported(
    path: Path, data: dict[str, object], says: str
) -> None:
    write_record(path, record_of(12))
    lines = data_of(path).read_bytes()
    rewritten(path, lambda header: header["data"].update(data), lines)  # type: ignore[attr-defined]
    with pytest.raises(BaselineError) as error:
        Record.load(path)
    assert says in str(error.value)


def test_an_edited_mean_is_refused(path: Path) -> None:
    write_record(path, record_of(12, wrong=1))
    text = path.read_text("utf-8")
    path.write_text(text.replace('"mean": 0.958333', '"mean": 0.9'), "utf-8")
    with pytest.raises(
        BaselineError, match=r"its mean of RR is 0.9, but its queries give 0.958333"
    ):
        Record.load(path)


def test_a_header_with_lines_of_its_own_too_is_refused(path: Path) -> None:
    write_record(path, record_of(12))
    lines = data_of(path).read_bytes()
    rewritten(path, lambda header: header.update(queries=[]), lines)
    with pytest.raises(BaselineError, match="both queries and a data file"):
        Record.load(path)


def test_a_header_alone_says_how_to_read_the_record(path: Path) -> None:
    write_record(path, record_of(12))
    with pytest.raises(BaselineError, match=r"in a data file; read it with Record.load"):
        Record.from_text(path.read_text("utf-8"))


# --- left-over files -------------------------------------------------------------------------


def test_only_the_data_files_of_the_same_record_are_left_over(path: Path) -> None:
    write_record(path, record_of(12))
    mine = path.with_name("test_mrr--web.0123456789abcdef.tsv")
    others = [
        path.with_name(name)
        for name in (
            "test_mrr--web2.0123456789abcdef.tsv",
            "test_mrr--web.notes.tsv",
            "test_mrr--web.0123456789abcdef.csv",
            "test_mrr--web.x.0123456789abcdef.tsv",
        )
    ]
    for file in (mine, *others):
        file.write_text("", "utf-8")
    assert leftover_data(path) == [mine]
    kept = data_of_header(path)
    write_record(path, record_of(12))
    assert not mine.exists()
    assert kept.exists()
    assert all(file.exists() for file in others)


def data_of_header(path: Path) -> Path:
    return data_path(path, json.loads(path.read_text("utf-8"))["data"]["sha256"])


@pytest.mark.parametrize("text", ["", "<<<<<<< HEAD", "[]", '{"data": {"sha256": "x"}}'])
def test_nothing_is_removed_beside_a_header_that_cannot_be_read(path: Path, text: str) -> None:
    write_record(path, record_of(12))
    path.write_text(text, "utf-8")
    assert leftover_data(path) == []


def test_a_damaged_data_file_is_written_again(path: Path) -> None:
    record = record_of(12)
    write_record(path, record)
    data_of(path).write_bytes(b"")
    write_data(path, record_texts(record).data or b"")
    assert Record.load(path) == record


# --- a writer and a reader at once -----------------------------------------------------------


def test_a_reader_tries_again_when_both_files_have_just_been_replaced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_record(path, record_of(12))
    reads: list[str] = []
    text_of = record_module.text_of

    def overtaken(file: Path, error: type[BaselineError]) -> str:
        text = text_of(file, error)
        if not reads:
            reads.append(text)
            write_record(path, record_of(12, wrong=2))  # after the reader has read the header
        return text

    monkeypatch.setattr(record_module, "text_of", overtaken)
    assert Record.load(path) == record_of(12, wrong=2)


def test_a_file_with_the_right_content_is_found_elsewhere(path: Path) -> None:
    write_record(path, record_of(12))
    content = data_of(path).read_bytes()
    data_of(path).write_bytes(b"mixed\n" * 12)

    def commits(data: Path) -> Iterator[bytes]:
        yield b"another"
        yield content

    text = path.read_text("utf-8")
    assert Record.from_text(text, "x", DataFiles(path, commits)) == record_of(12)
    data_of(path).unlink()
    with pytest.raises(MissingDataError):
        Record.from_text(text, "x", DataFiles(path, lambda data: iter(())))
