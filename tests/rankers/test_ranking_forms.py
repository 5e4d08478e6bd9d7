"""The forms of a ranking: what has no order, or two meanings, is refused from every source."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, RankcheckError, RankerError, Run, RunError, rank, rankers

ONE = GoldenSet.from_dict({"q": {"d1": 1}}, queries={"q": "text"})


def _retriever(method: str, answer: object) -> object:
    return type("BaseRetriever", (), {method: lambda self, text: answer})()


def _documents(answer: Any) -> Any:
    """The ids of an answer as documents of LangChain and nodes of LlamaIndex."""
    documents = [SimpleNamespace(id=doc, node_id=doc, metadata={}) for doc in answer]
    return documents if isinstance(answer, list) else {_Hashable(**vars(d)) for d in documents}


class _Hashable(SimpleNamespace):
    __hash__ = object.__hash__


SOURCES: dict[str, Callable[[Any], Run]] = {
    "from_dict": lambda answer: Run.from_dict({"q": answer}),
    "from_dict with a depth": lambda answer: Run.from_dict({"q": answer}, depth=5),
    "callable": lambda answer: rank(lambda text: answer, ONE),
    "batch": lambda answer: rank(rankers.batch(lambda texts: [answer]), ONE),
    "LangChain": lambda answer: rank(_retriever("invoke", _documents(answer)), ONE),
    "LlamaIndex": lambda answer: rank(_retriever("retrieve", _documents(answer)), ONE),
}


@pytest.fixture(params=SOURCES)
def ranked(request: pytest.FixtureRequest) -> Callable[[Any], Run]:
    return SOURCES[request.param]


@pytest.mark.parametrize("answer", [{"d1", "d2"}, frozenset(["d1", "d2"]), {"d1"}])
def test_a_set_is_refused_from_every_source(ranked: Callable[[Any], Run], answer: set[str]) -> None:
    with pytest.raises(RankcheckError, match="has no order"):
        ranked(answer)
    assert ranked(["d2", "d1"])["q"] == ("d2", "d1")


def test_an_async_ranker_that_returns_a_set_is_refused() -> None:
    async def search(text: str) -> set[str]:
        return {"d1", "d2"}

    with pytest.raises(RankerError, match="has no order; give a list of document ids"):
        rank(search, ONE)


def test_the_message_names_the_query_and_shows_the_set() -> None:
    with pytest.raises(RunError, match=r"^query 'q': the ranking is \{'d1'\} \(set\), which has"):
        Run.from_dict({"q": {"d1"}})


def test_a_set_of_rankings_is_refused() -> None:
    golden = GoldenSet.from_dict({"q": {"a": 1}, "p": {"b": 1}}, queries={"q": "q", "p": "p"})
    search = rankers.batch(lambda texts: {("a",), ("b",)})
    with pytest.raises(RankerError, match="the batch was answered with set, not a list of"):
        rank(search, golden)


@pytest.mark.parametrize(
    "answer",
    [
        OrderedDict.fromkeys(["d2", "d1"]).keys(),
        {"d2": None, "d1": None}.keys(),
        {1: "d2", 2: "d1"}.values(),
        {"d2": 2.0, "d1": 1.0}.items(),
        deque(["d2", "d1"]),
        ("d2", "d1"),
        np.array(["d2", "d1"]),
        np.array(["d2", "d1"], dtype=object),
        pd.Index(["d2", "d1"]),
        pd.array(["d2", "d1"]),
        pd.DataFrame({"docno": ["d2", "d1"]}),
        pd.Series(["d2", "d1"]),
        pd.Series(["d2", "d1"], dtype="category"),
        pd.DataFrame({"doc": ["d1", "d2"], "s": [1, 2]}).sort_values("s", ascending=False)["doc"],
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_what_has_an_order_is_read(answer: Any) -> None:
    assert Run.from_dict({"q": answer})["q"] == ("d2", "d1")


def test_a_generator_is_read() -> None:
    assert Run.from_dict({"q": (doc for doc in ("d2", "d1"))})["q"] == ("d2", "d1")


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (np.array([["d1", "d2"]]), "ndarray"),
        (np.array("d1"), "ndarray"),
        (np.array([["d1", 2.0], ["d2", 1.0]], dtype=object), "ndarray"),
        (b"d1", "bytes"),
        (bytearray(b"d1"), "bytearray"),
        (memoryview(b"d1"), "memoryview"),
        ("d1", "str"),
        (np.str_("d1"), "str_"),
    ],
)
def test_what_is_not_a_list_is_refused(answer: object, shown: str) -> None:
    with pytest.raises(RunError, match=rf"the ranking is .*\({shown}\); it must be a list of doc"):
        Run.from_dict({"q": answer})


def test_an_array_of_scores_is_refused() -> None:
    with pytest.raises(RunError, match=r"a document id is .*0\.5"):
        Run.from_dict({"q": np.array([0.5, 0.25])})


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([0.5, 0.25], index=["d1", "d2"]),
        pd.Series([5, 3], index=["d1", "d2"]),
        pd.Series([5, 3]),
        pd.Series(["title", "other"], index=["d1", "d2"]),
        pd.Series([0.5, 0.25], index=[11, 12]),
        pd.Series(["d1", None]),
    ],
)
def test_a_series_with_two_readings_is_refused_with_both(series: Any) -> None:
    with pytest.raises(RunError) as failure:
        Run.from_dict({"q": series})
    with pytest.raises(RankerError) as from_a_ranker:
        rank(lambda text: series, ONE)
    for said in (str(failure.value), str(from_a_ranker.value)):
        assert "series.tolist()" in said
        assert "series.to_dict()" in said
        assert str(series.index[0]) in said


def test_an_empty_series_is_an_empty_ranking() -> None:
    assert Run.from_dict({"q": pd.Series([], dtype=object)})["q"] == ()


def test_a_frame_of_a_ranker_is_in_the_order_of_its_ranks() -> None:
    frame = pd.DataFrame({"doc_id": ["d2", "d1"], "rank": [1, 5]})
    assert rank(lambda text: frame, ONE)["q"] == ("d2", "d1")
    with pytest.raises(RankerError, match="are not in the order of its column rank; sort them"):
        rank(lambda text: frame.assign(rank=[2, 1]), ONE)
    # ranks beside scores that give the order are not checked: those of a first stage, for example
    scored = frame.assign(rank=[2, 1], score=[2.0, 1.0])
    assert rank(lambda text: scored, ONE)["q"] == ("d2", "d1")


@pytest.mark.parametrize("column", ["rank", "Rank", "position", "pos"])
def test_rows_that_contradict_their_ranks_are_refused(column: str) -> None:
    frame = pd.DataFrame({"doc_id": ["c", "a", "b"], column: [3, 1, 2], "score": [0.1, 0.9, 0.5]})
    for rows in (frame, frame.drop(columns="score")):
        with pytest.raises(RunError, match=f"not in the order of its column {column}; sort them"):
            Run.from_dict({"q": rows})
        assert Run.from_dict({"q": rows.sort_values(column)})["q"] == ("a", "b", "c")


@pytest.mark.parametrize(
    "column",
    [
        {"position": ["nurse", "cook", "clerk"]},  # of a job
        {"position": [7, 2, 5]},  # in a text
        {"rank": [None, 2, 1]},
        {"ranking": [3, 1, 2]},
    ],
)
def test_columns_that_are_no_ranks_are_ignored(column: dict[str, object]) -> None:
    frame = pd.DataFrame({"doc_id": ["a", "b", "c"], "score": [0.9, 0.5, 0.1], **column})
    assert Run.from_dict({"q": frame})["q"] == ("a", "b", "c")


def test_a_score_is_read_under_any_case() -> None:
    frame = pd.DataFrame({"doc_id": ["a", "b"], "Score": [0.9, 0.5]})
    assert Run.from_dict({"q": frame}).scores("q") == (0.9, 0.5)
