"""How often a change that loses nothing would be inconclusive, slice by slice.

A slice passes if the lower bound of its mean difference is above minus the margin. The mean of a
change that loses nothing varies around 0 by its standard error, so if the bound lies h below the
mean, the slice does not pass with probability Phi((h - margin) / error). By Holm's correction the
bound is that at alpha divided by the number of decisions that remain: one, and the slices that are
expected not to pass, which is solved by iteration.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.multiplicity import corrected

__all__ = ["MOSTLY", "NOTABLE", "any_inconclusive", "shares_inconclusive"]

MOSTLY = 0.5
"""From this share of inconclusive changes on, there is a warning."""
NOTABLE = 0.2
"""From this share on, the warning names a slice."""
_ROUNDS = 20


def shares_inconclusive(
    slices: Sequence[ComparedValues], margin: float, alpha: float
) -> Sequence[float]:
    """Return how often each slice would not rule out a fall of the margin, in [0, 1], ``[S]``.

    Args:
        slices: the values before and after of the slices that a gate decides on together.
        margin: the fall to rule out, above 0.
        alpha: the level of the gate.

    Returns:
        NaN for a slice of fewer than two queries, or without a difference among them; 0 for one
        with too few changed queries for a significant fall, because it is not gated.
    """
    shares = [math.nan] * len(slices)
    gated = _gated(slices, alpha)
    remaining = 1.0 + len(slices)
    for _ in range(_ROUNDS):
        shares = [
            _share(values.differences, margin, alpha / remaining) if is_gated else 0.0
            for values, is_gated in zip(slices, gated, strict=True)
        ]
        remaining = 1.0 + math.fsum(share for share in shares if not math.isnan(share))
    return shares


def _gated(slices: Sequence[ComparedValues], alpha: float) -> Sequence[bool]:
    """Return which slices have enough changed queries to be decided on, together with all."""
    smallest = [0.0, *(values.smallest_p() for values in slices)]  # all queries have enough
    found = corrected([1.0] * len(smallest), smallest, [alpha] * len(smallest))
    same = (values.is_same for values in slices)
    return [one or other for one, other in zip(found.can_be_significant[1:], same, strict=True)]


def _share(differences: Differences, margin: float, level: float) -> float:
    if not differences.error > 0:
        return math.nan
    from scipy.special import ndtr

    half = differences.mean - differences.lower_bound(level)
    return float(ndtr((half - margin) / differences.error))


def any_inconclusive(shares: Iterable[float]) -> float:
    """Return how often at least one of several independent slices is inconclusive, in [0, 1].

    Slices without an estimate (NaN) are left out.
    """
    return 1 - math.prod(1 - share for share in shares if not math.isnan(share))
