"""The available paired tests: the one-sided p of a fall, from the differences of queries."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.statistics.mean_differences import UNSEEN_GAIN, Differences
from pytest_rankcheck.statistics.sign_flip import MOST_EXACT, SignFlip, whole_gains

FallTest = Literal["sign_flip", "t"]
"""The tests that gates and comparisons offer."""


def p_of_fall(
    gains: FloatArray, test: FallTest = "sign_flip", unseen_gain: float = UNSEEN_GAIN
) -> float:
    """Return the probability of a fall at least this large if nothing had changed, in [0, 1].

    One gain that was not sampled, of a quarter of the largest change, is added to the differences
    (see ``mean_differences``): without it, many small falls with a few large gains are taken for a
    fall of the mean too often.

    Args:
        gains: the difference of each query, ``[n]``; positive means better, NaN is ignored.
        test: ``"sign_flip"``, or Student's paired ``"t"``.
        unseen_gain: the gain that was not sampled, as a share of the largest change.
    """
    seen = gains[~np.isnan(gains)]
    if not np.any(seen):
        return 1.0
    if test == "sign_flip":
        return SignFlip(seen, unseen_gain).p
    return Differences(seen).fall_p(unseen_gain)


def smallest_p(
    gains: FloatArray, test: FallTest = "sign_flip", unseen_gain: float = UNSEEN_GAIN
) -> float:
    """Return the smallest p that a fall could have with as many changed queries, in (0, 1].

    That is p if each changed query had fallen by as much as it changed.

    Args:
        gains: as in `p_of_fall`.
        test: as in `p_of_fall`.
        unseen_gain: as in `p_of_fall`.
    """
    if test == "sign_flip" or len(whole_gains(gains)) > MOST_EXACT:
        return SignFlip(gains, unseen_gain).smallest_p
    return p_of_fall(-np.abs(gains), test, unseen_gain)
