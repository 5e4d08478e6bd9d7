"""The precision of recorded values: what counts as equal, and rounding to it."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import FloatArray

SLACK = 1e-6 * (1 + 1e-6)
"""Differences up to 1e-6 are rounding: records keep six decimals. The rest allows for the rounding
of binary fractions: 0.500001 - 0.5 is slightly more than 1e-6."""

EXACT = 1e-12
"""The possible error of the mean of recorded values: a larger difference of two means is real, even
a millionth in one of many queries."""

_DECIMALS = 6


def as_recorded(values: FloatArray) -> FloatArray:
    """Return values at the six decimals of a record, so that equal results are equal."""
    rounded: FloatArray = np.round(values, _DECIMALS) + 0.0  # no negative zero
    return rounded
