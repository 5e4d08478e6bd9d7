"""The values of one metric on two samples that are not the same: the sessions of two logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.comparison.paired_values import SLACK, Paired
from pytest_rankcheck.statistics.array_types import FloatArray
from pytest_rankcheck.statistics.paired_tests import PairedTest
from pytest_rankcheck.statistics.two_samples import TwoSamples

__all__ = ["Unpaired"]


@dataclass(frozen=True, slots=True)
class Unpaired(Paired):
    """The values before, ``[n0]``, and after, ``[n1]``; ``query_ids`` are those after.

    There is no difference of a query, only that of the means.
    """

    @property
    def size(self) -> int:
        """How many there are in the smaller sample."""
        return min(len(self.before), len(self.after))

    @property
    def is_paired(self) -> bool:
        """No."""
        return False

    @property
    def gains(self) -> FloatArray:
        """Nothing: no query is on both sides."""
        return np.zeros(0)

    @property
    def ties(self) -> int:
        """Nothing: no query is on both sides."""
        return 0

    @property
    def is_same(self) -> bool:
        """Whether both samples have but one value, the same."""
        both = np.concatenate((self.before, self.after))
        return not both.size or float(np.ptp(both)) <= SLACK

    @property
    def differences(self) -> TwoSamples:
        """What the two samples say of the difference of their means."""
        sign = 1.0 if self.metric.higher_is_better else -1.0
        return TwoSamples(sign * self.after, sign * self.before)

    def p_of_fall(self, test: PairedTest = "sign_flip") -> float:
        """Return the one-sided p of Welch's t-test, whatever ``test`` is: the others need pairs."""
        return self.differences.p_of_fall()

    def at(self, places: Sequence[int]) -> Paired:
        """Refuse: parts of two samples are taken from both."""
        raise NotImplementedError("take parts of both samples")
