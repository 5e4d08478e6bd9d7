"""The paired sign-flip test: how often would chance alone make the mean fall so far?

If a change did nothing, each query's difference could as well have had the other sign. The test
counts the assignments of signs under which the fall is at least as large as the one observed
(Fisher, The Design of Experiments, 1935; for retrieval: Smucker, Allan and Carterette, CIKM 2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.statistics.array_types import FloatArray, IntArray

__all__ = ["DRAWS", "SignFlip", "seed_of", "sign_flip_test", "whole_gains"]

DRAWS = 10_000
"""Assignments of signs that are drawn where there are too many to try all."""

_MOST_EXACT = 16
"""So many differences, at most, have all their assignments tried: 65,536."""
_GROUP = 8
"""Differences whose signs are one byte."""
_SIGNS = 1 - 2 * ((np.arange(256) >> np.arange(_GROUP)[:, np.newaxis]) & 1)
"""``[8, 256]`` the signs of eight values that each byte draws; the lowest bit is the first's."""
_UNIT = 1e-6
_LARGEST_SUM = 2.0**62


@dataclass(frozen=True, slots=True)
class SignFlip:
    """What the test found."""

    p: float
    """One-sided: the chance of a fall at least so large, in (0, 1]."""
    changed: int
    """How many differences are not zero."""
    is_exact: bool
    """Whether all assignments were tried; else 10,000 were drawn."""

    @property
    def smallest_p(self) -> float:
        """The smallest p that so few changed queries could have given."""
        return 2.0**-self.changed if self.is_exact else 1 / (DRAWS + 1)


def sign_flip_test(gains: FloatArray) -> SignFlip:
    """Test whether the mean of ``gains`` is below zero by more than chance.

    The same values give the same p on every machine, in every order and with every numpy: sums are
    of whole numbers (of 1e-6, to which values are recorded), and the signs are drawn from the raw
    bits of a generator that the values themselves seed.

    Args:
        gains: the difference of each query, positive is better, ``[n]``; NaN is left out.
    """
    falls = -whole_gains(gains)
    changed = len(falls)
    observed = int(falls.sum())
    if changed <= _MOST_EXACT:
        sums = _all_sums(falls)
        return SignFlip(float((sums >= observed).mean()), changed, is_exact=True)
    extreme = int((_drawn_sums(falls) >= observed).sum())
    return SignFlip((1 + extreme) / (DRAWS + 1), changed, is_exact=False)


def whole_gains(gains: FloatArray) -> IntArray:
    """Return the gains that are not zero as whole numbers of 1e-6, sorted.

    Larger units where their sum would not fit into 62 bits.
    """
    finite = gains[np.isfinite(gains)]
    unit = max(_UNIT, float(np.abs(finite).sum()) / _LARGEST_SUM)
    whole = np.rint(finite / unit).astype(np.int64)
    return np.sort(whole[whole != 0])


def seed_of(whole: IntArray) -> int:
    """Return a seed that follows from the values alone."""
    import hashlib  # loads OpenSSL, for those who test

    return int.from_bytes(hashlib.sha256(whole.astype("<i8").tobytes()).digest(), "big")


def _all_sums(values: IntArray) -> IntArray:
    """Return the sums under every assignment of signs, ``[2^n]``; the first is as observed."""
    sums = np.zeros(1, dtype=np.int64)
    for value in values.tolist():
        sums = np.concatenate((sums + value, sums - value))
    return sums


def _drawn_sums(values: IntArray) -> IntArray:
    """Return the sums under assignments of signs that are drawn, ``[DRAWS]``.

    A byte draws the signs of eight values, whose 256 sums are in a table: one look-up for eight.
    """
    groups = -(-len(values) // _GROUP)
    raw = np.random.PCG64(seed_of(values)).random_raw(-(-DRAWS * groups // 8))
    drawn = raw.astype("<u8").view(np.uint8)[: DRAWS * groups].reshape(groups, DRAWS)
    padded = np.pad(values, (0, groups * _GROUP - len(values)))
    tables = padded.reshape(groups, _GROUP) @ _SIGNS
    totals, part = np.zeros(DRAWS, dtype=np.int64), np.empty(DRAWS, dtype=np.int64)
    for table, signs in zip(tables, drawn, strict=True):
        # "clip" only because the default mode copies; a byte is never outside the table.
        totals += np.take(table, signs, out=part, mode="clip")
    return totals
