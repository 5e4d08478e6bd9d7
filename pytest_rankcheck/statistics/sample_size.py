"""Sample size: how many queries are needed to detect a relevant fall, and how many some count for.

The power of the one-sided paired t-test, from the noncentral t distribution (Cohen, Statistical
Power Analysis, 1988, ch. 2; for retrieval: Sakai, Laboratory Experiments in Information Retrieval,
2018, ch. 6). The sign-flip test has nearly the same power.

The number rests on a standard deviation that is itself estimated, so it has an interval: that of
the jackknife of the logarithm of the variance (Miller, Jackknifing variances, Annals of
Mathematical Statistics 39, 1968). The usual chi-square interval holds for normal values only; where
most queries do not change, it contains the true deviation half as often as it says.

The weighted mean is m = sum w_i g_i / sum w_i. Queries of one cluster (a session, a user) are not
independent of each other, but clusters are, so values are summed within each of the C clusters.
Without weights and clusters, the functions of both return the gains unchanged.
"""

from __future__ import annotations

import math

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray

LEVEL = 0.8
"""The confidence level of the interval of a number of queries."""
_MOST = 10**9


def queries_needed(fall: float, deviation: float, power: float, alpha: float = 0.05) -> int:
    """Return the smallest number of queries that detect a fall with this power.

    Args:
        fall: the true fall of the mean, above 0.
        deviation: the standard deviation of the differences of queries, above 0.
        power: the wanted probability of detecting the fall, above ``alpha`` and below 1.
        alpha: the level of the test.
    """
    from scipy.special import ndtri, stdtrit
    from scipy.stats import nct

    quantiles = ndtri(1 - alpha) + ndtri(power)
    estimate = float(quantiles * deviation / fall) ** 2
    if estimate > _MOST:
        return math.ceil(estimate)
    # The normal estimate is slightly too low: t needs one or two queries more.
    count, effect = max(2, math.floor(estimate)), fall / deviation
    while nct.sf(stdtrit(count - 1, 1 - alpha), count - 1, effect * math.sqrt(count)) < power:
        count += 1
    return count


def deviation_interval(values: FloatArray) -> tuple[float, float]:
    """Return the 80% interval of a standard deviation, by the jackknife of its logarithm.

    Measured with 25 to 500 queries, of which 10% to 100% change, normal, skewed, heavy-tailed and
    of few values: an 80% interval contains the true deviation in 73% to 90% of the cases, the
    chi-square interval in 25% to 81%. NaN if there are fewer than three values, or if all but one
    are equal.
    """
    from scipy.special import stdtrit

    count = len(values)
    if count < 3:
        return math.nan, math.nan
    centred = values - values.mean()
    squares = float((centred**2).sum())
    # Without value i the sum is -c_i, and the sum of squares is less by c_i^2.
    rest = squares - centred**2 - centred**2 / (count - 1)
    others = rest / (count - 2)
    if not others.min() > 1e-12 * squares:
        return math.nan, math.nan
    pseudo = count * math.log(squares / (count - 1)) - (count - 1) * np.log(others)
    error = float(pseudo.std(ddof=1)) / math.sqrt(count)
    middle, half = float(pseudo.mean()), float(stdtrit(count - 1, 0.5 + LEVEL / 2)) * error
    return math.exp((middle - half) / 2), math.exp((middle + half) / 2)


# --- weights and clusters ------------------------------------------------------------------


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
    metric analytics, KDD 2018, section 3.2). This accounts for the varying sizes and weights of
    clusters.
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
