"""The values of one metric before and after, of two samples, such as two session logs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.ordered_bets import bets_on_values, refuse_outside
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.statistics.betting import BetsOnDifference
from pytest_rankcheck.statistics.named_tests import FallTest
from pytest_rankcheck.statistics.permutation import smallest_permutation_p
from pytest_rankcheck.statistics.two_samples import TwoSamples

__all__ = ["Unpaired"]


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
