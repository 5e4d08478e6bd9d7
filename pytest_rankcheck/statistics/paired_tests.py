"""The available paired tests: the one-sided p of a fall, from the differences of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.sign_flip import (
    DRAWS,
    MOST_EXACT,
    seed_of,
    sign_flip_test,
    whole_gains,
)
from pytest_rankcheck.statistics.unseen_values import UNSEEN_GAIN

__all__ = ["Correction", "FallTest", "PairedTest", "corrected", "holm", "p_of_fall", "smallest_p"]

PairedTest = Literal["sign_flip", "t", "bootstrap"]
"""The tests that need the differences only."""
FallTest = Literal["sign_flip", "t", "bootstrap", "guaranteed"]
"""All tests of a fall; ``"guaranteed"`` also needs the range and an order: see `betting`."""


def p_of_fall(gains: FloatArray, test: PairedTest = "sign_flip") -> float:
    """Return the probability of a fall at least this large if nothing had changed, in [0, 1].

    One gain that was not sampled, of a quarter of the largest change, is added to the differences
    (see ``unseen_values``): without it, many small falls with a few large gains are taken for a
    fall of the mean too often.

    Args:
        gains: the difference of each query, ``[n]``; positive means better, NaN is ignored.
        test: ``"sign_flip"``; Student's paired ``"t"``; or ``"bootstrap"`` of the mean, shifted to
            zero (Sakai, SIGIR 2006). Resampling two or three similar values hardly varies their
            mean, so the p of the bootstrap is at least that of n changed queries that all fell,
            1/2^n.
    """
    seen = gains[~np.isnan(gains)]
    if not np.any(seen):
        return 1.0
    if test == "sign_flip":
        return sign_flip_test(seen, UNSEEN_GAIN).p
    differences = Differences(np.append(seen, UNSEEN_GAIN * np.abs(seen).max()))
    if test == "bootstrap":
        return max(_bootstrap(differences), 0.5 ** len(whole_gains(seen)))
    from scipy import stats

    return float(stats.ttest_1samp(differences.gains, 0.0, alternative="less").pvalue)


def smallest_p(gains: FloatArray, test: PairedTest = "sign_flip") -> float:
    """Return the smallest p that a fall could have with as many changed queries, in (0, 1].

    That is p if each changed query had fallen by as much as it changed.

    Args:
        gains: as in `p_of_fall`.
        test: as in `p_of_fall`.
    """
    if test == "sign_flip" or len(whole_gains(gains)) > MOST_EXACT:
        return sign_flip_test(gains, UNSEEN_GAIN).smallest_p
    return p_of_fall(-np.abs(gains), test)


def _bootstrap(differences: Differences) -> float:
    """Return p of the bootstrap: how often resampled, centred differences have so low a mean."""
    centred = differences.gains - differences.mean
    count = differences.count
    raw = np.random.PCG64(seed_of(whole_gains(differences.gains)))
    low = 0
    for start in range(0, DRAWS, 500):
        size = min(500, DRAWS - start)
        drawn = (raw.random_raw(size * count) % np.uint64(count)).reshape(size, count)
        low += int((centred[drawn.astype(np.intp)].mean(axis=1) <= differences.mean).sum())
    return (1 + low) / (DRAWS + 1)


def holm(p_values: list[float]) -> list[float]:
    """Return p-values adjusted for multiple testing (Holm, Scand. J. Statist. 1979).

    In a family of m, the smallest p is multiplied by m, the next by m - 1, and so on. An adjusted
    value is at least as large as the one before it, and at most 1. NaN stays NaN and does not count
    in the family.
    """
    counted = [place for place, p in enumerate(p_values) if not np.isnan(p)]
    adjusted = list(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(counted, key=lambda place: p_values[place])):
        least = max(least, min(1.0, (len(counted) - rank) * p_values[place]))
        adjusted[place] = least
    return adjusted


@dataclass(frozen=True, slots=True)
class Correction:
    """The p-values of several decisions, corrected together."""

    p_values: tuple[float, ...]
    """By Holm; NaN where there was none."""
    can_be_significant: tuple[bool, ...]
    """Whether the smallest possible p of a decision is below its share of the level."""
    shares: int
    """What the others' p was multiplied by: the family with one more decision."""


def corrected(
    p_values: Sequence[float], smallest: Sequence[float], levels: Sequence[float]
) -> Correction:
    """Correct p-values by Holm, without the decisions that could never be significant.

    The family is the largest number m of decisions whose smallest possible p, times m, is within
    the level. It depends only on how much changed, not on what fell, so leaving out the others
    costs no error and makes the family more powerful (after Tarone, A modified Bonferroni method
    for discrete data, Biometrics 1990).

    Args:
        p_values: one for each decision; NaN does not count. Of equal ones, the first come first.
        smallest: the smallest possible p of each decision.
        levels: the alpha of each decision.
    """
    counted = [place for place, p in enumerate(p_values) if not np.isnan(p)]
    ordered = sorted(counted, key=lambda place: smallest[place] / levels[place])
    size = len(ordered)
    while size and size * smallest[ordered[size - 1]] > levels[ordered[size - 1]]:
        size -= 1
    members, shares = ordered[:size], size + 1
    adjusted = [p if np.isnan(p) else min(1.0, shares * p) for p in p_values]
    for place, p in zip(members, holm([p_values[place] for place in members]), strict=True):
        adjusted[place] = p
    possible = set(members)
    return Correction(
        tuple(adjusted), tuple(place in possible for place in range(len(p_values))), shares
    )
