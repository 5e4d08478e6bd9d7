"""Comparing a metric with a fixed bound: ``assert_at_least`` and ``assert_at_most``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import MIN_QUERIES, attributes_of
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.ledger import enter, enter_measurement, wants_detail
from pytest_rankcheck.reports.metric_findings import GateFinding
from pytest_rankcheck.reports.text.bound_text import Bound, Bounded, bound_text
from pytest_rankcheck.reports.text.wording import joined_failures

__all__ = ["By", "assert_at_least", "assert_at_most"]

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
            (Student's t, with one more value that was not sampled) instead of the mean.
        min_queries: a slice with fewer queries is reported, not gated.

    Raises:
        AssertionError: the mean is below; the text names slices and queries.
        RunError: no ranked document is judged in any of at least 5 queries.
        ConfigurationError: a minimum is missing, or no ranker can reach it.
        MetricError: unknown metric.
        GoldenSetError: no query has the attribute ``by``.
    """
    __tracebackhide__ = True
    limits = _limits(metric, minimum, "minimum")
    bounds = {metric: Bound(limit, True, confidence) for metric, limit in limits.items()}
    _hold(evaluation, bounds, by, min_queries)


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
    __tracebackhide__ = True
    limits = _limits(metric, maximum, "maximum")
    bounds = {metric: Bound(limit, False, confidence) for metric, limit in limits.items()}
    _hold(evaluation, bounds, by, min_queries)


def _limits(
    metric: MetricLike | Mapping[MetricLike, float], limit: float | None, name: str
) -> Mapping[Metric, float]:
    """Return the limit of each metric.

    Raises:
        ConfigurationError: a limit is missing, or given twice.
        MetricError: unknown metric.
    """
    if not isinstance(metric, Mapping):
        if limit is None:
            raise ConfigurationError(f"{quoted(metric)}: the {name} is missing, such as 0.45")
        return {Metric.parse(metric): limit}
    if limit is not None or not metric:
        raise ConfigurationError(
            f'give each metric its {name} in the mapping, such as {{"nDCG@10": 0.45}}, and no other'
        )
    return {Metric.parse(name): limit for name, limit in metric.items()}


def _hold(evaluation: Evaluation, bounds: Mapping[Metric, Bound], by: By, min_queries: int) -> None:
    """Fail unless all queries, and every slice that is large enough, are within each bound."""
    __tracebackhide__ = True
    evaluation.refuse_unmet_ids()
    for metric, bound in bounds.items():
        _refuse_bound(bound, metric)
        _enter_if_always_true(bound, metric, evaluation)
        evaluation.refuse_no_value(metric)
    parts = {
        metric: list(_bounded(evaluation, metric, bound, by, min_queries))
        for metric, bound in bounds.items()
    }
    _enter_ungated(evaluation, tuple(bounds), next(iter(parts.values())), min_queries)
    text = joined_failures(
        {
            str(metric): _checked(evaluation, metric, bound, parts[metric])
            for metric, bound in bounds.items()
        }
    )
    if text is not None:
        raise AssertionError(text)


def _checked(
    evaluation: Evaluation, metric: Metric, bound: Bound, parts: Sequence[Bounded]
) -> str | None:
    """Enter the finding of a bound. Return the failure text, or None if the bound holds."""
    failed = any(part.gated and not part.holds for part in parts)
    text = bound_text(evaluation, metric, bound, parts) if failed else None
    detail = None
    if wants_detail():
        from pytest_rankcheck.reports.gate_detail import bound_detail
        from pytest_rankcheck.reports.measurement_detail import measurement_finding

        measurement = measurement_finding(evaluation, None, [metric])
        enter_measurement(measurement)
        detail = replace(bound_detail(metric, bound, parts), text=text, measurement=measurement.key)
    enter(
        GateFinding(
            golden_set=evaluation.golden.name,
            metric=str(metric),
            now=parts[0].mean,
            verdict=bound.broken_words if failed else bound.words,
            failed=failed,
            detail=detail,
        )
    )
    return text


def _enter_ungated(
    evaluation: Evaluation, metrics: Sequence[Metric], parts: Sequence[Bounded], min_queries: int
) -> None:
    """Enter the slices that are too small to be gated.

    Args:
        evaluation: what was measured.
        metrics: the metrics with a bound.
        parts: all queries first, then the slices.
        min_queries: the smallest slice that is gated.
    """
    if all(part.gated for part in parts):
        return
    from pytest_rankcheck.reports.gating_findings import UngatedSlice, UngatedSlicesFinding

    small = [UngatedSlice(part.label, len(part.places)) for part in parts if not part.gated]
    enter(
        UngatedSlicesFinding(
            golden_set=evaluation.golden.name,
            metrics=tuple(map(str, metrics)),
            unit=evaluation.unit,
            slices=len(parts) - 1,
            not_gated=tuple(small),
            min_queries=min_queries,
        )
    )


def _enter_if_always_true(bound: Bound, metric: Metric, evaluation: Evaluation) -> None:
    """Enter a warning if every ranker holds to a bound."""
    low, high = metric.definition.range
    if bound.limit <= low if bound.is_floor else bound.limit >= high:
        from pytest_rankcheck.reports.notes import Note, Topic

        text = (
            f"{metric} on '{quoted(evaluation.golden.name)}': {bound.words} decides nothing: it "
            f"ranges from {low:g} to {high:g}"
        )
        enter(Note(Topic.DECIDES_NOTHING, text))


def _refuse_bound(bound: Bound, metric: Metric) -> None:
    """Refuse a bound that is not a number, or that no ranker can hold to.

    Raises:
        ConfigurationError: naming the metric and the bound.
    """
    if isinstance(bound.limit, bool) or not math.isfinite(bound.limit):
        raise ConfigurationError(
            f"{metric}: the bound is {quoted(bound.limit)}, not a finite number"
        )
    low, high = metric.definition.range
    if bound.limit > high if bound.is_floor else bound.limit < low:
        raise ConfigurationError(
            f"{metric} ranges from {low:g} to {high:g}, so it is never {bound.words}; give a bound "
            "that a ranker can hold to"
        )
    if bound.confidence is not None and not 0.5 <= bound.confidence < 1:
        raise ConfigurationError(
            f"confidence={quoted(bound.confidence)} is invalid; give at least 0.5 and less than 1"
        )


def _bounded(
    evaluation: Evaluation, metric: Metric, bound: Bound, by: By, min_queries: int
) -> Iterator[Bounded]:
    everything: Sequence[int] = range(len(evaluation.query_ids))
    slices = [("", everything)] + [
        (f"{attribute}={value}", evaluation.places(query_ids))
        for attribute in attributes_of(by)
        for value, query_ids in evaluation.slices(attribute).items()
    ]
    for label, places in slices:
        mean = evaluation.mean_at(metric, places)
        tested = mean if bound.confidence is None else _tested(evaluation, metric, places, bound)
        distance = tested - bound.limit if bound.is_floor else bound.limit - tested
        gated = not label or len(places) >= max(1, min_queries)
        yield Bounded(label, places, mean, tested, distance >= -SLACK, gated)


def _tested(evaluation: Evaluation, metric: Metric, places: Sequence[int], bound: Bound) -> float:
    """Return the one-sided confidence bound of the mean.

    The bound is Student's t with one more value that was not sampled (see
    `Differences.bound_of_values`); of the logarithms where the mean is the geometric one. With
    fewer than two values the result is NaN, which is within no bound. Weights and clusters of
    queries are taken into account.

    Raises:
        ConfigurationError: the metric is a median or a sum.
    """
    if metric.definition.aggregate in ("median", "sum"):
        raise ConfigurationError(
            f"{metric} is a {metric.definition.aggregate}, and confidence= is of means; leave it "
            "out, or bound the mean"
        )
    is_geometric = metric.definition.aggregate == "geometric"
    values = evaluation.values(metric)
    differences = evaluation.differences_at(places, np.log(values) if is_geometric else values)
    if differences.count < 2 or bound.confidence is None:
        return math.nan
    limit = metric.definition.range[0 if bound.is_floor else 1]
    if is_geometric:
        limit = math.log(limit) if limit > 0 else -math.inf
    tested = differences.bound_of_values(1 - bound.confidence, limit, is_lower=bound.is_floor)
    return math.exp(tested) if is_geometric else tested
