"""The permutation test of two samples: how often would chance alone separate them this far?

If a change had no effect, each value could as well have been in the other sample. The test divides
the pooled values anew, 10,000 times, and counts how often the difference of the means, in standard
errors, is at least as low as the observed one. Because it is divided by its standard error
(Welch's), the test also keeps its level in large samples whose spreads differ (Chung and Romano,
Exact and asymptotically robust permutation tests, Annals of Statistics 41, 2013).
"""

from __future__ import annotations

import math

import numpy as np

from pytest_rankcheck.array_types import FloatArray, PlaceArray
from pytest_rankcheck.statistics.sign_flip import DRAWS, seed_of, whole_gains

__all__ = ["permutation_p", "smallest_permutation_p"]

_MOST_AT_ONCE = 2_000_000
"""The number of values drawn at once, which bounds the memory."""
_SAME = 1e-9
"""Statistics closer than this count as equal, because of rounding."""
_NO_SPREAD = 1e-6
"""Of values with a spread of 1, a smaller standard error counts as 0, because of rounding."""


def permutation_p(now: FloatArray, before: FloatArray) -> float:
    """Return the one-sided p that the mean is lower now, in (0, 1].

    The same values give the same p on every machine, in any order.

    Args:
        now: the values now, ``[n1]``, at least two.
        before: the values before, ``[n0]``, at least two.
    """
    swapped = len(now) > len(before)
    smaller = np.sort(before if swapped else now)
    pooled = np.sort(np.concatenate((now, before)))
    centre, scale = pooled.mean(), pooled.std() or 1.0
    standard = (pooled - centre) / scale  # large offsets would cost precision in the squares
    observed = _welch(((smaller - centre) / scale)[np.newaxis], standard)[0]
    raw = np.random.PCG64(seed_of(np.concatenate((whole_gains(smaller), whole_gains(pooled)))))
    extreme, rows = 0, max(1, _MOST_AT_ONCE // len(smaller))
    for start in range(0, DRAWS, rows):
        chosen = _subsets(raw, min(rows, DRAWS - start), len(smaller), len(pooled))
        drawn = _welch(standard[chosen], standard)
        is_extreme = drawn >= observed - _SAME if swapped else drawn <= observed + _SAME
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

    def drawn(number: int) -> PlaceArray:
        return (raw.random_raw(number) % np.uint64(count)).astype(np.intp)

    chosen = np.sort(drawn(rows * size).reshape(rows, size), axis=1)
    while (repeated := chosen[:, 1:] == chosen[:, :-1]).any():
        chosen[:, 1:][repeated] = drawn(int(repeated.sum()))
        chosen.sort(axis=1)
    return chosen


def _welch(parts: FloatArray, pooled: FloatArray) -> FloatArray:
    """Return Welch's t of each part, ``[rows, size]``, against the rest of the pooled values."""
    size, rest = parts.shape[1], len(pooled) - parts.shape[1]
    sums, squares = parts.sum(axis=1), (parts**2).sum(axis=1)
    rest_sums, rest_squares = pooled.sum() - sums, (pooled**2).sum() - squares
    differences = sums / size - rest_sums / rest
    spread = np.sqrt(
        _variance_of_mean(sums, squares, size) + _variance_of_mean(rest_sums, rest_squares, rest)
    )
    without_spread = spread < _NO_SPREAD
    infinite = np.where(np.abs(differences) > _SAME, np.copysign(np.inf, differences), 0.0)
    return np.where(without_spread, infinite, differences / np.where(without_spread, 1.0, spread))


def _variance_of_mean(sums: FloatArray, squares: FloatArray, size: int) -> FloatArray:
    return np.maximum(squares - sums**2 / size, 0.0) / (size - 1) / size
