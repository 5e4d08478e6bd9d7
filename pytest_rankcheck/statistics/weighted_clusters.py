"""Weighted and clustered queries, reduced to the independent units that tests need.

The weighted mean is m = sum w_i g_i / sum w_i. Queries of one cluster (a session, a user) are not
independent of each other, but clusters are, so values are summed within each of the C clusters.
Without weights and clusters, each function returns the gains unchanged.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray


def contributions(
    gains: FloatArray, weights: FloatArray | None, clusters: IntArray | None
) -> FloatArray:
    """Return the contribution of each cluster to the mean, times C, ``[C]``.

    Their mean is the weighted mean of the gains. If a change had no effect, each contribution could
    equally well have the other sign, which is what a sign-flip test requires.

    Args:
        gains: the difference of each query, ``[n]``, without NaN.
        weights: the weight of each query, ``[n]``; None if all are equal.
        clusters: the number of each query's cluster, ``[n]``; None if each query is a cluster.
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
    metric analytics, KDD 2018, section 3.2). This accounts for the
    varying sizes and weights of clusters.
    """
    if (weights is None and clusters is None) or not gains.size:
        return gains
    mean = float(np.average(gains, weights=weights))
    return _added(gains - mean, weights, clusters) + mean


def unit_means(
    gains: FloatArray, weights: FloatArray | None, clusters: IntArray | None
) -> tuple[FloatArray, FloatArray | None]:
    """Return the weighted mean gain of each cluster, ``[C]``, and the weight of each, ``[C]``.

    The weight of a cluster is the sum of its queries'; None if all clusters weigh the same.
    """
    if clusters is None or not gains.size:
        return gains, weights
    share = np.ones_like(gains) if weights is None else weights
    codes = np.unique(clusters, return_inverse=True)[1]
    totals: FloatArray = np.bincount(codes, weights=share).astype(np.float64)
    return np.bincount(codes, weights=share * gains) / totals, totals


def effective_count(weights: FloatArray) -> float:
    """Return how many units of equal weight are as informative as these (Kish, 1965)."""
    return float(weights.sum()) ** 2 / float((weights**2).sum())


def _added(gains: FloatArray, weights: FloatArray | None, clusters: IntArray | None) -> FloatArray:
    """Return the weighted sum of the gains in each cluster, times C / (sum of weights)."""
    share = np.ones_like(gains) if weights is None else weights
    codes: IntArray = np.arange(len(gains))
    if clusters is not None:
        codes = np.unique(clusters, return_inverse=True)[1]
    sums = np.asarray(np.bincount(codes, weights=share * gains), dtype=np.float64)
    return sums * (len(sums) / float(share.sum()))
