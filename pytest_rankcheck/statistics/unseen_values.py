"""What was not sampled: the change of one unit that a golden set could have had, but has not.

Real regressions lose much on a few queries. A sample that happens to have none of these queries has
a small mean fall and a small spread, so Student's t is too certain of it: it passes a fall of the
margin two to four times as often as stated. Gates therefore decide as if one more unit (a query, or
a cluster of queries) had been sampled, with a change that speaks against the verdict. This is the
idea of the pseudo-observations of Agresti and Coull (Approximate is better than "exact" for
interval estimation of binomial proportions, The American Statistician 52, 1998), applied to means.
How far each value reaches was chosen on real pairs of rankings: see ``benchmarks/calibration.py``.
"""

from __future__ import annotations

import math

__all__ = [
    "UNSEEN_ESTIMATED_GAIN",
    "UNSEEN_GAIN",
    "UNSEEN_WEIGHTED_GAIN",
    "unseen_extreme",
    "unseen_fall",
]

UNSEEN_GAIN = 0.25
"""A test of a fall adds one gain of this share of the largest change."""
UNSEEN_WEIGHTED_GAIN = 0.5
"""If weights were drawn together with the units, as the inverse propensities of a replayed log, a
test adds one gain of this share of the largest change at the largest weight.

Few selections come from far down. Each has a large weight, and a document that was far down mostly
rises, so a sample with none of them has a mean that is too low and a spread that is too small. With
this share, ``benchmarks/replay_tables.py`` blocks an equal ranker in at most about 6% of 200
searches; intervals allow for one such unit on each side.
"""
UNSEEN_ESTIMATED_GAIN = 1.25
"""The same for estimates of relevance in a replayed log, whose changes contain their weights."""
_REACH = 10.0
"""The unseen fall lies this many n-ths of the way from the largest change to the full range."""
_STRETCH = 10.0
"""Without a known range, the largest change is stretched by this many root-n-ths of itself."""


def unseen_fall(largest: float, full_range: float, units: float) -> float:
    """Return how far the unit falls that was not sampled, above 0; infinite if unknown.

    Args:
        largest: the largest change of a unit, at least 0. If nothing changed, nothing is known of
            how far a unit can fall, and the full range counts.
        full_range: how far a unit can fall at most, above 0; infinite if that is unknown.
        units: the number of independent units, or their effective number; above 0.
    """
    if largest == 0:
        return full_range
    if not math.isfinite(full_range):
        return largest * (1 + _STRETCH / math.sqrt(units))
    return largest + max(0.0, full_range - largest) * min(1.0, _REACH / units)


def unseen_extreme(extreme: float, mean: float, limit: float, units: float) -> float:
    """Return the value of a sample that was not sampled: further out than its extreme.

    Args:
        extreme: the highest or the lowest value that was seen.
        mean: the mean of the sample.
        limit: the highest or the lowest possible value; infinite if there is no known limit.
        units: the number of values in the sample.
    """
    if not math.isfinite(limit):
        return mean + (extreme - mean) * (1 + _STRETCH / math.sqrt(units))
    return extreme + (limit - extreme) * min(1.0, _REACH / units)
