"""Confirming why a ranker's answers differ before a report names the cause.

A query that was answered differently under a condition may have changed by chance. So it is asked
again, with and without the condition, as `condition_tally` says.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from pytest_rankcheck.behaviour.answer_comparison import answer_differences
from pytest_rankcheck.behaviour.asking_conditions import Subject, Way
from pytest_rankcheck.behaviour.condition_tally import ASKS, Tally, tally
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.rank import Attempt
from pytest_rankcheck.rankers.run import Run

__all__ = ["Cause", "Confirmation", "confirmed", "is_warm_up_again", "warm_up"]

_WARM_QUERIES = 3
"""If the first answers to at least this many queries are the only odd ones, it is a warm-up.

Rare changes may occur in any run. With three runs and `ASKS` more, the chance that all of them
occur in the first run is 1/8 to the power of the number of queries: for three queries, 1 in 512.
"""

_SAMPLE = 50
"""The most failing queries that are asked again by themselves."""
_SMALL = 500
"""Up to this many queries, all are asked again as the first time; above, only failing ones."""

_Answers = Mapping[str, str | tuple[str, ...]]


class Cause(StrEnum):
    """Why answers differ."""

    CONDITION = "condition"
    """The condition under which they differ was confirmed as the cause."""
    RARE = "rare"
    """They change rarely, and not because of the condition."""
    WARM_UP = "warm-up"
    """The first answers differ, and all later ones agree."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The result of asking again."""

    cause: Cause = Cause.CONDITION
    tally: Tally | None = None
    """None if there was no need to ask again under a condition."""
    decisive: Sequence[str] = ()
    """Those varied things that suffice, each alone, to change the answers."""
    changes_each_time: bool = False
    """Whether the answers differ even if none of these things is varied."""
    is_warm_up_open: bool = False
    """Whether only the first answers differ, but too few to distinguish a warm-up from chance."""
    sampled: int = 0
    """How many failing queries were asked again; 0 if all were."""


def confirmed(
    subject: Subject, way: Way, failing: Sequence[str], watched: Sequence[str], times: int
) -> Confirmation:
    """Return whether a way of asking is the cause of differing answers.

    Up to `_SAMPLE` failing queries are asked by themselves. If that does not confirm the cause,
    they are asked together with all others, because their answers may depend on those.

    Args:
        subject: the ranker and its first answers.
        way: the way in which answers differed.
        failing: the queries whose answers differed.
        watched: the queries that may differ the next time, if the way needs others at the same
            time.
        times: how often the way asked each query; the control requests ask as often.
    """
    everything = subject.golden
    sample = _sampled(subject, failing)
    is_sampled = len(sample) < len(failing)
    parts = [(everything, watched if way.meets_others else failing)]
    if is_sampled or not way.meets_others:
        parts.insert(0, (_part(subject, sample), sample))
    result = Tally()
    for part, seen in parts:
        trial = _Trial(subject, way, part, seen, times)
        result = tally(
            trial.under,
            trial.control,
            f"{way.how} {subject.golden.fingerprint}",
            is_patient=way.meets_others,
        )
        if result.is_confirmed:
            sampled = len(sample) if is_sampled and seen is sample else 0
            found = Confirmation(Cause.CONDITION, result, sampled=sampled)
            return _narrowed(found, way, part, seen) if way.simpler else found
    return Confirmation(Cause.RARE, result)


def warm_up(subject: Subject, failing: Sequence[str], later: Sequence[Attempt]) -> Confirmation:
    """Return whether only the first answers differ, given that the requests varied nothing.

    A new instance shows whether that happens each time; without one, the number of queries decides.
    If later answers also differ from each other, and do so repeatedly, they are random or change
    over time. If no query departs from its most frequent answer twice, the change is rare.

    Args:
        subject: the ranker and its first answers.
        failing: the queries whose later answers differ from the first ones.
        later: what the ranker answered later.
    """
    seen = failing if len(subject.golden) <= _SMALL else _sampled(subject, failing)
    answers = [_answers(attempt, seen) for attempt in later]
    again = [_answers_again(subject, seen) for _ in range(ASKS)]
    if any(each != answers[0] for each in (*answers, *again)):
        before = {query_id: tuple(subject.run[query_id]) for query_id in seen}
        if any(_strays(query_id, [before, *answers, *again]) > 1 for query_id in seen):
            return Confirmation()
        changed = sum(each != before for each in again)
        return Confirmation(Cause.RARE, Tally(changed, ASKS))
    sources = subject.sources
    if sources.make is not None and not sources.check_fresh(is_given=subject.options.has_fresh):
        cold = subject.ranker.with_adapter(sources.adapter())
        first, second = (_answers(cold.rerun(subject.golden), failing) for _ in range(2))
        before = {query_id: tuple(subject.run[query_id]) for query_id in failing}
        is_warm = any(
            first[query_id] == before[query_id] != second[query_id] for query_id in failing
        )
        if is_warm:
            return Confirmation(Cause.WARM_UP)
        if len(failing) < _WARM_QUERIES:
            return Confirmation(Cause.RARE)
    if len(failing) >= _WARM_QUERIES:
        return Confirmation(Cause.WARM_UP)
    return Confirmation(Cause.RARE, is_warm_up_open=True)


def is_warm_up_again(subject: Subject, attempt: Attempt, failing: Sequence[str]) -> bool:
    """Whether a new instance or process differs only because it has to warm up too.

    If so, another new instance that is asked the same queries in the same order gives the same
    answers, and when asked again, the answers of the first run.

    Args:
        subject: a ranker that is known to warm up, and its first answers.
        attempt: what the new instance or process answered.
        failing: the queries that it answered differently from the first run.
    """
    sources = subject.sources
    if attempt.failures or sources.make is None:
        return False
    cold = subject.ranker.with_adapter(sources.adapter())
    golden = subject.golden.ordered(attempt.run.query_ids)
    first, second = (_answers(cold.rerun(golden), failing) for _ in range(2))
    before = {query_id: tuple(subject.run[query_id]) for query_id in failing}
    return first == _answers(attempt, failing) and second == before


@dataclass
class _Trial:
    """Asks some queries again, and checks whether the answers differ from the first ones."""

    subject: Subject
    way: Way
    part: GoldenSet
    seen: Collection[str]
    times: int

    def under(self) -> bool:
        before = self.subject.ranker.calls
        attempts = self.way.ask(self.part)
        calls = self.subject.ranker.calls - before
        self.times = max(self.times, calls // len(self.part))
        return _differ(self.subject.run, attempts, self.seen)

    def control(self) -> bool:
        return any(
            _differ(self.subject.run, self.subject.first_way(self.part), self.seen)
            for _ in range(self.times)
        )


def _narrowed(
    found: Confirmation, way: Way, part: GoldenSet, query_ids: Sequence[str]
) -> Confirmation:
    """Add the varied things that suffice, each alone, to change the answers."""
    plain, *alone = way.simpler
    ask = partial(_answers_in, part=part, query_ids=query_ids)
    base = ask(plain)
    if ask(plain) != base:
        return replace(found, changes_each_time=True)
    return replace(found, decisive=tuple(each.how for each in alone if ask(each) != base))


def _sampled(subject: Subject, query_ids: Sequence[str]) -> Sequence[str]:
    """Return a sample of the queries, the same sample for the same golden set."""
    draw = random.Random(subject.golden.fingerprint)
    return draw.sample(list(query_ids), min(_SAMPLE, len(query_ids)))


def _strays(query_id: str, answers: Sequence[_Answers]) -> int:
    """Return how many answers to a query differ from its most frequent one."""
    counts = Counter(each[query_id] for each in answers)
    return len(answers) - counts.most_common(1)[0][1]


def _answers_again(subject: Subject, query_ids: Sequence[str]) -> _Answers:
    """Ask again as the first time, all queries unless they are too many; return these answers."""
    is_small = len(subject.golden) <= _SMALL
    part = subject.golden if is_small else _part(subject, query_ids)
    return _answers(subject.ranker.rerun(part), query_ids)


def _answers_in(way: Way, part: GoldenSet, query_ids: Sequence[str]) -> _Answers:
    (attempt,) = way.ask(part)
    return _answers(attempt, query_ids)


def _answers(attempt: Attempt, query_ids: Collection[str]) -> _Answers:
    """Return the ranking of each query, or its error."""
    return {
        query_id: str(attempt.failures[query_id])
        if query_id in attempt.failures
        else tuple(attempt.run[query_id])
        for query_id in query_ids
    }


def _part(subject: Subject, query_ids: Collection[str]) -> GoldenSet:
    """Return some queries, in the order of the golden set."""
    return subject.golden.subset(list(query_ids))


def _differ(run: Run, attempts: Sequence[Attempt], query_ids: Collection[str]) -> bool:
    return any(
        not answer_differences(run, attempt, "").keys().isdisjoint(query_ids)
        for attempt in attempts
    )
