"""The linter with a corpus: documents that it lacks, and ids that are spelt otherwise there."""

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError, LintFinding
from pytest_rankcheck.golden.documents import Documents
from tests.libraries import forms

RULES = ("misspelt-id", "not-in-corpus")


def findings(golden: GoldenSet, corpus: object = None) -> dict[str, LintFinding]:
    found = golden.lint(rules=RULES, documents=corpus)  # type: ignore[arg-type]
    return {finding.rule: finding for finding in found}


def judged(*doc_ids: str) -> GoldenSet:
    """Return a set with one query for each document, which is relevant."""
    return GoldenSet.from_dict({f"q{n}": {doc: 1} for n, doc in enumerate(doc_ids)})


# --- the findings of the rules -------------------------------------------------------------------


def test_documents_that_the_corpus_lacks(tmp_path: Path) -> None:
    file = tmp_path / "web.qrels"
    file.write_text("q 0 a 1\nq 0 gone 2\nr 0 b 1\nr 0 gone 0\nr 0 lost 0\n")
    found = findings(GoldenSet.load(file), ["a", "b", "c", "d", "e"])
    assert set(found) == {"not-in-corpus"}
    finding = found["not-in-corpus"]
    assert finding.level == "warning"
    assert finding.query_ids == ("q", "r")
    assert finding.places == (f"{file}:2", f"{file}:5")
    assert finding.what == (
        "2 of 4 judged or expected documents are not in the catalogue (5 documents, such as a, b, c), 1 "
        "of them relevant: gone, lost"
    )


def test_ids_that_are_spelt_otherwise() -> None:
    """In either direction: the judgments or the catalogue may have been changed."""
    cases: list[tuple[Callable[[int], str], str, str]] = [
        (lambda n: f"{n:05d}", " in leading zeros: '7' is '00007'", "doc_id=['strip_zeros']"),
        (lambda n: f"{n}.0", " in what follows the first '.': '7' is '7.0'", "['before:.']"),
        (lambda n: f" {n}", " in white space: '7' is ' 7'", "doc_id=['strip']"),
    ]
    plain = [str(n) for n in range(7, 22)]
    for spell, differ, remedy in cases:
        changed = [spell(n) for n in range(7, 22)]
        found = findings(judged(*plain), changed)
        assert set(found) == {"misspelt-id"}
        assert found["misspelt-id"].level == "error"
        assert found["misspelt-id"].what == (
            "15 of 15 judged or expected documents are not in the catalogue; 15 of them are there under "
            f"another spelling; the ids differ{differ} there"
        )
        assert remedy in found["misspelt-id"].remedy
        assert set(findings(judged(*changed), plain)) == {"misspelt-id"}
    for one, other, words in (
        ("SKU-7", "sku-7", "differ in case: "),
        ("Straße", "strasse", "differ: "),
        ("a b", "ab", "differ: "),
        ("caf\u00e9", "cafe\u0301", "differ in Unicode normalisation: "),
        (" SKU", "sku", "differ in white space and case"),
        ("0", "000", "differ in leading zeros: "),
    ):
        for first, second in ((one, other), (other, one)):
            finding = findings(judged(first, "x"), [second, "x"])["misspelt-id"]
            assert words in finding.what
            assert finding.query_ids == ("q0",)


@pytest.mark.parametrize(
    ("one", "other"), [("7.5", "7"), ("doc-007", "doc-7"), ("a-b", "ab"), ("7", "70"), ("a.0", "a")]
)
def test_other_ids_are_not_other_spellings(one: str, other: str) -> None:
    for first, second in ((one, other), (other, one)):
        assert set(findings(judged(first), [second])) == {"not-in-corpus"}


def test_spellings_that_the_corpus_distinguishes_are_not_errors() -> None:
    """It has both 'AB' and 'Ab': 'ab' is a third document, which is gone."""
    assert set(findings(judged("ab"), ["AB", "Ab"])) == {"not-in-corpus"}
    assert set(findings(judged("ab"), ["AB", "AB"])) == {"misspelt-id"}


def test_the_corpus_is_mapped_as_the_judgments_are() -> None:
    golden = GoldenSet.from_dict({"q": {"DOC_7": 1}}, doc_id=["lower", "after:_"])
    assert findings(golden, ["doc_7"]) == {}
    assert findings(golden.subset(["q"]), ["Doc_7"]) == {}
    assert set(findings(golden, ["doc_8"])) == {"not-in-corpus"}


# --- the sources of a corpus ---------------------------------------------------------------------

IDS = ["007", "a b", "ü"]


def rows() -> Iterable[dict[str, str]]:
    return ({"_id": doc_id, "text": "one, two;\tthree"} for doc_id in IDS)


def write(path: Path, kind: str) -> Path:
    """Write a corpus in one of its forms."""
    frame = pd.DataFrame({"title": "t", "doc_id": IDS})
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows()), "utf-8")
    elif kind == "packed":
        path = path.with_suffix(".jsonl.gz")
        text = "".join(json.dumps(row) + "\n" for row in rows())
        path.write_bytes(gzip.compress(text.encode()))
    elif kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "list":
        path.write_text("doc_id\r\n" + "\r\n\r\n".join(IDS) + "\r\n", "utf-8")
    return path


KINDS = ("jsonl", "packed", "csv", "tsv", "parquet", "list")


@pytest.mark.parametrize("kind", forms(*KINDS))
def test_a_corpus_in_a_file(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "documents", kind)
    ids = [doc_id for batch, _ in Documents(path).rows() for doc_id in batch]
    assert ids == IDS
    assert findings(judged(*IDS), str(path)) == {}
    finding = findings(judged(*IDS, "x"), path)["not-in-corpus"]
    assert str(path) in finding.what
    assert "(3 documents, such as 007, a b, ü)" in finding.what


def test_a_corpus_in_the_parts_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "part-10.jsonl").write_text('{"id": "c"}\n')
    (tmp_path / "part-9.jsonl").write_text('{"id": "a"}\n{"id": "b"}\n')
    (tmp_path / "_SUCCESS.txt").write_text("")
    for source in (tmp_path, tmp_path / "*.jsonl"):
        assert [ids for ids, _ in Documents(source).rows()] == [["a", "b"], ["c"]]


def test_a_corpus_in_python() -> None:
    golden = judged("1", "2")
    for corpus in (
        ["1", "2"], {"1", "2"}, (str(n) for n in range(3)),
        range(3), pd.Series([1, 2]), pd.DataFrame({"doc_id": [1, 2], "text": ["a", "b"]}),
    ):  # fmt: skip
        assert findings(golden, corpus) == {}


def test_a_column_with_an_unusual_name(tmp_path: Path) -> None:
    (tmp_path / "web.csv").write_text("query_id,sku,relevance\nq,7,1\n")
    (tmp_path / "stock.csv").write_text("title,sku\nshoe,8\n")
    golden = GoldenSet.load(tmp_path / "web.csv", columns={"doc_id": "sku"})
    assert "such as 8" in findings(golden, tmp_path / "stock.csv")["not-in-corpus"].what


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty|c has no documents$"),
        ("name,title\nx,y\n", r"c: the catalogue has no column of ids.*it has name, title"),
        ('{"name": "x"}\n', "c:1: the catalogue has no column of ids.*it has name"),
        ('{"id": "x"}\n{"pid": "x"}\n{"name": "x"}\n', "c:3: the catalogue has no column of ids"),
        ('{"id": "x"}\n{"id": null}\n', "c:2: the id of a document in the catalogue is empty"),
        ('{"id": "x"}\n{"id": 1.5}\n', "c:2: the id of a document in the catalogue is '1.5'"),
        ('{"id": "x"}\n{"id": \n', "c:2: not JSON"),
        (
            "a\nb\n",
            "c: the catalogue has no column of ids.*it has a. .* needs the line doc_id ab",
        ),
        ('["a", "b"]\n', "c, row 1: not an object but a"),
        ("doc_id,pid\n1,2\n1,2\n", None),
        ("pid,docno\n1,2\n", "could both be the doc_id"),
        ("doc_id\nb\nc\udcff\n", "c:3: byte 2 is not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_corpus_that_cannot_be_read(tmp_path: Path, text: str, message: str | None) -> None:
    (tmp_path / "c").write_bytes(text.encode(errors="surrogateescape"))
    if message is None:
        assert findings(judged("1"), tmp_path / "c") == {}
        return
    with pytest.raises(GoldenSetError, match=message):
        findings(judged("1"), tmp_path / "c")


def test_a_corpus_of_something_else_is_refused(tmp_path: Path) -> None:
    for wrong, message in (
        ([1.5], "documents=: an id is '1.5' .*, not an id"),
        ([], "^the catalogue has no documents$"),
        (iter(()), "^the catalogue has no documents$"),
        (tmp_path / "none", "no such file"),
        (tmp_path, "no parts match"),
    ):
        with pytest.raises(GoldenSetError, match=message):
            findings(judged("1"), wrong)


# --- BEIR folders --------------------------------------------------------------------------------


def beir(folder: Path, corpus: Iterable[str]) -> Path:
    """Write a BEIR folder that judges d0 to d14."""
    (folder / "qrels").mkdir()
    lines = [f"q{n}\td{n}\t1" for n in range(15)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]))
    queries = [json.dumps({"_id": f"q{n}", "text": f"question {n}"}) for n in range(15)]
    (folder / "queries.jsonl").write_text("\n".join(queries))
    documents = [json.dumps({"_id": doc_id, "title": "t", "text": "x"}) for doc_id in corpus]
    (folder / "corpus.jsonl").write_text("\n".join(documents) + "\n")
    return folder


def test_a_beir_folder_that_lacks_judged_documents(tmp_path: Path) -> None:
    golden = GoldenSet.load(beir(tmp_path, [f"d{n}" for n in range(5)]))
    finding = findings(golden)["not-in-corpus"]
    assert finding.what.startswith("10 of 15 judged or expected documents are not in the catalogue")
    assert finding.places[0] == f"{tmp_path / 'qrels' / 'test.tsv'}:7"
    assert set(findings(golden.subset(["q7"]))) == {"not-in-corpus"}
    assert findings(golden.subset(["q1"])) == {}
    assert findings(golden, [f"d{n}" for n in range(15)]) == {}, "the argument decides"
