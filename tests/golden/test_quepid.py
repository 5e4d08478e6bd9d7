"""Quepid's exports, in the forms that its own templates write."""

import json
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError


def grades_of(golden: GoldenSet) -> dict[str, dict[str, float]]:
    return {query_id: dict(golden.grades(query_id)) for query_id in golden.query_ids}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "case_7.export"


RATED = {"star wars": {"11": 3, "1891": 2}, "-wars": {"7": 0}, "unrated": {}}


def test_the_ratings_of_a_case_as_csv(file: Path) -> None:
    file.write_text("query,docid,rating\nstar wars,11,3\nstar wars,1891,2\n -wars,7,0\nunrated\n")
    for name in (None, "quepid"):
        golden = GoldenSet.load(file, name)
        assert grades_of(golden) == RATED
        assert golden.query("star wars").text == "star wars"


@pytest.mark.parametrize("indent", [None, 2])
def test_the_ratings_of_a_case_as_json(file: Path, indent: int | None) -> None:
    """Read as cases; a null rating is none."""
    case = {
        "case_name": "Movies",
        "options": {},
        "queries": [
            {
                "arranged_next": None, "query_text": "star wars", "notes": "by title",
                "ratings": {"11": 3, "1891": 2, "12": None},
            },
            {"query_text": "unrated", "notes": None, "ratings": {}},
        ],
    }  # fmt: skip
    file.write_text(json.dumps(case, indent=indent))
    golden = GoldenSet.load(file)
    assert grades_of(golden) == {"star wars": {"11": 3, "1891": 2}, "unrated": {}}
    assert golden.query("star wars").attributes == {"notes": "by title"}


def test_the_ratings_of_a_books_judges_are_averaged(file: Path) -> None:
    file.write_text("query,docid,Alice,Bob\nstar wars,11,3,2\nstar wars,12,,1\nstar wars,13,,\n")
    assert grades_of(GoldenSet.load(file)) == {"star wars": {"11": 2.5, "12": 1}}


def test_a_broken_export_is_reported(file: Path) -> None:
    for text, message in (
        ("query,docid,rating\nq,d,good\n", ":2: the grade of document 'd' is 'good'"),
        ("query,docid,rating\nq,d,1,2\n", ":2: 4 columns, but the header has 3"),
        ("query,docid,rating\n,d,1\n", ":2: the query is empty"),
        ("query,docid,rating\nq,,1\n", ":2: a document id is empty"),
        ("query,docid,A,B\nq,d,1,x\n", ":2: the grade of document 'd' is 'x'"),
        ("docid,query\nd,q\n", "header of a Quepid table must begin with query,docid"),
    ):  # fmt: skip
        file.write_text(text)
        with pytest.raises(GoldenSetError, match=message) as refused:
            GoldenSet.load(file, "quepid")
        assert str(refused.value).startswith(str(file))
