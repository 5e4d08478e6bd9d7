"""Check that a ranker gives the same answers in any order, batch and thread."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Barrier
from typing import Literal, get_args

from pytest_rankcheck.behaviour.answer_comparison import (
    AnswerDifference,
    RepeatedRanker,
    answer_differences,
)
from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.adapter_protocol import Reorder
from pytest_rankcheck.rankers.adapters.many_queries import BatchedAdapter
from pytest_rankcheck.rankers.callable_adapters import ConcurrentAdapter
from pytest_rankcheck.rankers.rank import Attempt
from pytest_rankcheck.rankers.run import Run

__all__ = [
    "VARIED",
    "Condition",
    "ConditionResult",
    "DeterminismOptions",
    "DeterminismResult",
    "check_determinism",
]

Condition = Literal["repeats", "batch", "order", "candidates", "threads"]
"""What must not matter: earlier requests, the batch size, the order of the queries, the order of a
reranker's candidates, and the number of threads. They are checked in this order, because each one
also varies some of those before it."""

VARIED: tuple[Condition, ...] = get_args(Condition)[1:]
"""The conditions other than repeated requests."""

AskedWays = Iterator[tuple[str, Attempt]]
"""How the ranker was asked, and what it answered."""

_ORDERS: dict[str, Reorder] = {
    "in reverse": lambda places: places[::-1],
    "every second one first": lambda places: [*places[1::2], *places[::2]],
}
_THREADS_MEET = 0.2
"""The shortest time, in seconds, for which each thread asks for all queries again and again."""
_SWITCH_INTERVAL = 1e-5
"""Seconds after which Python switches threads: short, so that races become visible."""


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """The result for one condition."""

    condition: Condition
    ways: Sequence[str] = ()
    """How the ranker was asked."""
    queries: int = 0
    """The number of compared queries."""
    differences: Sequence[AnswerDifference] = ()
    """The first difference of each query that has one."""
    skipped: str = ""
    """Why nothing was compared; empty otherwise."""


@dataclass(frozen=True, slots=True)
class DeterminismResult:
    """The results for all conditions."""

    ranker: str
    conditions: Sequence[ConditionResult]

    @property
    def broken(self) -> Sequence[ConditionResult]:
        """The results of the conditions that made a difference."""
        return [result for result in self.conditions if result.differences]


@dataclass(frozen=True, slots=True)
class DeterminismOptions:
    """The ways in which a ranker is asked.

    Raises:
        ConfigurationError: a number is out of range, or a condition is unknown.
    """

    repeats: int = 3
    insensitive_to: Sequence[Condition] = VARIED
    threads: int = 4
    batch_sizes: Sequence[int] = ()
    """Batch sizes for a ranker of batches; if empty, 1 and half of the ranker's own size."""

    def __post_init__(self) -> None:
        numbers: Mapping[str, tuple[object, int]] = {
            "repeats": (self.repeats, 2),
            "threads": (self.threads, 2),
            **{f"batch_sizes[{place}]": (size, 1) for place, size in enumerate(self.batch_sizes)},
        }
        for what, (value, least) in numbers.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigurationError(
                    f"{what}={quoted(value)} is invalid; give a whole number from {least} on"
                )
        for condition in self.insensitive_to:
            if condition not in VARIED:
                raise ConfigurationError(
                    f"insensitive_to={quoted(condition)} is invalid"
                    f"{suggestion(str(condition), VARIED)}; give one or more of {', '.join(VARIED)}"
                )


def check_determinism(
    ranker: RepeatedRanker, golden: GoldenSet, ways: DeterminismOptions
) -> DeterminismResult:
    """Ask a ranker for the same queries in several ways, and compare with the first answers.

    A query that differs under one condition is left out of the later ones: otherwise a random
    ranker would break them all.

    Raises:
        RankerError: the ranker fails when it is asked for the first time.
        RunError: every ranking is empty.
    """
    __tracebackhide__ = True
    run = ranker.first_run(golden)
    stable = list(run.query_ids)
    results: list[ConditionResult] = []
    for condition in _in_turn(ways.insensitive_to, ranker):
        skipped = _not_applicable(condition, ranker, golden)
        if not skipped and not stable:
            skipped = "no query is left that was always ranked the same"
        if skipped:
            results.append(ConditionResult(condition, skipped=skipped))
            continue
        asked = _asked(condition, ranker, golden, ways, run)
        results.append(_compared(condition, run, asked, stable))
        broken = {difference.query_id for difference in results[-1].differences}
        stable = [query_id for query_id in stable if query_id not in broken]
    return DeterminismResult(ranker.adapter.name, results)


def _in_turn(wanted: Sequence[Condition], ranker: RepeatedRanker) -> Iterator[Condition]:
    """Yield the conditions, starting with those that vary nothing else."""
    yield "repeats"
    varied = [condition for condition in VARIED if condition in wanted]
    # Another order also changes which queries an async ranker answers together.
    if isinstance(ranker.adapter, ConcurrentAdapter):
        varied.sort(key=lambda condition: condition != "threads")
    yield from varied


def _asked(
    condition: Condition,
    ranker: RepeatedRanker,
    golden: GoldenSet,
    ways: DeterminismOptions,
    run: Run,
) -> AskedWays:
    match condition:
        case "repeats":
            return _repeats(ranker, golden, ways.repeats)
        case "order":
            return _orders(ranker, golden)
        case "batch":
            return _batches(ranker, golden, ways.batch_sizes)
        case "candidates":
            return _candidates(ranker, golden)
    return _threads(ranker, golden, ways.threads, run)


def _compared(
    condition: Condition, run: Run, asked: AskedWays, query_ids: Sequence[str]
) -> ConditionResult:
    """Compare the answers to some queries with those of the first run."""
    ways: dict[str, None] = {}
    first_differences: dict[str, AnswerDifference] = {}
    for how, attempt in asked:
        ways[how] = None
        for query_id, difference in answer_differences(run, attempt, how).items():
            first_differences.setdefault(query_id, difference)
    differing = [
        first_differences[query_id] for query_id in query_ids if query_id in first_differences
    ]
    return ConditionResult(condition, tuple(ways), len(query_ids), differing)


def _repeats(ranker: RepeatedRanker, golden: GoldenSet, repeats: int) -> AskedWays:
    for number in range(2, repeats + 1):
        yield f"time {number}", ranker.rerun(golden)


def _orders(ranker: RepeatedRanker, golden: GoldenSet) -> AskedWays:
    for how, order in _ORDERS.items():
        ids = [golden.query_ids[place] for place in order(range(len(golden)))]
        yield how, ranker.rerun(golden.ordered(ids))


def _batches(ranker: RepeatedRanker, golden: GoldenSet, sizes: Sequence[int]) -> AskedWays:
    # Never exceed the ranker's own size: larger batches may not fit into its memory.
    own = _own_size(ranker, golden)
    for size in sizes or dict.fromkeys((1, (own + 1) // 2)):
        adapter = ranker.adapter.with_size(size)
        assert adapter is not None
        yield f"{size:,} at once", ranker.with_adapter(adapter).rerun(golden)


def _candidates(ranker: RepeatedRanker, golden: GoldenSet) -> AskedWays:
    for how, order in _ORDERS.items():
        adapter = ranker.adapter.with_candidates(order)
        assert adapter is not None
        yield how, ranker.with_adapter(adapter).rerun(golden)


def _threads(ranker: RepeatedRanker, golden: GoldenSet, threads: int, run: Run) -> AskedWays:
    """Ask from several threads at once, each for all queries but starting at a different one.

    A fast ranker is asked repeatedly for a short time, so that the threads overlap. An async ranker
    runs in a single thread, so it is asked for one query at a time instead.
    """
    if isinstance(ranker.adapter, ConcurrentAdapter):
        yield "one at a time", replace(ranker, concurrency=1).rerun(golden)
        return
    barrier = Barrier(threads)

    def ask(number: int) -> Attempt:
        ids, start = golden.query_ids, len(golden) * number // threads
        part = golden.ordered((*ids[start:], *ids[:start]))
        barrier.wait()
        end = time.monotonic() + _THREADS_MEET
        attempt = ranker.rerun(part)
        while time.monotonic() < end and not answer_differences(run, attempt, ""):
            attempt = ranker.rerun(part)
        return attempt

    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        with ThreadPoolExecutor(threads) as pool:
            for attempt in list(pool.map(ask, range(threads))):
                yield f"{threads} threads", attempt
    finally:
        sys.setswitchinterval(interval)


def _not_applicable(condition: Condition, ranker: RepeatedRanker, golden: GoldenSet) -> str:
    """Return why a condition cannot be varied, or an empty text if it can."""
    adapter = ranker.adapter
    match condition:
        case "order" if len(golden) == 1:
            return "there is only one query"
        case "batch":
            if adapter.with_size(1) is None:
                return "the ranker is asked for one query after the other"
            if _own_size(ranker, golden) == 1:
                return "there is only one query at once"
        case "candidates":
            if adapter.with_candidates(lambda places: places) is None:
                return "the ranker is given no candidates"
        case "threads" if isinstance(adapter, ConcurrentAdapter) and ranker.concurrency == 1:
            return "concurrency=1 asks for one query at a time"
    return ""


def _own_size(ranker: RepeatedRanker, golden: GoldenSet) -> int:
    size = ranker.adapter.size if isinstance(ranker.adapter, BatchedAdapter) else 1
    return min(size or len(golden), len(golden))
