"""Metrics of time: how long a ranker took for a query."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.metric_inputs import Timings
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, number
from pytest_rankcheck.metrics.metric_registry import metric


@metric(
    "Seconds",
    parameters=(
        Parameter(
            "q",
            default=None,
            check=number(above=0, below=1),
            allowed="0.95, or another share above 0 and below 1",
            is_required=True,
        ),
    ),
    higher_is_better=False,
    range=(0.0, np.inf),
    at=None,
    unit="time",
    unjudged="-",
    aggregate="quantile",
)
def seconds(times: Timings, cutoff: int | None, *, q: Value) -> FloatArray:
    """The time in seconds that the share q of the queries does not exceed.

    A query that failed counts as the slowest one.

    q: the share of the queries that the time must not exceed

    Formula: the smallest time t such that at least the share q of the queries took t or less

    Use: to bound how long a ranker takes on the machine that runs the test

    Source: Hyndman and Fan, Sample quantiles in statistical packages, The American Statistician 50,
    1996, definition 1
    """
    return times.seconds
