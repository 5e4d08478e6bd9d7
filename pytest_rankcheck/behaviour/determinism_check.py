"""Check that a ranker gives the same answers under all conditions that must not matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from pytest_rankcheck.behaviour.answer_comparison import (
    AnswerDifference,
    RepeatedRanker,
    answer_differences,
)
from pytest_rankcheck.behaviour.asking_conditions import (
    Subject,
    Way,
    conditions_in_turn,
    not_applicable,
    refuse_idle_conditions,
    ways_of,
)
from pytest_rankcheck.behaviour.cause_confirmation import (
    Cause,
    Confirmation,
    confirmed,
    is_warm_up_again,
    warm_up,
)
from pytest_rankcheck.behaviour.determinism_options import Condition, DeterminismOptions
from pytest_rankcheck.behaviour.ranker_sources import RankerSources
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.rank import Attempt

__all__ = ["ConditionResult", "DeterminismResult", "check_determinism"]


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
    confirmation: Confirmation = field(default_factory=Confirmation)
    """What repeated requests showed about the differences."""
    calls: int = 0
    """How often each query was asked, before anything was asked again."""
    details: Sequence[str] = ()
    """What the ways vary, if their names do not say so."""
    remark: str = ""
    """What weakens the check; empty if nothing does."""

    @property
    def cause(self) -> Cause:
        """Why the answers differ."""
        return self.confirmation.cause


@dataclass(frozen=True, slots=True)
class DeterminismResult:
    """The results for all conditions."""

    ranker: str
    conditions: Sequence[ConditionResult]
    confirming_calls: int = 0
    """How many queries the ranker was asked again to confirm causes, counting repeats."""

    @property
    def calls(self) -> int:
        """How often each query was asked, before anything was asked again."""
        return 1 + sum(result.calls for result in self.conditions)

    @property
    def broken(self) -> Sequence[ConditionResult]:
        """The results of the conditions with differences, whatever their causes."""
        return [result for result in self.conditions if result.differences]


def check_determinism(
    ranker: RepeatedRanker,
    golden: GoldenSet,
    options: DeterminismOptions,
    sources: RankerSources | None = None,
) -> DeterminismResult:
    """Ask a ranker the same queries in several ways, and compare with the first answers.

    A query whose answers differ under one condition is left out of later conditions: otherwise a
    random ranker would fail all of them. A condition is confirmed before it is named.

    Raises:
        RankerError: the ranker fails when it is asked for the first time, or a new instance or
            process of it cannot be asked.
        RunError: every ranking is empty.
        ConfigurationError: all conditions lack the argument that they need.
    """
    __tracebackhide__ = True
    sources = sources or RankerSources()
    refuse_idle_conditions(options, sources)
    run = ranker.first_run(golden)
    subject = Subject(ranker, golden, run, options, sources)
    stable = list(run.query_ids)
    warms_up = False
    results: list[ConditionResult] = []
    confirming = 0
    for condition in conditions_in_turn(subject):
        skipped = not_applicable(condition, subject)
        if not skipped and not stable:
            skipped = "no query is left that was always ranked the same"
        if not skipped and condition == "fresh":
            skipped = subject.sources.check_fresh(is_given=options.has_fresh)
        if skipped:
            results.append(ConditionResult(condition, skipped=skipped))
            continue
        asked = list(_asked(ways_of(condition, subject), subject))
        before = ranker.calls
        results.append(_compared(condition, subject, asked, stable, warms_up=warms_up))
        warms_up |= results[-1].cause is Cause.WARM_UP
        confirming += ranker.calls - before
        broken = {difference.query_id for difference in results[-1].differences}
        stable = [query_id for query_id in stable if query_id not in broken]
    return DeterminismResult(ranker.adapter.name, results, confirming)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A way in which the ranker was asked, and what it answered."""

    way: Way
    attempts: Sequence[Attempt]
    times: int
    """How often each query was asked."""


def _asked(ways: Iterator[Way], subject: Subject) -> Iterator[_Asked]:
    __tracebackhide__ = True
    for way in ways:
        before = subject.ranker.calls
        attempts = way.ask(subject.golden)
        yield _Asked(way, attempts, (subject.ranker.calls - before) // len(subject.golden))


def _compared(
    condition: Condition,
    subject: Subject,
    asked: Sequence[_Asked],
    query_ids: Sequence[str],
    *,
    warms_up: bool,
) -> ConditionResult:
    """Compare the answers to some queries with those of the first run, and confirm the cause."""
    __tracebackhide__ = True
    by_way = [(each, _differences(subject, each)) for each in asked]
    first = dict(chain.from_iterable(found.items() for _, found in reversed(by_way)))
    failing = [
        (each, [query_id for query_id in query_ids if query_id in found]) for each, found in by_way
    ]
    return ConditionResult(
        condition,
        tuple(each.way.how for each in asked),
        len(query_ids),
        [first[query_id] for query_id in query_ids if query_id in first],
        confirmation=_confirmation(condition, subject, failing, query_ids, warms_up=warms_up),
        calls=sum(each.times for each in asked),
        details=tuple(each.way.details for each in asked if each.way.details),
        remark=subject.remarks.get(condition, ""),
    )


def _differences(subject: Subject, asked: _Asked) -> Mapping[str, AnswerDifference]:
    """Return the first difference of each query under one way of asking."""
    found: dict[str, AnswerDifference] = {}
    for attempt in asked.attempts:
        found = {**answer_differences(subject.run, attempt, asked.way.how), **found}
    return found


def _confirmation(
    condition: Condition,
    subject: Subject,
    failing: Sequence[tuple[_Asked, Sequence[str]]],
    watched: Sequence[str],
    *,
    warms_up: bool,
) -> Confirmation:
    """Confirm why answers differ.

    Args:
        condition: the condition under which they differ.
        subject: the ranker and its first answers.
        failing: the ways of asking, each with the queries whose answers differ.
        watched: the queries that may differ.
        warms_up: whether the ranker is known to warm up.
    """
    __tracebackhide__ = True
    broken = set(chain.from_iterable(ids for _, ids in failing))
    if not broken:
        return Confirmation()
    if condition == "repeats":
        later = [attempt for each, _ in failing for attempt in each.attempts]
        return warm_up(subject, [each for each in watched if each in broken], later)
    is_new = condition in ("fresh", "processes")
    if (warms_up and is_new) and all(
        is_warm_up_again(subject, each.attempts[0], ids) for each, ids in failing if ids
    ):
        return Confirmation(Cause.WARM_UP)
    worst, ids = max(failing, key=lambda pair: len(pair[1]))
    return confirmed(subject, worst.way, ids, watched, worst.times)
