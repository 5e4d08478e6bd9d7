"""The confidence interval of a quantile, from order statistics: whatever the distribution is.

How many of n values are at or below the quantile is binomial (Conover, Practical Nonparametric
Statistics, 1999, section 3.2; David and Nagaraja, Order Statistics, 2003, section 7.1).
"""

from __future__ import annotations

import math

import numpy as np

from pytest_rankcheck.array_types import FloatArray


def quantile_interval(values: FloatArray, q: float, level: float = 0.95) -> tuple[float, float]:
    """Return an interval that contains the quantile with at least this probability.

    Each end is exceeded with half of the rest at most. An end is infinite if there are too few
    values for it.

    Args:
        values: independent values, ``[n]``; NaN is left out.
        q: the share of the values at or below the quantile, above 0 and below 1.
        level: the probability, above 0 and below 1.
    """
    from scipy.special import bdtr

    known = values[~np.isnan(values)]
    at_most = bdtr(np.arange(known.size, dtype=np.float64), known.size, q)
    tail = (1 - level) / 2
    low, high = int((at_most <= tail).sum()), int((at_most < 1 - tail).sum()) + 1
    ends = [-math.inf, *np.sort(known).tolist(), math.inf]  # so the value of rank r is at place r
    return ends[low], ends[high]
