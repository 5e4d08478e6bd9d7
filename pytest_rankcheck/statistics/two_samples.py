"""Two samples of different queries or sessions: the difference of their means.

Intervals are Welch's: the standard error is sqrt(s0^2 / n0 + s1^2 / n1), with the degrees of
freedom of Welch (The generalization of Student's problem, Biometrika 34, 1947) and Satterthwaite.
The lower bound adds one unseen value to each sample (see ``mean_differences``). If the smaller
sample is below 1,000, p is that of a permutation test, because Welch's t is too certain of skewed
samples of unequal size.

Units of unequal weight, such as users with several sessions each, are linearised like those of one
sample (see ``weighted_clusters``), and each sample's degrees of freedom come from its effective
number of units: with the number of sessions instead, a week in which nothing changed is blocked
four to six times as often as stated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.statistics.mean_differences import Differences, unseen_extreme
from pytest_rankcheck.statistics.permutation import permutation_p
from pytest_rankcheck.statistics.sample_size import deviation_interval
from pytest_rankcheck.statistics.weighted_clusters import linearised, unit_means

LARGE_SAMPLE = 1000
"""If the smaller sample is at least this large, Welch's t keeps its level on skewed values."""


@dataclass(frozen=True)
class TwoSamples(Differences):
    """Differences between two samples: ``gains`` are the values now, ``[n1]``."""

    before: FloatArray = field(kw_only=True)
    """The values before, ``[n0]``; in both samples a higher value means better."""
    before_weights: FloatArray | None = field(default=None, kw_only=True)
    """``[n0]`` how much each value before counts; None: all count the same."""
    low: float = field(default=-math.inf, kw_only=True)
    """The lowest possible value."""
    high: float = field(default=math.inf, kw_only=True)
    """The highest possible value."""

    @cached_property
    def samples(self) -> tuple[Differences, Differences]:
        """The sample before and the one now, separately."""
        return Differences(self.before, self.before_weights), Differences(self.gains, self.weights)

    @property
    def count(self) -> int:
        """The number of values in both samples, n0 + n1."""
        return len(self.gains) + len(self.before)

    @property
    def effective_count(self) -> float:
        """How many values of equal weight are as informative as both samples."""
        return sum(sample.effective_count for sample in self.samples)

    @cached_property
    def mean(self) -> float:
        """The difference of the means, now minus before; NaN if a sample is empty."""
        before, now = self.samples
        return now.mean - before.mean

    @cached_property
    def _variances(self) -> tuple[float, float]:
        """The variance of the mean of each sample; NaN for fewer than two values."""
        before, now = self.samples
        return before.error**2, now.error**2

    @cached_property
    def deviation(self) -> float:
        """The standard error times sqrt(n0 + n1), comparable to that of paired differences."""
        return math.sqrt(sum(self._variances) * self.count)

    @property
    def effect(self) -> float:
        """The difference in pooled standard deviations of both samples (Cohen's d)."""
        if min(sample.count for sample in self.samples) < 2:
            return math.nan
        squares = math.fsum(sample.deviation**2 * (sample.count - 1) for sample in self.samples)
        pooled = math.sqrt(squares / (self.count - 2))
        return self.mean / pooled if pooled > 0 else math.nan

    @property
    def unseen_gain(self) -> float:
        """0: tests of two samples add no gain."""
        return 0.0

    @property
    def degrees(self) -> float:
        """The degrees of freedom of Welch and Satterthwaite; NaN if a sample has fewer than two."""
        if min(sample.count for sample in self.samples) < 2:
            return math.nan
        parts = zip(self._variances, self.samples, strict=True)
        spread = math.fsum(variance**2 / sample.degrees for variance, sample in parts)
        if not spread > 0:
            return self.count - 2
        return sum(self._variances) ** 2 / spread

    def deviation_interval(self) -> tuple[float, float]:
        """Return the 80% interval of `deviation`, from the intervals of both samples."""
        values = [linearised(each.gains, each.weights, None) for each in self.samples]
        scales = [self.count / max(1, len(one)) for one in values]
        return deviation_interval(values, scales)

    @cached_property
    def _with_unseen_fall(self) -> tuple[float, float, float]:
        """The difference, its error and degrees of freedom, with an unseen value on each side.

        The value now is worse than all that were seen, the value before is better. If the range is
        known, both samples show how far values reach; otherwise each does separately, because the
        extremes of a large sample say little about a small one.
        """
        before, now = self.samples
        if min(now.count, before.count) < 2:
            return -math.inf, math.nan, math.nan
        worse = self._unseen(now, np.min, self.low)
        better = self._unseen(before, np.max, self.high)
        if not (math.isfinite(worse) and math.isfinite(better)):
            return -math.inf, math.nan, math.nan
        gains, weights = now.with_value(worse)
        values, before_weights = before.with_value(better)
        longer = TwoSamples(gains, weights, before=values, before_weights=before_weights)
        return longer.mean, longer.error, longer.degrees

    def _unseen(
        self, sample: Differences, extreme_of: Callable[[FloatArray], float], limit: float
    ) -> float:
        """Return an unseen value of a sample; the limit if nothing varies in either sample."""
        both = np.concatenate((self.gains, self.before))
        if not np.ptp(both) > 0:
            return limit
        is_bounded = math.isfinite(self.low) and math.isfinite(self.high)
        varies = np.ptp(sample.gains) > 0
        seen = sample.gains if varies and not is_bounded else both
        extreme = float(extreme_of(seen))
        return unseen_extreme(extreme, sample.mean, limit, sample.effective_count)

    def p_of_fall(self) -> float:
        """Return the one-sided p that the mean fell, in (0, 1].

        A permutation test, or Welch's t-test if both samples are large. It is 1 with fewer than two
        values in a sample, because one value does not show how much values vary.
        """
        smaller = min(sample.count for sample in self.samples)
        if smaller < 2:
            return 1.0
        if smaller < LARGE_SAMPLE:
            return permutation_p(self.gains, self.before, self.weights, self.before_weights)
        if not self.error > 0:
            return math.nan if math.isnan(self.error) else float(self.mean >= 0)
        from scipy.special import stdtr

        return float(stdtr(self.degrees, self.mean / self.error))


Sample = tuple[FloatArray, IntArray | None, FloatArray | None]
"""Values, the number of the unit of each (None: each is one), and how much each counts (None: all
the same)."""


def p_of_difference(before: Sample, now: Sample) -> float:
    """Return the two-sided p of Welch's t-test, in [0, 1].

    NaN if the samples are not independent because they share a unit, if one has fewer than two
    values, or if no value differs.
    """
    (old, old_units, old_weights), (new, new_units, new_weights) = before, now
    if old_units is not None and new_units is not None and np.isin(new_units, old_units).any():
        return math.nan
    if min(len(old), len(new)) < 2:
        return math.nan
    means, weights = unit_means(new, new_weights, new_units)
    old_means, old_weights = unit_means(old, old_weights, old_units)
    difference = TwoSamples(means, weights, before=old_means, before_weights=old_weights)
    if not difference.error > 0:
        return math.nan
    from scipy.special import stdtr

    t = difference.mean / difference.error
    return float(2 * stdtr(difference.degrees, -abs(t)))
