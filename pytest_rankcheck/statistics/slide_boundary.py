"""How far innocent changes, one after another, let a mean fall: bounds on a sequence of changes.

A bound on one change does not hold for a sequence, because every further change is another chance
to cross it (Armitage, McPherson and Rowe, Repeated significance tests on accumulating data, JRSS A
132, 1969). Both bounds here are crossed by at most a given share of innocent sequences, those in
which no change has a true effect.

`walk_bound` is for changes that stay: the mean over the queries does a random walk. Its bound is
``c * sqrt(k + 1)`` noises of one change after k changes, which is ``c * sqrt(1 + 1 / k)`` standard
errors of what the k changes did together. The share of walks that cross it is integrated over a
grid, change by change. Other shapes (constant, as Pocock's; that of O'Brien and Fleming; the normal
mixture of Howard, Ramdas, McAuliffe and Sekhon, Annals of Statistics 49, 2021) do not let less of a
slow slide pass at the same share; see docs/baselines.md.

`samples_bound` is for looks with noise of their own, which compare new samples with the same old
one, as session logs do: the largest of equally correlated normal values (Dunnett, JASA 50, 1955).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from pytest_rankcheck.array_types import FloatArray

__all__ = ["samples_bound", "walk_bound"]

_WIDEST = 6.0
"""Bounds are looked for up to here, in standard errors."""
_ACCURACY = 0.002
_CELL = 0.1
"""The width of a cell of the grid, in noises of one change; twice that for long walks."""
_LONG_WALK = 100
_REACH = 5.0
"""How far one change can move the mean, in its noise; what is beyond is below one in a million."""
_NODES = 120
"""The nodes of the quadrature over the noise that all looks share."""


@lru_cache(maxsize=64)
def walk_bound(changes: int, level: float, passing: tuple[float, ...] = ()) -> float:
    """Return c: at most ``level`` of innocent walks ever fall below ``-c * sqrt(k + 1)``.

    Args:
        changes: how many changes a walk has, at least 1.
        level: a share between 0 and 1.
        passing: how far below its start the mean may be after each change, in noises of one
            change; a change that leads further down is blocked, and another one takes its place.
            Empty: every change is merged.
    """
    floors = np.array(passing) if passing else np.full(changes, math.inf)
    return _lowest(lambda c: _share_of_walks(c, floors), level)


@lru_cache(maxsize=64)
def samples_bound(
    looks: int, level: float, shared: float = 0.5, passing: float = math.inf
) -> float:
    """Return c: at most ``level`` of innocent sequences ever have a mean below ``-c``.

    Args:
        looks: how many new samples are compared with the old one, at least 1.
        level: a share between 0 and 1.
        shared: the share of the variance of the difference that comes from the old sample, above 0
            and below 1.
        passing: how many standard errors below the old mean a look may be; a lower one is blocked,
            and another one takes its place.
    """
    return _lowest(lambda c: _share_of_looks(c, looks, shared, passing), level)


def _lowest(share: Callable[[float], float], level: float) -> float:
    """Return where a share that falls with c is down to the level; 0 if it is lower everywhere."""
    from scipy.optimize import brentq

    if share(0.0) <= level:
        return 0.0
    return float(brentq(lambda c: share(c) - level, 0.0, _WIDEST, xtol=_ACCURACY))


def _share_of_walks(c: float, floors: FloatArray) -> float:
    """Return the share of innocent walks that pass below ``-c * sqrt(k + 1)`` and are merged."""
    width = _CELL if len(floors) <= _LONG_WALK else 2 * _CELL
    cells = math.ceil((_REACH + 4 * math.sqrt(len(floors))) / width)
    places = np.arange(-cells, cells + 1, dtype=np.float64) * width
    step = _step_of_walk(width)
    walks = (places == 0).astype(float)
    crossed = 0.0
    for k, floor in enumerate(floors, 1):
        if math.isfinite(floor):
            merged = _above(places, -floor, width)
            # Of the changes from each place, only those count that are merged.
            walks = walks / np.maximum(np.convolve(merged, step, "same"), 1e-9)
            walks = np.convolve(walks, step, "same") * merged
        else:
            walks = np.convolve(walks, step, "same")
        kept = walks * _above(places, -c * math.sqrt(k + 1), width)
        crossed += float(walks.sum() - kept.sum())
        walks = kept
    return crossed


def _step_of_walk(width: float) -> FloatArray:
    """Return the probability that a change moves a walk by so many cells."""
    from scipy.special import ndtr

    cells = math.ceil(_REACH / width)
    edges = (np.arange(-cells, cells + 2) - 0.5) * width
    step: FloatArray = np.diff(ndtr(edges))
    step /= step.sum()
    return step


def _above(places: FloatArray, bound: float, width: float) -> FloatArray:
    """Return which part of each cell is above a bound."""
    return np.clip((places - bound) / width + 0.5, 0.0, 1.0)


def _share_of_looks(c: float, looks: int, shared: float, passing: float) -> float:
    """Return the share of innocent sequences with a look below ``-c`` that is not blocked."""
    from scipy.special import ndtr

    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    own, common = math.sqrt(1 - shared), math.sqrt(shared) * nodes
    blocked = ndtr((-passing - common) / own)
    below = np.clip(ndtr((-c - common) / own) - blocked, 0.0, None)
    crossing = below / np.maximum(1 - blocked, 1e-12)
    return float(weights @ (1 - (1 - crossing) ** looks) / weights.sum())
