"""The sight of a metric: how clearly it distinguishes falls from mere reshuffles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.metrics.laws.visible_falls import Falls
from pytest_rankcheck.metrics.laws.visible_swaps import SwapsSeen

__all__ = ["FallSight", "reshuffle_variance"]


@dataclass(frozen=True, slots=True)
class FallSight:
    """How many falls of one kind a metric sees, and how clearly."""

    tried: int
    """The falls that were tried."""
    seen: int
    """The falls that change the metric's value by more than rounding."""
    sight: float
    """m^2 / (s + v), from 0 to 1; NaN if no fall was tried.

    m is the mean fall of the value, s the mean of the squared falls, and v the
    `reshuffle_variance`. If falls of this kind hit n queries, m sqrt(n / (s + v)) is about the
    distance of their mean from 0 in standard errors, so the sight is the power that a test gets
    from each query that is hit. Without reshuffles it is the participation ratio m^2 / s: a metric
    that sees a share of all falls, each by the same amount, has that share; if it sees some falls
    more than others, it has less. 0 if falls make the metric better on average.
    """

    @classmethod
    def of(cls, blocks: Sequence[Falls], counted: BoolArray, variance: float) -> FallSight:
        """Return how well a metric sees some falls.

        Args:
            blocks: the falls of each block of queries, Q queries together.
            counted: ``[Q]`` the queries that count.
            variance: the `reshuffle_variance` of the metric.
        """
        tried, seen, total, squares = (
            math.fsum(np.concatenate([getattr(block, field) for block in blocks])[counted])
            for field in ("tried", "seen", "total", "squares")
        )
        if not tried:
            return cls(0, 0, math.nan)
        mean, spread = max(total, 0.0) / tried, squares / tried + variance
        return cls(int(tried), int(seen), mean**2 / spread if spread > 0 else 0.0)

    @property
    def share(self) -> float:
        """The share of falls that the metric sees; NaN if no fall was tried."""
        return self.seen / self.tried if self.tried else math.nan


def reshuffle_variance(blocks: Sequence[SwapsSeen], counted: BoolArray) -> float:
    """Return how much a query's value varies when its ranking is merely reshuffled.

    It is the variance of the difference between two reshuffles. In each reshuffle, a coin decides
    for every two neighbours whether they are swapped, and the changes are treated as additive: the
    variance is half the sum of the squared changes, averaged over the queries. Swaps at all ranks
    count, because a reshuffle moves documents everywhere. 0 without queries.

    Args:
        blocks: the swaps of each block of queries, Q queries together.
        counted: ``[Q]`` the queries that count.
    """
    squares = np.concatenate([block.squares for block in blocks])[counted]
    return math.fsum(squares) / (2 * len(squares)) if len(squares) else 0.0
