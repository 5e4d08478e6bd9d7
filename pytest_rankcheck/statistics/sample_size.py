"""Sample size: how many queries a golden set needs to detect a relevant fall.

The power of the one-sided paired t-test, from the noncentral t distribution (Cohen, Statistical
Power Analysis, 1988, ch. 2; for retrieval: Sakai, Laboratory Experiments in Information Retrieval,
2018, ch. 6). The sign-flip test has nearly the same power.
"""

from __future__ import annotations

import math

__all__ = ["power_of", "queries_needed"]

_MOST = 10**9


def power_of(count: int, fall: float, deviation: float, alpha: float = 0.05) -> float:
    """Return the probability that ``count`` queries detect a fall, in [0, 1].

    Args:
        count: the number of queries, at least 2.
        fall: the true fall of the mean, above 0.
        deviation: the standard deviation of the differences of queries, above 0.
        alpha: the level of the test.
    """
    from scipy.special import stdtrit
    from scipy.stats import nct

    critical = stdtrit(count - 1, 1 - alpha)
    return float(nct.sf(critical, count - 1, fall / deviation * math.sqrt(count)))


def queries_needed(fall: float, deviation: float, power: float, alpha: float = 0.05) -> int:
    """Return the smallest number of queries that detect a fall with this power.

    Args:
        fall: the true fall of the mean, above 0.
        deviation: the standard deviation of the differences of queries, above 0.
        power: the wanted probability of detecting the fall, above ``alpha`` and below 1.
        alpha: the level of the test.
    """
    from scipy.special import ndtri

    estimate = float((ndtri(1 - alpha) + ndtri(power)) * deviation / fall) ** 2
    if estimate > _MOST:
        return math.ceil(estimate)
    # The normal estimate is slightly too low: t needs one or two queries more.
    count = max(2, math.floor(estimate))
    while power_of(count, fall, deviation, alpha) < power:
        count += 1
    return count
