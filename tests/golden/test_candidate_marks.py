"""Unjudged candidates in tables are marked, and survive saving and loading."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError

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


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_candidate_marks_survive_saving_and_loading(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("polars")
    golden = load(tmp_path, TABLE)
    golden.save(tmp_path / f"again.{ending}")
    again = GoldenSet.load(tmp_path / f"again.{ending}")
    assert again.fingerprint == golden.fingerprint
    assert list(again.candidates_of("q1")) == ["a", "b"]


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


def test_another_mark_is_refused(tmp_path: Path) -> None:
    message = r"golden.csv:3: the candidate mark 'perhaps' is invalid; write 1, true or yes for a c"
    with pytest.raises(GoldenSetError, match=message):
        load(tmp_path, TABLE.replace("b,,1", "b,,perhaps"))
