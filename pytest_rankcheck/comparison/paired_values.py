"""The values of one metric on the same queries, before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.array_types import FloatArray, IntArray
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.paired_tests import PairedTest, p_of_fall
from pytest_rankcheck.statistics.weighted_clusters import contributions, linearised

__all__ = ["SLACK", "Paired", "as_recorded"]

SLACK = 1e-6 * (1 + 1e-6)
"""Differences up to 1e-6 are rounding: records keep six decimals. The rest is room for the
rounding of binary fractions, in which 0.500001 - 0.5 is a little more than 1e-6."""

_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Paired:
    """The values of one metric on the same queries, before and after, ``[n]`` each."""

    metric: Metric
    query_ids: tuple[str, ...]
    before: FloatArray
    after: FloatArray
    noise: float = math.nan
    """The standard deviation of the mean from run to run; NaN where it was not measured."""
    weights: FloatArray | None = None
    """``[n]`` how much each query counts; None: all the same."""
    clusters: IntArray | None = None
    """``[n]`` the number of the independent unit of each query; None: each is one."""

    @property
    def gains(self) -> FloatArray:
        """How much better each query is, positive is better whatever the metric's direction."""
        difference = self.after - self.before
        return difference if self.metric.higher_is_better else -difference

    @property
    def mean_before(self) -> float:
        """The mean before; NaN without queries."""
        return self.metric.mean(self.before, self.weights)

    @property
    def mean_after(self) -> float:
        """The mean after; NaN without queries."""
        return self.metric.mean(self.after, self.weights)

    @property
    def difference(self) -> float:
        """The difference of the means, after minus before."""
        return self.mean_after - self.mean_before

    @property
    def gain(self) -> float:
        """The difference of the means, positive is better."""
        return self.difference if self.metric.higher_is_better else -self.difference

    @property
    def size(self) -> int:
        """How many queries there are; of two samples, in the smaller one."""
        return len(self.query_ids)

    @property
    def is_paired(self) -> bool:
        """Whether the values before and after are of the same queries."""
        return True

    @property
    def is_same(self) -> bool:
        """Whether nothing changed."""
        return self.wins == self.losses == 0

    @property
    def contributions(self) -> FloatArray:
        """What each independent unit adds to the mean gain; each query's gain where it is one."""
        return contributions(self.gains, self.weights, self.clusters)

    @property
    def differences(self) -> Differences:
        """What the gains say of their mean: how sure it is, how small a fall would be seen."""
        return Differences.of(linearised(self.gains, self.weights, self.clusters))

    def p_of_fall(self, test: PairedTest = "sign_flip") -> float:
        """Return the one-sided p of a fall: small where it is more than chance."""
        return p_of_fall(self.contributions, test)

    @property
    def wins(self) -> int:
        """How many queries are better."""
        return int((self.gains > SLACK).sum())

    @property
    def losses(self) -> int:
        """How many queries are worse."""
        return int((self.gains < -SLACK).sum())

    @property
    def ties(self) -> int:
        """How many queries are equal."""
        return len(self.query_ids) - self.wins - self.losses

    def at(self, places: Sequence[int]) -> Paired:
        """Return the pairs at these places only.

        The mean of fewer queries is noisier: by the root of how many fewer they are.
        """
        chosen = np.asarray(places, dtype=np.intp)
        ids = tuple(self.query_ids[place] for place in places)
        noise = self.noise * math.sqrt(len(self.query_ids) / len(ids)) if ids else math.nan
        return Paired(
            self.metric,
            ids,
            self.before[chosen],
            self.after[chosen],
            noise,
            None if self.weights is None else self.weights[chosen],
            None if self.clusters is None else self.clusters[chosen],
        )

    def worst(self, limit: int | None = None) -> Sequence[int]:
        """Return the places of the queries that are worse, the largest loss first."""
        order = np.argsort(self.gains, kind="stable")
        worse = [int(place) for place in order if self.gains[place] < -SLACK]
        return worse[:limit]


def as_recorded(values: FloatArray) -> FloatArray:
    """Return values at the six decimals of a record, so that equal results are equal."""
    rounded: FloatArray = np.round(values, _DECIMALS) + 0.0  # no negative zero
    return rounded
