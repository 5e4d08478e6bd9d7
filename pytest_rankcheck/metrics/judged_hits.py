"""The judged hits: everything that a metric needs from a run and a golden set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray, make_read_only


class HitDocuments(Protocol):
    """What is known about the documents of a block of queries."""

    @property
    def documents(self) -> Sequence[Sequence[str]]:
        """The ids of the first documents of each query."""

    def attribute(self, name: str) -> FloatArray:
        """The number that is known about each judged document that was retrieved, ``[Q, J]``."""

    def ideal_attribute(self, name: str) -> FloatArray:
        """The number that is known about each judged document, highest grade first, ``[Q, I]``."""


@dataclass(frozen=True, slots=True)
class JudgedHits:
    """The documents of a block of queries that are both ranked and judged.

    Q is the number of queries, J the largest number of judged documents retrieved for one of them,
    I the largest number of documents judged for one of them. NaN is padding, usually at the end of
    a row.

    The arrays are read-only, because all metrics share them: copy an array to change it.
    """

    ranks: FloatArray
    """``[Q, J]`` the 1-based ranks of the judged documents that were retrieved, best first."""

    grades: FloatArray
    """``[Q, J]`` the grades of the same documents."""

    retrieved: FloatArray
    """``[Q]`` the number of ranked documents, judged or not."""

    ideal: FloatArray
    """``[Q, I]`` the grades of all judged documents, retrieved or not, highest first."""

    max_grade: float = 0.0
    """The golden set's scale: the highest grade that a document could get."""

    tied: FloatArray | None = None
    """``[Q, J]`` 1 for a hit with the score of the hit before it, else 0; None: no scores are
    tied."""

    about: Callable[[], HitDocuments] | None = None
    """Looks up what is known about the documents; see `documents` and `attribute`."""

    def __post_init__(self) -> None:
        make_read_only(self)

    def top(self, cutoff: int | None) -> JudgedHits:
        """Return the same hits with only the columns that the top k can occupy.

        A metric finds the same top k in less time. All hits of the top k are kept, and some hits
        below it may be. ``ideal`` and ``retrieved`` stay.
        """
        width = self.ranks.shape[1]
        k = width if cutoff is None else min(cutoff, width)
        if k == width or np.any(self.ranks[:, k:] <= k):  # `judged_only` leaves gaps
            return self
        tied = None if self.tied is None else self.tied[:, :k]
        return replace(self, ranks=self.ranks[:, :k], grades=self.grades[:, :k], tied=tied)

    @property
    def documents(self) -> Sequence[Sequence[str]]:
        """The ids of the first documents of each query, judged or not, best first.

        For a run in a large file, these are the first 20 of each query.
        """
        return self.about().documents if self.about else [()] * len(self.ranks)

    def attribute(self, name: str) -> FloatArray:
        """Return a number that is known about each hit, such as its price, ``[Q, J]``.

        NaN where it is unknown. The numbers come from the documents that the golden set was given
        (``documents=``, `rankcheck_documents`).

        Raises:
            MetricError: the golden set has no documents, or no such column of numbers.
        """
        if self.about is None:
            return np.full(self.ranks.shape, np.nan)
        values = self.about().attribute(name)[:, : self.ranks.shape[1]]
        return np.where(np.isnan(self.ranks), np.nan, values)

    def ideal_attribute(self, name: str) -> FloatArray:
        """Return a number that is known about each document of ``ideal``, ``[Q, I]``."""
        if self.about is None:
            return np.full(self.ideal.shape, np.nan)
        return self.about().ideal_attribute(name)

    def judged_only(self) -> JudgedHits:
        """Return the hits as if no unjudged document had been ranked.

        As in trec_eval with ``-J``, a document with a negative grade counts as unjudged.
        """
        judged = self.grades >= 0
        return replace(
            self,
            ranks=np.where(judged, np.cumsum(judged, axis=1), np.nan),
            grades=np.where(judged, self.grades, np.nan),
            retrieved=judged.sum(axis=1).astype(np.float64),
        )


def padded_columns(values: FloatArray | IntArray | BoolArray, starts: IntArray) -> FloatArray:
    """Return the values of some queries as one matrix, ``[Q, longest]``, padded with NaN.

    Args:
        values: the values of all queries, grouped by query.
        starts: ``[Q + 1]`` where those of each query begin, and where the last ones end.
    """
    lengths = np.diff(starts)
    width = int(lengths.max(initial=0))
    chosen = values[starts[0] : starts[-1]] if len(starts) else values[:0]
    if len(chosen) == len(lengths) * width:
        return chosen.reshape(len(lengths), width).astype(np.float64, copy=False)
    matrix = np.full((len(lengths), width), np.nan)
    matrix[np.arange(width) < lengths[:, np.newaxis]] = chosen
    return matrix


def last_of_running_sum(terms: FloatArray) -> FloatArray:
    """Return the sum of each row of ``terms`` ``[Q, J]``, added from left to right, ``[Q]``.

    ``numpy.sum`` groups the terms by the width of the matrix, so the last bit of a query's value
    would depend on the other queries in its block. A running sum does not, and the zeros of the
    padding do not change it.
    """
    if terms.shape[1] == 0:
        return np.zeros(terms.shape[0])
    sums: FloatArray = np.cumsum(terms, axis=1)[:, -1] + 0.0  # no negative zero
    return sums
