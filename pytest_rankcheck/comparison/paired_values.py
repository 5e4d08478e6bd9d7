"""The values of one metric before and after, of the same queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.named_tests import FallTest
from pytest_rankcheck.statistics.unseen_values import UNSEEN_GAIN
from pytest_rankcheck.statistics.weighted_clusters import contributions, unit_means

if TYPE_CHECKING:
    from pytest_rankcheck.statistics.betting import BetsOnMean

__all__ = ["Paired"]


@dataclass(frozen=True, slots=True, repr=False)
class Paired(ComparedValues):
    """The values of the same queries before and after, ``[n]`` each."""

    weights: FloatArray | None = None
    """``[n]`` how much each query counts; None: all count the same."""
    clusters: IntArray | None = None
    """``[n]`` the number of each query's independent unit; None: each query is one."""
    drawn_share: float = 0.0
    """Above 0 if the weights (or estimates of relevance) were drawn together with the queries, as
    those of a replayed log; see `Differences.drawn_share`."""

    is_paired = True

    @property
    def gains(self) -> FloatArray:
        """How much better each query is, ``[n]``; positive is better for every metric."""
        difference = self.after - self.before
        return difference if self.metric.higher_is_better else -difference

    @property
    def size(self) -> int:
        """The number of queries."""
        return len(self.query_ids)

    @property
    def units(self) -> int:
        """The number of independent units: queries, or clusters of them."""
        return len(self.contributions)

    @property
    def changed_units(self) -> int:
        """The number of independent units that changed."""
        from pytest_rankcheck.statistics.sign_flip import whole_gains

        return len(whole_gains(self.contributions))

    @property
    def is_same(self) -> bool:
        """Whether no query changed."""
        return self.wins == self.losses == 0

    @property
    def mean_before(self) -> float:
        """The weighted mean before; NaN without queries."""
        return self.metric.mean(self.before, self.weights)

    @property
    def mean_after(self) -> float:
        """The weighted mean after; NaN without queries."""
        return self.metric.mean(self.after, self.weights)

    @property
    def contributions(self) -> FloatArray:
        """What each independent unit adds to the mean gain; without clusters, each query's gain."""
        return contributions(self.gains, self.weights, self.clusters)

    @property
    def differences(self) -> Differences:
        """How precisely the mean gain is known, and how small a fall could be detected."""
        low, high = self._range
        units = unit_means(self.gains, self.weights, self.clusters)
        return Differences(*units, full_range=high - low, drawn_share=self.drawn_share)

    @property
    def unseen_gain(self) -> float:
        """The gain that tests add to what was sampled, as a share of the largest contribution."""
        largest = float(np.abs(self.contributions).max(initial=0))
        if not self.drawn_share or not largest:
            return UNSEEN_GAIN
        return self.differences.unseen_gain * self.units / largest

    @property
    def _bets(self) -> BetsOnMean:
        """The bets of ``test="guaranteed"``: a gain is within +- the width of the range."""
        from pytest_rankcheck.comparison.ordered_bets import bets_on_gains, refuse_outside

        low, high = self.limits
        for when, values in (("before", self.before), ("now", self.after)):
            refuse_outside(self.metric, self.query_ids, values, (low, high), when)
        return bets_on_gains(self.query_ids, self.gains, self.weights, self.clusters, high - low)

    def p_of_fall(self, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a fall; small if the fall is more than chance."""
        if test == "guaranteed":
            return self._bets.p_of_fall()
        from pytest_rankcheck.statistics.paired_tests import p_of_fall

        return p_of_fall(self.contributions, test, self.unseen_gain)

    def smallest_p(self, test: FallTest = "sign_flip") -> float:
        """Return the smallest p that a fall could have with as many changed units."""
        if test == "guaranteed":
            return self._bets.smallest_p
        from pytest_rankcheck.statistics.paired_tests import smallest_p

        return smallest_p(self.contributions, test, self.unseen_gain)

    def counted(self) -> Paired:
        """Return only the queries with a value on both sides."""
        has_both = ~(np.isnan(self.before) | np.isnan(self.after))
        if has_both.all():
            return self
        return replace(
            self,
            query_ids=tuple(compress(self.query_ids, has_both)),
            before=self.before[has_both],
            after=self.after[has_both],
            weights=None if self.weights is None else self.weights[has_both],
            clusters=None if self.clusters is None else self.clusters[has_both],
        )

    def at(self, places: Sequence[int]) -> Paired:
        """Return only the pairs at these indexes.

        The mean of fewer queries is noisier, by the square root of the ratio of their numbers.
        """
        chosen = np.asarray(places, dtype=np.intp)
        ids = tuple(self.query_ids[place] for place in places)
        noise = self.noise * math.sqrt(len(self.query_ids) / len(ids)) if ids else math.nan
        return replace(
            self,
            query_ids=ids,
            before=self.before[chosen],
            after=self.after[chosen],
            noise=noise,
            weights=None if self.weights is None else self.weights[chosen],
            clusters=None if self.clusters is None else self.clusters[chosen],
        )
