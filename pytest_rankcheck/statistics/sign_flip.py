"""The paired sign-flip test: how often would chance alone cause a fall of the mean this large?

If a change had no effect, each query's difference could equally well have the other sign. The test
counts the assignments of signs for which the fall is at least as large as the observed one
(Fisher, The Design of Experiments, 1935; for retrieval: Smucker, Allan and Carterette, CIKM 2007).
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray

DRAWS = 10_000
"""The number of random sign assignments, used when there are too many to try all."""

MOST_EXACT = 16
"""The largest number of differences for which all assignments are tried: 65,536."""
_FEWEST_MID_P = 5
"""The smallest number of changes of the same size for which the mid-p is used."""
_GROUP = 8
"""The number of differences whose signs fit in one byte."""
_SIGNS = 1 - 2 * ((np.arange(256) >> np.arange(_GROUP)[:, np.newaxis]) & 1)
"""``[8, 256]`` the signs of eight values for each byte; the lowest bit is the first sign."""
_OUT_OF_REACH = 50.0
"""A random sum is larger than t with probability exp(-t^2 / (2 sum of squares)) at most (Hoeffding,
JASA 58, 1963). Where that is exp(-50), no draw has such a sum, and none is made."""
_UNIT = 1e-6
_ROUNDING = 2
"""How far equal differences of rounded values can be apart, in units."""
_LARGEST_SUM = 2.0**62


class SignFlip:
    """A test whether the mean of gains is below zero by more than chance explains.

    The same values give the same p on every machine, in any order and with every version of numpy:
    sums use whole numbers (units of 1e-6, the precision of recorded values), and the signs are the
    raw bits of a generator that is seeded with the values.

    If all changes have the same size, as those of binary metrics, the sums take few values, and
    outcomes as extreme as the observed one count half (the mid-p of Lancaster, Significance tests
    in discrete distributions, JASA 56, 1961). This takes at least five changes. Sizes that differ
    by no more than rounding count as one: a change of a third is recorded as 0.333333 or 0.333334.

    Args:
        gains: the difference of each query, ``[n]``; positive means better, NaN is ignored.
        unseen_gain: a gain that was not sampled, as a share of the largest change. It counts as
            one more difference, except with the mid-p.
    """

    def __init__(self, gains: FloatArray, unseen_gain: float = 0.0) -> None:
        whole = whole_gains(gains)
        if has_one_size(whole):
            whole = np.sign(whole) * np.abs(whole).max()
        self._sizes = sizes = np.sort(np.abs(whole))
        self._fall, self._largest_fall = -int(whole.sum()), int(sizes.sum())
        self.changed = len(sizes)
        """The number of differences that are not zero."""
        self._uses_mid_p = self.changed >= _FEWEST_MID_P and sizes[0] == sizes[-1]
        has_unseen = self.changed and not self._uses_mid_p
        self._unseen = round(unseen_gain * int(sizes[-1])) if has_unseen else 0

    @cached_property
    def p(self) -> float:
        """One-sided: the probability of a fall at least this large, in (0, 1]."""
        return self._p_of(self._fall)

    @cached_property
    def smallest_p(self) -> float:
        """The smallest possible p: if each changed query had fallen by as much as it changed."""
        return self._p_of(self._largest_fall)

    def _p_of(self, fall: int) -> float:
        nearest = fall - 2 * self._unseen
        is_drawn = self.changed > MOST_EXACT
        if is_drawn and nearest > 0 and _is_out_of_reach(float(nearest), self._sizes):
            return 1 / (DRAWS + 1)
        sums = _sums(self._sizes.tobytes())
        if self._uses_mid_p:
            shares = [(sums > fall).sum(), (sums >= fall).sum()]
        else:  # the unseen gain keeps its sign or flips it
            shares = [(sums >= fall).sum(), (sums >= nearest).sum()]
        extreme = float(sum(shares)) / 2
        return (1 + extreme) / (DRAWS + 1) if is_drawn else extreme / len(sums)


def _is_out_of_reach(fall: float, sizes: IntArray) -> bool:
    """Return whether no random assignment of signs gives a fall of this size."""
    return fall**2 > 2 * _OUT_OF_REACH * float((sizes.astype(np.float64) ** 2).sum())


def has_one_size(whole: IntArray) -> bool:
    """Return whether all changes have the same size, apart from the rounding of recorded values.

    Args:
        whole: the changes, as `whole_gains` returns them.
    """
    return len(whole) > 0 and int(np.ptp(np.abs(whole))) <= _ROUNDING


def whole_gains(gains: FloatArray) -> IntArray:
    """Return the nonzero gains as whole numbers in units of 1e-6, sorted.

    The unit is larger if their sum would not fit in 62 bits.
    """
    finite = gains[np.isfinite(gains)]
    unit = max(_UNIT, float(np.abs(finite).sum()) / _LARGEST_SUM)
    whole = np.rint(finite / unit).astype(np.int64)
    return np.sort(whole[whole != 0])


def seed_of(whole: IntArray) -> int:
    """Return a seed that depends only on the values."""
    import hashlib  # imported late, because it loads OpenSSL

    content = whole.astype("<i8").tobytes()
    return int.from_bytes(hashlib.sha256(content).digest(), "big")


# Needed again for the smallest p and when queries change sides, for each metric of a family.
@lru_cache(maxsize=32)
def _sums(sizes: bytes) -> IntArray:
    """Return the sums for all assignments of signs, or for random ones if there are too many."""
    values = np.frombuffer(sizes, dtype=np.int64)
    return _all_sums(values) if len(values) <= MOST_EXACT else _drawn_sums(values)


def _all_sums(values: IntArray) -> IntArray:
    """Return the sums for all assignments of signs, ``[2^n]``, the observed one first."""
    sums = np.zeros(1, dtype=np.int64)
    for value in values.tolist():
        sums = np.concatenate((sums + value, sums - value))
    return sums


def _drawn_sums(values: IntArray) -> IntArray:
    """Return the sums for random assignments of signs, ``[DRAWS]``.

    A random byte gives the signs of eight values; a table has their 256 possible sums.
    """
    groups = -(-len(values) // _GROUP)
    count = DRAWS * groups
    words = np.random.PCG64(seed_of(values)).random_raw(-(-count // 8))
    drawn = words.astype("<u8").view(np.uint8)[:count].reshape(groups, DRAWS)
    padded = np.pad(values, (0, groups * _GROUP - len(values)))
    tables = padded.reshape(groups, _GROUP) @ _SIGNS
    totals, part = np.zeros(DRAWS, dtype=np.int64), np.empty(DRAWS, dtype=np.int64)
    for table, signs in zip(tables, drawn, strict=True):
        # "clip" only because the default mode copies; a byte never exceeds the table.
        totals += np.take(table, signs, out=part, mode="clip")
    return totals
