"""The forms of a ranking: what has no order, or two meanings, is refused from every source."""

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


def test_what_has_an_order_is_read() -> None:
    for answer in (
        OrderedDict.fromkeys(["d2", "d1"]).keys(),
        {1: "d2", 2: "d1"}.values(),
        {"d2": 2.0, "d1": 1.0}.items(),
        deque(["d2", "d1"]),
        np.array(["d2", "d1"], dtype=object),
        pd.array(["d2", "d1"]),
    ):
        assert Run.from_dict({"q": answer})["q"] == ("d2", "d1"), type(answer)


def test_what_is_not_a_list_is_refused() -> None:
    table = np.array([["d1", 2.0], ["d2", 1.0]], dtype=object)
    for answer in (np.array("d1"), table, b"d1", bytearray(b"d1"), memoryview(b"d1"), "d1"):
        shown = rf"the ranking is .*\({type(answer).__name__}\); it must be a list of doc"
        with pytest.raises(RunError, match=shown):
            Run.from_dict({"q": answer})


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([0.5, 0.25], index=["d1", "d2"]),
        pd.Series(["title", "other"], index=["d1", "d2"]),
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


def test_a_frame_of_a_ranker_is_in_the_order_of_its_ranks() -> None:
    frame = pd.DataFrame({"doc_id": ["d2", "d1"], "rank": [1, 5]})
    assert rank(lambda text: frame, ONE)["q"] == ("d2", "d1")
    with pytest.raises(RankerError, match="are not in the order of its column rank; sort them"):
        rank(lambda text: frame.assign(rank=[2, 1]), ONE)
    # ranks beside scores that give the order are not checked: those of a first stage, for example
    scored = frame.assign(rank=[2, 1], score=[2.0, 1.0])
    assert rank(lambda text: scored, ONE)["q"] == ("d2", "d1")
