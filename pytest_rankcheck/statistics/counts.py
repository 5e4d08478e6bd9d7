"""Tests of counts, and the interval of a quantile, which is one of counts too."""

from __future__ import annotations

import math

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray


def fisher_p(shared: int, size: int, fallen: int, total: int) -> float:
    """Return the one-sided p of Fisher's exact test: small if a part has more than its share.

    It is the probability that at least ``shared`` of a part's queries fell if those that fell were
    drawn from all at random. (``scipy.stats`` has the same, but takes half a second to import.)

    Args:
        shared: how many queries of the part fell.
        size: how many queries the part has.
        fallen: how many of all fell.
        total: how many queries there are.
    """
    counts = np.arange(shared, min(size, fallen) + 1)
    return min(1.0, float(_chances(counts, np.array([size]), fallen, total).sum()))


def smallest_fisher_p(sizes: IntArray, fallen: int, total: int) -> FloatArray:
    """Return the smallest p that parts of these sizes could have in `fisher_p`."""
    return _chances(np.minimum(sizes, fallen), sizes, fallen, total)


def more_falls_p(falls: IntArray, rises: IntArray) -> FloatArray:
    """Return the probability of at least this many falls if rises were as likely (sign test)."""
    from scipy.special import bdtrc

    some = np.maximum(falls, 1)
    return np.where(falls > 0, bdtrc(some - 1, some + rises, 0.5), 1.0)


def _chances(shared: IntArray, sizes: IntArray, fallen: int, total: int) -> FloatArray:
    """Return the hypergeometric probability of each count."""
    from scipy.special import gammaln

    def ways(out_of: IntArray, chosen: IntArray) -> FloatArray:
        """Return the logarithm of the binomial coefficient."""
        rest = out_of - chosen
        return np.asarray(gammaln(out_of + 1.0) - gammaln(chosen + 1.0) - gammaln(rest + 1.0))

    inside, outside = ways(sizes, shared), ways(total - sizes, fallen - shared)
    return np.exp(inside + outside - ways(np.array(total), np.array(fallen)))


def quantile_interval(values: FloatArray, q: float, level: float = 0.95) -> tuple[float, float]:
    """Return an interval that contains the quantile with at least this probability.

    Each end is exceeded with half of the rest at most, whatever the distribution is. An end is
    infinite if there are too few values for it. How many of n values are at or below the quantile
    is binomial (Conover, Practical Nonparametric Statistics, 1999, section 3.2; David and Nagaraja,
    Order Statistics, 2003, section 7.1).

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
