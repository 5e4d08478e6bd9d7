"""Golden sets in tables: CSV, TSV and Parquet, column names, and invalid tables."""

import codecs
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, GoldenSetError, Query
from tests.examples import examples
from tests.libraries import HAS_POLARS, NEEDS_POLARS, forms

SAME = {"q1": {"d3": 2, "d7": 0}, "q2": {"d1": 1}}
TABLE = "query_id,doc_id,relevance\nq1,d3,2\nq1,d7,0\nq2,d1,1\n"


def grades_of(golden: GoldenSet) -> dict[str, dict[str, float]]:
    return {query_id: dict(golden.grades(query_id)) for query_id in golden.query_ids}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "web.golden"


def test_common_names_and_separators_are_recognised(file: Path) -> None:
    for header in (
        "query_id,doc_id,relevance",
        "qid,docno,label",
        "query-id,corpus-id,score",
        "Query ID, Doc ID, Rating",
        "topic,document_id,grade",
        "query,docid,judgment",
    ):
        for separator in (",", "\t", ";", "|"):
            text = TABLE.replace("query_id,doc_id,relevance", header).replace(",", separator)
            file.write_bytes(codecs.BOM_UTF8 + text.replace("\n", "\r\n").encode())
            for name in (None, "csv", "tsv"):
                assert grades_of(GoldenSet.load(file, name)) == SAME, (header, separator)


def test_a_misspelt_column_is_suggested(file: Path) -> None:
    for header, message in {
        "query_id,doc_id,relevence": "'relevance'. Is 'relevence' misspelt? Its columns are que",
        "query_id,doc_id,Note": "'relevance'. Its columns are query_id, doc_id, Note",
        "qeury_id,document,grade": "'query_id', 'doc_id'. Are 'qeury_id' and 'document' misspelt",
        "query,query_id,doc_id": "'relevance'. Its columns are query, query_id, doc_id. If each row",
    }.items():
        file.write_text(f"{header}\nq1,d3,2\n")
        with pytest.raises(GoldenSetError, match=re.escape(f"no column {message}")):
            GoldenSet.load(file)
        frame = pd.DataFrame([("q1", "d3", 2)], columns=header.split(","))
        with pytest.raises(GoldenSetError, match=re.escape(f"no column {message}")):
            GoldenSet.from_frame(frame)


def test_a_malformed_row_is_reported(file: Path) -> None:
    for text, line, message in (
        ("q1,d3,2\nq1,d7\n", 3, "2 columns, but the header has 3: 'q1 d7'; .* by a comma"),
        ("q1,d3,2\nq1\td7\t2\n", 3, "1 column, but the header has 3: .* by a comma, as in"),
        ("q1,d3,high\n", 2, r"the grade of document 'd3' is 'high' \(str\), not a finite number"),
        ("q1,d3,\n", 2, "the grade of document 'd3' is empty"),
        ("q1,,2\n", 2, "doc_id is empty"),
        (",d3,2\n", 2, "query_id is empty"),
        ("q1,d3,2\n\nq1,d3,1\n", 4, "'d3' of query 'q1' is judged twice, 2 and 1"),
        ('q1,"d3,2\nq1,d7,0\n', 2, "is a quotation mark left open"),
        ('q1,"a\nb",2\nq1,d7,x\n', 4, "the grade of document 'd7' is 'x'"),
    ):
        file.write_text("query_id,doc_id,relevance\n" + text)
        with pytest.raises(GoldenSetError, match=message) as refused:
            GoldenSet.load(file)
        assert str(refused.value).startswith(f"{file}:{line}: ")
    for raw, message in (
        (b"query_id,doc_id,relevance\n", "is empty; a golden set has at least one judged query"),
        (b"query_id,doc_id,relevance,doc_id\nq,d,1,e\n", "duplicate column in the header: doc_id"),
        (b"query_id,query,doc_id,grade\nq,a,d,1\nq,b,e,1\n", ':3: .* but before it was "a"'),
    ):
        file.write_bytes(raw)
        with pytest.raises(GoldenSetError, match=message):
            GoldenSet.load(file)


def test_columns_with_other_names_are_mapped(file: Path) -> None:
    file.write_text("kw,sku,stars\nq1,d3,2\nq1,d7,0\nq2,d1,1\n")
    with pytest.raises(GoldenSetError, match="unknown format of golden sets"):
        GoldenSet.load(file)
    with pytest.raises(
        GoldenSetError,
        match=r"has no column 'query_id', 'doc_id', 'relevance'\. Its columns are kw",
    ):
        GoldenSet.load(file, "csv")
    columns = {"query_id": "kw", "doc_id": "sku", "relevance": "stars"}
    assert grades_of(GoldenSet.load(file, "csv", columns=columns)) == SAME
    assert grades_of(GoldenSet.load(file, columns=columns)) == SAME
    with pytest.raises(GoldenSetError, match="no column 'skuu'; did you mean 'sku'"):
        GoldenSet.load(file, "csv", columns={**columns, "doc_id": "skuu"})
    with pytest.raises(GoldenSetError, match="unknown key 'docid'; did you mean 'doc_id'"):
        GoldenSet.load(file, "csv", columns={"docid": "sku"})


def test_interactions_without_grades_all_have_the_same_one(file: Path, tmp_path: Path) -> None:
    file.write_text("user,item,segment\nu1,a,new\nu1,b,new\nu1,a,new\nu2,a,old\n")
    columns = {"query_id": "user", "doc_id": "item"}
    clicked = {"u1": {"a": 1, "b": 1}, "u2": {"a": 1}}
    with pytest.raises(
        GoldenSetError, match=r"no column 'relevance'. .* a purchase\), give grades=1"
    ):
        GoldenSet.load(file, "csv", columns=columns)
    golden = GoldenSet.load(file, columns=columns, grades=1)
    assert grades_of(golden) == clicked
    assert golden.query("u2") == Query("u2", None, {"segment": "old"})
    assert grades_of(GoldenSet.load(file, columns=columns, grades=2.5))["u2"] == {"a": 2.5}
    frame = pd.read_csv(file)
    assert GoldenSet.from_frame(frame, columns=columns, grades=1).fingerprint == golden.fingerprint
    file.write_text("user,item\nu1,a\nu1,b\nu2,a\n")
    assert grades_of(GoldenSet.load(file, columns=columns, grades=1)) == clicked
    if HAS_POLARS:
        pairs = pd.DataFrame({"qid": ["u1", "u1", "u2"], "pid": ["a", "b", "a"]})
        pairs.to_parquet(tmp_path / "clicks.parquet")
        assert grades_of(GoldenSet.load(tmp_path / "clicks.parquet", grades=1)) == clicked


@pytest.mark.parametrize(
    "name", ["", "Unnamed: 0", "Unnamed: 0.1", "__index_level_0__", "index", "level_0"]
)
def test_the_index_of_a_frame_is_neither_attribute_nor_feature(file: Path, name: str) -> None:
    rows = [("q1", "a", 1, "en", 5.0), ("q1", "b", 0, "en", 6.0), ("q2", "a", 1, "de", 7.0)]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "locale", "price"])
    frame.to_csv(file, index_label=name)
    golden = GoldenSet.load(file)
    assert list(golden.attributes) == ["locale"]
    assert list(golden.candidates.columns) == ["query_id", "doc_id", "price"]
    again = GoldenSet.from_frame(pd.read_csv(file))
    assert again.fingerprint == golden.fingerprint == GoldenSet.from_frame(frame).fingerprint
    queries = pd.DataFrame({name: [0, 1], "query_id": ["q1", "q2"], "size": ["s", "l"]})
    golden = GoldenSet.from_frame(frame, queries)
    assert golden.query("q2").attributes == {"size": "l", "locale": "de"}
    frame.drop(index=1).to_csv(file, index_label=name)  # the labels have a gap
    assert name not in GoldenSet.load(file).attributes


def test_boolean_grades_are_1_and_0(file: Path) -> None:
    expected = {"q": {"a": 1, "b": 0}}
    for yes, no in (("true", "false"), ("TRUE", " FALSE ")):
        for text in (
            f"query_id,doc_id,relevance\nq,a,{yes}\nq,b,{no}\n",
            f"q 0 a {yes}\nq 0 b {no}\n",
            f"{yes} qid:q 1:1 # a\n{no} qid:q 1:2 # b\n",
            '{"query_id": "q", "relevance": {"a": true, "b": false}}\n',
        ):
            file.write_text(text)
            assert grades_of(GoldenSet.load(file)) == expected
    for dtype in (bool, object, "boolean"):
        frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "relevance": [True, False]})
        frame["relevance"] = frame["relevance"].astype(dtype)
        assert grades_of(GoldenSet.from_frame(frame)) == expected
    assert grades_of(GoldenSet.from_dict({"q": {"a": True, "b": np.False_}})) == expected


def test_one_grade_for_all_is_refused_where_there_are_grades(file: Path) -> None:
    file.write_text("query_id,doc_id,rating\nq,d,3\n")
    with pytest.raises(GoldenSetError, match="has grades in the column 'rating', but grades= is o"):
        GoldenSet.load(file, grades=1)
    file.write_text("q 0 d 3\n")
    with pytest.raises(GoldenSetError, match=r"'3' .*but grades=1 is for judgments without a"):
        GoldenSet.load(file, grades=1)
    with pytest.raises(GoldenSetError, match="grades: nan is not a finite number"):
        GoldenSet.load(file, grades=math.nan)


def test_reserved_names_cannot_be_saved_as_attributes(tmp_path: Path) -> None:
    for name in ("doc_id", "Doc-ID", "Relevance"):
        golden = GoldenSet.from_dict({"q": {"d": 1}}, attributes={"q": {name: "x"}})
        with pytest.raises(GoldenSetError, match=f"is named {name}, which is reserved in tables"):
            golden.save(tmp_path / "set.csv")


def test_ambiguous_columns_are_refused_unless_one_is_chosen(file: Path) -> None:
    file.write_text("query_id,doc_id,rating,label\nq,d,1,2\n")
    with pytest.raises(
        GoldenSetError, match="rating, label could both be the relevance; choose one"
    ):
        GoldenSet.load(file)
    golden = GoldenSet.load(file, columns={"relevance": "label"})
    assert golden.grades("q") == {"d": 2}
    assert golden.query("q").attributes == {"rating": "1"}
    file.write_text("query_id,doc_id,relevance,score\nq,d,1,0.5\nq,e,0,0.4\n")
    assert GoldenSet.load(file).grades("q") == {
        "d": 1,
        "e": 0,
    }  # a score is a grade only if there is no other column for it


def test_our_own_column_names_take_precedence(file: Path) -> None:
    file.write_text("query_id,doc_id,relevance,rating,topic\nq,d,1,4.5,a\nq,e,0,3,a\n")
    golden = GoldenSet.load(file)
    assert golden.grades("q") == {"d": 1, "e": 0}
    assert list(golden.candidates["rating"]) == [4.5, 3]
    assert golden.query("q").attributes == {"topic": "a"}


def test_texts_attributes_titles_and_features(file: Path) -> None:
    file.write_text(
        "query_id,query,locale,doc_id,relevance,title,price,brand\n"
        'q1,"red, ""shoes""",en,d3,2,Red shoe,9.5,acme\n'
        "q1,,en,d7,0,,12,\n"
        "q2,hats,de,d1,1,Hat,,zorn\n"
        "q3,gloves,de,,,,,\n"
    )
    golden = GoldenSet.load(file)
    assert grades_of(golden) == {**SAME, "q3": {}}
    assert [golden.query(q).text for q in golden.query_ids] == ['red, "shoes"', "hats", "gloves"]
    assert [golden.query(q).attributes for q in golden.query_ids] == [
        {"locale": "en"}, {"locale": "de"}, {"locale": "de"},
    ]  # fmt: skip
    assert (golden.title("d3"), golden.title("d7"), golden.title("d1")) == ("Red shoe", None, "Hat")
    assert golden.contents.candidates
    frame = golden.candidates
    assert list(frame["doc_id"]) == ["d3", "d7", "d1"]
    assert list(frame["price"].fillna(-1)) == [9.5, 12.0, -1]
    assert list(frame["brand"].fillna("")) == ["acme", "", "zorn"]


def test_judged_documents_are_the_candidates_by_default() -> None:
    golden = GoldenSet.from_dict(SAME)
    assert not golden.contents.candidates
    assert list(golden.candidates_of("q1")) == ["d3", "d7"]
    assert golden.candidates.to_dict("list") == {
        "query_id": ["q1", "q1", "q2"], "doc_id": ["d3", "d7", "d1"],
    }  # fmt: skip


# --- codes and contradictions ------------------------------------------------------------------


def test_codes_become_grades(file: Path) -> None:
    file.write_text("query_id,doc_id,esci_label\nq,a,Exact\nq,b,Substitute\nq,c,Irrelevant\n")
    codes = {"Exact": 3, "Substitute": 2, "Complement": 1, "Irrelevant": 0}
    assert GoldenSet.load(file, grades=codes).grades("q") == {"a": 3, "b": 2, "c": 0}
    with pytest.raises(
        GoldenSetError,
        match=r":4: the grade of document 'c' is 'Irrelevant' \(str\), not in the grade map, which "
        "has Exact, Substitute",
    ):
        GoldenSet.load(file, grades={"Exact": 1, "Substitute": 0})
    frame = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "label": [1, -1]})
    golden = GoldenSet.from_frame(frame, grades={1: 4, "-1": 0})
    assert golden.grades("q") == {"a": 4, "b": 0}
    with pytest.raises(GoldenSetError, match="grades: 'high' is not a finite number"):
        GoldenSet.load(file, grades={1: "high"})  # type: ignore[dict-item]


# --- there and back ----------------------------------------------------------------------------

_text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
_named = st.sampled_from(["locale", " spaced", "Größe", "x,y", "a\tb"])
sets = st.dictionaries(
    _text,
    st.dictionaries(_text, st.integers(-2, 5), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("ending", forms("csv", "tsv", "parquet", "csv.gz"))
@given(judgments=sets, texts=st.booleans(), attribute=_named, value=_text)
@examples(40)
def test_a_table_survives_saving_and_loading(
    tmp_path_factory: pytest.TempPathFactory,
    ending: str, judgments: dict, texts: bool, attribute: str, value: str,
) -> None:  # fmt: skip
    file = tmp_path_factory.getbasetemp() / f"set.{ending}"
    queries = {query_id: f"text of {query_id}" for query_id in judgments} if texts else None
    attributes = {query_id: {attribute: value} for query_id in judgments}
    golden = GoldenSet.from_dict(judgments, queries, attributes=attributes)
    golden.save(file)
    again = GoldenSet.load(file)
    assert grades_of(again) == grades_of(golden)
    assert again.fingerprint == golden.fingerprint
    assert [query.attributes for query in again] == [query.attributes for query in golden]


@pytest.mark.parametrize("ending", forms("csv", "parquet"))
def test_titles_candidates_and_unjudged_queries_are_kept(tmp_path: Path, ending: str) -> None:
    first = tmp_path / "first.csv"
    first.write_text(
        "query_id,query,doc_id,relevance,title,f,locale\n"
        "q1,red,d1,1,A,0.5,en\nq1,red,d2,0,,0.25,en\nq2,blue,d1,1,A,1,de\nq3,odd,,,,,de\n"
    )
    golden = GoldenSet.load(first)
    golden.save(tmp_path / f"again.{ending}")
    again = GoldenSet.load(tmp_path / f"again.{ending}")
    assert again.fingerprint == golden.fingerprint
    assert again.candidates.equals(golden.candidates)
    assert again.title("d1") == "A"
    assert again.grades("q3") == {}
    assert again.queries.equals(golden.queries)
    for name in ("jsonl", "trec"):
        with pytest.raises(GoldenSetError, match="this golden set has candidates, which"):
            golden.save(tmp_path / "lost", name)


@NEEDS_POLARS
def test_parquet_keeps_types_and_names_the_row(tmp_path: Path) -> None:
    import polars as pl

    file = tmp_path / "web.parquet"
    pl.DataFrame({"qid": [1, 1, 2], "docno": [7, 8, 7], "label": [2, 0, 1]}).write_parquet(file)
    assert grades_of(GoldenSet.load(file)) == {"1": {"7": 2, "8": 0}, "2": {"7": 1}}
    pl.DataFrame({"qid": ["q"], "docno": [None], "label": [2]}).write_parquet(file)
    with pytest.raises(GoldenSetError, match=r"web\.parquet, row 1: doc_id is empty"):
        GoldenSet.load(file)
    pl.DataFrame({"qid": ["q"], "docno": ["d"], "label": [float("nan")]}).write_parquet(file)
    with pytest.raises(GoldenSetError, match=r"web\.parquet, row 1: the grade of document 'd'"):
        GoldenSet.load(file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(GoldenSetError, match=r"web\.parquet: cannot be read as Parquet"):
        GoldenSet.load(file)


# --- tables that are not what they seem ----------------------------------------------------------

RUN_TABLE = "query_id,doc_id,rank,score\nq1,a,1,20\nq1,b,2,19\n"


def test_a_run_is_not_read_as_a_golden_set(file: Path, tmp_path: Path) -> None:
    file.write_text(RUN_TABLE)
    with pytest.raises(GoldenSetError, match=r"'rank' and 'score' of a run, .* with Run.load"):
        GoldenSet.load(file)
    table = pd.read_csv(file)
    with pytest.raises(GoldenSetError, match=r"read a run with Run.from_frame"):
        GoldenSet.from_frame(table)
    golden = GoldenSet.load(file, columns={"relevance": "score"})
    assert grades_of(golden) == {"q1": {"a": 20, "b": 19}}
    file.write_text(RUN_TABLE.replace("rank", "grade"))
    assert grades_of(GoldenSet.load(file)) == {"q1": {"a": 1, "b": 2}}
    if HAS_POLARS:
        table.to_parquet(tmp_path / "run.parquet")
        with pytest.raises(GoldenSetError, match=r"read a run with Run.load"):
            GoldenSet.load(tmp_path / "run.parquet")


def test_a_column_has_one_meaning(file: Path) -> None:
    file.write_text("keyword,sku,stars\n1,20,3\n1,10,5\n")
    columns = {"query_id": "keyword", "doc_id": "sku", "relevance": "sku"}
    with pytest.raises(GoldenSetError) as failure:
        GoldenSet.load(file, columns=columns)
    assert str(failure.value) == (
        "columns: doc_id and relevance are both mapped to 'sku'; name a column of its own for each"
    )
    golden = GoldenSet.load(file, columns={**columns, "relevance": "stars"})
    assert grades_of(golden) == {"1": {"20": 3, "10": 5}}


# --- Parquet: the same with and without an attribute ---------------------------------------------
