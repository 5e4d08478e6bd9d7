"""The values of one metric before and after, of two samples, such as two session logs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.comparison.compared_values import SIDES, ComparedValues, Sides
from pytest_rankcheck.comparison.ordered_bets import bets_on_values, refuse_outside
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.statistics.betting import BetsOnDifference
from pytest_rankcheck.statistics.matched_samples import MatchedSamples
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.named_tests import FallTest
from pytest_rankcheck.statistics.permutation import smallest_permutation_p
from pytest_rankcheck.statistics.two_samples import TwoSamples
from pytest_rankcheck.statistics.weighted_clusters import unit_means

__all__ = ["Unpaired"]


@dataclass(frozen=True, slots=True, repr=False)
class Unpaired(ComparedValues):
    """The values of two samples: ``before``, ``[n0]``, and ``after``, ``[n1]``.

    The sessions of two logs are usually different ones. Only the means have a difference, not
    single sessions.
    """

    before_ids: tuple[str, ...] = field(default=(), kw_only=True)
    """The queries or sessions of ``before``; only ``test="guaranteed"`` needs them."""
    clusters: IntArray | None = field(default=None, kw_only=True)
    """``[n1]`` the number of the independent unit of each value now; None: each value is one."""
    before_clusters: IntArray | None = field(default=None, kw_only=True)
    """``[n0]`` the same of each value before."""
    are_matched: bool = field(default=False, kw_only=True)
    """Whether a number stands for the same unit in both samples."""
    weights: FloatArray | None = field(default=None, kw_only=True)
    """``[n1]`` how much each value now counts; None: all count the same."""
    before_weights: FloatArray | None = field(default=None, kw_only=True)
    """``[n0]`` the same of each value before."""
    sides: Sides = field(default=SIDES, kw_only=True)
    """What messages call the two samples: before, now."""

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
    def unit_counts(self) -> tuple[int, int]:
        """The number of independent units before and now."""
        pairs = ((self.before_clusters, self.before), (self.clusters, self.after))
        before, now = (
            len(values) if units is None else len(np.unique(units)) for units, values in pairs
        )
        return before, now

    @property
    def units(self) -> int:
        """The number of independent units of the smaller sample."""
        return min(self.unit_counts)

    @property
    def changed_units(self) -> int:
        """The number of units of the smaller sample: every value may have changed."""
        return self.units

    @property
    def mean_before(self) -> float:
        """The weighted mean before; NaN without values."""
        return self.metric.mean(self.before, self.before_weights)

    @property
    def mean_after(self) -> float:
        """The weighted mean now; NaN without values."""
        return self.metric.mean(self.after, self.weights)

    @property
    def is_same(self) -> bool:
        """Whether all values of both samples are the same."""
        samples = np.concatenate((self.before, self.after))
        return not samples.size or float(np.ptp(samples)) <= SLACK

    @property
    def _sign(self) -> float:
        return 1.0 if self.metric.higher_is_better else -1.0

    @property
    def matched(self) -> MatchedSamples | None:
        """Both samples by unit, a higher value better; None if they have no unit in common.

        Also if it is not known which units they have in common.
        """
        if not self.are_matched or self.clusters is None or self.before_clusters is None:
            return None
        if not np.isin(self.clusters, self.before_clusters).any():
            return None
        sign = self._sign
        return MatchedSamples.of(
            (sign * self.before, self.before_clusters, self.before_weights),
            (sign * self.after, self.clusters, self.weights),
        )

    @property
    def design_effect(self) -> float:
        """How many times the variance is that of independent values; 1 without clusters."""
        if self.clusters is None and self.before_clusters is None:
            return 1.0
        alone = replace(self, clusters=None, before_clusters=None, are_matched=False)
        simple = alone.differences.error
        return (self.differences.error / simple) ** 2 if simple > 0 else math.nan

    @property
    def _bets(self) -> BetsOnDifference:
        """The bets of ``test="guaranteed"``, on each sample."""
        sign = 1 if self.metric.higher_is_better else -1
        samples = []
        for when, ids, values, units, weights in (
            ("now", self.query_ids, self.after, self.clusters, self.weights),
            ("before", self.before_ids, self.before, self.before_clusters, self.before_weights),
        ):
            refuse_outside(self.metric, ids, values, self.limits, when)
            samples.append(
                bets_on_values(ids, values, self.limits, sign, clusters=units, weights=weights)
            )
        return BetsOnDifference(*samples)

    @property
    def differences(self) -> Differences:
        """How precisely the difference of the two means is known."""
        low, high = sorted(self._sign * limit for limit in self._range)
        matched = self.matched
        if matched is not None:
            gains, weights = matched.differences
            return Differences(gains, weights, full_range=high - low)
        now, weights_now = unit_means(self._sign * self.after, self.weights, self.clusters)
        before, weights_before = unit_means(
            self._sign * self.before, self.before_weights, self.before_clusters
        )
        return TwoSamples(
            now,
            weights_now,
            before=before,
            before_weights=weights_before,
            low=low,
            high=high,
            full_range=high - low,
        )

    def p_of_fall(self, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a test of two samples, or by betting if ``test`` says so.

        Of matched units, it is that of a sign-flip test.
        """
        if test == "guaranteed":
            return self._bets.p_of_fall()
        matched = self.matched
        if matched is not None:
            from pytest_rankcheck.statistics.paired_tests import p_of_fall

            return p_of_fall(matched.contributions, "sign_flip")
        differences = self.differences
        assert isinstance(differences, TwoSamples)
        return differences.p_of_fall()

    def p_of_rise(self, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a rise; small if the gain is more than chance."""
        swapped = replace(
            self,
            query_ids=self.before_ids,
            before=self.after,
            after=self.before,
            before_ids=self.query_ids,
            clusters=self.before_clusters,
            before_clusters=self.clusters,
            weights=self.before_weights,
            before_weights=self.weights,
        )
        return swapped.p_of_fall(test)

    def smallest_p(self, test: FallTest = "sign_flip") -> float:
        """Return the smallest p that a fall could have in samples of these sizes."""
        if test == "guaranteed":
            return self._bets.smallest_p
        matched = self.matched
        if matched is not None:
            from pytest_rankcheck.statistics.paired_tests import smallest_p

            return smallest_p(matched.contributions, "sign_flip")
        return smallest_permutation_p(*self.unit_counts)
