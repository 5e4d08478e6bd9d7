"""Bounds by betting: they hold for any distribution of values on a known range.

A gambler bets, unit after unit, that the mean is above m. The capital after t units,
K_t(m) = prod (1 + lambda_i (x_i - m)), never gets negative, and if the mean is at most m, it is a
supermartingale that starts at 1. So it ever reaches 1 / alpha with probability alpha at most
(Ville's inequality), for every number of units, and 1 / max K_t(m) is a p-value. Nothing is assumed
of the distribution, but units must be independent draws, and no bet may use a value that comes
after it (Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS-B
86, 2024, Theorem 3 and equation 26).

The capital falls as m grows, for any values, because each bet is a stake that does not depend on m
or the largest safe one, c / (m - lowest). So the bound is where p crosses alpha.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_rankcheck.array_types import FloatArray

__all__ = ["SAFE_SHARE", "BetsOnDifference", "BetsOnMean", "fewest_to_rule_out"]

SAFE_SHARE = 0.95
"""c: no bet may lose more than this share of the capital."""
_LEVEL = 0.05
"""The level at which bets of this size gain most; p is valid at every level."""
_IMAGINED, _VARIANCE = 4.0, 0.04
"""Until there are values, bets are those for four values with this variance on a range of 1."""
_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class BetsOnMean:
    """Bets on the mean of independent units, in the order of the bets.

    The mean is sum(sums) / sum(weights). A unit is a query or a cluster of them; none may weigh
    more than the heaviest one here.
    """

    sums: FloatArray
    """``[C]`` the sum of each unit's values, times their weights."""
    weights: FloatArray
    """``[C]`` the sum of each unit's weights; ones if each unit is one value."""
    lowest: float
    """The lowest possible value."""
    highest: float
    """The highest possible value."""

    @cached_property
    def negated(self) -> BetsOnMean:
        """The same units with the other sign, to bet that the mean is low."""
        return BetsOnMean(-self.sums, self.weights, -self.highest, -self.lowest)

    def p_at_most(self, mean: float) -> float:
        """Return the p of the hypothesis that the mean is at most ``mean``, in (0, 1]."""
        return 1 / self.capital(mean)

    def lower_bound(self, alpha: float) -> float:
        """Return the one-sided lower confidence bound of the mean: p of it is ``alpha``."""

        def excess(mean: float) -> float:
            return math.log(self.capital(mean)) + math.log(alpha)

        if excess(self.lowest) <= 0:
            return self.lowest
        return _crossing(excess, self.lowest, self.highest)

    @property
    def smallest_p(self) -> float:
        """A bound that p of a mean of at least 0 cannot be below, if values are within +-highest.

        It is p if every value were the lowest one and all bets were the largest.
        """
        return self.negated.smallest_p_at_most(0.0)

    def p_of_fall(self) -> float:
        """Return the p of the hypothesis that the mean is at least 0."""
        return self.negated.p_at_most(0.0)

    def p_of_margin(self, margin: float) -> float:
        """Return the p of the hypothesis that the mean is at most ``-margin``."""
        return self.p_at_most(-margin)

    def smallest_p_at_most(self, mean: float) -> float:
        """Return a bound that `p_at_most` cannot be below with as many units of these weights."""
        if not self.weights.size or mean >= self.highest:
            return 1.0
        if mean <= self.lowest:
            return 1 / _LARGEST
        gain = SAFE_SHARE * (self.highest - mean) / (mean - self.lowest)
        grown = float(np.sum(np.log1p(gain * self.weights / self.weights.max())))
        return max(math.exp(-grown), 1 / _LARGEST)

    def capital(self, mean: float) -> float:
        """Return the largest capital of bets that the mean is above ``mean``, at least 1."""
        if not self.weights.size:
            return 1.0
        room = (mean - self.lowest) / (self.highest - self.lowest)
        stakes = self._stakes if room <= 0 else np.minimum(self._stakes, SAFE_SHARE / room)
        factors = 1 + stakes * ((self.sums - mean * self.weights) / self._widest)
        with np.errstate(over="ignore"):
            reached = float(np.max(np.cumprod(factors)))
        return min(max(1.0, reached), _LARGEST)

    @property
    def _widest(self) -> float:
        """The widest range that the sum of a unit can have."""
        return (self.highest - self.lowest) * float(self.weights.max())

    @cached_property
    def _stakes(self) -> FloatArray:
        """``[C]`` the bet on each unit, from the units before it.

        sqrt(2 log(1 / level) / (C v)) with the variance v of the units so far (equation 26).
        """
        middle = (self.lowest + self.highest) / 2
        units = (self.sums - middle * self.weights) / self._widest
        counts = _IMAGINED + np.arange(1, len(units) + 1)
        means = np.cumsum(units) / counts
        variances = (_IMAGINED * _VARIANCE + np.cumsum((units - means) ** 2)) / counts
        before = np.concatenate(([_VARIANCE], variances[:-1]))
        return np.asarray(np.sqrt(2 * math.log(1 / _LEVEL) / (len(units) * before)))


@dataclass(frozen=True)
class BetsOnDifference:
    """Bets on the difference of two samples' means, now minus before.

    Each mean gets half of the level: the difference is above m if, for some c, the mean now is
    above c and the mean before is below c - m. The best c is taken, so
    p = 2 min over c of max(p of the mean now, p of the mean before).
    """

    now: BetsOnMean
    before: BetsOnMean
    """On the same range."""

    def p_at_most(self, difference: float) -> float:
        """Return the p of the hypothesis that the difference is at most ``difference``."""
        return self._p(
            difference, lambda c: -math.log(self.now.capital(c)), self._log_p_before_at_least
        )

    def lower_bound(self, alpha: float) -> float:
        """Return the one-sided lower confidence bound of the difference."""
        return self.now.lower_bound(alpha / 2) + self.before.negated.lower_bound(alpha / 2)

    def p_of_fall(self) -> float:
        """Return the p of the hypothesis that the difference is at least 0."""
        return BetsOnDifference(self.before, self.now).p_at_most(0.0)

    def p_of_margin(self, margin: float) -> float:
        """Return the p of the hypothesis that the difference is at most ``-margin``."""
        return self.p_at_most(-margin)

    @property
    def smallest_p(self) -> float:
        """A bound that `p_of_fall` cannot be below with as many values."""
        swapped = BetsOnDifference(self.before, self.now)
        return swapped._p(
            0.0,
            lambda c: math.log(swapped.now.smallest_p_at_most(c)),
            lambda c: math.log(swapped.before.negated.smallest_p_at_most(-c)),
        )

    def _log_p_before_at_least(self, mean: float) -> float:
        return -math.log(self.before.negated.capital(-mean))

    def _p(
        self, difference: float, now: Callable[[float], float], before: Callable[[float], float]
    ) -> float:
        """Return twice the larger of two p at the best c: where they are equal, or at an end.

        Args:
            difference: m.
            now: the logarithm of the p that the mean now is at most c; it grows with c.
            before: the logarithm of the p that the mean before is at least c - m; it falls.
        """

        def ahead(c: float) -> float:
            return now(c) - before(c - difference)

        low = self.now.lowest + max(0.0, difference)
        high = self.now.highest + min(0.0, difference)
        if low >= high:
            return 1.0
        if ahead(low) >= 0:
            middle = low
        elif ahead(high) <= 0:
            middle = high
        else:
            middle = _crossing(ahead, low, high)
        p = max(now(middle), before(middle - difference))
        if difference <= 0:  # at an end, one of the two is certain: no mean is outside the range
            p = min(p, before(low - difference), now(high))
        return min(1.0, 2 * math.exp(p))


def fewest_to_rule_out(margin: float, width: float, alpha: float) -> int:
    """Return how many units it takes at least to rule out a fall of ``margin``.

    That is if no unit changed, all had the same weight and all bets were the largest.

    Args:
        margin: the fall, above 0 and below ``width``.
        width: how far a unit can fall.
        alpha: the level, between 0 and 1.
    """
    return math.ceil(-math.log(alpha) / math.log1p(SAFE_SHARE * margin / (width - margin)))


def _crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a monotone function with different signs at both ends is 0."""
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=1e-12 * (high - low)))
