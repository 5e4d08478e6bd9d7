"""The values of one metric before and after, of two samples, such as two session logs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.statistics.sample_size import unit_means
from pytest_rankcheck.statistics.two_samples import LARGE_SAMPLE, TwoSamples, smallest_permutation_p


@dataclass(frozen=True, repr=False)
class Unpaired(ComparedValues):
    """The values of two samples: ``before``, ``[n0]``, and ``after``, ``[n1]``.

    Two logs usually have different sessions. Only the means have a difference, not single sessions.
    """

    before_ids: tuple[str, ...] = field(default=(), kw_only=True)
    """The queries or sessions of ``before``."""
    before_clusters: IntArray | None = field(default=None, kw_only=True)
    """``[n0]`` the unit of each value before; None: each value is one."""

    is_paired = False

    @property
    def gains(self) -> FloatArray:
        """Empty: no session is on both sides."""
        return np.zeros(0)

    @cached_property
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

    @cached_property
    def mean_before(self) -> float:
        """The mean before; NaN without values."""
        return self.metric.mean(self.before, None)

    @property
    def is_same(self) -> bool:
        """Whether all values of both samples are the same."""
        samples = np.concatenate((self.before, self.after))
        return not samples.size or float(np.ptp(samples)) <= SLACK

    @property
    def _sign(self) -> float:
        return 1.0 if self.metric.higher_is_better else -1.0

    @property
    def design_effect(self) -> float:
        """How many times the variance is that of independent values; 1 without clusters."""
        if self.clusters is None and self.before_clusters is None:
            return 1.0
        alone = replace(self, clusters=None, before_clusters=None)
        simple = alone.differences.error
        return (self.differences.error / simple) ** 2 if simple > 0 else math.nan

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
