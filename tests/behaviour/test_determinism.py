"""A ranker answers the same: each condition broken by a ranker that breaks it, and only it."""

from __future__ import annotations

import asyncio
import itertools
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    Query,
    RankerError,
    RunError,
    assert_deterministic,
)
from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.determinism_check import DeterminismResult, check_determinism
from pytest_rankcheck.behaviour.determinism_options import DeterminismOptions
from pytest_rankcheck.rankers import batch, embedder, model, scorer, transformer
from pytest_rankcheck.reports.notes import Note, Topic

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {f"d{n}": 1, "e": 0, "f": 0} for n in range(9)},
    {f"q{n}": f"text {n}" for n in range(9)},
    name="web",
)
NOT_GIVEN = ["fresh", "processes", "clock"]
ALL = ["repeats", "batch", "order", "candidates", "threads", *NOT_GIVEN]


def found_in(ranker: object, golden: GoldenSet = GOLDEN, **ways: Any) -> DeterminismResult:
    return check_determinism(
        RepeatedRanker.of(ranker, golden, {}), golden, DeterminismOptions(**ways)
    )


def broken_by(ranker: object, **ways: Any) -> dict[str, list[str]]:
    """Return the conditions that make a difference, with the queries."""
    return {
        one.condition: [difference.query_id for difference in one.differences]
        for one in found_in(ranker, **ways).broken
    }


def without_numbers_of_calls(text: str) -> str:
    """Return a text with N for the number of calls, which depends on how fast the machine is."""
    return re.sub(r"[\d,]+ (calls per query|of them)", r"N \1", text)


def constant(text: str) -> list[str]:
    return [text, "x", "y"]


# --- what answers the same ---------------------------------------------------------------------


class Estimator:
    """Scores each candidate by its feature alone."""

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 0]


LETOR = GoldenSet.from_frame(
    pd.DataFrame(
        {
            "query_id": ["q1", "q1", "q1", "q2", "q2"],
            "doc_id": ["a", "b", "c", "a", "d"],
            "relevance": [1, 0, 0, 1, 0],
            "feature": [0.5, 2.0, 2.0, 1.0, 3.0],
        }
    )
)


async def waiting(text: str) -> list[str]:
    await asyncio.sleep(0)
    return [text]


CALLED = list[str]


@pytest.mark.parametrize(
    ("ranker", "golden", "skipped"),
    [
        (constant, GOLDEN, ["batch", "candidates"]),
        (waiting, GOLDEN, ["batch", "candidates"]),
        (batch(lambda texts: [[text] for text in texts], size=4), GOLDEN, ["candidates"]),
        (batch(lambda texts: [[text] for text in texts], size=1), GOLDEN, ["batch", "candidates"]),
        (scorer(lambda text, docs: [len(doc) for doc in docs]), GOLDEN, ["batch"]),
        (model(Estimator(), features=["feature"]), LETOR, []),
        (
            embedder(lambda texts: [[len(t), 1.0] for t in texts], {"a": "x"}),
            GOLDEN,
            ["candidates"],
        ),
        (
            transformer(lambda queries: pd.DataFrame({"qid": queries["qid"], "docno": "d"})),
            GOLDEN,
            ["candidates"],
        ),
    ],
)
def test_what_answers_the_same_passes_and_says_what_applied(
    ranker: object, golden: GoldenSet, skipped: list[str]
) -> None:
    found = found_in(ranker, golden)
    assert sorted(one.condition for one in found.conditions) == sorted(ALL)
    assert not found.broken
    assert [one.condition for one in found.conditions if one.skipped] == [*skipped, *NOT_GIVEN]


# --- what does not -----------------------------------------------------------------------------


def test_a_ranker_that_draws_is_told_by_asking_again() -> None:
    calls = itertools.count()

    def draws(text: str) -> list[str]:
        turn = next(calls) // 9 % 2
        return ["b", "a"] if text in ("text 2", "text 7") and turn else ["a", "b"]

    assert broken_by(draws) == {"repeats": ["q2", "q7"]}


def test_a_ranker_that_remembers_is_told_by_the_order_of_queries() -> None:
    class Remembers:
        """Ranks query 7 and 8 otherwise after query 8: in reverse, 8 follows on 8, then 7."""

        before = ""

        def __call__(self, text: str) -> list[str]:
            was, self.before = self.before, "" if text == "text 0" else text
            return ["b", "a"] if was == "text 8" and text != "text 0" else ["a", "b"]

    assert broken_by(Remembers(), insensitive_to=["order"]) == {"order": ["q7", "q8"]}
    assert broken_by(Remembers(), insensitive_to=[]) == {}


def test_a_batch_whose_queries_touch_each_other_is_told_by_its_size() -> None:
    def padded(texts: list[str]) -> list[list[str]]:
        return [["a", "b"] if len(texts) > 2 or text != "text 4" else ["b", "a"] for text in texts]

    assert broken_by(batch(padded, size=8)) == {"batch": ["q4"]}
    assert broken_by(batch(padded, size=8), batch_sizes=[3, 7]) == {}
    assert broken_by(batch(padded, size=8), insensitive_to=["order"]) == {}


def test_no_batch_is_larger_than_the_ranker_is_made_for() -> None:
    sizes = set()

    def seen(texts: list[str]) -> list[list[str]]:
        sizes.add(len(texts))
        return [["a"] for _ in texts]

    assert broken_by(batch(seen, size=4), insensitive_to=["batch"]) == {}
    assert sizes == {4, 1, 2}  # nine queries are 4, 4, 1; one at once; and 2, 2, 2, 2, 1


def first_wins(text: str, docs: list[str]) -> list[float]:
    """Score by the length of the id, and ties by place."""
    return [len(doc) - place / 100 for place, doc in enumerate(docs)]


class ByPlace:
    """Predicts by the feature, and ties by place."""

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 0] - np.arange(len(rows)) / 100


def test_a_reranker_that_looks_at_places_is_told_by_the_order_of_candidates() -> None:
    assert broken_by(scorer(first_wins)) == {"candidates": [f"q{n}" for n in range(9)]}
    two = {"q1": ["e", "f"], "q2": ["e", "ff"]}
    assert broken_by(scorer(first_wins, candidates=two)) == {"candidates": ["q1"]}
    found = found_in(model(ByPlace(), features=["feature"]), LETOR, insensitive_to=["candidates"])
    assert [difference.query_id for difference in found.broken[0].differences] == ["q1"]


class Racy:
    """Keeps the query it works on where another thread can change it."""

    def __call__(self, text: str) -> list[str]:
        self.text = text
        if threading.current_thread() is not threading.main_thread():
            for _ in range(20):  # until another thread has come, however busy the machine is
                if self.text != text:
                    break
                time.sleep(0.001)
        return [self.text, "x"]


class Locked(Racy):
    """Does the same, and lets one thread in at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, text: str) -> list[str]:
        with self.lock:
            return super().__call__(text)


def test_a_ranker_that_shares_state_between_threads_is_told() -> None:
    sys.setswitchinterval(0.005)  # Python's own
    assert list(broken_by(Racy())) == ["threads"]
    assert broken_by(Racy(), insensitive_to=["order"]) == {}
    assert broken_by(Locked()) == {}
    assert sys.getswitchinterval() == 0.005


def test_an_async_ranker_is_asked_for_one_query_at_a_time_instead() -> None:
    class Crossing:
        """Keeps the query over a wait, in which others come."""

        async def __call__(self, text: str) -> list[str]:
            self.text = text
            await asyncio.sleep(0)
            return [self.text]

    assert next(iter(broken_by(Crossing()))) == "threads"
    asker = RepeatedRanker.of(Crossing(), GOLDEN, {"concurrency": 1})
    found = check_determinism(asker, GOLDEN, DeterminismOptions())
    assert not found.broken
    assert found.conditions[1].skipped == "concurrency=1 asks for one query at a time"


def test_what_is_broken_already_is_not_asked_about_again() -> None:
    calls = itertools.count()
    found = found_in(lambda text: [f"{text} {next(calls)}"])
    assert [one.condition for one in found.broken] == ["repeats"]
    assert [one.skipped for one in found.conditions[1:]] == [
        "the ranker is asked one query after the other",
        "no query is left that was always ranked the same",
        "the ranker is given no candidates",
        "no query is left that was always ranked the same",
        "give fresh=",
        "give processes=",
        "give clock=",
    ]


def test_an_error_that_comes_later_is_a_difference() -> None:
    calls = itertools.count()

    def breaks(text: str) -> list[str]:
        if next(calls) == 13:
            raise ValueError("index\x1b lost")
        return ["a"]

    with pytest.raises(AssertionError) as failure:
        assert_deterministic(breaks, GOLDEN)
    text = str(failure.value)
    assert (
        "  asked again          1 of 9 queries ranked differently, 1 of them with an error" in text
    )
    assert (
        '    q4 "text 4"   time 2\n      first  1 a\n      then   ValueError: index\\x1b lost'
        in text
    )


def test_an_error_of_everything_is_a_difference_too() -> None:
    class Breaks:
        calls = 0

        def __call__(self, texts: list[str]) -> list[list[str]]:
            self.calls += 1
            if self.calls > 1:
                raise MemoryError("full")
            return [["a"] for _ in texts]

    assert len(broken_by(batch(Breaks(), size=9))["repeats"]) == 9


# --- the assertion -----------------------------------------------------------------------------


def test_the_text_names_conditions_queries_and_both_rankings(entered: list[Note]) -> None:
    def padded(texts: list[str]) -> list[list[str]]:
        docs = [f"d{place}" for place in range(8)]
        swapped = [docs[0], docs[2], docs[1], *docs[3:]]
        return [swapped if len(texts) < 3 and text == "text 4" else docs for text in texts]

    with pytest.raises(AssertionError) as failure:
        assert_deterministic(batch(padded, size=8), GOLDEN)
    # RBO at p = 0.9 of two rankings of 8 that swap ranks 2 and 3: the agreement is 1/2 at depth 2
    # and 1 elsewhere, so it is 1 - 0.1 * 0.9 / 2 = 0.955.
    name = "test_the_text_names_conditions_queries_and_both_rankings.<locals>.padded"
    assert without_numbers_of_calls(str(failure.value)) == (
        f"ranker '{name}' on golden set 'web' (9 queries) is not deterministic: batch "
        "size\n"
        "  asked again          9 queries ranked the same (time 2, time 3)\n"
        "  batch size           1 of 9 queries ranked differently (1 at once, 4 at once)\n"
        "  order of queries     8 other queries ranked the same (in reverse, every second one "
        "first)\n"
        "  order of candidates  not checked: the ranker is given no candidates\n"
        "  several at once      8 other queries ranked the same (4 threads)\n"
        "  new instance         not checked: give fresh=\n"
        "  new processes        not checked: give processes=\n"
        "  clock                not checked: give clock=\n"
        "  N calls per query, N of them from threads; 92 more calls to confirm the cause\n"
        "  batch size: an answer depends on the rest of its batch: look for padding, for "
        "statistics over the batch, and for scores so close that rounding decides\n"
        "    asked again: different in 5 of 5 requests this way, and in 0 of 5 as the first time\n"
        '    q4 "text 4"   1 at once, RBO 0.955, from rank 2 on\n'
        "      first  1 d0   2 d1   3 d2   4 d3   5 d4   ... 8 documents\n"
        "      then   1 d0   2 d2   3 d1   4 d3   5 d4   ... 8 documents"
    )
    (note,) = entered
    assert note.failure == str(failure.value)
    assert note.text == str(failure.value).partition("\n")[0]


def test_what_passed_is_said_in_a_line(entered: list[Note]) -> None:
    assert_deterministic(constant, GOLDEN.subset(["q1"]), 2, depth=2)
    (note,) = entered
    assert note.topic is Topic.DETERMINISM
    assert not note.failed
    assert without_numbers_of_calls(note.text) == (
        "ranker 'constant' on golden set 'web' (1 query) is deterministic (asked again, several at "
        "once); not checked: batch size, order of queries, order of candidates, new instance (give "
        "fresh=), new processes (give processes=), clock (give clock=); N calls per query, N of "
        "them from threads"
    )


def test_the_options_of_rank_are_taken() -> None:
    asked = []

    def search(query: Query, k: int) -> list[str]:
        asked.append(k)
        return [f"d{place}" for place in range(k)]

    assert_deterministic(search, GOLDEN, repeats=2, insensitive_to=(), depth=7)
    assert set(asked) == {7}
    assert len(asked) == 18
    tied = scorer(lambda text, docs: [1.0 for _ in docs])
    assert_deterministic(tied, GOLDEN)  # ties are broken by id
    with pytest.raises(AssertionError, match="order of candidates"):
        assert_deterministic(tied, GOLDEN, ties="input")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: assert_deterministic(constant, GOLDEN, 1),
            ConfigurationError,
            "repeats=1 is invalid",
        ),
        (
            lambda: assert_deterministic(constant, GOLDEN, True),
            ConfigurationError,
            "repeats must be a whole number, not True",
        ),
        (
            lambda: assert_deterministic(constant, GOLDEN, threads=1),
            ConfigurationError,
            "threads=1 is invalid; give a whole number from 2 on",
        ),
        (
            lambda: assert_deterministic(constant, GOLDEN, batch_sizes=[2, 0]),
            ConfigurationError,
            r"batch_sizes\[1\]=0 is invalid; give a whole number from 1 on",
        ),
        (
            lambda: assert_deterministic(constant, GOLDEN, insensitive_to="repeats"),  # type: ignore[arg-type]
            ConfigurationError,
            "insensitive_to=repeats is invalid; give one of batch, order",
        ),
        (
            lambda: assert_deterministic(constant, GOLDEN, insensitive_to=["thread"]),  # type: ignore[list-item]
            ConfigurationError,
            "insensitive_to=thread is invalid; did you mean 'threads'",
        ),
        (
            lambda: assert_deterministic(constant, GOLDEN, insensitive_to="threds"),  # type: ignore[arg-type]
            ConfigurationError,
            "insensitive_to=threds is invalid; did you mean 'threads'",
        ),
        (
            lambda: assert_deterministic(constant, GOLDEN, detph=3),  # type: ignore[call-arg]
            ConfigurationError,
            "unknown option 'detph'; did you mean 'depth'",
        ),
        (lambda: assert_deterministic(constant, GOLDEN, depth=0), RankerError, "depth=0"),
        (
            lambda: assert_deterministic(GOLDEN, constant),  # type: ignore[arg-type]
            ConfigurationError,
            "golden_set and ranker are swapped",
        ),
        (lambda: assert_deterministic(3, GOLDEN), RankerError, "the ranker is int"),
        (lambda: assert_deterministic(lambda text: [], GOLDEN), RunError, "every ranking is empty"),
        (
            lambda: assert_deterministic(lambda text: 1 / 0, GOLDEN),
            RankerError,
            "failed on 9 of 9 queries, first on 'q0'",
        ),
    ],
)
def test_invalid_arguments_are_refused(
    call: Callable[[], None], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_foreign_text_in_rankings_is_harmless() -> None:
    calls = itertools.count()

    def odd(text: str) -> Sequence[str]:
        return [f"\x1b[2J{next(calls)}"]

    golden = GoldenSet.from_dict({"q\n": {"d": 1}}, {"q\n": "\u202etext"})
    with pytest.raises(AssertionError) as failure:
        assert_deterministic(odd, golden)
    assert "\x1b" not in str(failure.value)
    assert "\u202e" not in str(failure.value)
