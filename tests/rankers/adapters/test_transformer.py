"""Transformers like PyTerrier's: DataFrames in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, RankerError, rank
from pytest_rankcheck.rankers import transformer

GOLDEN = GoldenSet.from_dict(
    {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}, {"q1": "red", "q2": "blue", "q3": "grey"}
)
ROWS = pd.DataFrame(
    [("q1", "a", 1.0, 1), ("q2", "a", 5.0, 1), ("q1", "b", 2.0, 0), ("q2", "b", 4.0, 0)],
    columns=["qid", "docno", "score", "rank"],
)


def rankings_of(ranker: object) -> dict[str, list[str]]:
    run = rank(ranker, GOLDEN)
    return {query_id: list(run[query_id]) for query_id in run}


class Retrieve:
    """A transformer in PyTerrier's sense."""

    def __init__(self, found: Any = ROWS) -> None:
        self.found = found
        self.asked: list[pd.DataFrame] = []

    def transform(self, queries: pd.DataFrame) -> Any:
        self.asked.append(queries)
        return self.found(queries) if callable(self.found) else self.found


def test_scores_decide_then_ranks() -> None:
    assert rankings_of(transformer(Retrieve())) == {"q1": ["b", "a"], "q2": ["a", "b"], "q3": []}
    by_rank = transformer(Retrieve(ROWS.drop(columns="score")))
    assert rankings_of(by_rank) == {"q1": ["b", "a"], "q2": ["b", "a"], "q3": []}


def test_queries_are_passed_all_at_once_or_in_batches() -> None:
    retrieve = Retrieve(lambda queries: ROWS[ROWS["qid"].isin(queries["qid"])])
    rank(transformer(retrieve), GOLDEN)
    assert retrieve.asked[0].to_dict("list") == {
        "qid": ["q1", "q2", "q3"], "query": ["red", "blue", "grey"],
    }  # fmt: skip
    rank(transformer(retrieve, size=2), GOLDEN)
    assert [len(asked) for asked in retrieve.asked] == [3, 2, 1]


def test_a_function_is_enough_and_ids_can_be_numbers() -> None:
    golden = GoldenSet.from_dict({"1": {"7": 1}}, {"1": "red"})
    rows = pd.DataFrame({"qid": [1, 1], "docno": [7, 8], "score": [1, 2]})
    assert list(rank(transformer(lambda queries: rows), golden)["1"]) == ["8", "7"]


TIED = pd.DataFrame({"qid": ["q1"] * 3, "docno": ["a", "b", "c"], "score": [1.0] * 3})


def test_a_duplicate_does_not_change_how_ties_are_broken() -> None:
    repeated = pd.concat([TIED, TIED.head(1)])
    for rows in (TIED, repeated):
        ranker = transformer(Retrieve(rows))
        assert rank(ranker, GOLDEN, duplicates="close_gaps")["q1"] == ("c", "b", "a")
        by_row = rank(ranker, GOLDEN, duplicates="close_gaps", ties="input")
        assert by_row["q1"] == ("a", "b", "c")
        with pytest.raises(RankerError, match="documents 'a' and 'b' have the same score"):
            rank(ranker, GOLDEN, duplicates="close_gaps", ties="error")


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, "the transformer returned NoneType, not a DataFrame"),
        (
            ROWS.rename(columns={"docno": "docid"}),
            "no column docno; it has qid, docid, score, rank",
        ),
        (ROWS.replace("q2", "q9"), "the answer has a query that was not asked: 'q9'"),
        (
            ROWS.assign(qid=["q1", None, "q1", "q2"]),
            "the answer has a query that was not asked: '(None|nan)'",
        ),
        (
            ROWS[["qid", "docno", "score"]].rename(columns={"score": "scor"}),
            "the answer has no column score or rank; it has qid, docno, scor. If its rows are in",
        ),
    ],
)
def test_a_wrong_answer_is_refused(found: object, message: str) -> None:
    with pytest.raises(RankerError, match=message):
        rank(transformer(Retrieve(found)), GOLDEN)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.needs("pyterrier")
def test_the_real_pyterrier() -> None:
    import pyterrier as pt

    scores: Callable[[Any], float] = lambda row: float(len(row["docno"]))  # noqa: E731
    source = pt.Transformer.from_df(ROWS.assign(query="x")) if hasattr(
        pt.Transformer, "from_df"
    ) else pt.apply.generic(lambda queries: ROWS.merge(queries, on="qid"))  # fmt: skip
    assert rankings_of(transformer(source)) == {"q1": ["b", "a"], "q2": ["a", "b"], "q3": []}
    pipeline = source >> pt.apply.doc_score(scores)
    assert rankings_of(transformer(pipeline)) == {"q1": ["b", "a"], "q2": ["b", "a"], "q3": []}
