"""The values of some queries: the interval of their mean, and how they differ from others."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.weighted_clusters import unit_means

__all__ = ["MeasuredSample"]


@dataclass(frozen=True, slots=True)
class MeasuredSample:
    """The values of some queries that count, ``[n]`` each."""

    values: FloatArray
    weights: FloatArray | None
    """How much each query counts; None: all count the same."""
    clusters: IntArray | None
    """The number of each query's independent unit; None: each query is one."""
    drawn_share: float = field(default=0.0, kw_only=True)
    """Above 0 if weights were drawn with the values; see `Differences.drawn_share`."""

    def at(self, places: IntArray) -> MeasuredSample:
        """Return some of the queries that have a value."""
        kept = places[~np.isnan(self.values[places])]
        return replace(
            self,
            values=self.values[kept],
            weights=None if self.weights is None else self.weights[kept],
            clusters=None if self.clusters is None else self.clusters[kept],
        )

    @property
    def differences(self) -> Differences:
        """How precisely the values determine their mean."""
        units = unit_means(self.values, self.weights, self.clusters)
        return Differences(*units, drawn_share=self.drawn_share)

    def p_of_difference(self, other: MeasuredSample) -> float:
        """Return the two-sided p of Welch's t-test against other queries.

        Clusters that are on both sides are matched. NaN with fewer than two queries on a side.
        """
        if min(len(self.values), len(other.values)) < 2:
            return math.nan
        difference = self._minus(other)
        if not difference.error > 0:
            return math.nan
        from scipy.special import stdtr

        return float(2 * stdtr(difference.degrees, -abs(difference.mean / difference.error)))

    def _minus(self, other: MeasuredSample) -> Differences:
        from pytest_rankcheck.statistics.matched_samples import MatchedSamples
        from pytest_rankcheck.statistics.two_samples import TwoSamples

        if (
            self.clusters is not None
            and other.clusters is not None
            and np.isin(self.clusters, other.clusters).any()
        ):
            matched = MatchedSamples.of(
                (other.values, other.clusters, other.weights),
                (self.values, self.clusters, self.weights),
            )
            return Differences(*matched.differences)
        now, weights = unit_means(self.values, self.weights, self.clusters)
        before, own_weights = unit_means(other.values, other.weights, other.clusters)
        return TwoSamples(now, weights, before=before, before_weights=own_weights)
