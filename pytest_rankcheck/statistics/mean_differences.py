"""The mean of paired differences: its interval, its bounds and the smallest detectable fall.

Intervals and bounds use Student's t. The smallest detectable fall is that of a one-sided test with
80% power, (z_{1-alpha} + z_{0.8}) s / sqrt(n), with quantiles of t below 50 queries (Cohen,
Statistical Power Analysis, 1988; for retrieval: Sakai, Laboratory Experiments in IR, 2018, ch. 6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["POWER", "Differences"]

POWER = 0.8
_SAME = 1e-9
"""Differences with a smaller range count as equal, because of rounding."""
_LARGE = 50
"""From this number of queries on, normal quantiles are accurate enough for planning."""


@dataclass(frozen=True)
class Differences:
    """The differences of n queries, ``[n]``, without NaN; positive means better."""

    gains: FloatArray

    @classmethod
    def of(cls, gains: FloatArray) -> Differences:
        """Return the differences that are not NaN."""
        return cls(gains[~np.isnan(gains)])

    @property
    def count(self) -> int:
        """The number of differences, n."""
        return len(self.gains)

    @cached_property
    def mean(self) -> float:
        """The mean; NaN without any differences."""
        return float(np.mean(self.gains)) if self.count else math.nan

    @cached_property
    def deviation(self) -> float:
        """The standard deviation (n - 1); 0 if all are equal, NaN for fewer than two."""
        if self.count < 2:
            return math.nan
        are_same = float(np.ptp(self.gains)) < _SAME
        return 0.0 if are_same else float(np.std(self.gains, ddof=1))

    @property
    def degrees(self) -> float:
        """The degrees of freedom of Student's t."""
        return self.count - 1

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / math.sqrt(self.count) if self.count > 1 else math.nan

    @property
    def effect(self) -> float:
        """The mean in standard deviations (Cohen's d_z); NaN if all differences are equal."""
        return self.mean / self.deviation if self.deviation > 0 else math.nan

    @checked_arguments
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the two-sided confidence interval of the mean; NaN for fewer than two."""
        half = self._margin(0.5 + level / 2)
        return self.mean - half, self.mean + half

    def lower_bound(self, alpha: float) -> float:
        """Return the one-sided lower confidence bound of the mean; NaN for fewer than two."""
        return self.mean - self._margin(1 - alpha)

    def quantile_of(self, bound: float) -> float:
        """Return the quantile of Student's t that is as likely as a normal value of ``bound``."""
        from scipy.special import ndtr, stdtrit

        return -float(stdtrit(self.degrees, ndtr(-bound)))

    def noninferiority_p(self, margin: float) -> float:
        """Return p of the hypothesis that the mean is at or below ``-margin``; NaN for one query.

        It is at most alpha if and only if `lower_bound` of alpha is above ``-margin``.
        """
        if self.count < 2 or math.isnan(self.error):
            return math.nan
        if self.error == 0:
            return float(self.mean <= -margin)
        from scipy.special import stdtr

        return float(1 - stdtr(self.degrees, (self.mean + margin) / self.error))

    def smallest_detectable(self, alpha: float = 0.05) -> float:
        """Return the smallest fall that a test at ``alpha`` detects with a power of 80%.

        NaN for fewer than two queries, or if all differences are equal.
        """
        if not self.deviation > 0:
            return math.nan
        quantiles = self._quantile(1 - alpha) + self._quantile(POWER)
        return quantiles * self.error

    def needed(self, fall: float, alpha: float = 0.05) -> float:
        """Return the number of queries that detect a fall with a power of 80%; NaN as above."""
        return _queries(self.deviation, fall, alpha)

    def needed_interval(self, fall: float, alpha: float = 0.05) -> tuple[float, float]:
        """Return the 80% interval of `needed`, which rests on an estimated deviation.

        NaN as above, or if only one query changed.
        """
        low, high = self._deviation_interval()
        return _queries(low, fall, alpha), _queries(high, fall, alpha)

    def _deviation_interval(self) -> tuple[float, float]:
        from pytest_rankcheck.statistics.sample_size import deviation_interval

        return deviation_interval((self.gains,))

    def _margin(self, share: float) -> float:
        """Return how far the bound at a quantile of t is from the mean; NaN for fewer than two."""
        return self._t(share) * self.error if self.count > 1 else math.nan

    def _quantile(self, share: float) -> float:
        if self.count < _LARGE:
            return self._t(share)
        from scipy.special import ndtri

        return float(ndtri(share))

    def _t(self, share: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self.degrees, share))


def _queries(deviation: float, fall: float, alpha: float) -> float:
    if not deviation > 0 or not fall > 0:
        return math.nan
    from scipy.special import ndtri

    quantiles = float(ndtri(1 - alpha) + ndtri(POWER))
    return math.ceil((quantiles * deviation / fall) ** 2)
