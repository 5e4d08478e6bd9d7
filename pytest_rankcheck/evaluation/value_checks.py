"""Checks for invalid values of metrics, and for metrics that are pointless on a golden set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError, quoted, warn_caller
from pytest_rankcheck.golden.sampled_queries import SampledQueries
from pytest_rankcheck.metrics.metric_definition import MetricInput, wrong_form
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["computed_values", "warn_if_uninformative"]

_ROUNDING = 1e-9
"""How far a value may be outside a metric's range, because of rounding."""

_OF_SEVERAL = ("P", "R")
"""Metrics that count relevant documents, which is pointless if there is only one."""


def computed_values(metric: Metric, block: MetricInput, query_ids: Sequence[str]) -> FloatArray:
    """Return the value of each query or session of a block.

    Raises:
        MetricError: the metric's function did not return one number for each, or returned a
            number outside the metric's range.
    """
    values = metric.compute(block)
    problem = wrong_form(values, len(query_ids))
    if problem is None:
        problem = _outside_range(values, metric, query_ids)
    if problem is not None:
        raise MetricError(f"{metric} ({metric.definition.reference}) {problem}")
    return values


def _outside_range(values: FloatArray, metric: Metric, query_ids: Sequence[str]) -> str | None:
    """Return the place of an infinite or out-of-range value; None if all are valid, as NaN is."""
    valid, precision = metric.definition.range, np.finfo(values.dtype).eps
    lowest, highest = (
        bound + sign * max(_ROUNDING, 8 * precision) * max(1.0, abs(bound))
        for bound, sign in zip(valid, (-1, 1), strict=True)
    )
    is_wrong = (values < lowest) | (values > highest) | np.isinf(values)
    if not is_wrong.any():
        return None
    place = int(np.argmax(is_wrong))
    unit = "session" if metric.unit == "session" else "query"
    return (
        f"returned {values[place]:.10g} for {unit} '{quoted(query_ids[place])}', but its range is "
        f"{valid[0]:g} to {valid[1]:g}; correct the function, or declare the metric with "
        "range=(lowest, highest)"
    )


def warn_if_uninformative(metric: Metric, golden: SampledQueries) -> None:
    """Warn of a ``rel`` above every grade, and of metrics that the judgments make pointless."""
    if golden.has_estimates:
        return
    rel = dict(metric.parameters).get("rel")
    golden_name = f"{golden.kind} '{quoted(golden.name)}'"
    if isinstance(rel, (int, float)) and rel > golden.max_grade:
        text = (
            f"{metric}: nothing is relevant, because no grade of {golden_name} reaches "
            f"{rel:g} (the highest is {golden.max_grade:g}); lower rel"
        )
    elif metric.needs_grades and golden.positive_grades == {golden.scale}:
        text = (
            f"{metric} distinguishes grades, but {golden_name} is binary: its only grade above 0 "
            f"is {golden.max_grade:g}; use a binary metric such as AP or RBP, or judge in grades"
        )
    elif metric.name in _OF_SEVERAL and metric.cutoff != 1 and _has_single_selections(golden):
        at = "" if metric.cutoff is None else f"@{metric.cutoff}"
        text = (
            f"{metric}: no query of {golden_name} has more than one selected document, so "
            f"{metric.name} only says whether it is found; use Success{at or '@k'} or RR"
        )
    else:
        return
    warn_caller(text)


def _has_single_selections(golden: SampledQueries) -> bool:
    """Return whether a golden set is a replay in which no query has two relevant documents."""
    if golden.replay is None:
        return False
    columns = golden.columns
    running = np.concatenate(([0], np.cumsum(columns.grades > 0)))
    return bool(np.diff(running[columns.starts]).max(initial=0) <= 1)
