"""Two samples whose units are partly the same, such as the users of two logs.

Each unit has a sum s and a size n in both samples, such as its successes and its sessions; one that
is in one sample only has a size of 0 in the other. The difference of the means is
d = sum s1 / sum n1 - sum s0 / sum n0. Unit c moves it by
u_c = (s1_c - m1 n1_c) / N1 - (s0_c - m0 n0_c) / N0, and units are independent, so its variance is
C / (C - 1) sum u_c^2 (Deng, Knoblich and Lu, Applying the delta method in metric analytics, KDD
2018, section 3, for the two ratios together). What a unit does in both samples is correlated, so
this is mostly smaller than the sum of the variances of two independent samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray

__all__ = ["MatchedSamples"]

Sample = tuple[FloatArray, IntArray, FloatArray | None]


@dataclass(frozen=True)
class MatchedSamples:
    """The values of two samples by unit."""

    sums: FloatArray
    """``[2, C]`` the sum of each unit's values: before, now."""
    sizes: FloatArray
    """``[2, C]`` how much each unit's values count together; not both 0."""

    @classmethod
    def of(cls, before: Sample, now: Sample) -> MatchedSamples:
        """Return the sums by unit.

        Args:
            before: the values before, ``[n0]``; the number of the unit of each; and how much each
                counts, None: all count the same. The units of both samples are numbered together.
            now: the same now, ``[n1]``.
        """
        codes = np.unique(np.concatenate((before[1], now[1])), return_inverse=True)[1]
        count = int(codes.max(initial=-1)) + 1
        sums, sizes = [], []
        for (values, _, weights), places in (
            (before, codes[: len(before[0])]),
            (now, codes[len(before[0]) :]),
        ):
            shares = np.ones(len(values)) if weights is None else weights
            sums.append(np.bincount(places, weights=shares * values, minlength=count))
            sizes.append(np.bincount(places, weights=shares, minlength=count))
        return cls(np.array(sums, dtype=np.float64), np.array(sizes, dtype=np.float64))

    @property
    def in_both(self) -> int:
        """How many units are in both samples."""
        return int((self.sizes > 0).all(axis=0).sum())

    @property
    def _shares(self) -> FloatArray:
        """``[2, C]`` the share of each unit in each sample."""
        return np.asarray(self.sizes / self.sizes.sum(axis=1, keepdims=True))

    def _influence(self, means: FloatArray) -> FloatArray:
        """Return how far each unit moves the difference from that of these means, ``[C]``."""
        totals = self.sizes.sum(axis=1, keepdims=True)
        before, now = (self.sums - means[:, np.newaxis] * self.sizes) / totals
        return np.asarray(now - before)

    @property
    def differences(self) -> tuple[FloatArray, FloatArray]:
        """A difference for each unit and its weight, ``[C]`` each.

        Their weighted mean is d, and its standard error that of d.
        """
        means = self.sums.sum(axis=1) / self.sizes.sum(axis=1)
        weights = self._shares.mean(axis=0)
        return means[1] - means[0] + self._influence(means) / weights, weights

    @property
    def contributions(self) -> FloatArray:
        """What each unit adds to d, times C, ``[C]``; their mean is d.

        If nothing changed, the two samples of a unit could as well be swapped, which changes the
        sign: this is what a sign-flip test requires. Values are measured from the mean of both
        samples, so a unit does not count as a gain because it has more values.
        """
        pooled = self.sums.sum() / self.sizes.sum()
        influence = self._influence(np.array([pooled, pooled]))
        return np.asarray(influence * self.sizes.shape[1])
