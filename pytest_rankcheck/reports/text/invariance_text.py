"""The text of queries whose perturbation changes the answer: the worst, with both rankings."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from pytest_rankcheck.behaviour.perturbation_limits import DirectionLimits, InvarianceLimits
from pytest_rankcheck.behaviour.perturbed_answers import PerturbationResult, PerturbedQuery
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.reports.text.wording import change, number, query_in, ranking_lines

__all__ = ["direction_note", "direction_text", "invariance_note", "invariance_text"]

_WORST = 5
_TOP = 5
_DO, _DO_NOT, _ARE_NOT = ("does", "do"), ("does not", "do not"), ("is not", "are not")

Beyond = Mapping[str, Sequence[PerturbedQuery]]


def invariance_note(golden: GoldenSet, found: PerturbationResult) -> str:
    """Return in one line how much a perturbation changes."""
    changed = sum(
        any(one.before != one.after for one in trials) for trials in found.by_query.values()
    )
    parts = [f"{changed:,} of {_queries(found)} ranked differently, mean RBO {_rbo(found)}"]
    if found.judged:
        parts.append(_means(found))
    return f"{_named(found)}, {_subject(golden, found)}: {'; '.join(parts)}{_left(found)}"


def invariance_text(golden: GoldenSet, found: PerturbationResult, limits: InvarianceLimits) -> str:
    """Return which limits are broken, and the worst queries with both rankings."""
    beyond = limits.beyond(found) or found.by_query
    lines = [
        (
            f"{_named(found)} changes the answers of {_subject(golden, found)} by more than allowed"
            f"{_left(found)}"
        ),
        *_limit_lines(found, limits),
        *_worst_lines(golden, found, beyond, limits.severity),
        "  to fix: make the ranker treat the texts alike, or allow exceptions (allowed_queries)",
    ]
    return "\n".join(lines)


def direction_note(golden: GoldenSet, found: PerturbationResult, directed: DirectionLimits) -> str:
    """Return in one line which way a perturbation moves the metric."""
    size = _means(found) if found.judged else _queries(found)
    rule = _rule(found, directed)
    return f"{_named(found)}, {_subject(golden, found)}: {rule}; {size}{_left(found)}"


def direction_text(
    golden: GoldenSet, found: PerturbationResult, directed: DirectionLimits, beyond: Beyond
) -> str:
    """Return what moves in the wrong direction, and the worst queries with both rankings."""
    lines = [
        f"{_named(found)} moves {_subject(golden, found)} in the wrong direction{_left(found)}"
    ]
    if found.judged:
        lines.append(f"  {_means(found)}")
    rule = f"  {_rule(found, directed)}"
    if directed.of == "query":
        by_metric = not callable(directed.direction)
        verb = _DO if by_metric else _DO_NOT
        rule += f": {_count(beyond, found, directed.allowed_queries, verb, judged=by_metric)}"
    lines += [rule, *_failed_lines(found)]
    lines += _worst_lines(golden, found, beyond or found.by_query, directed.severity)
    return "\n".join(lines)


def _rule(found: PerturbationResult, directed: DirectionLimits) -> str:
    """Return what must hold for each query, or for the mean."""
    if callable(directed.direction):
        return f"{quoted(name_of(directed.direction))} must hold for every query"
    what = f"the mean {found.metric}" if directed.of == "mean" else f"{found.metric} of every query"
    slack = f" by more than {number(directed.slack)}" if directed.slack else ""
    return f"{what} must not become {directed.direction.removeprefix('not_')}{slack}"


def _named(found: PerturbationResult) -> str:
    return f"perturbation '{quoted(found.name)}'"


def _subject(golden: GoldenSet, found: PerturbationResult) -> str:
    size = plural(len(golden), "query", "queries")
    return f"ranker '{quoted(found.ranker)}' on golden set '{quoted(golden.name)}' ({size})"


def _queries(found: PerturbationResult) -> str:
    return plural(len(found.by_query), "perturbed query", "perturbed queries")


def _rbo(found: PerturbationResult) -> str:
    return number(found.mean_rbo)


def _means(found: PerturbationResult) -> str:
    before, after = found.means
    judged = plural(len(found.judged), "judged query", "judged queries")
    difference = change(after - before)
    return f"{found.metric} {number(before)} -> {number(after)}, {difference} over {judged}"


def _left(found: PerturbationResult) -> str:
    """Return how many queries were not perturbed, and why."""
    parts = []
    if found.unchanged:
        verb = "is" if len(found.unchanged) == 1 else "are"
        parts.append(f"{len(found.unchanged):,} {verb} unchanged by it")
    if found.without_text:
        has = "has" if len(found.without_text) == 1 else "have"
        parts.append(f"{len(found.without_text):,} {has} no text")
    return f"; not perturbed: {', '.join(parts)}" if parts else ""


def _limit_lines(found: PerturbationResult, limits: InvarianceLimits) -> Iterator[str]:
    """Yield each limit, with what was measured."""
    texts = plural(len(found.trials), "text")
    yield f"  {_queries(found)}, {texts}: mean RBO {_rbo(found)} (p={found.p:g})"
    allowed = limits.allowed_queries
    if limits.min_rbo is not None:
        unlike = _such(found, limits.is_unlike)
        is_same = limits.min_rbo >= 1
        what = "be the same" if is_same else f"reach RBO {number(limits.min_rbo)}"
        count = _count(unlike, found, allowed, _ARE_NOT if is_same else _DO_NOT)
        yield f"  every ranking must {what}: {count}"
    if limits.min_mean_rbo is not None:
        state = "it does not" if limits.mean_is_unlike(found) else "it does"
        yield f"  the mean RBO must reach {number(limits.min_mean_rbo)}: {state}"
    if found.judged:
        yield f"  {_means(found)}"
    if limits.max_drop is not None:
        drops = _count(_such(found, limits.is_drop), found, allowed, _DO, judged=True)
        yield f"  no query may fall by more than {number(limits.max_drop)}: {drops}"
    if limits.max_mean_drop is not None:
        state = "it does" if limits.mean_is_drop(found) else "it does not"
        yield f"  the mean may not fall by more than {number(limits.max_mean_drop)}: {state}"
    yield from _failed_lines(found)


def _failed_lines(found: PerturbationResult) -> Iterator[str]:
    failed = _such(found, lambda one: one.failure is not None)
    if failed:
        queries = plural(len(failed), "perturbed query", "perturbed queries")
        yield f"  the ranker fails on {queries}: {listed(failed)}"


def _such(found: PerturbationResult, is_such: Callable[[PerturbedQuery], bool]) -> list[str]:
    return [query_id for query_id, trials in found.by_query.items() if any(map(is_such, trials))]


def _count(
    beyond: Collection[str],
    found: PerturbationResult,
    allowed: int,
    verb: tuple[str, str],
    *,
    judged: bool = False,
) -> str:
    """Return ``2 of 3 judged queries do not, 1 allowed``."""
    nouns = ("judged query", "judged queries") if judged else ("query", "queries")
    queries = plural(len(found.judged) if judged else len(found.by_query), *nouns)
    rest = f", {allowed:,} allowed" if allowed else ""
    return f"{len(beyond):,} of {queries} {verb[len(beyond) != 1]}{rest}"


def _worst_lines(
    golden: GoldenSet,
    found: PerturbationResult,
    chosen: Beyond,
    severity: Callable[[PerturbedQuery], float],
) -> Iterator[str]:
    """Yield the worst queries, each with its worst perturbed text."""
    each = (max(trials, key=severity) for trials in chosen.values())
    changed = [one for one in each if one.failure or one.before != one.after]
    worst = sorted(changed, key=severity, reverse=True)
    yield "  worst queries"
    for one in worst[:_WORST]:
        yield from _trial_lines(golden, found, one)
    hidden = [one.query.id for one in worst[_WORST:]]
    if hidden:
        yield f"    and {listed(hidden)}"


def _trial_lines(
    golden: GoldenSet, found: PerturbationResult, one: PerturbedQuery
) -> Iterator[str]:
    named = f'{query_in(golden, one.query.id)} -> "{quoted(one.text, 80)}"'
    if one.failure is None:
        values = [f"RBO {number(one.rbo, 3)}"]
        if not math.isnan(one.gain):
            before, after = number(one.value_before, 3), number(one.value_after, 3)
            values.append(f"{found.metric} {before} -> {after}")
        named += f"   {', '.join(values)}"
    yield f"    {named}"
    yield from ranking_lines(golden, one.before, "as it is ", "      ", _TOP)
    if one.failure is None:
        yield from ranking_lines(golden, one.after, "perturbed", "      ", _TOP)
    else:
        yield f"      perturbed  {type(one.failure).__name__}: {quoted(one.failure, 300)}"
