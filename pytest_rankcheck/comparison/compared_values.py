"""The values of one metric before and after: of the same queries, or of two samples."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.mean_differences import UNSEEN_GAIN, Differences
from pytest_rankcheck.statistics.run_noise import RunNoise
from pytest_rankcheck.statistics.sample_size import contributions, effective_count, unit_means
from pytest_rankcheck.statistics.sign_flip import (
    SignFlip,
    has_one_size,
    whole_gains,
)
from pytest_rankcheck.statistics.two_samples import LARGE_SAMPLE, TwoSamples, smallest_permutation_p

_MANY = 100
"""With at least this many units, the smallest detectable fall is detected as often as planned."""


@dataclass(frozen=True, repr=False)
class ComparedValues(ABC):
    """The values of one metric before and after: either `Paired` or `Unpaired`."""

    metric: Metric
    query_ids: tuple[str, ...]
    """The queries of ``after``."""
    before: FloatArray
    after: FloatArray
    noise: RunNoise | None = None
    """How much the mean varies between runs; None if neither side averages several."""
    weights: FloatArray | None = None
    """How much each value of ``after`` counts; None: all count the same."""
    clusters: IntArray | None = None
    """The number of the independent unit of each of them; None: each is one."""
    is_paired: ClassVar[bool]
    """Whether the values before and after are of the same queries."""

    def __repr__(self) -> str:
        sizes = f"{len(self.before):,} -> {len(self.after):,}"
        means = f"{self.mean_before:.4f} -> {self.mean_after:.4f}"
        return f"{type(self).__name__}({self.metric}, {sizes} values, mean {means})"

    @property
    @abstractmethod
    def gains(self) -> FloatArray:
        """The gain of each query that is on both sides, ``[n]``.

        Positive is better whatever the metric's direction.
        """

    @property
    def size(self) -> int:
        """The number of queries; for two samples, the size of the smaller one."""
        return min(len(self.before), len(self.after))

    @property
    @abstractmethod
    def units(self) -> int:
        """The number of independent units: queries, clusters, or sessions of the smaller sample."""

    @property
    def changed_units(self) -> int:
        """The number of independent units that changed; for two samples, all may have changed."""
        return self.units

    @property
    @abstractmethod
    def is_same(self) -> bool:
        """Whether nothing changed."""

    @property
    @abstractmethod
    def differences(self) -> Differences:
        """How precisely the mean gain is known, and how small a fall could be detected."""

    @abstractmethod
    def p_of_fall(self) -> float:
        """Return the one-sided p of a fall; small if chance does not explain the fall."""

    @property
    @abstractmethod
    def test_name(self) -> str:
        """The name of the test of `p_of_fall` in messages."""

    @property
    def effective_size(self) -> float | None:
        """How many values of equal weight are as informative; None without weights."""
        return None if self.weights is None else effective_count(self.weights)

    @property
    def is_coarse(self) -> bool:
        """Whether the power to detect a fall is less than planned, with few changes of equal size.

        The rates are those of docs/calibration.md.
        """
        one_size = np.count_nonzero(self.gains) > 1 and has_one_size(whole_gains(self.gains))
        is_coarse = math.isinf(self.differences.full_range) or one_size
        return self.units < _MANY and bool(is_coarse)

    @abstractmethod
    def smallest_p(self) -> float:
        """Return the smallest p that a fall could have with this many changed units."""

    def p_of_rise(self) -> float:
        """Return the one-sided p of a rise; small if chance does not explain the gain."""
        return replace(self, before=self.after, after=self.before).p_of_fall()

    @cached_property
    def mean_before(self) -> float:
        """The weighted mean before; NaN without queries."""
        return self.metric.mean(self.before, self.weights)

    @cached_property
    def mean_after(self) -> float:
        """The weighted mean after; NaN without queries."""
        return self.metric.mean(self.after, self.weights)

    @property
    def difference(self) -> float:
        """The difference of the means, after minus before."""
        return self.mean_after - self.mean_before

    @property
    def gain(self) -> float:
        """The difference of the means; positive is better."""
        return self.metric.gain(self.mean_before, self.mean_after)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the difference; NaN with fewer than two queries.

        Also NaN for a metric of the whole run. It is cut at the possible differences of the metric.
        """
        lowest, highest = self.metric.definition.range
        low, high = self.differences.interval(level)
        low, high = max(low, lowest - highest), min(high, highest - lowest)
        if self.metric.higher_is_better:
            return (low, high)
        return (-high, -low)

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
        order = np.argsort(gains, kind="stable").tolist()
        worse = [place for place in order if gains[place] < -SLACK]
        return worse[:limit]


@dataclass(frozen=True, repr=False)
class Paired(ComparedValues):
    """The values of the same queries before and after, ``[n]`` each."""

    drawn_share: float = 0.0
    """Above 0 if the weights (or estimates of relevance) were drawn together with the queries, as
    those of a replayed log; see `Differences.drawn_share`."""

    is_paired = True

    def __post_init__(self) -> None:
        if self.noise is not None:
            self.noise.refuse_units(self.metric, self.weights, self.clusters)

    @cached_property
    def gains(self) -> FloatArray:
        """How much better each query is, ``[n]``; positive is better for every metric.

        Empty for a metric of the whole run, because no query has a value of its own.
        """
        return self.metric.kind.of_each(self.metric.gain(self.before, self.after))

    @property
    def units(self) -> int:
        """The number of independent units: queries, or clusters of them."""
        return len(self.contributions)

    @property
    def changed_units(self) -> int:
        """The number of independent units that changed."""
        return self._sign_flip.changed

    @property
    def is_same(self) -> bool:
        """Whether no query changed."""
        return self.wins == self.losses == 0

    @cached_property
    def contributions(self) -> FloatArray:
        """What each independent unit adds to the mean gain; without clusters, each query's gain."""
        return contributions(self.gains, self.weights, self.clusters)

    @cached_property
    def differences(self) -> Differences:
        """How precisely the mean gain is known, and how small a fall could be detected."""
        low, high = self.metric.definition.range
        units = unit_means(self.gains, self.weights, self.clusters)
        return Differences(
            *units, full_range=high - low, drawn_share=self.drawn_share, noise=self.noise
        )

    @property
    def unseen_gain(self) -> float:
        """The gain that tests add to what was sampled, as a share of the largest contribution."""
        largest = float(np.abs(self.contributions).max(initial=0))
        if not self.drawn_share or not largest:
            return UNSEEN_GAIN
        return self.differences.unseen_gain * self.units / largest

    def p_of_fall(self) -> float:
        """Return the one-sided p of a fall; small if chance does not explain the fall.

        NaN without queries, and for a metric of the whole run. With several runs, it is that of
        Student's t over both sources of noise.

        One gain that was not sampled, of a quarter of the largest change, is added to the
        differences (see ``mean_differences``): without it, many small falls with a few large gains
        are taken for a fall of the mean too often.
        """
        if not len(self.gains):
            return math.nan
        if self.noise is not None:
            return self.differences.fall_p()
        return self._sign_flip.p

    @cached_property
    def _sign_flip(self) -> SignFlip:
        return SignFlip(self.contributions, self.unseen_gain)

    @property
    def test_name(self) -> str:
        """Sign flips, or with several runs Student's t."""
        return "paired sign-flip test" if self.noise is None else self.noise.test_name

    def smallest_p(self) -> float:
        """Return the smallest p that a fall could have with this many changed units.

        It is the p of a fall in which each of them lost as much as it changed.
        """
        if self.noise is not None:
            return replace(self.differences, gains=-np.abs(self.gains)).fall_p()
        return self._sign_flip.smallest_p

    def counted(self) -> Paired:
        """Return only the queries with a value on both sides."""
        has_both = ~(np.isnan(self.before) | np.isnan(self.after))
        if has_both.all():
            return self
        return self.at(np.flatnonzero(has_both).tolist())

    def at(self, places: Sequence[int]) -> Paired:
        """Return only the pairs at these indexes, without the noise of other means."""
        chosen = np.asarray(places, dtype=np.intp)
        return replace(
            self,
            query_ids=tuple(map(self.query_ids.__getitem__, places)),
            before=self.before[chosen],
            after=self.after[chosen],
            noise=None,
            weights=None if self.weights is None else self.weights[chosen],
            clusters=None if self.clusters is None else self.clusters[chosen],
        )


@dataclass(frozen=True, repr=False)
class Unpaired(ComparedValues):
    """The values of two samples: ``before``, ``[n0]``, and ``after``, ``[n1]``.

    Two logs usually have different sessions. Only the means have a difference, not single sessions.
    """

    before_clusters: IntArray | None = field(default=None, kw_only=True)
    """``[n0]`` the unit of each value before; None: each value is one."""

    is_paired = False

    @property
    def gains(self) -> FloatArray:
        """Empty: no session is on both sides."""
        return np.zeros(0)

    @property
    def unit_counts(self) -> tuple[int, int]:
        """The number of independent units before and now."""
        before, now = self.differences.samples
        return before.count, now.count

    @property
    def units(self) -> int:
        """The number of independent units of the smaller sample."""
        return min(self.unit_counts)

    @property
    def is_same(self) -> bool:
        """Whether all values of both samples are the same."""
        samples = np.concatenate((self.before, self.after))
        return not samples.size or float(np.ptp(samples)) <= SLACK

    @property
    def _sign(self) -> float:
        return 1.0 if self.metric.higher_is_better else -1.0

    @cached_property
    def differences(self) -> TwoSamples:
        """How precisely the difference of the two means is known."""
        low, high = sorted(self._sign * limit for limit in self.metric.definition.range)
        now, weights_now = unit_means(self._sign * self.after, self.weights, self.clusters)
        before, weights_before = unit_means(self._sign * self.before, None, self.before_clusters)
        return TwoSamples(
            now,
            weights_now,
            before=before,
            before_weights=weights_before,
            low=low,
            high=high,
            full_range=high - low,
        )

    def p_of_fall(self) -> float:
        """Return the one-sided p of a test of two samples."""
        return self.differences.p_of_fall()

    def p_of_rise(self) -> float:
        """Return the one-sided p of a rise; small if the gain is more than chance."""
        found = self.differences
        now, before = (found.gains, found.weights), (found.before, found.before_weights)
        return TwoSamples(*before, before=now[0], before_weights=now[1]).p_of_fall()

    @property
    def test_name(self) -> str:
        """Permutations for small samples, Welch's t for large ones."""
        name = "permutation test" if self.units < LARGE_SAMPLE else "Welch's t-test"
        return f"{name} of two samples{'' if self.clusters is None else ' of clusters'}"

    def smallest_p(self) -> float:
        """Return the smallest p that a fall could have in samples of these sizes."""
        return smallest_permutation_p(*self.unit_counts)
