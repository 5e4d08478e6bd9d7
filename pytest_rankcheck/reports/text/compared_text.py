"""Shared parts of the texts of checks that compare two answers: limits, counts, worst queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import zip_longest

from pytest_rankcheck.behaviour.compared_answers import (
    Compared,
    ComparedAnswer,
    ComparedAnswers,
    MeasuredAnswers,
)
from pytest_rankcheck.behaviour.perturbation_limits import InvarianceLimits
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import label_of
from pytest_rankcheck.reports.text.wording import change, number_text, ranking_lines

__all__ = [
    "ARE_NOT",
    "DO",
    "DO_NOT",
    "answer_lines",
    "changed_value",
    "count_text",
    "failed_lines",
    "limit_lines",
    "loosening",
    "means_text",
    "moved_text",
    "worst_lines",
]

DO, DO_NOT, ARE_NOT = ("does", "do"), ("does not", "do not"), ("is not", "are not")

_WORST = 5
_TOP = 5


def means_text(result: MeasuredAnswers[Compared]) -> str:
    """Return the metric's means before and after, over the judged queries."""
    before, after = result.means
    judged = plural(len(result.judged), "judged query", "judged queries")
    difference = change(after - before)
    return (
        f"{result.metric} {number_text(before)} -> {number_text(after)}, {difference} over {judged}"
    )


def limit_lines(result: MeasuredAnswers[Compared], limits: InvarianceLimits) -> Iterator[str]:
    """Yield each limit on the mean, and each other limit that is broken, with the measurements."""
    allowed = limits.allowed_queries
    if limits.min_rbo is not None:
        unlike = _such(result, limits.is_unlike)
        is_same = limits.min_rbo >= 1
        demand = "be the same" if is_same else f"reach RBO {number_text(limits.min_rbo)}"
        count = count_text(unlike, result.by_query, allowed, ARE_NOT if is_same else DO_NOT)
        if unlike:
            yield f"  every ranking must {demand}: {count}"
    if limits.min_mean_rbo is not None:
        state = "it does not" if limits.mean_is_unlike(result) else "it does"
        yield f"  the mean RBO must reach {number_text(limits.min_mean_rbo)}: {state}"
    if result.judged:
        yield f"  {means_text(result)}"
    if limits.max_drop is not None:
        drops = _such(result, limits.is_drop)
        count = count_text(drops, result.judged, allowed, DO, "judged ")
        if drops:
            yield f"  no query may fall by more than {number_text(limits.max_drop)}: {count}"
    if limits.max_mean_drop is not None:
        state = "it does" if limits.mean_is_drop(result) else "it does not"
        yield f"  the mean may not fall by more than {number_text(limits.max_mean_drop)}: {state}"


def loosening(result: MeasuredAnswers[Compared], limits: InvarianceLimits) -> str:
    """Return the arguments that would loosen the limits; empty if the ranker only fails."""
    beyond = limits.beyond(result)
    answered = [trial for trials in beyond.values() for trial in trials if trial.failure is None]
    if answered and len(beyond) > limits.allowed_queries:
        are_wrong = all(trial.is_wrong for trial in answered)
        return "allowed_queries=" if are_wrong else "allowed_queries=, min_rbo= or max_drop="
    is_mean = limits.mean_is_unlike(result) or limits.mean_is_drop(result)
    return "min_mean_rbo= or max_mean_drop=" if is_mean else ""


def changed_value(old: object, new: object, width: int) -> str:
    """Return ``60 -> 45``; texts are in quotes if only one of the values is a text.

    Args:
        old: the value before; None is shown as ``(none)``.
        new: the value after.
        width: the most characters of a value to show.
    """
    before, after = label_of(old), label_of(new)
    is_given = old is not None and new is not None
    is_mixed = is_given and isinstance(old, str) != isinstance(new, str)
    if is_mixed or before == after:
        before, after = repr(old), repr(new)
    return f"{quoted(before, width)} -> {quoted(after, width)}"


def failed_lines(result: ComparedAnswers[Compared], kind: str = "") -> Iterator[str]:
    """Yield the queries on which the ranker failed after the change; ``kind`` describes them."""
    failed = _such(result, lambda trial: trial.failure is not None)
    if failed:
        queries = plural(len(failed), f"{kind}query", f"{kind}queries")
        yield f"  the ranker fails on {queries}: {listed(failed)}"


def _such(
    result: ComparedAnswers[Compared], is_such: Callable[[ComparedAnswer], bool]
) -> list[str]:
    return [query_id for query_id, trials in result.counted.items() if any(map(is_such, trials))]


def count_text(
    beyond: Collection[str],
    queries: Collection[str],
    allowed: int,
    verb: tuple[str, str],
    kind: str = "",
) -> str:
    """Return ``2 of 3 judged queries do not, 1 allowed``."""
    of_queries = plural(len(queries), f"{kind}query", f"{kind}queries")
    rest = f", {allowed:,} allowed" if allowed else ""
    return f"{len(beyond):,} of {of_queries} {verb[len(beyond) != 1]}{rest}"


def worst_lines(
    chosen: Mapping[str, Sequence[Compared]],
    severity: Callable[[Compared], float],
    trial_lines: Callable[[Compared], Iterator[str]],
) -> Iterator[str]:
    """Yield the worst queries, each with its worst trial."""
    each = (max(trials, key=severity) for trials in chosen.values())
    changed = [trial for trial in each if trial.is_wrong or trial.before != trial.after]
    worst = sorted(changed, key=severity, reverse=True)
    yield "  worst queries"
    for trial in worst[:_WORST]:
        yield from trial_lines(trial)
    hidden = [trial.query.id for trial in worst[_WORST:]]
    if hidden:
        yield f"    and {listed(hidden)}"


def moved_text(result: MeasuredAnswers[Compared], trial: Compared, draws: int = 1) -> str:
    """Return how far the answer and the value of a trial moved, as text after the query.

    Args:
        result: the answers.
        trial: the two answers; for random draws, the worst draw with the means of all draws.
        draws: the number of draws in the means.
    """
    if trial.failure is not None:
        return ""
    values = [f"RBO {number_text(trial.rbo, 3)}"]
    if not math.isnan(trial.gain):
        before, after = (number_text(trial.value_before, 3), number_text(trial.value_after, 3))
        values.append(f"{result.metric} {before} -> {after}")
    means = f" (means of {draws} draws; the worst one is shown)" if draws > 1 else ""
    return f"   {', '.join(values)}{means}"


def answer_lines(
    golden: GoldenSet, trial: ComparedAnswer, labels: tuple[str, str]
) -> Iterator[str]:
    """Yield both rankings of a query after their labels, or an error instead of the second.

    They are shown from where they first differ.
    """
    width = max(map(len, labels))
    before, after = (label.ljust(width) for label in labels)
    failure = trial.failure
    first = 1 if failure else _first_shown(trial)
    yield from ranking_lines(golden, trial.before, before, "      ", _TOP, first=first)
    if failure is None:
        yield from ranking_lines(golden, trial.after, after, "      ", _TOP, first=first)
    else:
        yield f"      {after}  {type(failure).__name__}: {quoted(failure, 300)}"


def _first_shown(trial: ComparedAnswer) -> int:
    """Return the first rank to show: 1, or one above the first difference."""
    pairs = enumerate(zip_longest(trial.before, trial.after), 1)
    different = next((rank for rank, (old, new) in pairs if old != new), 1)
    return different - 1 if different > _TOP else 1
