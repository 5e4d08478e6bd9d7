"""The mean of paired differences: its interval, its bounds and the smallest detectable fall.

Intervals use Student's t. The lower bound, which decides whether a fall of a margin is ruled out,
is Student's t with one more unit that fell (see `unseen_fall`): without it, changes that lose
much on a few queries pass too often. The smallest detectable fall is that of a one-sided test with
80% power, (z_{1-alpha} + z_{0.8}) s / sqrt(n), with quantiles of t below 50 queries (Cohen,
Statistical Power Analysis, 1988; for retrieval: Sakai, Laboratory Experiments in IR, 2018, ch. 6).

What was not sampled counts too. Real regressions lose much on a few queries. A sample that happens
to have none of these queries has a small mean fall and a small spread, so Student's t is
overconfident: it passes a fall of the margin two to four times as often as stated. Gates therefore
decide as if one more unit (a query, or a cluster of queries) had been sampled, with a change that
speaks against the verdict. This is the idea of the pseudo-observations of Agresti and Coull
(Approximate is better than "exact" for interval estimation of binomial proportions, The American
Statistician 52, 1998), applied to means. The size of each such change was chosen on real pairs of
rankings: see ``benchmarks/calibration.py``.

Units of unequal weight count as n_e = (sum w)^2 / sum w^2 units (Kish, Survey Sampling, 1965), in
the degrees of freedom too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.statistics.run_noise import RunNoise
from pytest_rankcheck.statistics.sample_size import (
    effective_count,
    linearised,
)

UNSEEN_GAIN = 0.25
"""A test of a fall adds one gain of this share of the largest change."""
UNSEEN_WEIGHTED_GAIN = 0.5
"""If weights were drawn together with the units, as the inverse propensities of a replayed log, a
test adds one gain of this share of the largest change at the largest weight.

Few selections come from far down. Each has a large weight, and a document from far down usually
rises, so a sample without any has too low a mean and too small a spread. With this share,
``benchmarks/replayed_logs.py`` blocks an equal ranker in at most about 6% of logs with the right
propensity; intervals allow for one such unit on each side.
"""
_REACH = 10.0
"""The unseen fall lies this many n-ths of the way from the largest change to the full range."""
_STRETCH = 10.0
"""Without a known range, the largest change is stretched by this many root-n-ths of itself."""
POWER = 0.8
_SAME = 1e-9
"""Differences with a smaller range count as equal, because of rounding."""
_LARGE = 50
"""With at least this many queries, normal quantiles are accurate enough for planning."""


@dataclass(frozen=True)
class Differences:
    """The differences of n independent units (queries, or clusters of them), ``[n]``, without NaN.

    Positive means better.
    """

    gains: FloatArray
    weights: FloatArray | None = None
    """``[n]`` how much each unit counts; None: all count the same."""
    full_range: float = field(default=math.inf, kw_only=True)
    """How much a unit can change at most: the width of the metric's range."""
    drawn_share: float = field(default=0.0, kw_only=True)
    """Above 0 if the weights were drawn together with the units, as those of a replayed log.

    The heaviest possible units are then rare, so tests add one that was not sampled, and intervals
    two, one on each side of the mean: this share of the largest change, at the largest weight.
    """
    noise: RunNoise | None = field(default=None, kw_only=True)
    """How much the mean varies between runs, in addition to the queries; None: not known."""

    @property
    def count(self) -> int:
        """The number of differences, n."""
        return len(self.gains)

    @property
    def effective_count(self) -> float:
        """How many units of equal weight are as informative, n_e."""
        if self.weights is None:
            return float(self.count)
        return effective_count(self.weights)

    @cached_property
    def mean(self) -> float:
        """The weighted mean; NaN without any differences."""
        if self.count:
            return float(np.average(self.gains, weights=self.weights))
        return math.nan

    @cached_property
    def deviation(self) -> float:
        """The standard deviation (n - 1); 0 if all are equal, NaN for fewer than two.

        With weights, that of unweighted values whose mean would have the same standard error.
        """
        if self.count < 2:
            return math.nan
        if float(np.ptp(self.gains)) < _SAME:
            return 0.0
        return float(np.std(linearised(self.gains, self.weights, None), ddof=1))

    @property
    def query_error(self) -> float:
        """The standard error that the queries give to the mean; NaN for fewer than two."""
        if self.count > 1:
            return self.deviation / math.sqrt(self.count)
        return math.nan

    @property
    def degrees(self) -> float:
        """The degrees of freedom of Student's t."""
        return self._with_noise(self.query_error, self._query_degrees)[1]

    @property
    def error(self) -> float:
        """The standard error of the mean, of queries and of runs."""
        return self._with_noise(self.query_error, self._query_degrees)[0]

    @property
    def _query_degrees(self) -> float:
        if self.weights is None:
            return self.count - 1
        return max(1.0, self.effective_count - 1)

    def _with_noise(self, error: float, degrees: float) -> tuple[float, float]:
        """Return a standard error and its degrees of freedom with the noise of runs."""
        if self.noise is None:
            return (error, degrees)
        return self.noise.combined(error, degrees)

    @property
    def effect(self) -> float:
        """The mean in standard deviations (Cohen's d_z); NaN if all differences are equal."""
        return self.mean / self.deviation if self.deviation > 0 else math.nan

    @checked_arguments
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the two-sided confidence interval of the mean; NaN for fewer than two."""
        half = self._margin(0.5 + level / 2)
        return self.mean - half, self.mean + half

    def difference_p(self) -> float:
        """Return the two-sided p of Student's t, for the same error as `interval`.

        1 if nothing changed. NaN for fewer than two, or if all changed by the same: their spread is
        unknown, and a missing spread is no certainty.
        """
        if self.count < 2 or not self._interval_error > 0:
            return 1.0 if self.count > 1 and abs(self.mean) < _SAME else math.nan
        from scipy.special import stdtr

        return float(2 * stdtr(self.degrees, -abs(self.mean) / self._interval_error))

    def lower_bound(self, alpha: float) -> float:
        """Return the one-sided lower confidence bound of the mean; NaN for fewer than two.

        It is that of n + 1 units, one of which fell, as `unseen_fall` says, and never below a fall
        of the full range. Minus infinity if nothing changed and the range is unknown.
        """
        if self.count < 2:
            return math.nan
        mean, error, degrees = self._with_unseen_fall
        if not math.isfinite(mean):
            return -self.full_range
        return max(-self.full_range, mean - _t(1 - alpha, degrees) * error)

    def bound_of_values(self, alpha: float, limit: float, *, is_lower: bool) -> float:
        """Return a one-sided confidence bound of the mean of values that are not differences.

        It allows for one value that was not sampled and lies further out than all others (see
        `unseen_extreme`); if all values are the same, for one at the limit. NaN for fewer than two
        values.

        Args:
            alpha: the probability that the bound is wrong.
            limit: the lowest possible value of a lower bound, the highest of an upper one.
            is_lower: whether the bound is a lower one.
        """
        if self.count < 2:
            return math.nan
        extreme = float(self.gains.min() if is_lower else self.gains.max())
        varies = float(np.ptp(self.gains)) > _SAME
        unseen = (
            unseen_extreme(extreme, self.mean, limit, self.effective_count) if varies else limit
        )
        if not math.isfinite(unseen):
            return unseen
        mean, error, degrees = self._with_unseen(unseen)
        half = _t(1 - alpha, degrees) * error
        return mean - half if is_lower else mean + half

    def noninferiority_p(self, margin: float) -> float:
        """Return p of the hypothesis that the mean is at or below ``-margin``; NaN for one query.

        It is at most alpha if and only if `lower_bound` of alpha is above ``-margin``.
        """
        if self.count < 2:
            return math.nan
        from scipy.special import stdtr

        mean, error, degrees = self._with_unseen_fall
        if not math.isfinite(mean):
            return 1.0
        if error == 0:  # every unit lost all that it could
            return float(mean <= -margin)
        return float(stdtr(degrees, -(mean + margin) / error))

    def fall_p(self) -> float:
        """Return the one-sided p of a fall by Student's t, in [0, 1]; 1 without any differences.

        One gain that was not sampled is added (see the module).
        """
        if not self.count:
            return 1.0
        from scipy.special import stdtr  # scipy.stats takes half a second to import

        gains, weights = self.with_value(UNSEEN_GAIN * float(np.abs(self.gains).max()))
        longer = replace(self, gains=gains, weights=weights)
        if not longer.error > 0:
            return float(longer.mean >= 0)
        return float(stdtr(longer.degrees, longer.mean / longer.error))

    @cached_property
    def _with_unseen_fall(self) -> tuple[float, float, float]:
        """The mean, its standard error and the degrees of freedom with one unit that fell."""
        largest = float(np.abs(self.gains).max())
        known = 0.0 if largest < _SAME else largest
        fall = unseen_fall(known, self.full_range, self.effective_count)
        if math.isfinite(fall):
            return self._with_unseen(-fall)
        return (-math.inf, math.nan, math.nan)

    def with_value(self, gain: float) -> tuple[FloatArray, FloatArray | None]:
        """Return the differences and their weights with one more unit.

        That unit has the weight that makes it one of n_e: sum w / n_e.
        """
        gains, weights = np.append(self.gains, gain), self.weights
        if weights is None:
            return gains, None
        return gains, np.append(weights, weights.sum() / self.effective_count)

    def _with_unseen(self, gain: float) -> tuple[float, float, float]:
        """Return the mean, its standard error and the degrees of freedom with one more unit."""
        count = self.count
        gains, weights = self.with_value(gain)
        shares = np.ones(count + 1) if weights is None else weights
        total = float(shares.sum())
        mean = float(shares @ gains) / total
        deviations = shares * (gains - mean)
        squares = float((deviations**2).sum())
        error = math.sqrt((count + 1) / count * squares) / total
        return mean, *self._with_noise(error, max(1.0, effective_count(shares) - 1))

    def smallest_detectable(self, alpha: float = 0.05) -> float:
        """Return the smallest fall that a test at ``alpha`` detects with a power of 80%.

        It is larger by the gain that tests add to what was sampled (see `unseen_fall`). NaN for
        fewer than two queries, or if all differences are equal.
        """
        if not self.deviation > 0:
            return math.nan
        quantiles = self._quantile(1 - alpha) + self._quantile(POWER)
        return quantiles * self.error + self.unseen_gain

    @property
    def unseen_gain(self) -> float:
        """How much the gain that tests add to what was sampled raises the mean."""
        if self.drawn_share:
            return self.drawn_share * self._heaviest(self.gains)
        return UNSEEN_GAIN * float(np.abs(self.gains).max()) / self.effective_count

    def _margin(self, share: float) -> float:
        """Return how far the bound at a quantile of t is from the mean; NaN for fewer than two."""
        if self.count < 2 or self._interval_error == 0:
            return math.nan if self.count < 2 else 0.0
        return _t(share, self.degrees) * self._interval_error

    @property
    def _interval_error(self) -> float:
        """The standard error that intervals use: that of two more units if weights were drawn."""
        if not self.drawn_share:
            return self.error
        unseen = self.drawn_share * self._heaviest(self.gains - self.mean)
        return math.sqrt(self.error**2 + 2 * unseen**2)

    def _heaviest(self, values: FloatArray) -> float:
        """Return how far the largest of some values at the largest weight moves their mean."""
        largest = float(np.abs(values).max())
        if self.weights is None:
            return largest / self.count
        return largest * float(self.weights.max()) / float(self.weights.sum())

    def _quantile(self, share: float) -> float:
        if self.count < _LARGE or self.noise is not None:
            return _t(share, self.degrees)
        from scipy.special import ndtri

        return float(ndtri(share))


def _t(share: float, degrees: float) -> float:
    """Return the quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, share))


def unseen_fall(largest: float, full_range: float, units: float) -> float:
    """Return how far a unit that was not sampled falls, above 0; infinite if unknown.

    Args:
        largest: the largest change of a unit, at least 0. If nothing changed, nothing is known
            about how far a unit can fall, and the full range counts.
        full_range: how far a unit can fall at most, above 0; infinite if that is unknown.
        units: the number of independent units, or their effective number; above 0.
    """
    if largest == 0:
        return full_range
    if not math.isfinite(full_range):
        return largest * (1 + _STRETCH / math.sqrt(units))
    further = max(0.0, full_range - largest)
    return largest + further * min(1.0, _REACH / units)


def unseen_extreme(extreme: float, mean: float, limit: float, units: float) -> float:
    """Return an assumed value that was not sampled, further out than the sample's extreme.

    Args:
        extreme: the highest or the lowest value that was seen.
        mean: the mean of the sample.
        limit: the highest or the lowest possible value; infinite if there is no known limit.
        units: the number of values in the sample.
    """
    if not math.isfinite(limit):
        return mean + (extreme - mean) * (1 + _STRETCH / math.sqrt(units))
    return extreme + (limit - extreme) * min(1.0, _REACH / units)
