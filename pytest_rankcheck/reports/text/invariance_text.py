"""The text of queries whose perturbation changes the answer: the worst, with both rankings."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from pytest_rankcheck.behaviour.perturbation_limits import DirectionLimits, InvarianceLimits
from pytest_rankcheck.behaviour.perturbed_answers import PerturbationResult, PerturbedQuery
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.reports.text.wording import change, number_text, query_in, ranking_lines

__all__ = ["direction_note", "direction_text", "invariance_note", "invariance_text"]

_WORST = 5
_TOP = 5
_DO, _DO_NOT, _ARE_NOT = ("does", "do"), ("does not", "do not"), ("is not", "are not")

Beyond = Mapping[str, Sequence[PerturbedQuery]]


def invariance_note(golden: GoldenSet, result: PerturbationResult) -> str:
    """Return in one line how much a perturbation changes."""
    changed = sum(
        any(perturbed.before != perturbed.after for perturbed in trials)
        for trials in result.by_query.values()
    )
    parts = [f"{changed:,} of {_queries(result)} ranked differently, mean RBO {_rbo(result)}"]
    if result.judged:
        parts.append(_means(result))
    return f"{_named(result)}, {_subject(golden, result)}: {'; '.join(parts)}{_left(result)}"


def invariance_text(golden: GoldenSet, result: PerturbationResult, limits: InvarianceLimits) -> str:
    """Return which limits are broken, and the worst queries with both rankings."""
    beyond = limits.beyond(result) or result.by_query
    lines = [
        (
            f"{_named(result)} changes the answers of {_subject(golden, result)} by more than "
            f"allowed{_left(result)}"
        ),
        *_limit_lines(result, limits),
        *_worst_lines(golden, result, beyond, limits.severity),
        "  to fix: make the ranker treat the texts alike, or allow exceptions (allowed_queries)",
    ]
    return "\n".join(lines)


def direction_note(golden: GoldenSet, result: PerturbationResult, directed: DirectionLimits) -> str:
    """Return in one line which way a perturbation moves the metric."""
    size = _means(result) if result.judged else _queries(result)
    rule = _rule(result, directed)
    return f"{_named(result)}, {_subject(golden, result)}: {rule}; {size}{_left(result)}"


def direction_text(
    golden: GoldenSet, result: PerturbationResult, directed: DirectionLimits, beyond: Beyond
) -> str:
    """Return what moves in the wrong direction, and the worst queries with both rankings."""
    lines = [
        f"{_named(result)} moves {_subject(golden, result)} in the wrong direction{_left(result)}"
    ]
    if result.judged:
        lines.append(f"  {_means(result)}")
    rule = f"  {_rule(result, directed)}"
    if directed.of == "query":
        by_metric = not callable(directed.direction)
        verb = _DO if by_metric else _DO_NOT
        rule += f": {_count(beyond, result, directed.allowed_queries, verb, judged=by_metric)}"
    lines += [rule, *_failed_lines(result)]
    lines += _worst_lines(golden, result, beyond or result.by_query, directed.severity)
    return "\n".join(lines)


def _rule(result: PerturbationResult, directed: DirectionLimits) -> str:
    """Return what must hold for each query, or for the mean."""
    if callable(directed.direction):
        return f"{quoted(name_of(directed.direction))} must hold for every query"
    subject = (
        f"the mean {result.metric}" if directed.of == "mean" else f"{result.metric} of every query"
    )
    slack = f" by more than {number_text(directed.slack)}" if directed.slack else ""
    return f"{subject} must not become {directed.direction.removeprefix('not_')}{slack}"


def _named(result: PerturbationResult) -> str:
    return f"perturbation '{quoted(result.name)}'"


def _subject(golden: GoldenSet, result: PerturbationResult) -> str:
    size = plural(len(golden), "query", "queries")
    return f"ranker '{quoted(result.ranker)}' on golden set '{quoted(golden.name)}' ({size})"


def _queries(result: PerturbationResult) -> str:
    return plural(len(result.by_query), "perturbed query", "perturbed queries")


def _rbo(result: PerturbationResult) -> str:
    return number_text(result.mean_rbo)


def _means(result: PerturbationResult) -> str:
    before, after = result.means
    judged = plural(len(result.judged), "judged query", "judged queries")
    difference = change(after - before)
    return (
        f"{result.metric} {number_text(before)} -> {number_text(after)}, {difference} over {judged}"
    )


def _left(result: PerturbationResult) -> str:
    """Return how many queries were not perturbed, and why."""
    parts = []
    if result.unchanged:
        verb = "is" if len(result.unchanged) == 1 else "are"
        parts.append(f"{len(result.unchanged):,} {verb} unchanged by it")
    if result.without_text:
        has = "has" if len(result.without_text) == 1 else "have"
        parts.append(f"{len(result.without_text):,} {has} no text")
    return f"; not perturbed: {', '.join(parts)}" if parts else ""


def _limit_lines(result: PerturbationResult, limits: InvarianceLimits) -> Iterator[str]:
    """Yield each limit, with what was measured."""
    texts = plural(len(result.trials), "text")
    yield f"  {_queries(result)}, {texts}: mean RBO {_rbo(result)} (p={result.p:g})"
    allowed = limits.allowed_queries
    if limits.min_rbo is not None:
        unlike = _such(result, limits.is_unlike)
        is_same = limits.min_rbo >= 1
        demand = "be the same" if is_same else f"reach RBO {number_text(limits.min_rbo)}"
        count = _count(unlike, result, allowed, _ARE_NOT if is_same else _DO_NOT)
        yield f"  every ranking must {demand}: {count}"
    if limits.min_mean_rbo is not None:
        state = "it does not" if limits.mean_is_unlike(result) else "it does"
        yield f"  the mean RBO must reach {number_text(limits.min_mean_rbo)}: {state}"
    if result.judged:
        yield f"  {_means(result)}"
    if limits.max_drop is not None:
        drops = _count(_such(result, limits.is_drop), result, allowed, _DO, judged=True)
        yield f"  no query may fall by more than {number_text(limits.max_drop)}: {drops}"
    if limits.max_mean_drop is not None:
        state = "it does" if limits.mean_is_drop(result) else "it does not"
        yield f"  the mean may not fall by more than {number_text(limits.max_mean_drop)}: {state}"
    yield from _failed_lines(result)


def _failed_lines(result: PerturbationResult) -> Iterator[str]:
    failed = _such(result, lambda perturbed: perturbed.failure is not None)
    if failed:
        queries = plural(len(failed), "perturbed query", "perturbed queries")
        yield f"  the ranker fails on {queries}: {listed(failed)}"


def _such(result: PerturbationResult, is_such: Callable[[PerturbedQuery], bool]) -> list[str]:
    return [query_id for query_id, trials in result.by_query.items() if any(map(is_such, trials))]


def _count(
    beyond: Collection[str],
    result: PerturbationResult,
    allowed: int,
    verb: tuple[str, str],
    *,
    judged: bool = False,
) -> str:
    """Return ``2 of 3 judged queries do not, 1 allowed``."""
    nouns = ("judged query", "judged queries") if judged else ("query", "queries")
    queries = plural(len(result.judged) if judged else len(result.by_query), *nouns)
    rest = f", {allowed:,} allowed" if allowed else ""
    return f"{len(beyond):,} of {queries} {verb[len(beyond) != 1]}{rest}"


def _worst_lines(
    golden: GoldenSet,
    result: PerturbationResult,
    chosen: Beyond,
    severity: Callable[[PerturbedQuery], float],
) -> Iterator[str]:
    """Yield the worst queries, each with its worst perturbed text."""
    each = (max(trials, key=severity) for trials in chosen.values())
    changed = [
        perturbed for perturbed in each if perturbed.failure or perturbed.before != perturbed.after
    ]
    worst = sorted(changed, key=severity, reverse=True)
    yield "  worst queries"
    for perturbed in worst[:_WORST]:
        yield from _trial_lines(golden, result, perturbed)
    hidden = [perturbed.query.id for perturbed in worst[_WORST:]]
    if hidden:
        yield f"    and {listed(hidden)}"


def _trial_lines(
    golden: GoldenSet, result: PerturbationResult, perturbed: PerturbedQuery
) -> Iterator[str]:
    named = f'{query_in(golden, perturbed.query.id)} -> "{quoted(perturbed.text, 80)}"'
    if perturbed.failure is None:
        values = [f"RBO {number_text(perturbed.rbo, 3)}"]
        if not math.isnan(perturbed.gain):
            before, after = (
                number_text(perturbed.value_before, 3),
                number_text(perturbed.value_after, 3),
            )
            values.append(f"{result.metric} {before} -> {after}")
        named += f"   {', '.join(values)}"
    yield f"    {named}"
    yield from ranking_lines(golden, perturbed.before, "as it is ", "      ", _TOP)
    failure = perturbed.failure
    if failure is None:
        yield from ranking_lines(golden, perturbed.after, "perturbed", "      ", _TOP)
    else:
        yield f"      perturbed  {type(failure).__name__}: {quoted(failure, 300)}"
