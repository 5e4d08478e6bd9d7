"""Columns without a role: which are attributes of queries, and which belong to candidates."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError
from tests import reference

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


# --- one wrong cell ------------------------------------------------------------------------------


def test_a_wrong_cell_in_an_attribute_is_an_error(tmp_path: Path) -> None:
    table = rows(30)
    table[16]["locale"] = "pl"  # the second row of q5, line 18 of the file
    file = csv_of(tmp_path, table)
    message = (
        r"a\.csv:18: column 'locale' is 'pl' for query 'q5', but 'fr' at .*a\.csv:17; the column has one "
        r"value in 29 of 30 queries with several rows\. Correct the cell, or say which columns are attributes of queries: attributes=\[\.\.\.\]"
    )
    with pytest.raises(GoldenSetError, match=message):
        GoldenSet.load(file)
    with pytest.raises(
        GoldenSetError, match=r"judgments, row 17 .* is 'pl' .* at judgments, row 16 "
    ):
        GoldenSet.from_frame(pd.DataFrame(table))
    with pytest.raises(GoldenSetError, match="an attribute has one value for each query; correct"):
        GoldenSet.load(file, attributes=["locale"])
    golden = GoldenSet.load(file, attributes=[])  # a column of documents after all
    assert golden.candidates["locale"][16] == "pl"


def test_an_empty_cell_is_a_value_too(tmp_path: Path) -> None:
    table = rows(30)
    table[16]["locale"] = None
    with pytest.raises(GoldenSetError, match=r"a\.csv:18: .* is empty for .* 'fr' at .*a\.csv:17"):
        GoldenSet.load(csv_of(tmp_path, table))


@pytest.mark.parametrize("share", [0.001, 0.01, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("kind", ["number", "text", "boolean"])
def test_a_rare_feature_of_documents_is_not_taken_for_an_attribute(share: float, kind: str) -> None:
    for seed in range(5):
        draw = random.Random(seed)
        table = rows(300, rare=lambda *_: draw.random() < share, other=lambda *_: draw.random())  # noqa: B023
        if not any(row["rare"] for row in table):
            continue
        for row in table:
            words = {"number": int(row["rare"]), "text": "yes" if row["rare"] else "no"}
            row["rare"] = words.get(kind, row["rare"])
        golden = GoldenSet.from_frame(pd.DataFrame(table))
        assert "rare" in golden.candidates
        assert golden.attributes == ("locale",)


def test_a_column_that_often_varies_belongs_to_the_candidates() -> None:
    """A brand: the same for all documents of "nike shoes", but not for those of "shoes"."""
    golden = GoldenSet.from_frame(
        pd.DataFrame(rows(40, brand=lambda number, place: number if number % 4 else place))
    )
    assert "brand" in golden.candidates


@pytest.mark.parametrize("name", ["rank.test", "rank.train"])
def test_the_features_of_a_real_collection_are_features(name: str) -> None:
    """Of 300 features, 11 have one value for each query, and others nearly so."""
    letor = GoldenSet.load(reference.data(f"lightgbm-lambdarank/{name}"))
    table = letor.judgments.merge(letor.candidates, on=["query_id", "doc_id"])
    golden = GoldenSet.from_frame(table)
    assert golden.attributes == ()
    assert [*golden.candidates] == [*letor.candidates]


def test_a_number_that_varies_in_one_query_is_a_feature_beside_features() -> None:
    columns = {"covered": lambda number, place: number % 3 + (number == 7 and place == 1)}
    with pytest.raises(GoldenSetError, match="column 'covered' is '2' for query 'q7', but '1'"):
        GoldenSet.from_frame(pd.DataFrame(rows(40, **columns)))
    golden = GoldenSet.from_frame(pd.DataFrame(rows(40, bm25=features, **columns)))
    assert "covered" in golden.candidates


# --- which columns are attributes ----------------------------------------------------------------


def features(number: int, place: int) -> float:
    return number / 7 + place


def test_numbers_that_are_constant_within_queries_are_features_beside_features() -> None:
    columns = {f"f{n}": partial(lambda n, number, _: number * n, n) for n in range(100)}
    golden = GoldenSet.from_frame(pd.DataFrame(rows(5, bm25=features, **columns)))
    assert golden.attributes == ("locale",)
    assert [*golden.candidates][2:] == ["bm25", *columns]
    assert golden.candidates["f3"].tolist()[:4] == [0, 0, 0, 3]
    alone = GoldenSet.from_frame(pd.DataFrame(rows(5, year=lambda number, _: 2000 + number)))
    assert alone.attributes == ("locale", "year")
    assert not alone.has_candidates


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
    with pytest.raises(GoldenSetError, match="column 'bm25' is '1' for query 'q0', but '0' at"):
        GoldenSet.from_frame(pd.DataFrame(table), attributes=["bm25"])
    golden = GoldenSet.from_frame(pd.DataFrame(table))
    for use in (golden.slices, golden.weighted, golden.clustered):
        with pytest.raises(GoldenSetError, match="no attribute 'year': it is a column of the cand"):
            use("year")


def test_the_attributes_can_be_chosen_in_every_format(tmp_path: Path) -> None:
    golden = GoldenSet.from_dict(
        {"q": {"d": 1}}, {"q": "red"}, attributes={"q": {"locale": "de", "note": "x"}}
    )
    for name in ("a.jsonl", "a.qrels", "a.csv", "beir"):
        golden.save(tmp_path / name, "beir" if name == "beir" else None)
        again = GoldenSet.load(tmp_path / name, attributes=["locale"])
        assert again.attributes == ("locale",)
        with pytest.raises(GoldenSetError, match="no query has an attribute 'local'"):
            GoldenSet.load(tmp_path / name, attributes=["local"])
    queries = pd.DataFrame({"query_id": ["q"], "query": ["red"], "locale": "de", "note": "x"})
    judgments = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1]})
    assert GoldenSet.from_frame(judgments, queries, attributes=["note"]).attributes == ("note",)


# --- round trips ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_saved_table_keeps_what_its_columns_are(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("polars", reason="polars is not installed")
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


def test_a_letor_file_saved_as_a_table_keeps_its_features(tmp_path: Path) -> None:
    letor = tmp_path / "rank.txt"
    letor.write_text("2 qid:7 1:0.5 3:1 # d3\n0 qid:7 1:0.25 3:1 # d7\n1 qid:8 1:1 3:2 # d3\n")
    golden = GoldenSet.load(letor)
    golden.save(tmp_path / "a.csv")
    again = GoldenSet.load(tmp_path / "a.csv")
    assert again.fingerprint == golden.fingerprint
    assert [*again.candidates] == [*golden.candidates]


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


@pytest.mark.parametrize("name", ["label", "Relevance-Label", "grade", "gain", "esci_label"])
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


def test_a_column_of_grades_can_be_declared_a_feature(tmp_path: Path) -> None:
    table = rows(5, **{"candidate:label": features})
    golden = GoldenSet.load(csv_of(tmp_path, table))
    assert [*golden.candidates][2:] == ["label"]
    golden.save(tmp_path / "again.csv")
    again = GoldenSet.load(tmp_path / "again.csv")
    assert again.fingerprint == golden.fingerprint
    assert [*again.candidates][2:] == ["label"]
    steady = GoldenSet.from_frame(pd.DataFrame(rows(5, label=lambda number, _: f"l{number}")))
    assert "label" in steady.attributes
    rated = GoldenSet.from_frame(pd.DataFrame(rows(5, rating=features, score=features)))
    assert [*rated.candidates][2:] == ["rating", "score"]  # of a product; of the first stage


REPEATED = [
    {"query_id": "q", "doc_id": doc, "relevance": grade, "f": f, "g": f}
    for doc, grade, f in [("a", 1, 9), ("b", 0, 5), ("a", 1, 1)]
]


def test_a_document_with_two_rows_of_features_is_an_error(tmp_path: Path) -> None:
    message = (
        r"a\.csv:4: column 'f' is '1' for document 'a' of query 'q', but '9' at .*a\.csv:2; a "
        "document has one row of features for each query: keep one of the rows, or remove the col"
    )
    with pytest.raises(GoldenSetError, match=message):
        GoldenSet.load(csv_of(tmp_path, REPEATED))
    unjudged = [{**row, "relevance": None, "candidate": 1} for row in REPEATED]
    for each, place in ((REPEATED, "row 3"), (unjudged, "row 3")):
        with pytest.raises(GoldenSetError, match=rf"judgments, {place} .* at judgments, row 1"):
            GoldenSet.from_frame(pd.DataFrame(each))
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
    assert not golden.has_candidates
    assessed = bought.assign(relevance=1, assessor=["x", "y", "z"]).drop(columns="timestamp")
    assert [*GoldenSet.from_frame(assessed).candidates][2:] == ["price"]


def test_an_error_in_an_attribute_of_a_repeated_row_is_found() -> None:
    table = rows(30)
    table.append({**table[16], "locale": "pl"})
    with pytest.raises(GoldenSetError, match="'locale' is 'pl' for query 'q5', but 'fr' at"):
        GoldenSet.from_frame(pd.DataFrame(table))
