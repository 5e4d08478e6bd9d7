"""The text about queries whose perturbation changes the answer: by how much, and the limits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from pytest_rankcheck.behaviour.perturbed_answers import (
    ByQuery,
    DirectionLimits,
    InvarianceLimits,
    PerturbationResult,
    PerturbedQuery,
)
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.reports.text.wording import means_change, number_text, ranker_on


def invariance_note(golden: GoldenSet, result: PerturbationResult) -> str:
    """Return in one line how much a perturbation changes."""
    changed = sum(
        any(perturbed.before != perturbed.after for perturbed in trials)
        for trials in result.by_query.values()
    )
    means = f"; {_means_text(result)}" if result.judged else ""
    return (
        f"{_named(result)}, {ranker_on(result.ranker, golden)}: {changed:,} of "
        f"{_queries(result)} ranked differently, mean RBO {number_text(result.mean_rbo)}{means}"
        f"{_left(result)}"
    )


def perturbed_headline(golden: GoldenSet, result: PerturbationResult, how: str) -> str:
    """Return that a perturbation changes the answers, and how: ``by more than allowed``."""
    subject = ranker_on(result.ranker, golden)
    return f"{_named(result)} changes the answers of {subject} {how}{_left(result)}"


def invariance_facts(result: PerturbationResult, limits: InvarianceLimits) -> Iterator[str]:
    """Yield how many queries were perturbed, and which limits are broken."""
    counted = plural(len(result.trials), "text" if _only_texts(result) else "variant")
    similarity = number_text(result.mean_rbo)
    yield f"{_queries(result)}, {counted}: mean RBO {similarity} (p={result.p:g})"
    if result.judged:
        yield _means_text(result)
    each = "be the same" if limits.min_rbo == 1 else f"reach RBO {number_text(limits.min_rbo)}"
    drop = number_text(limits.max_drop)
    for rule, is_beyond, queries in (
        (f"every ranking must {each}", limits.is_unlike, result.by_query),
        (f"no query may fall by more than {drop}", limits.is_drop, result.judged),
    ):
        beyond = _such(result, is_beyond)
        if beyond:
            yield f"{rule}: {_broken_by(beyond, queries, limits.allowed_queries)}"
    for limit, rule, is_broken in (
        (limits.min_mean_rbo, "the mean RBO must reach", limits.mean_is_unlike),
        (limits.max_mean_drop, "the mean may not fall by more than", limits.mean_is_drop),
    ):
        if limit is not None:
            yield f"{rule} {number_text(limit)}: {'broken' if is_broken(result) else 'kept'}"
    yield from _failed(result)


def direction_note(golden: GoldenSet, result: PerturbationResult, directed: DirectionLimits) -> str:
    """Return in one line in which direction a perturbation moves the metric."""
    size = _means_text(result) if result.judged else _queries(result)
    rule = _rule(result, directed)
    return f"{_named(result)}, {ranker_on(result.ranker, golden)}: {rule}; {size}{_left(result)}"


def direction_facts(
    result: PerturbationResult, directed: DirectionLimits, beyond: ByQuery
) -> Iterator[str]:
    """Yield the means, and in how many queries the rule does not hold."""
    if result.judged:
        yield _means_text(result)
    rule = _rule(result, directed)
    if directed.of == "query":
        rule += f": {_broken_by(beyond, result.judged, directed.allowed_queries)}"
    yield rule
    yield from _failed(result)


def _rule(result: PerturbationResult, directed: DirectionLimits) -> str:
    """Return what must hold for each query, or for the mean."""
    subject = (
        f"the mean {result.metric}" if directed.of == "mean" else f"{result.metric} of every query"
    )
    slack = f" by more than {number_text(directed.slack)}" if directed.slack else ""
    return f"{subject} must not become {directed.direction.removeprefix('not_')}{slack}"


def _only_texts(result: PerturbationResult) -> bool:
    return not any(trial.changed_attributes for trial in result.trials)


def _named(result: PerturbationResult) -> str:
    return f"perturbation '{quoted(result.queries.name)}'"


def _queries(result: PerturbationResult) -> str:
    return plural(len(result.by_query), "perturbed query", "perturbed queries")


def _left(result: PerturbationResult) -> str:
    """Return how many queries were not perturbed, and why."""
    parts = [
        f"{len(queries):,} {verbs[len(queries) != 1]} {what}"
        for queries, verbs, what in (
            (result.queries.unchanged, ("is", "are"), "unchanged by it"),
            (result.queries.without_text, ("has", "have"), "no text"),
        )
        if queries
    ]
    return f"; not perturbed: {', '.join(parts)}" if parts else ""


def _means_text(result: PerturbationResult) -> str:
    """Return the metric's means before and after, over the judged queries."""
    judged = plural(len(result.judged), "judged query", "judged queries")
    return f"{result.metric} {means_change(*result.means)} over {judged}"


def to_fix(result: PerturbationResult, limits: InvarianceLimits) -> str:
    """Return what to do, with the arguments that loosen the limits if that would help."""
    advice = f"make the ranker treat the {'texts' if _only_texts(result) else 'queries'} alike"
    beyond = limits.beyond(result)
    answered = [trial for trials in beyond.values() for trial in trials if trial.failure is None]
    if answered and len(beyond) > limits.allowed_queries:
        return f"{advice}, or allow what is harmless: allowed_queries=, min_rbo= or max_drop="
    if limits.mean_is_unlike(result) or limits.mean_is_drop(result):
        return f"{advice}, or allow what is harmless: min_mean_rbo= or max_mean_drop="
    return advice


def _failed(result: PerturbationResult) -> Iterator[str]:
    """Yield the perturbed queries on which the ranker failed."""
    failed = _such(result, lambda trial: trial.failure is not None)
    if failed:
        queries = plural(len(failed), "perturbed query", "perturbed queries")
        yield f"the ranker fails on {queries}: {listed(failed)}"


def _such(result: PerturbationResult, is_such: Callable[[PerturbedQuery], bool]) -> list[str]:
    return [query_id for query_id, trials in result.by_query.items() if any(map(is_such, trials))]


def _broken_by(beyond: Collection[str], queries: ByQuery, allowed: int) -> str:
    """Return ``broken by 2 of 3 queries, 1 allowed``."""
    rest = f", {allowed:,} allowed" if allowed else ""
    return f"broken by {len(beyond):,} of {plural(len(queries), 'query', 'queries')}{rest}"
