"""The permutation test of two samples: how often would chance alone separate them this far?

If a change had no effect, each value could as well have been in the other sample. The test divides
the pooled values anew, 10,000 times, and counts how often the difference of the means, in standard
errors, is at least as low as the observed one. Because it is divided by its standard error
(Welch's), the test also keeps its level in large samples whose spreads differ (Chung and Romano,
Exact and asymptotically robust permutation tests, Annals of Statistics 41, 2013).

Where values have weights, such as the numbers of sessions of users, each moves together with its
value, and the standard error is that of a ratio of two sums (see ``weighted_clusters``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_rankcheck.array_types import FloatArray, PlaceArray
from pytest_rankcheck.statistics.sign_flip import DRAWS, seed_of, whole_gains

_MOST_AT_ONCE = 2_000_000
"""The number of values drawn at once, which bounds the memory."""
_SAME = 1e-9
"""Statistics closer than this count as equal, because of rounding."""
_NO_SPREAD = 1e-6
"""Of values with a spread of 1, a smaller standard error counts as 0, because of rounding."""


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
    swapped = len(now) > len(before)
    samples = [_Sample.of(now, weights), _Sample.of(before, before_weights)]
    smaller, pooled = samples[swapped], _Sample.joined(*samples)
    raw = np.random.PCG64(pooled.seed(smaller))
    centre, scale = pooled.values.mean(), pooled.values.std() or 1.0
    # Large offsets would cost precision in the squares.
    pooled = replace(pooled, values=(pooled.values - centre) / scale)
    smaller = replace(smaller, values=(smaller.values - centre) / scale)
    whole, size = pooled.moments(), len(smaller.values)
    as_observed = smaller.taken(np.arange(size)[np.newaxis])
    observed = _welch(as_observed.moments(), whole)[0]
    extreme, rows = 0, max(1, _MOST_AT_ONCE // size)
    for start in range(0, DRAWS, rows):
        chosen = _subsets(raw, min(rows, DRAWS - start), size, len(pooled.values))
        drawn = _welch(pooled.taken(chosen).moments(), whole)
        is_extreme = drawn <= observed + _SAME
        if swapped:
            is_extreme = drawn >= observed - _SAME
        extreme += int(is_extreme.sum())
    return (1 + extreme) / (DRAWS + 1)


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


@dataclass(frozen=True)
class _Sample:
    """Values, sorted, and how much each counts; ``[n]``, or ``[rows, n]`` for several samples."""

    values: FloatArray
    weights: FloatArray | None

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray | None) -> _Sample:
        """Return a sample, sorted by value and weight."""
        if weights is None:
            return cls(np.sort(values), None)
        order = np.lexsort((weights, values))
        return cls(values[order], weights[order])

    @classmethod
    def joined(cls, one: _Sample, other: _Sample) -> _Sample:
        """Return both samples as one."""
        values, weights = np.concatenate((one.values, other.values)), None
        if one.weights is not None or other.weights is not None:
            parts = [
                np.ones(len(each.values)) if each.weights is None else each.weights
                for each in (one, other)
            ]
            weights = np.concatenate(parts)
        return cls.of(values, weights)

    def seed(self, part: _Sample) -> int:
        """Return a seed that depends only on these values and weights, and on those of a part."""
        parts = [part.values, self.values, *(() if self.weights is None else (self.weights,))]
        return seed_of(np.concatenate([whole_gains(each) for each in parts]))

    def taken(self, places: PlaceArray) -> _Sample:
        """Return the values at some places, ``[rows, size]``."""
        weights = None if self.weights is None else self.weights[places]
        return _Sample(self.values[places], weights)

    def moments(self) -> _Moments:
        """Return the sums over each sample."""
        values, weights, count = self.values, self.weights, self.values.shape[-1]
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
