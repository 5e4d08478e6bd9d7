"""Two samples of different queries or sessions: the difference of their means.

Welch's t: the standard error is sqrt(s0^2 / n0 + s1^2 / n1), with the degrees of freedom of Welch
(The generalization of Student's problem, Biometrika 34, 1947) and Satterthwaite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_rankcheck.statistics.array_types import FloatArray
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.sample_size import deviation_interval

__all__ = ["TwoSamples"]


@dataclass(frozen=True)
class TwoSamples(Differences):
    """Differences between two samples: ``gains`` are the values now, ``[n1]``."""

    before: FloatArray
    """The values before, ``[n0]``; in both samples a higher value means better."""

    @property
    def count(self) -> int:
        """The number of values in both samples, n0 + n1."""
        return len(self.gains) + len(self.before)

    @cached_property
    def mean(self) -> float:
        """The difference of the means, now minus before; NaN if a sample is empty."""
        if not len(self.gains) or not len(self.before):
            return math.nan
        return float(np.mean(self.gains) - np.mean(self.before))

    @cached_property
    def _variances(self) -> tuple[float, float]:
        """The variance of the mean of each sample; NaN for fewer than two values."""
        samples = (self.before, self.gains)
        first, second = (
            float(np.var(one, ddof=1)) / len(one) if len(one) > 1 else math.nan for one in samples
        )
        return first, second

    @property
    def share_before(self) -> float:
        """The share of the variance of the difference that comes from the sample before."""
        return self._variances[0] / sum(self._variances)

    @cached_property
    def deviation(self) -> float:
        """The standard error times sqrt(n0 + n1), comparable to that of paired differences."""
        return math.sqrt(sum(self._variances) * self.count)

    @property
    def effect(self) -> float:
        """The difference in pooled standard deviations of both samples (Cohen's d)."""
        sizes = (len(self.before), len(self.gains))
        if min(sizes) < 2:
            return math.nan
        squares = math.fsum(
            float(np.var(one, ddof=1)) * (len(one) - 1) for one in (self.before, self.gains)
        )
        pooled = math.sqrt(squares / (sum(sizes) - 2))
        return self.mean / pooled if pooled > 0 else math.nan

    @property
    def degrees(self) -> float:
        """The degrees of freedom of Welch and Satterthwaite."""
        parts = zip(self._variances, (len(self.before), len(self.gains)), strict=True)
        spread = math.fsum(variance**2 / (size - 1) for variance, size in parts)
        return sum(self._variances) ** 2 / spread if spread > 0 else self.count - 2

    def _deviation_interval(self) -> tuple[float, float]:
        samples = (self.before, self.gains)
        return deviation_interval(samples, [self.count / max(1, len(one)) for one in samples])

    def p_of_fall(self) -> float:
        """Return the one-sided p of Welch's t-test that the mean fell; NaN if undefined."""
        if not self.error > 0:
            return math.nan if math.isnan(self.error) else float(self.mean >= 0)
        from scipy.special import stdtr

        return float(stdtr(self.degrees, self.mean / self.error))
