"""Two samples of different queries or sessions: the difference of their means.

Intervals are Welch's: the standard error is sqrt(s0^2 / n0 + s1^2 / n1), with the degrees of
freedom of Welch (The generalization of Student's problem, Biometrika 34, 1947) and Satterthwaite.
The lower bound adds one unseen value to each sample (see ``mean_differences``). If the smaller
sample is below 1,000, p is that of a permutation test, because Welch's t is too certain of skewed
samples of unequal size.

Units of unequal weight, such as users with several sessions each, are linearised like those of one
sample (see ``sample_size``), and each sample's degrees of freedom come from its effective
number of units: with the number of sessions instead, a week in which nothing changed is blocked
four to six times as often as stated.

The permutation test asks how often chance alone would separate two samples this far. If a change
had no effect, each value could as well have been in the other sample. The test divides the pooled
values anew, 10,000 times, and counts how often the difference of the means, in standard errors, is
at least as low as the observed one. Because it is divided by its standard error (Welch's), the test
also keeps its level in large samples whose spreads differ (Chung and Romano, Exact and
asymptotically robust permutation tests, Annals of Statistics 41, 2013). Weights, such as the
numbers of sessions of users, move together with their values, and the standard error is that of a
ratio of two sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_rankcheck.array_types import FloatArray, PlaceArray
from pytest_rankcheck.statistics.mean_differences import Differences, unseen_extreme
from pytest_rankcheck.statistics.sign_flip import DRAWS, seed_of, whole_gains

LARGE_SAMPLE = 1000
"""If the smaller sample is at least this large, Welch's t keeps its level on skewed values."""
_MOST_AT_ONCE = 2_000_000
"""The number of values drawn at once, which bounds the memory."""
_SAME = 1e-9
"""Statistics closer than this count as equal, because of rounding."""
_NO_SPREAD = 1e-6
"""Of values with a spread of 1, a smaller standard error counts as 0, because of rounding."""


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


# --- the permutation test ------------------------------------------------------------------------


def permutation_p(
    now: FloatArray,
    before: FloatArray,
    weights: FloatArray | None = None,
    before_weights: FloatArray | None = None,
) -> float:
    """Return the one-sided p that the mean is lower now, in (0, 1].

    The same values give the same p on every machine, in any order.

    Args:
        now: the values now, ``[n1]``, at least two.
        before: the values before, ``[n0]``, at least two.
        weights: how much each value now counts, ``[n1]``; None: all count the same.
        before_weights: how much each value before counts, ``[n0]``.
    """
    if (weights is None) != (before_weights is None):
        weights = np.ones(len(now)) if weights is None else weights
        before_weights = np.ones(len(before)) if before_weights is None else before_weights
    swapped = len(now) > len(before)
    smaller = _in_order(*((before, before_weights) if swapped else (now, weights)))
    both = None
    if weights is not None and before_weights is not None:
        both = np.concatenate((weights, before_weights))
    values, both = _in_order(np.concatenate((now, before)), both)
    seeding = [smaller[0], values] if both is None else [smaller[0], values, both]
    raw = np.random.PCG64(seed_of(np.concatenate([whole_gains(each) for each in seeding])))
    centre, scale = values.mean(), values.std() or 1.0
    # Large offsets would cost precision in the squares.
    values = (values - centre) / scale
    whole, size = _moments(values, both), len(smaller[0])
    as_observed = _moments(((smaller[0] - centre) / scale)[np.newaxis], smaller[1])
    observed = _welch(as_observed, whole)[0]
    extreme, rows = 0, max(1, _MOST_AT_ONCE // size)
    for start in range(0, DRAWS, rows):
        chosen = _subsets(raw, min(rows, DRAWS - start), size, len(values))
        drawn = _welch(_moments(values[chosen], None if both is None else both[chosen]), whole)
        is_extreme = drawn <= observed + _SAME
        if swapped:
            is_extreme = drawn >= observed - _SAME
        extreme += int(is_extreme.sum())
    return (1 + extreme) / (DRAWS + 1)


def _in_order(
    values: FloatArray, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray | None]:
    """Return values and their weights, sorted by both."""
    if weights is None:
        return np.sort(values), None
    order = np.lexsort((weights, values))
    return values[order], weights[order]


def smallest_permutation_p(count: int, other: int) -> float:
    """Return the smallest p that two samples of these sizes can have; 1 if one has one value."""
    if min(count, other) < 2:
        return 1.0
    ways = math.comb(count + other, count) if count + other <= 60 else math.inf
    return max(1 / (DRAWS + 1), 1 / ways)


def _subsets(raw: np.random.PCG64, rows: int, size: int, count: int) -> PlaceArray:
    """Return random subsets of ``count`` places, ``[rows, size]``, each place once in a row."""

    def drawn(number: int) -> npt.NDArray[np.int32]:  # which are sorted twice as fast as 64 bits
        return (raw.random_raw(number) % np.uint64(count)).astype(np.int32)

    chosen = np.sort(drawn(rows * size).reshape(rows, size), axis=1)
    while (repeated := chosen[:, 1:] == chosen[:, :-1]).any():
        chosen[:, 1:][repeated] = drawn(int(repeated.sum()))
        chosen.sort(axis=1)
    return chosen.astype(np.intp)


class _Moments(NamedTuple):
    """The sums over samples from which their means and standard errors follow, ``[rows]`` each."""

    units: int
    """The number of values of each sample."""
    weights: FloatArray
    values: FloatArray
    """Of weight times value, as all below."""
    squared_weights: FloatArray
    squared_weights_values: FloatArray
    squares: FloatArray

    def without(self, part: _Moments) -> _Moments:
        """Return the sums over everything but a part."""
        rest = (mine - theirs for mine, theirs in zip(self[1:], part[1:], strict=True))
        return _Moments(self.units - part.units, *rest)

    @property
    def variance_of_mean(self) -> FloatArray:
        """The squared standard error of the weighted mean; values deviate from it as a ratio."""
        mean = self.values / self.weights
        squares = self.squares - 2 * mean * self.squared_weights_values
        spread = np.maximum(squares + mean**2 * self.squared_weights, 0.0)
        correction = self.units / (self.units - 1)
        return np.asarray(spread / self.weights**2 * correction)


def _moments(values: FloatArray, weights: FloatArray | None) -> _Moments:
    """Return the sums over each sample: ``[n]``, or ``[rows, n]`` for several."""
    count = values.shape[-1]
    if weights is None:
        sums, squares = values.sum(axis=-1), (values**2).sum(axis=-1)
        size = np.full_like(sums, float(count))
        return _Moments(count, size, sums, size, sums, squares)
    weighted = weights * values
    return _Moments(
        count,
        weights.sum(axis=-1),
        weighted.sum(axis=-1),
        (weights**2).sum(axis=-1),
        (weights * weighted).sum(axis=-1),
        (weighted**2).sum(axis=-1),
    )


def _welch(part: _Moments, pooled: _Moments) -> FloatArray:
    """Return Welch's t of each part, ``[rows]``, against the rest of the pooled values."""
    rest = pooled.without(part)
    differences = part.values / part.weights - rest.values / rest.weights
    spread = np.sqrt(part.variance_of_mean + rest.variance_of_mean)
    without_spread = spread < _NO_SPREAD
    infinite = np.where(np.abs(differences) > _SAME, np.copysign(np.inf, differences), 0.0)
    divisor = np.where(without_spread, 1.0, spread)
    return np.where(without_spread, infinite, differences / divisor)
