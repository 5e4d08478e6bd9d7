"""The means over queries: arithmetic, geometric, the median and quantiles, weighted or not."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from pytest_rankcheck.array_types import FloatArray

Aggregate = Literal["arithmetic", "by_judged", "geometric", "median", "quantile", "sum", "whole"]
"""How the values of the queries become one number: one of four means, a quantile or the sum.

``by_judged`` is the arithmetic mean with the number of judged documents of a query as its weight.
``whole`` is one value of the whole run: the mean of the values that `jackknife` derives from it.
"""


_WHOLE_DECIMALS = 12
"""The sum of the jackknife's values has the rounding errors of each."""


def mean_of(
    values: FloatArray, weights: FloatArray | None, aggregate: Aggregate, q: float = 0.5
) -> float:
    """Return the mean, or the sum, of the values that are not NaN; NaN if all are NaN.

    The sum is exact, so it does not depend on the order of the queries.

    Args:
        values: the value of each query, ``[Q]``.
        weights: the weight of each query, ``[Q]``; None if all are equal.
        aggregate: what to compute.
        q: the share of the queries whose values a quantile does not exceed, above 0 and below 1.
    """
    is_counted = ~np.isnan(values)
    counted = values[is_counted]
    if not counted.size:
        return math.nan
    if aggregate == "median":
        return median_of(values, weights)
    if aggregate == "quantile":
        weight = np.ones(counted.size) if weights is None else weights[is_counted]
        order = np.argsort(counted, kind="stable")
        below = np.cumsum(weight[order])
        return float(counted[order][np.searchsorted(below, q * below[-1] * (1 - 1e-12))])
    if aggregate == "sum":
        return _sum(counted if weights is None else counted * weights[is_counted])
    if aggregate == "whole":
        return round(_sum(counted) / counted.size, _WHOLE_DECIMALS)
    scaled = np.log(counted) if aggregate == "geometric" else counted
    if weights is None:
        mean = _sum(scaled) / counted.size
    else:
        share = weights[is_counted]
        mean = _sum(share * scaled) / _sum(share)
    return math.exp(mean) if aggregate == "geometric" else mean


def _sum(values: FloatArray) -> float:
    return math.fsum(values.tolist())  # Python reads a list three times as fast as an array


def median_of(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Return the weighted median: half of the weight is at or below it, half at or above.

    NaN values are left out; the result is NaN if nothing is left.
    """
    is_counted = ~np.isnan(values)
    counted = values[is_counted]
    if weights is None or not counted.size:
        return float(np.median(counted)) if counted.size else math.nan
    order = np.argsort(counted, kind="stable")
    ordered, below = counted[order], np.cumsum(weights[is_counted][order])
    half = below[-1] / 2
    place = int(np.searchsorted(below, half * (1 - 1e-12)))
    if math.isclose(below[place], half, rel_tol=1e-12) and place + 1 < len(ordered):
        both = ordered[place] + ordered[place + 1]
        return float(both) / 2
    return float(ordered[place])
