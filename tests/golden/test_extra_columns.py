"""Columns without a role: which are attributes of queries, and which belong to candidates."""

from pathlib import Path

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError
from tests import reference
from tests.libraries import forms

LOCALES = ("de", "en", "fr")


def rows(queries: int, **columns: object) -> list[dict[str, object]]:
    """Return three judgments for each query, with a locale."""
    return [
        {
            "query_id": f"q{number}",
            "doc_id": f"d{place}",
            "relevance": place,
            "locale": LOCALES[number % 3],
            **{name: made(number, place) for name, made in columns.items()},  # type: ignore[operator]
        }
        for number in range(queries)
        for place in range(3)
    ]


def csv_of(tmp_path: Path, table: list[dict[str, object]]) -> Path:
    file = tmp_path / "a.csv"
    pd.DataFrame(table).to_csv(file, index=False)
    return file


# --- which columns are attributes ----------------------------------------------------------------


def features(number: int, place: int) -> float:
    return number / 7 + place


def test_each_column_is_judged_on_its_own() -> None:
    """One value in every query makes an attribute; one cell that differs makes a candidate's."""
    table = rows(
        30,
        bm25=features,
        era=lambda number, _: f"{2000 + number}s",
        brand=lambda number, place: "odd" if (number, place) == (7, 1) else f"b{number}",
    )
    golden = GoldenSet.from_frame(pd.DataFrame(table))
    assert golden.attributes == ("locale", "era")
    assert [*golden.candidates][2:] == ["bm25", "brand"]
    table[16]["locale"] = None  # an empty cell is a value too
    assert GoldenSet.from_frame(pd.DataFrame(table)).attributes == ("era",)


def test_a_feature_that_is_constant_within_queries_is_an_attribute_only_if_it_is_named(
    tmp_path: Path,
) -> None:
    """A model that takes a matrix gets all features, in the order of the table."""
    columns = {"length": lambda number, _: number, "bm25": features, "empty": lambda *_: None}
    table = rows(5, **columns)
    for golden in (
        GoldenSet.from_frame(pd.DataFrame(table)),
        GoldenSet.load(csv_of(tmp_path, table)),
    ):
        assert golden.attributes == ("locale",)
        assert [*golden.candidates][2:] == ["length", "bm25", "empty"]
        for use in (golden.slices, golden.weighted, golden.clustered):
            with pytest.raises(GoldenSetError, match=r"name it and all other attributes in attr"):
                use("length")
    named = GoldenSet.load(tmp_path / "a.csv", attributes=["locale", "length"])
    assert named.attributes == ("locale", "length")
    assert [*named.candidates][2:] == ["bm25", "empty"]


def test_no_feature_of_a_learning_to_rank_set_is_an_attribute() -> None:
    """All 300 as a frame, as scikit-learn reads them: 93 are constant within every query."""
    sparse = GoldenSet.load(reference.data("lightgbm-lambdarank/rank.train"))
    table = sparse.candidates.merge(sparse.judgments)
    absent = [name for name in map(str, range(1, 301)) if name not in table]
    golden = GoldenSet.from_frame(table.assign(**dict.fromkeys(absent, 0.0)))
    assert golden.attributes == ()
    assert len(golden.candidates.columns) == 2 + 300


@pytest.mark.parametrize("other", ["text", "index"])
def test_a_number_without_features_beside_it_is_an_attribute(other: str) -> None:
    columns = {"year": lambda number, _: 2000 + number}
    if other == "text":
        columns["brand"] = lambda _, place: f"b{place}"
    frame = pd.DataFrame(rows(5, **columns))
    if other == "index":
        frame.insert(0, "Unnamed: 0", range(len(frame)))
    assert GoldenSet.from_frame(frame).attributes == ("locale", "year")


def test_the_attributes_can_be_chosen(tmp_path: Path) -> None:
    table = rows(5, bm25=features, year=lambda number, _: 2000 + number)
    for golden in (
        GoldenSet.from_frame(pd.DataFrame(table), attributes=["year"]),
        GoldenSet.load(csv_of(tmp_path, table), attributes=["year"]),
        GoldenSet.load(tmp_path / "a.csv", attributes="year"),
    ):
        assert golden.attributes == ("year",)
        assert [*golden.candidates][2:] == ["locale", "bm25"]
    with pytest.raises(GoldenSetError, match=r"no query has an attribute 'yaer'; did you mean"):
        GoldenSet.from_frame(pd.DataFrame(table), attributes=["yaer"])
    message = "row 2: column 'bm25' has another value than before for query 'q0'; an attribute"
    with pytest.raises(GoldenSetError, match=message):
        GoldenSet.from_frame(pd.DataFrame(table), attributes=["bm25"])
    golden = GoldenSet.from_frame(pd.DataFrame(table))
    for use in (golden.slices, golden.weighted, golden.clustered):
        with pytest.raises(GoldenSetError, match="no attribute 'bm25': it is a column of the cand"):
            use("bm25")


def test_the_attributes_can_be_chosen_in_every_format(tmp_path: Path) -> None:
    golden = GoldenSet.from_dict(
        {"q": {"d": 1}}, {"q": "red"}, attributes={"q": {"locale": "de", "note": "x"}}
    )
    for name in ("a.jsonl", "a.qrels", "a.csv"):
        golden.save(tmp_path / name)
        again = GoldenSet.load(tmp_path / name, attributes=["locale"])
        assert again.attributes == ("locale",)
        with pytest.raises(GoldenSetError, match="no query has an attribute 'local'"):
            GoldenSet.load(tmp_path / name, attributes=["local"])
    queries = pd.DataFrame({"query_id": ["q"], "query": ["red"], "locale": "de", "note": "x"})
    judgments = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1]})
    assert GoldenSet.from_frame(judgments, queries, attributes=["note"]).attributes == ("note",)


# --- round trips ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", forms("csv", "tsv", "parquet"))
def test_a_saved_table_keeps_what_its_columns_are(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"a.{ending}"
    constant = {"idf": lambda number, _: number, "brand": lambda number, _: f"b{number}"}
    table = pd.DataFrame(rows(30, bm25=features, year=lambda number, _: 2000 + number, **constant))
    table.loc[16, "brand"] = "odd"  # varies in one query of thirty
    golden = GoldenSet.from_frame(table, attributes=["year", "locale"])
    golden.save(file)
    again = GoldenSet.load(file)
    assert again.attributes == ("locale", "year")
    assert [*again.candidates] == [*golden.candidates]
    assert again.fingerprint == golden.fingerprint


def test_a_column_says_by_its_name_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(
        "query_id,doc_id,relevance,attribute:year,candidate:lang,bm25\n"
        "q,a,1,2020,de,1.5\nq,b,0,2020,de,2.5\n"
    )
    golden = GoldenSet.load(file)
    assert golden.query("q").attributes == {"year": "2020"}
    assert [*golden.candidates] == ["query_id", "doc_id", "lang", "bm25"]
    file.write_text("query_id,doc_id,relevance,attribute:year,year\nq,a,1,2020,2021\n")
    with pytest.raises(GoldenSetError, match=r"a\.csv: two columns are named 'year'; rename one"):
        GoldenSet.load(file)


# --- what does not describe a document -----------------------------------------------------------


@pytest.mark.parametrize("name", ["label", "Relevance-Label", "esci_label", "judge"])
def test_a_second_column_of_grades_is_not_a_feature(tmp_path: Path, name: str) -> None:
    """It would give the grades away to the model that is tested."""
    table = rows(5, bm25=features, **{name: lambda _, place: 3 * place})
    for golden in (
        GoldenSet.from_frame(pd.DataFrame(table)),
        GoldenSet.load(csv_of(tmp_path, table)),
        GoldenSet.load(csv_of(tmp_path, table), attributes=["locale"]),
    ):
        assert [*golden.candidates][2:] == ["bm25"]
    frame = pd.DataFrame(table).assign(esci=1)
    golden = GoldenSet.from_frame(frame, columns={"relevance": "esci"})
    assert [*golden.candidates][2:] == ["bm25"]


REPEATED = [
    {"query_id": "q", "doc_id": doc, "relevance": grade, "f": f, "g": f}
    for doc, grade, f in [("a", 1, 9), ("b", 0, 5), ("a", 1, 1)]
]


def test_columns_that_differ_between_rows_of_a_document_are_left_out() -> None:
    assert not GoldenSet.from_frame(pd.DataFrame(REPEATED)).contents.candidates
    unmarked = [{**row, "candidate": int(row["f"] > 4)} for row in REPEATED]
    golden = GoldenSet.from_frame(pd.DataFrame(unmarked))
    assert golden.candidates["f"].tolist() == [9, 5]


def test_a_document_with_two_equal_rows_is_one_candidate() -> None:
    table = [*REPEATED[:2], *REPEATED[:2]]
    golden = GoldenSet.from_frame(pd.DataFrame(table))
    assert golden.candidates_of("q") == ["a", "b"]
    assert golden.candidates["f"].tolist() == [9, 5]
    assert golden.fingerprint == GoldenSet.from_frame(pd.DataFrame(table[:2])).fingerprint


def test_what_differs_between_the_events_of_a_document_is_not_a_feature() -> None:
    """Users who buy an item twice, at two times; and two assessors who agree."""
    rows = [("u", "a", 10, 5.0), ("u", "b", 20, 7.0), ("u", "a", 30, 5.0)]
    bought = pd.DataFrame(rows, columns=["query_id", "doc_id", "timestamp", "price"])
    golden = GoldenSet.from_frame(bought, grades=1)
    assert [*golden.candidates] == ["query_id", "doc_id", "price"]
    assert golden.candidates["price"].tolist() == [5, 7]
    golden = GoldenSet.from_frame(bought.drop(columns="price"), grades=1)
    assert not golden.contents.candidates
    assessed = bought.assign(relevance=1, assessor=["x", "y", "z"]).drop(columns="timestamp")
    assert [*GoldenSet.from_frame(assessed).candidates][2:] == ["price"]


# --- candidates that are marked ------------------------------------------------------------------

TABLE = """query_id,doc_id,relevance,candidate,price
q1,a,2,1,10
q1,b,,1,20
q1,c,1,,
q2,d,,1,30
"""


def load(tmp_path: Path, text: str) -> GoldenSet:
    (tmp_path / "golden.csv").write_text(text, encoding="utf-8")
    return GoldenSet.load(tmp_path / "golden.csv")


def test_a_marked_row_needs_no_grade(tmp_path: Path) -> None:
    golden = load(tmp_path, TABLE)
    assert golden.grades("q1") == {"a": 2, "c": 1}
    assert golden.grades("q2") == {}
    assert list(golden.candidates_of("q1")) == ["a", "b"]
    assert list(golden.candidates["price"]) == [10, 20, 30]


def test_an_unmarked_row_needs_a_grade(tmp_path: Path) -> None:
    with pytest.raises(GoldenSetError, match=r"golden.csv:4: the grade of document 'c' is empty"):
        load(tmp_path, TABLE.replace("q1,c,1,,", "q1,c,,,"))


@pytest.mark.parametrize(
    ("yes", "no"),
    [(True, False), (1, 0), ("yes", "no"), ("True", " FALSE "), ("1.0", "0.0"), (1.0, None)],
)
def test_a_mark_of_no_is_not_a_candidate(tmp_path: Path, yes: object, no: object) -> None:
    """A relevant document that retrieval missed must not reach the reranker."""
    frame = pd.DataFrame(
        {"query_id": "q", "doc_id": list("abc"), "relevance": [1, 0, 0], "f": [9, 5, 7]}
    )
    frame["is_candidate"] = [no, yes, yes]
    frame.to_csv(tmp_path / "marks.csv", index=False)
    for golden in (GoldenSet.from_frame(frame), GoldenSet.load(tmp_path / "marks.csv")):
        assert list(golden.candidates_of("q")) == ["b", "c"]
        assert golden.grades("q") == {"a": 1, "b": 0, "c": 0}
