"""BEIR and MTEB folders."""

import json
import pickle
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError

QRELS = "query-id\tcorpus-id\tscore\nq1\td3\t2\nq1\td7\t0\nq2\td1\t1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    (folder / "qrels" / "test.tsv").write_text(QRELS)
    queries = [
        {"_id": "q1", "text": "red shoes", "metadata": {"locale": "en", "url": ""}},
        {"_id": "q2", "text": "hats", "metadata": {}},
        {"_id": "q9", "text": "of another split"},
    ]
    (folder / "queries.jsonl").write_text("".join(json.dumps(line) + "\n" for line in queries))
    return folder


def test_a_folder_is_recognised(folder: Path) -> None:
    golden = GoldenSet.load(folder)
    assert golden.name == "scifact"
    assert golden.query_ids == ("q1", "q2")
    assert golden.grades("q1") == {"d3": 2, "d7": 0}
    assert golden.query("q1").text == "red shoes"
    assert golden.query("q1").attributes == {"locale": "en"}
    assert golden.title("d3") is None


def test_a_split_is_chosen(folder: Path) -> None:
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq9\td1\t1\n")
    assert GoldenSet.load(folder).query_ids == ("q1", "q2")
    assert GoldenSet.load(folder, split="dev").query_ids == ("q9",)
    of_file = GoldenSet.load(folder / "qrels" / "dev.tsv")
    assert of_file.query("q9").text == "of another split"
    with pytest.raises(GoldenSetError, match=r"no split 'tset'; did you mean 'test'.* dev, test"):
        GoldenSet.load(folder, split="tset")
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "train.tsv")
    with pytest.raises(GoldenSetError, match=r"no split 'test'.*; choose one with split="):
        GoldenSet.load(folder)
    (folder / "qrels" / "dev.tsv").unlink()
    assert GoldenSet.load(folder).query_ids == ("q1", "q2")


def test_the_corpus_is_read_only_for_titles(folder: Path) -> None:
    """What is wrong with it is no failure of the set."""
    corpus = folder / "corpus.jsonl"
    corpus.write_text('{"title": "Red shoe", "_id": "d3"}\n{"_id": "d7", "title": 9}\n')
    golden = GoldenSet.load(folder)
    assert (golden.title("d3"), golden.title("d7")) == ("Red shoe", "9")
    assert pickle.loads(pickle.dumps(golden)).title("d3") == "Red shoe"
    mapped = GoldenSet.load(folder, doc_id="remove_prefix:d")
    assert mapped.title("3") == "Red shoe"
    lost = GoldenSet.load(folder)
    corpus.write_text('{"_id": "d3", "title": "never ends\n')
    assert lost.title("d3") is None
    corpus.unlink()
    assert GoldenSet.load(folder).title("d3") is None


def test_judgments_may_be_json_lines_as_of_mteb(folder: Path) -> None:
    """Those of a table come first: some folders have both."""
    expected = GoldenSet.load(folder)
    rows = [["q1", "d3", 2], ["q1", "d7", 0], ["q2", "d9", 1]]
    lines = [dict(zip(("query-id", "corpus-id", "score"), row, strict=True)) for row in rows]
    file = folder / "qrels" / "dev.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "qrels" / "test.jsonl").write_text("no JSON")
    assert GoldenSet.load(folder).fingerprint == expected.fingerprint
    for golden in (GoldenSet.load(folder, split="dev"), GoldenSet.load(file)):
        assert golden.grades("q1") == {"d3": 2, "d7": 0}
        assert golden.query("q1").text == "red shoes"


def test_a_broken_folder_is_reported(folder: Path) -> None:
    for name, text, message in (
        ("queries.jsonl", '{"_id": "q1"\n', r"queries\.jsonl:1: not JSON"),
        ("queries.jsonl", '{"id": "q1"}\n', r'queries\.jsonl:1: not of the form {"_id": "q1"'),
        (
            "queries.jsonl",
            '{"_id": "q1"}\n{"_id": "q1"}\n',
            r"queries\.jsonl:2: duplicate query 'q1'",
        ),
        ("queries.jsonl", None, r"queries\.jsonl: no such file"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td\n", r"test\.tsv:2: 2 columns"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td\tx\n", r"test\.tsv:2: the grade"),
        ("qrels/test.tsv", "1\t7\t1\n", r"test\.tsv:1: no header, but the row 1, 7, 1; write the"),
        ("qrels/test.tsv", "q1\td3\t2\n", r"test\.tsv has no header, but the row q1, d3, 2"),
        ("qrels/test.tsv", None, "qrels: no file of judgments, such as test.tsv"),
    ):
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text)
        with pytest.raises(GoldenSetError, match=message):
            GoldenSet.load(folder)
