"""The values of one metric before and after: of the same queries, or of two samples."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import ClassVar

import numpy as np

from pytest_rankcheck.comparison.ordered_bets import (
    bets_on_gains,
    bets_on_values,
    refuse_infinite,
    refuse_outside,
)
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.array_types import FloatArray, IntArray
from pytest_rankcheck.statistics.betting import BetsOnDifference, BetsOnMean
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.paired_tests import FallTest, p_of_fall, smallest_p
from pytest_rankcheck.statistics.permutation import smallest_permutation_p
from pytest_rankcheck.statistics.sign_flip import whole_gains
from pytest_rankcheck.statistics.two_samples import TwoSamples
from pytest_rankcheck.statistics.weighted_clusters import contributions, unit_means

__all__ = ["ComparedValues", "Paired", "Unpaired"]


@dataclass(frozen=True, slots=True)
class ComparedValues(ABC):
    """The values of one metric before and after: either `Paired` or `Unpaired`."""

    metric: Metric
    query_ids: tuple[str, ...]
    """The queries of ``after``."""
    before: FloatArray
    after: FloatArray
    noise: float = math.nan
    """The standard deviation of the mean from run to run; NaN if it was not measured."""
    declared_range: tuple[float, float] | None = field(default=None, kw_only=True)
    """The lowest and the highest possible value if not those of the metric's definition."""
    is_paired: ClassVar[bool]
    """Whether the values before and after are of the same queries."""

    @property
    @abstractmethod
    def gains(self) -> FloatArray:
        """How much better each query is that is on both sides, ``[n]``.

        Positive is better whatever the metric's direction.
        """

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of queries; of two samples, the size of the smaller one."""

    @property
    @abstractmethod
    def units(self) -> int:
        """The number of independent units: queries, clusters, or sessions of the smaller sample."""

    @property
    @abstractmethod
    def changed_units(self) -> int:
        """The number of independent units that changed; of two samples, all of them."""

    @property
    @abstractmethod
    def is_same(self) -> bool:
        """Whether nothing changed."""

    @property
    @abstractmethod
    def differences(self) -> Differences:
        """How precisely the mean gain is known, and how small a fall could be detected."""

    @property
    @abstractmethod
    def _bets(self) -> BetsOnMean | BetsOnDifference:
        """The bets of ``test="guaranteed"`` on the mean gain.

        Raises:
            ConfigurationError: the range of the metric is not finite, or a value is outside of it.
        """

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest possible value.

        Raises:
            ConfigurationError: they are not finite.
        """
        refuse_infinite(self.metric, self._range)
        return self._range

    @property
    def _range(self) -> tuple[float, float]:
        """The lowest and the highest possible value, as far as they are known."""
        return self.declared_range or self.metric.definition.range

    @abstractmethod
    def p_of_fall(self, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a fall; small if the fall is more than chance."""

    @abstractmethod
    def smallest_p(self, test: FallTest = "sign_flip") -> float:
        """Return the smallest p that a fall could have with as many changed units.

        With ``"guaranteed"``, with as many units: no values could give a smaller p.
        """

    def p_of_rise(self, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a rise; small if the gain is more than chance."""
        return replace(self, before=self.after, after=self.before).p_of_fall(test)

    def p_of_margin(self, margin: float, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a fall by ``margin`` or more; small if it is ruled out.

        It is at most alpha if and only if `lower_bound` of alpha is above ``-margin``.
        """
        if test == "guaranteed":
            return self._bets.p_of_margin(margin)
        return self.differences.noninferiority_p(margin)

    def lower_bound(self, alpha: float, test: FallTest = "sign_flip") -> float:
        """Return the one-sided lower confidence bound of the mean gain at level ``alpha``."""
        if test == "guaranteed":
            return self._bets.lower_bound(alpha)
        return self.differences.lower_bound(alpha)

    @property
    def mean_before(self) -> float:
        """The mean before; NaN without queries."""
        return self.metric.mean(self.before)

    @property
    def mean_after(self) -> float:
        """The mean after; NaN without queries."""
        return self.metric.mean(self.after)

    @property
    def difference(self) -> float:
        """The difference of the means, after minus before."""
        return self.mean_after - self.mean_before

    @property
    def gain(self) -> float:
        """The difference of the means; positive is better."""
        return self.difference if self.metric.higher_is_better else -self.difference

    @property
    def wins(self) -> int:
        """The number of queries that are better."""
        return int((self.gains > SLACK).sum())

    @property
    def losses(self) -> int:
        """The number of queries that are worse."""
        return int((self.gains < -SLACK).sum())

    @property
    def ties(self) -> int:
        """The number of queries that are equal."""
        return len(self.gains) - self.wins - self.losses

    def worst(self, limit: int | None = None) -> Sequence[int]:
        """Return the indexes of the queries that are worse, the largest loss first."""
        gains = self.gains
        worse = [int(place) for place in np.argsort(gains, kind="stable") if gains[place] < -SLACK]
        return worse[:limit]


@dataclass(frozen=True, slots=True)
class Paired(ComparedValues):
    """The values of the same queries before and after, ``[n]`` each."""

    weights: FloatArray | None = None
    """``[n]`` how much each query counts; None: all count the same."""
    clusters: IntArray | None = None
    """``[n]`` the number of each query's independent unit; None: each query is one."""

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
        return Differences(*units, full_range=high - low)

    @property
    def _bets(self) -> BetsOnMean:
        """The bets of ``test="guaranteed"``: a gain is within +- the width of the range."""
        low, high = self.limits
        for when, values in (("before", self.before), ("now", self.after)):
            refuse_outside(self.metric, self.query_ids, values, (low, high), when)
        return bets_on_gains(self.query_ids, self.gains, self.weights, self.clusters, high - low)

    def p_of_fall(self, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a fall; small if the fall is more than chance."""
        if test == "guaranteed":
            return self._bets.p_of_fall()
        return p_of_fall(self.contributions, test)

    def smallest_p(self, test: FallTest = "sign_flip") -> float:
        """Return the smallest p that a fall could have with as many changed units."""
        if test == "guaranteed":
            return self._bets.smallest_p
        return smallest_p(self.contributions, test)

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


@dataclass(frozen=True, slots=True)
class Unpaired(ComparedValues):
    """The values of two samples: ``before``, ``[n0]``, and ``after``, ``[n1]``.

    The sessions of two logs are usually different ones. Only the means have a difference, not
    single sessions.
    """

    before_ids: tuple[str, ...] = field(default=(), kw_only=True)
    """The queries or sessions of ``before``; only ``test="guaranteed"`` needs them."""

    is_paired = False

    @property
    def gains(self) -> FloatArray:
        """Empty: no session is on both sides."""
        return np.zeros(0)

    @property
    def size(self) -> int:
        """The size of the smaller sample."""
        return min(len(self.before), len(self.after))

    @property
    def units(self) -> int:
        """The size of the smaller sample."""
        return self.size

    @property
    def changed_units(self) -> int:
        """The size of the smaller sample: every value may have changed."""
        return self.size

    @property
    def is_same(self) -> bool:
        """Whether all values of both samples are the same."""
        samples = np.concatenate((self.before, self.after))
        return not samples.size or float(np.ptp(samples)) <= SLACK

    @property
    def _bets(self) -> BetsOnDifference:
        """The bets of ``test="guaranteed"``, on each sample."""
        sign = 1 if self.metric.higher_is_better else -1
        samples = []
        for when, ids, values in (
            ("now", self.query_ids, self.after),
            ("before", self.before_ids, self.before),
        ):
            refuse_outside(self.metric, ids, values, self.limits, when)
            samples.append(bets_on_values(ids, values, self.limits, sign))
        return BetsOnDifference(*samples)

    @property
    def differences(self) -> TwoSamples:
        """How precisely the difference of the two means is known."""
        sign = 1.0 if self.metric.higher_is_better else -1.0
        low, high = sorted(sign * limit for limit in self._range)
        return TwoSamples(
            sign * self.after,
            before=sign * self.before,
            low=low,
            high=high,
            full_range=high - low,
        )

    def p_of_fall(self, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a test of two samples, or by betting if ``test`` says so."""
        if test == "guaranteed":
            return self._bets.p_of_fall()
        return self.differences.p_of_fall()

    def p_of_rise(self, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a rise; small if the gain is more than chance."""
        swapped = replace(
            self,
            query_ids=self.before_ids,
            before=self.after,
            after=self.before,
            before_ids=self.query_ids,
        )
        return swapped.p_of_fall(test)

    def smallest_p(self, test: FallTest = "sign_flip") -> float:
        """Return the smallest p that a fall could have in samples of these sizes."""
        if test == "guaranteed":
            return self._bets.smallest_p
        return smallest_permutation_p(len(self.before), len(self.after))
