"""Warnings of metrics that can say little or nothing on a golden set."""

from __future__ import annotations

import warnings

from pytest_rankcheck.errors import MetricWarning, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["warn_if_pointless"]


def warn_if_pointless(metric: Metric, golden: GoldenSet) -> None:
    """Warn of a ``rel`` above every grade, and of a graded metric on a binary golden set."""
    rel = dict(metric.parameters).get("rel")
    named = f"golden set '{quoted(golden.name)}'"
    if isinstance(rel, (int, float)) and rel > golden.max_grade:
        _warn(
            f"{metric}: nothing is relevant, since no grade of {named} is as high as "
            f"{rel:g} (the highest is {golden.max_grade:g}); lower rel"
        )
    elif metric.needs_grades and len(golden.positive_grades) == 1:
        _warn(
            f"{metric} tells grades apart, but {named} is binary: its only grade above 0 is "
            f"{golden.max_grade:g}; use a binary metric such as AP or RBP, or judge in grades"
        )


def _warn(text: str) -> None:
    warnings.warn(text, MetricWarning, stacklevel=5)
