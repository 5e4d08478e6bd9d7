"""Runs as DataFrames: what a frame holds, and that a run comes back from its own."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import Run, RunError
from tests.examples import examples, run_of

ids = st.sampled_from([f"d{number}" for number in range(8)])
numbers = st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-12, 2.5, -3.0, 1e300])
lists = st.lists(ids, unique=True, min_size=1, max_size=6)
pairs = st.lists(st.tuples(ids, numbers), unique_by=lambda pair: pair[0], min_size=1, max_size=6)
dicts = st.dictionaries(ids, numbers, min_size=1, max_size=6)
rankings = st.dictionaries(
    st.sampled_from(["q1", "q2", "10", "9"]), st.one_of(lists, pairs, dicts), min_size=1
)


def contents(run: Run) -> dict[str, tuple[Any, Any]]:
    return {query_id: (run[query_id], run.scores(query_id)) for query_id in run}


@examples(300)
@given(given_rankings=rankings, rule=st.sampled_from(["doc_id", "input"]))
def test_a_run_comes_back_from_its_own_frame(given_rankings: Any, rule: Any) -> None:
    """Scores come back too, unless some do not give the order: pinned, or ties otherwise."""
    run = run_of(given_rankings, ties=rule)
    again = Run.from_frame(run.to_frame())
    scored = {each: dict(zip(run[each], run.scores(each) or (), strict=False)) for each in run}
    give_order = all(run.scores(each) for each in run) and all(
        run_of({"q": scores})["q"] == run[each] for each, scores in scored.items()
    )
    for query_id in run:
        assert again[query_id] == run[query_id]
        assert again.scores(query_id) == (run.scores(query_id) if give_order else None)
    pd.testing.assert_frame_equal(again.to_frame(), run.to_frame())


def test_ids_can_be_categories_and_whole_numbers() -> None:
    rows = pd.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["b", "a", "c"]})
    expected = {"q1": (("b", "a"), None), "q2": (("c",), None)}
    categories = rows.astype("category")
    assert contents(Run.from_frame(categories, in_order=True)) == expected
    part = categories[categories["query_id"] == "q2"]
    assert contents(Run.from_frame(part, in_order=True)) == {"q2": expected["q2"]}
    for kind in (np.int64, np.int32, "Int64", object):
        whole = pd.DataFrame({"query_id": [10, 10, 9], "doc_id": [3, 2, 1]}).astype(kind)
        ranked = contents(Run.from_frame(whole, in_order=True))
        assert ranked == {"10": (("3", "2"), None), "9": (("1",), None)}


def test_what_is_wrong_with_a_frame_is_named() -> None:
    for frame, message in (
        (
            {"query_id": [["q"]], "doc_id": ["a"], "rank": [1]},
            r"row 1: query_id is '\['q'\]' \(list\)",
        ),
        (
            {"query_id": [1.0], "doc_id": ["a"], "rank": [1]},
            r"row 1: query_id is '1.0' \(float\)",
        ),
        (
            {"query_id": ["q"] * 2, "doc_id": ["a", "b"], "score": [1.0, None], "rank": [1, 2]},
            "row 2: the score of document 'b' is empty",
        ),
        (
            {"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [np.nan, 1], "rank": [1, 2]},
            "the score of document 'a' is empty",
        ),
        ({"qid": ["q"], "topic": ["q"], "doc_id": ["a"]}, "could both be the query_id; choose one"),
        ({"query_id": ["q"], "document": ["a"]}, "the run has no column 'doc_id'"),
    ):
        with pytest.raises(RunError, match=message):
            Run.from_frame(pd.DataFrame(frame))


def test_usual_names_of_columns_are_recognised_as_in_files() -> None:
    rows = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "similarity": [1.0, 2.0]})
    assert contents(Run.from_frame(rows)) == {"q": (("b", "a"), (2.0, 1.0))}
    ranked = rows.drop(columns="similarity").assign(position=[2, 1])
    assert Run.from_frame(ranked)["q"] == ("b", "a")
    mapped = Run.from_frame(
        pd.DataFrame({"who": ["q", "q"], "sku": ["a", "b"], "place": [2, 1]}),
        columns={"query_id": "who", "doc_id": "sku", "rank": "place"},
    )
    assert mapped["q"] == ("b", "a")
    with pytest.raises(RunError, match="the run has no column 'shop'"):
        Run.from_frame(rows, columns={"query_id": "shop"})
    with pytest.raises(RunError, match=r"unknown key 'query'; .*query_id, doc_id, score, rank"):
        Run.from_frame(rows, columns={"query": "qid"})


ROWS = {"query_id": ["q", "q", "p"], "doc_id": ["b", "a", "c"]}


@pytest.mark.parametrize("column", ["scor", "distance", None])
def test_rows_without_scores_and_ranks_are_in_order_only_if_that_is_said(
    column: str | None,
) -> None:
    frame = pd.DataFrame({**ROWS, **({column: [1, 2, 1]} if column else {})})
    with pytest.raises(RunError) as refusal:
        Run.from_frame(frame)
    text = str(refusal.value)
    assert text.startswith("the run has no column score or rank; it has query_id, doc_id")
    assert text.endswith("or in_order=True, if the rows are in order")
    assert Run.from_frame(frame, in_order=True)["q"] == ("b", "a")
    if column:
        assert Run.from_frame(frame, columns={"rank": column})["q"] == ("b", "a")
        assert Run.from_frame(frame, columns={"score": column})["q"] == ("a", "b")


def test_scores_that_are_partly_empty_or_without_ranks_are_refused(tmp_path: Path) -> None:
    for columns in (
        {"rank": [1, 2], "score": [0.5, None]},
        {"rank": [1, 3], "score": [None, None]},
        {"score": [0.5, None]},
        {"score": [None, None]},
    ):
        frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], **columns})
        frame.to_csv(tmp_path / "run.csv", index=False)
        for read in (lambda: Run.load(tmp_path / "run.csv"), lambda: Run.from_frame(frame)):  # noqa: B023
            with pytest.raises(RunError, match=r"score|gap or a repeat at 2|not numbers"):
                read()
