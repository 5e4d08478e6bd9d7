"""Rankers of many queries at once, and what all adapters share."""

import time
from collections.abc import Iterator

import pytest

from pytest_rankcheck import GoldenSet, Query, RankerError, rank
from pytest_rankcheck.rankers import batch

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {f"d{n}": 1} for n in range(7)}, {f"q{n}": f"text {n}" for n in range(7)}
)


def answer(text: str) -> list[str]:
    number = text.rpartition(" ")[2]
    return [f"d{number}", "other"]


EXPECTED = {f"q{n}": (f"d{n}", "other") for n in range(7)}


def rankings_of(ranker: object, golden: GoldenSet = GOLDEN, **options: object) -> dict:
    run = rank(ranker, golden, **options)  # type: ignore[arg-type]
    return {query_id: tuple(run[query_id]) for query_id in run}


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_queries_come_in_batches(size: int) -> None:
    sizes = []

    def ranker(texts: list[str]) -> list[list[str]]:
        sizes.append(len(texts))
        return [answer(text) for text in texts]

    assert rankings_of(batch(ranker, size=size)) == EXPECTED
    assert sum(sizes) == 7
    assert max(sizes) == min(size, 7)


def test_a_batch_ranker_can_take_queries_and_the_depth_and_be_a_generator() -> None:
    def ranker(queries: list[Query], k: int) -> Iterator[list[str]]:
        for query in queries:
            yield [f"{query.id}-{place}" for place in range(k)]

    run = rank(batch(ranker), GOLDEN, depth=2)
    assert run["q3"] == ("q3-0", "q3-1")


def test_queries_without_text_need_a_ranker_that_takes_queries() -> None:
    golden = GoldenSet.from_dict({"a": {"d": 1}, "b": {"d": 1}}, {"a": "has one"})

    def of_queries(queries: list[Query]) -> list[list[str]]:
        return [[query.id] for query in queries]

    assert rankings_of(batch(of_queries), golden) == {"a": ("a",), "b": ("b",)}
    with pytest.raises(
        RankerError,
        match=r"failed on 1 of 2 queries, first on 'b': .* has no text .*list\[Query\] to",
    ):
        rank(batch(lambda texts: [["d"] for _ in texts]), golden)


def raising(texts: list[str]) -> list[list[str]]:
    if "text 4" in texts:
        raise KeyError("in the middle of a batch")
    return [answer(text) for text in texts]


def raising_late(texts: list[str]) -> Iterator[list[str]]:
    yield ["d"]
    raise OSError("after the first")


def test_a_wrong_answer_is_refused() -> None:
    for ranker, message in (
        (
            lambda texts: [["d"]] * (len(texts) - 1),
            "batch of 3 queries was answered with 2 rankings",
        ),
        (lambda texts: None, "the batch was answered with NoneType, not a list of rankings: None"),
        (lambda texts: {"text 0": ["d"]}, "answered with dict, not a list of rankings"),
        (lambda texts: "d1 d2 d3", "answered with str, not a list of rankings"),
        (raising_late, "OSError: after the first"),
    ):
        with pytest.raises(RankerError, match=message) as refused:
            rank(batch(ranker, size=3), GOLDEN)
        assert "first on 'q0' \"text 0\"" in str(refused.value)


def test_a_batch_that_raises_fails_only_its_own_queries() -> None:
    with pytest.raises(
        RankerError,
        match=r"failed on 3 of 7 queries, first on 'q3' .*KeyError.*\nalso failed: q4, q5",
    ) as refused:
        rank(batch(raising, size=3), GOLDEN)
    assert isinstance(refused.value.__cause__, KeyError)


@pytest.mark.parametrize("size", [0, -1])
def test_an_invalid_size_is_refused(size: int) -> None:
    with pytest.raises(RankerError, match=f"size={size} is invalid; give a whole number from 1 on"):
        batch(raising, size=size)


def test_the_time_of_a_batch_is_shared_by_its_queries() -> None:
    run = rank(batch(lambda texts: [answer(text) for text in texts], size=4), GOLDEN)
    assert list(run.seconds) == list(GOLDEN.query_ids)
    times = list(run.seconds.values())
    assert times[0] == times[3] != times[4] == times[6]
    assert min(times) > 0


def test_a_batch_is_retried_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    calls = []

    def ranker(texts: list[str]) -> list[list[str]]:
        calls.append(list(texts))
        if len(calls) < 3:
            raise ConnectionError("try again")
        return [answer(text) for text in texts]

    assert rankings_of(batch(ranker), retries=2, retry_on=["ConnectionError"]) == EXPECTED
    assert len(calls) == 3
    assert waits == [0.5, 1]
