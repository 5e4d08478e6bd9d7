"""Two samples of different queries or sessions: the difference of their means.

Intervals are Welch's: the standard error is sqrt(s0^2 / n0 + s1^2 / n1), with the degrees of
freedom of Welch (The generalization of Student's problem, Biometrika 34, 1947) and Satterthwaite.
The lower bound adds one unseen value to each sample (see ``unseen_values``). If the smaller sample
is below 1,000, p is that of a permutation test, because Welch's t is too certain of skewed samples
of unequal size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.permutation import permutation_p
from pytest_rankcheck.statistics.sample_size import deviation_interval
from pytest_rankcheck.statistics.unseen_values import unseen_extreme

__all__ = ["LARGE_SAMPLE", "TwoSamples"]

LARGE_SAMPLE = 1000
"""From this size of the smaller sample on, Welch's t keeps its level on skewed values."""


@dataclass(frozen=True)
class TwoSamples(Differences):
    """Differences between two samples: ``gains`` are the values now, ``[n1]``."""

    before: FloatArray = field(kw_only=True)
    """The values before, ``[n0]``; in both samples a higher value means better."""
    low: float = field(default=-math.inf, kw_only=True)
    """The lowest possible value."""
    high: float = field(default=math.inf, kw_only=True)
    """The highest possible value."""

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
    def unseen_gain(self) -> float:
        """0: tests of two samples add no gain."""
        return 0.0

    @property
    def degrees(self) -> float:
        """The degrees of freedom of Welch and Satterthwaite."""
        parts = zip(self._variances, (len(self.before), len(self.gains)), strict=True)
        spread = math.fsum(variance**2 / (size - 1) for variance, size in parts)
        return sum(self._variances) ** 2 / spread if spread > 0 else self.count - 2

    def deviation_interval(self) -> tuple[float, float]:
        """Return the 80% interval of `deviation`, from the intervals of both samples."""
        samples = (self.before, self.gains)
        return deviation_interval(samples, [self.count / max(1, len(one)) for one in samples])

    @cached_property
    def _with_unseen_fall(self) -> tuple[float, float, float]:
        """The difference, its error and degrees of freedom, with an unseen value on each side.

        The value now is worse than all that were seen, the value before is better. How far values
        reach is seen in both samples if the range is known; otherwise in each for itself, since the
        extremes of a large sample say little of a small one.
        """
        if min(len(self.gains), len(self.before)) < 2:
            return -math.inf, math.nan, math.nan
        worse = self._unseen(self.gains, np.min, self.low)
        better = self._unseen(self.before, np.max, self.high)
        if not (math.isfinite(worse) and math.isfinite(better)):
            return -math.inf, math.nan, math.nan
        longer = TwoSamples(np.append(self.gains, worse), before=np.append(self.before, better))
        return longer.mean, longer.error, longer.degrees

    def _unseen(
        self, sample: FloatArray, extreme_of: Callable[[FloatArray], float], limit: float
    ) -> float:
        """Return an unseen value of a sample; the limit if nothing varies in either sample."""
        both = np.concatenate((self.gains, self.before))
        if not np.ptp(both) > 0:
            return limit
        is_bounded = math.isfinite(self.low) and math.isfinite(self.high)
        seen = both if is_bounded or not np.ptp(sample) > 0 else sample
        return unseen_extreme(float(extreme_of(seen)), float(sample.mean()), limit, len(sample))

    def p_of_fall(self) -> float:
        """Return the one-sided p that the mean fell, in (0, 1].

        A permutation test, or Welch's t-test if both samples are large. It is 1 with fewer than two
        values in a sample, because one value does not show how much values vary.
        """
        if min(len(self.gains), len(self.before)) < 2:
            return 1.0
        if min(len(self.gains), len(self.before)) < LARGE_SAMPLE:
            return permutation_p(self.gains, self.before)
        if not self.error > 0:
            return math.nan if math.isnan(self.error) else float(self.mean >= 0)
        from scipy.special import stdtr

        return float(stdtr(self.degrees, self.mean / self.error))
