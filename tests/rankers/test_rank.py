"""Calling a ranker: its parameters, its answers, and its failures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, Query, RankcheckError, RankerError, rank

GOLDEN = GoldenSet.from_dict(
    {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}},
    {"q1": "red shoes", "q2": "blue hat", "q3": "green"},
    attributes={"q1": {"locale": "en"}},
)
ONE = GoldenSet.from_dict({"q": {"d": 1}}, {"q": "text"})


def ids() -> Iterator[str]:
    yield from ("b", "a")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (["b", "a"], ("b", "a")),
        (("b", "a"), ("b", "a")),
        ([2, 10], ("2", "10")),
        ([np.int64(2), np.int32(10)], ("2", "10")),
        (np.array([2, 10]), ("2", "10")),
        (np.array(["b", "a"]), ("b", "a")),
        (pd.Index(["b", "a"]), ("b", "a")),
        ({"b": None}.keys(), ("b",)),
        # pairs are in order as returned, whatever the scores
        ([("b", 1.0), ("a", 2.0)], ("b", "a")),
        ([["b", 2], ["a", np.float32(1)]], ("b", "a")),
        (zip(["b", "a"], [2, 1], strict=True), ("b", "a")),
        # a dict is put into the order of its scores, ties by id, descending
        ({"a": 1.0, "b": 2.0}, ("b", "a")),
        ({"a": 1, "c": 1, "b": np.int64(1)}, ("c", "b", "a")),
        ({9: 1.0, 10: 1.0}, ("9", "10")),
        (pd.DataFrame({"doc_id": ["b", "a"]}), ("b", "a")),
        (pd.DataFrame({"docno": [2, 1], "score": [1.0, 2.0]}), ("2", "1")),
        ([], ()),
        ((), ()),
        ({}, ()),
        (pd.DataFrame({"doc_id": []}), ()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_form_of_answer_is_a_ranking(answer: object, expected: tuple[str, ...]) -> None:
    assert rank(lambda text: answer, ONE).ranking("q") == expected


def test_the_ranker_gets_the_text() -> None:
    asked: list[object] = []
    run = rank(lambda text: asked.append(text) or ["d"], GOLDEN)
    assert asked == ["red shoes", "blue hat", "green"]
    assert run.query_ids == GOLDEN.query_ids
    assert run.depth == 100


def test_a_parameter_named_depth_or_k_gets_the_depth() -> None:
    def with_depth(text: str, depth: int, k: int = 3) -> list[str]:
        return [str(depth), f"k={k}"]

    def with_k(text: str, k: int) -> list[str]:
        return [str(k)]

    def keyword_only(text: str, *, k: int = 3) -> list[str]:
        return [str(k)]

    def other(text: str, n: int = 3) -> list[str]:
        return [str(n)]

    assert rank(with_depth, ONE, depth=7)["q"] == ("7", "k=3")
    assert rank(with_k, ONE, depth=7)["q"] == ("7",)
    assert rank(keyword_only, ONE, depth=7)["q"] == ("7",)
    assert rank(other, ONE, depth=7)["q"] == ("3",)
    # a ranker whose only parameter is called k takes the query
    assert rank(lambda k: [k], ONE, depth=7)["q"] == ("text",)


class Engine:
    def search(self, query: Query, k: int = 10) -> list[str]:
        return [query.id, query.text or "", *map(str, query.attributes.values()), str(k)]

    def __call__(self, text: str) -> list[str]:
        return [text]


def by_text_annotation(query: "Query") -> list[str]:  # noqa: UP037
    return [query.id]


def by_dotted_annotation(query: "pytest_rankcheck.Query") -> list[str]:  # type: ignore  # noqa
    return [query.id]


def test_a_parameter_annotated_query_gets_the_query() -> None:
    run = rank(Engine().search, GOLDEN, depth=5)
    assert run["q1"] == ("q1", "red shoes", "en", "5")
    assert rank(by_text_annotation, ONE)["q"] == ("q",)
    assert rank(by_dotted_annotation, ONE)["q"] == ("q",)

    def by_class(query) -> list[str]:  # type: ignore[no-untyped-def]
        return [query.id]

    by_class.__annotations__["query"] = Query
    assert rank(by_class, ONE)["q"] == ("q",)


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "10", None])
def test_an_invalid_depth_is_refused(depth: Any) -> None:
    message = r"depth=.* is invalid; give a whole number from 1 on|depth must be a whole number"
    with pytest.raises(RankcheckError, match=message):
        rank(lambda text: [], ONE, depth=depth)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "the ranking is None; it must be a list of document ids"),
        ("d1", r"the ranking is 'd1' \(str\)"),
        ([None], "a document id is None"),
        ([""], "a document id is ''"),
        ([1.0], r"a document id is 1.0 \(float\)"),
        (["a", ("b", 1)], "is mixed with"),
        ([("b", 1), "a"], r"'a' \(str\) is mixed with \(id, score\) pairs"),
        ([("b", 1, 2)], "is mixed with"),
        ([("b", float("nan"))], r"the score of document 'b' is nan \(float\)"),
        ([("b", float("inf"))], "scores must be finite numbers"),
        ([("b", "1")], r"the score of document 'b' is '1' \(str\)"),
        ([("b", None)], "the score of document 'b' is None"),
        ({"b": np.nan}, "the score of document 'b' is"),
        (pd.DataFrame({"text": ["a"]}), "the DataFrame has no column doc_id; it has text"),
        (pd.DataFrame({"doc_id": ["a"], "score": [np.nan]}), "the score of document 'a'"),
        (["a", "b", "a"], "document 'a' is ranked twice, at 1 and 3; rank it once"),
        ([1, "1"], "document '1' is ranked twice"),
    ],
)
def test_an_invalid_answer_is_refused_with_the_query(answer: object, message: str) -> None:
    with pytest.raises(RankerError, match=message) as failure:
        rank(lambda text: answer, ONE)
    said = str(failure.value)
    assert said.startswith("the ranker failed on 1 of 1 query, first on 'q' \"text\": ")
    assert failure.value.__cause__ is None


def test_all_failing_queries_are_counted_and_the_first_is_the_cause() -> None:
    calls = []

    def broken(text: str) -> list[str]:
        calls.append(text)
        if text == "red shoes":
            return ["d1"]
        raise KeyError(f"no index for {text}")

    with pytest.raises(RankerError) as failure:
        rank(broken, GOLDEN)
    said = str(failure.value)
    assert said.startswith(
        "the ranker failed on 2 of 3 queries, first on 'q2' \"blue hat\": KeyError: "
    )
    assert "no index for blue hat" in said
    assert "also failed: q3" in said
    assert isinstance(failure.value.__cause__, KeyError)
    assert failure.value.__cause__.__traceback__ is not None
    assert len(calls) == 3


def test_an_interrupt_passes_through() -> None:
    for stop in (KeyboardInterrupt, SystemExit, pytest.skip.Exception):

        def interrupted(text: str, stop: type[BaseException] = stop) -> list[str]:
            raise stop

        with pytest.raises(stop):
            rank(interrupted, ONE)


def test_a_query_without_text_needs_a_ranker_that_takes_the_query() -> None:
    golden = GoldenSet.from_dict({"q": {"d": 1}})
    with pytest.raises(
        RankerError, match=r"first on 'q': the query has no text .*\(def recommend\(query: Query\)"
    ):
        rank(lambda text: [], golden)
    assert rank(by_text_annotation, golden)["q"] == ("q",)
