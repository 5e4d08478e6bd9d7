"""Metrics under other judgments: the same rankings, with grades that differ from the set's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.evaluation.run_golden_join import hits_of_lists
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["can_rejudge", "values_under"]


def can_rejudge(side: Measured, metric: Metric) -> bool:
    """Return whether the rankings of a side are known far enough down to compute a metric."""
    if metric.definition.ir_measures or metric.unit != "query":
        return False
    if side.known_depth is None:
        return True
    counts_deeper = bool(dict(metric.parameters)["judged_only"])
    is_shallow = metric.cutoff is not None and metric.cutoff <= side.known_depth
    return is_shallow and not counts_deeper


def values_under(
    metric: Metric,
    rankings: Sequence[Sequence[str]],
    grades: Sequence[Mapping[str, float]],
    *,
    max_grade: float,
    exclude: bool,
) -> FloatArray:
    """Return the value of each query, ``[Q]``, under given grades.

    Args:
        metric: the metric, which is not one of ir_measures.
        rankings: the documents ranked for each query, best first.
        grades: the grade of every judged document of each query.
        max_grade: the highest grade of the whole golden set.
        exclude: whether a query without a grade above 0 is NaN.
    """
    hits = hits_of_lists(rankings, grades, max_grade)
    values = metric.compute(hits)
    return np.where((hits.ideal > 0).any(axis=1), values, np.nan) if exclude else values
