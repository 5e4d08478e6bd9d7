"""Several decisions together: p-values corrected so that all of them share one level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


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
        p = (len(counted) - rank) * p_values[place]
        least = max(least, min(1.0, p))
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
    while size:
        least = ordered[size - 1]
        if size * smallest[least] <= levels[least]:
            break
        size -= 1
    members, shares = ordered[:size], size + 1
    adjusted = [p if np.isnan(p) else min(1.0, shares * p) for p in p_values]
    together = holm([p_values[place] for place in members])
    for place, p in zip(members, together, strict=True):
        adjusted[place] = p
    possible = set(members)
    return Correction(
        tuple(adjusted), tuple(place in possible for place in range(len(p_values))), shares
    )
