"""Queries that weigh differently or belong together: the independent units that tests need.

The weighted mean is m = sum w_i g_i / sum w_i. Queries of one cluster (a session, a user) are not
independent of each other, clusters are; so everything is added up within each of the C clusters.
Without weights and clusters, each function returns the gains as they are.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.statistics.array_types import FloatArray, IntArray

__all__ = ["contributions", "linearised"]


def contributions(
    gains: FloatArray, weights: FloatArray | None, clusters: IntArray | None
) -> FloatArray:
    """Return what each cluster adds to the mean, times C, ``[C]``; their mean is that of the gains.

    If a change did nothing, each of them could as well have had the other sign, whatever its size:
    that is what a sign-flip test asks for.

    Args:
        gains: the difference of each query, ``[n]``, none of them NaN.
        weights: how much each counts, ``[n]``; None: all the same.
        clusters: the number of each query's cluster, ``[n]``; None: each is one.
    """
    if (weights is None and clusters is None) or not gains.size:
        return gains
    return _added(gains, weights, clusters)


def linearised(
    gains: FloatArray, weights: FloatArray | None, clusters: IntArray | None
) -> FloatArray:
    """Return values whose mean and standard error are those of the mean of the gains, ``[C]``.

    Taylor linearisation of the ratio: m + C sum over the cluster of w_i (g_i - m) / sum w (Cochran,
    Sampling Techniques, 1977, section 6.3; Deng, Knoblich and Lu, Applying the delta method in
    metric analytics, KDD 2018, section 3.2). Sizes and weights of clusters vary too, and that is
    in it.
    """
    if (weights is None and clusters is None) or not gains.size:
        return gains
    mean = float(np.average(gains, weights=weights))
    return _added(gains - mean, weights, clusters) + mean


def _added(gains: FloatArray, weights: FloatArray | None, clusters: IntArray | None) -> FloatArray:
    """Return the weighted sum of the gains of each cluster, times C over the sum of weights."""
    share = np.ones_like(gains) if weights is None else weights
    codes: IntArray = np.arange(len(gains))
    if clusters is not None:
        codes = np.unique(clusters, return_inverse=True)[1]
    sums = np.asarray(np.bincount(codes, weights=share * gains), dtype=np.float64)
    return sums * (len(sums) / float(share.sum()))
