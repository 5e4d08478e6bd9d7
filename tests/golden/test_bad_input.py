"""Invalid files of every kind, for every format of golden sets and runs."""

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError, RankcheckError, Run, RunError, evaluate
from pytest_rankcheck.golden.golden_files import GOLDEN_FORMATS
from pytest_rankcheck.rankers.run_files import RUN_FORMATS

GOLDEN = {
    "jsonl": '{"query_id": "q1", "query": "r\u00e9d", "relevance": {"d1": 2, "d2": 0}}\n'
    '{"query_id": "q2", "query": "blue", "relevance": {"d1": 1}}\n',
    "trec": "q1 0 d1 2\nq1 0 d2 0\nq2 0 d\u00e9 1\n",
    "csv": "query_id,query,doc_id,relevance\nq1,r\u00e9d,d1,2\nq1,r\u00e9d,d2,0\nq2,blue,d1,1\n",
    "tsv": "query_id\tquery\tdoc_id\trelevance\nq1\tr\u00e9d\td1\t2\nq2\tblue\td1\t1\n",
    "cases": "- question: r\u00e9d\n  expected_ids: [d1, {id: d2, grade: 0}]\n"
    "- question: blue\n  expected_ids: [d1]\n",
    "quepid": "query,docid,rating\nr\u00e9d,d1,2\nr\u00e9d,d2,0\nblue,d1,1\n",
    "elasticsearch": '{"requests": [{"id": "q1", "request": {"query": {"match": {"t": "r\u00e9d"}}},\n'
    '"ratings": [{"_id": "d1", "rating": 2}]}]}\n',
    "opensearch": '{"judgmentRatings": [{"query": "r\u00e9d",\n'
    '"ratings": [{"docId": "d1", "rating": "2.0"}]}]}\n',
    "to_judge": "query_id,query,doc_id,title,relevance,rank,metric,influence\n"
    "q1,r\u00e9d,d1,,2,1,RR,0.5\nq1,r\u00e9d,d2,,,2,RR,0.1\nq2,blue,'-d1,,1,1,RR,0.1\n",
    "letor": "2 qid:1 1:0.5 # d1 r\u00e9d\n0 qid:1 1:0.25 # d2 r\u00e9d\n1 qid:2 1:0.5 # d1 blue\n",
}
RUNS = {
    "jsonl": '{"query_id": "q1", "ranking": ["d\u00e9", "d2"]}\n{"query_id": "q2", "ranking": ["d1"]}\n',
    "trec": "q1 Q0 d\u00e9 1 2.5 tag\nq1 Q0 d2 2 1 tag\nq2 Q0 d1 1 7 tag\n",
    "csv": "query_id,doc_id,score\nq1,d\u00e9,2.5\nq1,d2,1\nq2,d1,7\n",
    "tsv": "query_id\tdoc_id\tscore\nq1\td\u00e9\t2.5\nq1\td2\t1\nq2\td1\t7\n",
}

Load = Callable[..., GoldenSet | Run]
CASES = [
    *(
        pytest.param(GoldenSet.load, name, text, id=f"golden-{name}")
        for name, text in GOLDEN.items()
    ),
    *(pytest.param(Run.load, name, text, id=f"run-{name}") for name, text in RUNS.items()),
]
every_format = pytest.mark.parametrize(("load", "name", "text"), CASES)


def content(loaded: GoldenSet | Run) -> object:
    if isinstance(loaded, Run):
        return {query_id: loaded[query_id] for query_id in loaded}
    return [(query, dict(loaded.grades(query.id))) for query in loaded]


def test_every_format_is_covered() -> None:
    """Parquet and BEIR, which are not single text files, have tests of their own."""
    assert set(GOLDEN) | {"parquet", "beir"} == set(GOLDEN_FORMATS.by_name)
    assert set(RUNS) | {"parquet"} == set(RUN_FORMATS.by_name)


@every_format
def test_the_format_is_recognised_and_can_be_forced(
    tmp_path: Path, load: Load, name: str, text: str
) -> None:
    file = tmp_path / "no_ending"
    file.write_text(text, encoding="utf-8")
    assert content(load(file)) == content(load(file, name))


@every_format
def test_byte_order_marks_line_endings_and_packing_do_not_matter(
    tmp_path: Path, load: Load, name: str, text: str
) -> None:
    file = tmp_path / "file"
    file.write_text(text, encoding="utf-8")
    expected = content(load(file))
    windows, old = text.replace("\n", "\r\n"), text.replace("\n", "\r")
    for changed in (windows, text.rstrip("\n"), windows.rstrip(), old, old.rstrip()):
        for raw in (changed.encode(), codecs.BOM_UTF8 + changed.encode()):
            for packed in (raw, gzip.compress(raw)):
                file.write_bytes(packed)
                assert content(load(file)) == expected
                assert content(load(file, name)) == expected


@every_format
def test_latin_1_is_reported(tmp_path: Path, load: Load, name: str, text: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(
        RankcheckError, match=r"file(:\d+)?: byte \d+ is not UTF-8; save the file as"
    ):
        load(file, name)


def archive(*names: str) -> bytes:
    """Return a ZIP archive with files of these names, as in a workbook of Excel."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            file.writestr(name, "q1 0 d1 1")
    return buffer.getvalue()


TABLE = "query_id,doc_id,relevance\nq,d,1\n"
KINDS = {
    "xlsx": (
        archive("[Content_Types].xml", "xl/workbook.xml"),
        "is an Excel workbook; save its sheet as 'CSV UTF-8', or read it with pandas",
    ),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504), r"is an old Excel workbook \(\.xls"),
    "zip": (archive("web.qrels"), "is a ZIP archive; unpack it"),
    "utf-16": (TABLE.encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
    "html": (b"\n<!DOCTYPE html><title>Sign in</title>", "is an HTML page"),
    "bzip2": (bz2.compress(b"q1 0 d1 1\n"), "is compressed with bzip2"),
    "xz": (lzma.compress(b"q1 0 d1 1\n"), "is compressed with xz"),
    "feather": (b"ARROW1\0\0\xff\xff", "is an Arrow or Feather file; save it as Parquet"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid x\n", "is a Git LFS pointer"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_other_kinds_of_files_are_named(tmp_path: Path, kind: str) -> None:
    data, message = KINDS[kind]
    file = tmp_path / "web.csv"
    for raw in (data, gzip.compress(data)):
        file.write_bytes(raw)
        for name in (None, "csv", "trec", "jsonl", "letor", "opensearch"):
            expected = rf"web\.csv {message}"
            with pytest.raises(GoldenSetError, match=expected):
                GoldenSet.load(file, name)
            if name in ("letor", "opensearch"):
                continue
            with pytest.raises(RunError, match=expected):
                Run.load(file, name)
            with pytest.raises(RunError, match=expected):
                evaluate(Run.scan(file, name), GoldenSet.from_dict({"q": {"d": 1}}))


def test_a_parquet_file_is_not_read_as_text(tmp_path: Path) -> None:
    file = tmp_path / "web.csv"
    file.write_bytes(b"PAR1\x15\x04\x15")
    with pytest.raises(GoldenSetError, match=r"web\.csv is a Parquet file; give format='parquet'"):
        GoldenSet.load(file, "csv")


@every_format
@pytest.mark.parametrize("empty", [b"", b"\n\n  \n", codecs.BOM_UTF8])
def test_an_empty_file_or_folder_is_reported(
    tmp_path: Path, load: Load, name: str, text: str, empty: bytes
) -> None:
    file = tmp_path / "file"
    file.write_bytes(empty)
    for format in (None, name):  # noqa: A001 - the word of the field
        if load == Run.load and format in ("jsonl", "trec"):
            assert not len(load(file, format))  # refused where it is measured
            continue
        with pytest.raises(RankcheckError, match=r"file(:1)?.*(is empty|not JSON)"):
            load(file, format)
    file.unlink()
    for format in (None, name):  # noqa: A001
        with pytest.raises(RankcheckError, match=r"is a folder; name a file in it|no parts match"):
            load(tmp_path, format)


@every_format
def test_control_characters_in_ids_do_not_reach_the_terminal(
    tmp_path: Path, load: Load, name: str, text: str
) -> None:
    file = tmp_path / "file"
    broken = text.replace("d1", "d\u001b[2J1") + text.replace("d1", "d\u001b[2J1").replace("2", "x")
    file.write_text(broken, encoding="utf-8")
    with pytest.raises(RankcheckError) as refused:
        load(file, name)
    assert str(refused.value).replace("\n", "").isprintable()
