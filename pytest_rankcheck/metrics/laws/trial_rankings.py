"""Rankings to try a law on: all of a few documents, or some of many."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.statistics.array_types import FloatArray, IntArray

__all__ = ["Rankings", "all_rankings", "hits_of"]


def hits_of(sequences: FloatArray, ideal: FloatArray, max_grade: float) -> JudgedHits:
    """Return rankings, told by the grade at each rank ``[S, n]``, as one block of judged hits.

    ``ideal`` ``[S, m]`` has the grades of all judged documents, ranked or not, best first. NaN at
    the end of a row of ``sequences`` is no document. The arrays are read-only: a metric that
    writes into them would change the values of the metrics after it.
    """
    known = ~np.isnan(sequences)
    ranks = np.where(known, np.arange(1.0, sequences.shape[1] + 1), np.nan)
    arrays = (ranks, sequences.copy(), known.sum(axis=1).astype(np.float64), ideal.copy())
    for array in arrays:
        array.flags.writeable = False
    return JudgedHits(*arrays, max_grade=max_grade)


class Rankings:
    """Rankings of n judged documents, each told by the grade at each rank.

    Documents of one grade are alike to every metric, so that their order is not told. Rows with
    the same grades in another order are rankings of the same documents: they are one group.
    """

    def __init__(self, sequences: FloatArray, scale: Sequence[float]) -> None:
        self.sequences = sequences
        self.scale = tuple(scale)

    @property
    def n(self) -> int:
        """How many documents each ranking has."""
        return int(self.sequences.shape[1])

    @property
    def max_grade(self) -> float:
        """The highest grade of the scale, as if it were that of the golden set."""
        return self.scale[-1]

    @cached_property
    def ideal(self) -> FloatArray:
        """``[S, n]`` the same grades, best first: the ideal ranking of each row."""
        return -np.sort(-self.sequences, axis=1)

    @cached_property
    def groups(self) -> IntArray:
        """``[S]`` the number of each row's group."""
        _, inverse = np.unique(self.ideal, axis=0, return_inverse=True)
        numbers: IntArray = inverse.reshape(-1).astype(np.intp)
        return numbers

    @cached_property
    def binary(self) -> NDArray[np.bool_]:
        """``[S]`` whether no grade but the lowest and the highest of the scale occurs."""
        plain = (self.sequences == self.scale[0]) | (self.sequences == self.max_grade)
        binary: NDArray[np.bool_] = plain.all(axis=1)
        return binary

    def is_ideal(self, cutoff: int | None) -> NDArray[np.bool_]:
        """Return which rows have the grades of the ideal ranking, ``[S]``, as far as the cutoff."""
        k = self.n if cutoff is None else min(cutoff, self.n)
        same: NDArray[np.bool_] = (self.sequences[:, :k] == self.ideal[:, :k]).all(axis=1)
        return same

    def swapped(self, place: int) -> FloatArray:
        """Return the rankings with the documents at ``place`` and below it exchanged, ``[S, n]``.

        Places are counted from 0.
        """
        order = np.arange(self.n)
        order[[place, place + 1]] = order[[place + 1, place]]
        exchanged: FloatArray = self.sequences[:, order]
        return exchanged

    def hits(self, sequences: FloatArray | None = None) -> JudgedHits:
        """Return the judged hits of the rows, or of other rankings of the same documents."""
        chosen = self.sequences if sequences is None else sequences
        return hits_of(chosen, self.ideal, self.max_grade)


def all_rankings(scale: Sequence[float], n: int) -> Rankings:
    """Return all rankings of ``n`` documents, for every choice of grades from ``scale``."""
    grades = sorted(map(float, scale))
    return Rankings(np.array(list(product(grades, repeat=n))).reshape(-1, n), grades)
