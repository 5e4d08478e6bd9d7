"""The text of queries whose perturbation changes the answer: the worst, with both rankings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rankcheck.behaviour.perturbation_limits import DirectionLimits, InvarianceLimits
from pytest_rankcheck.behaviour.perturbed_answers import PerturbationResult, PerturbedQuery
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import label_of
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.reports.text.compared_text import (
    DO,
    DO_NOT,
    answer_lines,
    changed_value,
    count_text,
    failed_lines,
    limit_lines,
    loosening,
    means_text,
    moved_text,
    worst_lines,
)
from pytest_rankcheck.reports.text.text_change import shown_change
from pytest_rankcheck.reports.text.wording import number_text, query_in, ranker_on

__all__ = ["direction_note", "direction_text", "invariance_note", "invariance_text"]

_LABELS = ("as it is", "perturbed")
_ONE_LINE = 60
"""The longest pair of texts to show on one line, in characters."""

Beyond = Mapping[str, Sequence[PerturbedQuery]]


def invariance_note(golden: GoldenSet, result: PerturbationResult) -> str:
    """Return in one line how much a perturbation changes."""
    changed = sum(
        any(perturbed.before != perturbed.after for perturbed in trials)
        for trials in result.by_query.values()
    )
    parts = [f"{changed:,} of {_queries(result)} ranked differently, mean RBO {_rbo(result)}"]
    if result.judged:
        parts.append(means_text(result))
    return f"{_named(result)}, {_subject(golden, result)}: {'; '.join(parts)}{_left(result)}"


def invariance_text(golden: GoldenSet, result: PerturbationResult, limits: InvarianceLimits) -> str:
    """Return which limits are broken, and the worst queries with both rankings."""
    beyond = limits.beyond(result) or result.by_query
    only_texts = not any(trial.changed_attributes for trial in result.trials)
    variants, both = ("text", "texts") if only_texts else ("variant", "queries")
    mean = " (the mean of its draws counts for each query)" if _has_draws(result) else ""
    loosened = loosening(result, limits)
    allow = f", or allow what is harmless: {loosened}" if loosened else ""
    lines = [
        (
            f"{_named(result)} changes the answers of {_subject(golden, result)} by more than "
            f"allowed{_left(result)}"
        ),
        (
            f"  {_queries(result)}, {plural(len(result.trials), variants)}{mean}: mean "
            f"RBO {_rbo(result)} (p={result.p:g})"
        ),
        *limit_lines(result, limits),
        *failed_lines(result, "perturbed "),
        *_worst_lines(golden, result, beyond, limits),
        f"  to fix: make the ranker treat the {both} alike{allow}",
    ]
    return "\n".join(lines)


def direction_note(golden: GoldenSet, result: PerturbationResult, directed: DirectionLimits) -> str:
    """Return in one line which way a perturbation moves the metric."""
    size = means_text(result) if result.judged else _queries(result)
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
        lines.append(f"  {means_text(result)}")
    rule = f"  {_rule(result, directed)}"
    if directed.of == "query":
        by_metric = not callable(directed.direction)
        queries = result.judged if by_metric else result.by_query
        verb, kind = (DO, "judged ") if by_metric else (DO_NOT, "")
        rule += f": {count_text(beyond, queries, directed.allowed_queries, verb, kind)}"
    lines += [rule, *failed_lines(result, "perturbed ")]
    lines += _worst_lines(golden, result, beyond or result.by_query, directed)
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
    return ranker_on(result.ranker, golden, plural(len(golden), "query", "queries"))


def _queries(result: PerturbationResult) -> str:
    return plural(len(result.by_query), "perturbed query", "perturbed queries")


def _rbo(result: PerturbationResult) -> str:
    return number_text(result.mean_rbo)


def _left(result: PerturbationResult) -> str:
    """Return how many queries were not perturbed, and why, and which values no query has."""
    parts = []
    if result.unchanged:
        verb = "is" if len(result.unchanged) == 1 else "are"
        parts.append(f"{len(result.unchanged):,} {verb} unchanged by it")
    if result.without_text:
        has = "has" if len(result.without_text) == 1 else "have"
        parts.append(f"{len(result.without_text):,} {has} no text")
    left = f"; not perturbed: {', '.join(parts)}" if parts else ""
    new = "".join(
        f"; no query has {quoted(name, 40)} {listed([label_of(value) for value in values])}"
        for name, values in result.new_values.items()
    )
    return f"{left}{new}"


def _worst_lines(
    golden: GoldenSet,
    result: PerturbationResult,
    chosen: Beyond,
    limits: InvarianceLimits | DirectionLimits,
) -> Iterator[str]:
    """Yield the worst queries, each with its worst variant."""

    def trial_lines(trial: PerturbedQuery) -> Iterator[str]:
        yield from _change_lines(golden, result, trial)
        yield from answer_lines(golden, trial, _LABELS)

    return worst_lines(chosen, limits.severity, trial_lines)


def _has_draws(result: PerturbationResult) -> bool:
    """Whether a query has several random draws."""
    return result.are_draws and len(result.trials) > len(result.by_query)


def _change_lines(
    golden: GoldenSet, result: PerturbationResult, trial: PerturbedQuery
) -> Iterator[str]:
    """Yield a query, what the perturbation changes in it, and how far its answer moved."""
    query_id, draws = trial.query.id, 1
    if result.are_draws:
        draws, (trial,) = len(result.by_query[query_id]), result.counted[query_id]
    attributes = "".join(
        f"   {quoted(name, 40)}: {changed_value(old, new, 40)}"
        for name, (old, new) in trial.changed_attributes.items()
    )
    moved = attributes + moved_text(result, trial, draws)
    if trial.text == trial.query.text:
        yield f"    {query_in(golden, query_id)}{moved}"
        return
    before, after = shown_change(trial.query.text or "", trial.text or "")
    if len(before) + len(after) <= _ONE_LINE:
        yield f'    {quoted(query_id, 60)} "{before}" -> "{after}"{moved}'
    else:
        yield f"    {quoted(query_id, 60)}{moved}"
        yield f'      text       "{before}"'
        yield f'      becomes    "{after}"'
