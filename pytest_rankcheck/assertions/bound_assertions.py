"""Comparing a metric with a fixed bound: ``assert_at_least`` and ``assert_at_most``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.entered_findings import (
    EnteredGate,
    enter_gates,
    enter_question,
    fail_with,
    gate_row,
)
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import MIN_QUERIES, Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.explanation.explanation import Bound, Bounded, bounded_places
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.findings import GateFinding, Note, Said, Topic
from pytest_rankcheck.reports.ledger import enter, wanted
from pytest_rankcheck.reports.text.wording import bound_text, caveats

if TYPE_CHECKING:
    from pytest_rankcheck.explanation.explanation import Explanation
    from pytest_rankcheck.explanation.gate_numbers import GateNumbers

By = str | Sequence[str] | None
"""An attribute of the queries, several, or None."""


@checked_arguments
def assert_at_least(
    evaluation: Evaluation,
    metric: MetricLike | Mapping[MetricLike, float],
    minimum: float | None = None,
    *,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the mean of ``metric`` is below ``minimum``.

    Args:
        evaluation: what was measured.
        metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object; or several with
            a minimum each: ``{"nDCG@10": 0.45, "RR": 0.6}``. All are checked and reported.
        minimum: the lowest mean that passes, in the metric's own unit.
        by: an attribute of the queries, or several; every slice must reach the minimum too.
        confidence: such as 0.95; compare the one-sided lower confidence bound of the mean
            (Student's t, with an allowance for one extreme value that was not sampled) instead of
            the mean.
        min_queries: a slice with fewer queries is reported, not gated.

    Raises:
        AssertionError: the mean is below; the text names slices and queries.
        RunError: no ranked document is judged in any of at least 5 queries.
        ConfigurationError: a minimum is missing, or no ranker can reach it.
        MetricError: unknown metric.
        GoldenSetError: no query has the attribute ``by``.
    """
    _hold(evaluation, _bounds(metric, minimum, confidence, is_floor=True), by, min_queries)


@checked_arguments
def assert_at_most(
    evaluation: Evaluation,
    metric: MetricLike | Mapping[MetricLike, float],
    maximum: float | None = None,
    *,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the mean of ``metric`` is above ``maximum``. Otherwise like `assert_at_least`."""
    _hold(evaluation, _bounds(metric, maximum, confidence, is_floor=False), by, min_queries)


def _bounds(
    metric: MetricLike | Mapping[MetricLike, float],
    limit: float | None,
    confidence: float | None,
    *,
    is_floor: bool,
) -> Mapping[Metric, Bound]:
    """Return the bound of each metric.

    Raises:
        ConfigurationError: a limit is missing, or given twice.
        MetricError: unknown metric.
    """
    name = "minimum" if is_floor else "maximum"
    if not isinstance(metric, Mapping):
        if limit is None:
            raise ConfigurationError(f"{quoted(metric)}: the {name} is missing, such as 0.45")
        metric = {metric: limit}
    elif limit is not None or not metric:
        raise ConfigurationError(
            f'give each metric its {name} in the mapping, such as {{"nDCG@10": 0.45}}, and no other'
        )
    return {Metric.parse(each): Bound(at, is_floor, confidence) for each, at in metric.items()}


def _hold(evaluation: Evaluation, bounds: Mapping[Metric, Bound], by: By, min_queries: int) -> None:
    """Fail unless all queries, and every slice that is large enough, are within each bound."""
    evaluation.refuse_unmet_ids()
    for metric, bound in bounds.items():
        _check_bound(bound, metric, evaluation)
        evaluation.refuse_no_value(metric)
        if wanted().proves:
            from pytest_rankcheck.proof.gate_questions import bound_question

            bounded = partial(_bounded, metric=metric, bound=bound, by=by, min_queries=min_queries)
            limit, is_floor = bound.limit, bound.is_floor
            enter_question(bound_question(evaluation, metric, bounded, limit, is_floor=is_floor))
    parts = {
        metric: list(_bounded(evaluation, metric, bound, by, min_queries))
        for metric, bound in bounds.items()
    }
    first = next(iter(parts.values()))
    not_gated = [(part.label, part.queries) for part in first if not part.gated]
    if not_gated:
        from pytest_rankcheck.reports.text.verdict_notes import ungated_note

        note = ungated_note(
            evaluation.golden.name,
            [str(metric) for metric in bounds],
            not_gated,
            kind=evaluation.kind,
            slices=len(first) - 1,
            min_queries=min_queries,
        )
        enter(note)
    explanation = _explained(evaluation, bounds, parts, by)
    gates = [
        EnteredGate(
            metric,
            _rows(evaluation, metric, bound, parts[metric]),
            partial(_numbers, metric, bound, parts[metric]),
            fails=any(part.fails for part in parts[metric]),
        )
        for metric, bound in bounds.items()
    ]
    enter_gates(evaluation, gates, explanation)
    fail_with(explanation)


def _explained(
    evaluation: Evaluation,
    bounds: Mapping[Metric, Bound],
    parts: Mapping[Metric, list[Bounded]],
    by: By,
) -> Explanation | None:
    """Return why the bounds do not hold; None if they do."""
    failing = {each: parts[each] for each in bounds if any(part.fails for part in parts[each])}
    if not failing:
        return None
    from pytest_rankcheck.explanation.explained_failures import explained_bounds

    return explained_bounds(evaluation, bounds, failing, by, caveats=caveats(evaluation))


def _numbers(
    metric: Metric, bound: Bound, parts: Sequence[Bounded], label: str, *, in_full: bool
) -> GateNumbers:
    """Return the numbers of a row: of a slice, or of all queries, with the slices after."""
    from pytest_rankcheck.explanation.gate_numbers import Decided, GateNumbers

    overall, *slices = (
        Decided(
            label=part.label,
            queries=part.queries,
            now=part.mean,
            tested=part.tested,
            outcome="not gated" if not part.gated else "passed" if part.holds else "failed",
        )
        for part in parts
        if not label or part.label == label
    )
    return GateNumbers(
        metric=metric,
        gate=bound_text(bound),
        outcome=overall.outcome,
        overall=overall,
        slices=tuple(slices),
        limit=bound.limit,
    )


def _rows(
    evaluation: Evaluation, metric: Metric, bound: Bound, parts: Sequence[Bounded]
) -> Iterator[GateFinding]:
    """Yield the rows of what is gated."""
    for part in parts:
        if part.gated:
            said = Said.WITHIN if part.holds else Said.BEYOND
            told = {"now": part.mean, "said": said, "failed": not part.holds}
            yield gate_row(evaluation, metric, part.label, bound=(bound, part), **told)


def _check_bound(bound: Bound, metric: Metric, evaluation: Evaluation) -> None:
    """Refuse a bound that no ranker can meet; warn about one that every ranker meets.

    Raises:
        ConfigurationError: naming the metric and the bound.
    """
    if isinstance(bound.limit, bool) or not math.isfinite(bound.limit):
        raise ConfigurationError(
            f"{metric}: the bound is {quoted(bound.limit)}, not a finite number"
        )
    low, high = metric.definition.range
    ranges = f"{metric} ranges from {low:g} to {high:g}"
    if bound.limit > high if bound.is_floor else bound.limit < low:
        raise ConfigurationError(
            f"{ranges}, so it is never {bound_text(bound)}; give a bound that a ranker can meet"
        )
    if bound.limit <= low if bound.is_floor else bound.limit >= high:
        where = f"{metric} on '{quoted(evaluation.golden.name)}'"
        text = f"{where}: {bound_text(bound)} decides nothing: it ranges from {low:g} to {high:g}"
        enter(Note(Topic.DECIDES_NOTHING, text))


def _bounded(
    evaluation: Evaluation, metric: Metric, bound: Bound, by: By, min_queries: int
) -> Iterator[Bounded]:
    for label, places in bounded_places(evaluation, by).items():
        mean = evaluation.mean_at(metric, places)
        tested = mean if bound.confidence is None else _tested(evaluation, metric, places, bound)
        gated = not label or len(places) >= max(1, min_queries)
        held = Bounded(label, len(places), mean, tested, bound.excess(tested) <= SLACK, gated)
        if metric.quantile is not None:
            held = replace(held, interval=evaluation.quantile_interval_at(metric, places))
        elif metric.kind.single:
            from pytest_rankcheck.explanation.explained_failures import whole_interval

            held = replace(held, interval=whole_interval(evaluation, metric))
        yield held


def _tested(evaluation: Evaluation, metric: Metric, places: Sequence[int], bound: Bound) -> float:
    """Return the one-sided confidence bound of the mean.

    The bound is Student's t with an allowance for one extreme value that was not sampled (see
    `Differences.bound_of_values`). With fewer than two values the result is NaN, which no bound
    contains. Weights and clusters of queries are taken into account.

    Raises:
        ConfigurationError: the metric is something else, such as a quantile or a sum.
    """
    aggregate = metric.definition.aggregate
    if aggregate in ("geometric", "median", "quantile", "sum"):
        raise ConfigurationError(
            f"{metric} is a {aggregate}, but confidence= is for means; leave it out, or bound the "
            "mean"
        )
    differences = evaluation.differences_at(metric, places, evaluation.values(metric))
    if differences.count < 2 or bound.confidence is None:
        return math.nan
    limit = metric.definition.range[0 if bound.is_floor else 1]
    return differences.bound_of_values(1 - bound.confidence, limit, is_lower=bound.is_floor)
