"""The judged hits: all that a metric needs to know of a run and a golden set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["JudgedHits", "last_of_running_sum", "padded"]


@dataclass(frozen=True, slots=True)
class JudgedHits:
    """The documents of a block of queries that are both ranked and judged.

    Q queries; J is the largest number of judged documents that one of them retrieved, I the
    largest number that one of them has judged. NaN, mostly at the end of a row, is no document.
    """

    ranks: FloatArray
    """``[Q, J]`` the 1-based ranks of the judged documents that were retrieved, best first."""

    grades: FloatArray
    """``[Q, J]`` the grades of the same documents."""

    retrieved: FloatArray
    """``[Q]`` how many documents were ranked, judged or not."""

    ideal: FloatArray
    """``[Q, I]`` the grades of all judged documents, retrieved or not, highest first."""

    max_grade: float = 0.0
    """The highest grade of the whole golden set, whatever block this is."""

    def judged_only(self) -> JudgedHits:
        """Return the hits as if no unjudged document had been ranked.

        As with trec_eval ``-J``, a document with a negative grade counts as unjudged.
        """
        judged = self.grades >= 0
        return JudgedHits(
            ranks=np.where(judged, np.cumsum(judged, axis=1), np.nan),
            grades=np.where(judged, self.grades, np.nan),
            retrieved=judged.sum(axis=1).astype(np.float64),
            ideal=self.ideal,
            max_grade=self.max_grade,
        )


def padded(rows: Sequence[Sequence[float]]) -> FloatArray:
    """Return ``rows`` as one matrix as wide as the longest, the rest NaN."""
    lengths = np.fromiter(map(len, rows), dtype=np.intp, count=len(rows))
    width = int(lengths.max(initial=0))
    matrix = np.full((len(rows), width), np.nan)
    matrix[np.arange(width) < lengths[:, np.newaxis]] = np.fromiter(
        chain.from_iterable(rows), dtype=np.float64, count=int(lengths.sum())
    )
    return matrix


def last_of_running_sum(terms: FloatArray) -> FloatArray:
    """Return the sum of each row of ``terms`` ``[Q, J]``, added from left to right.

    ``numpy.sum`` groups the terms by the width of the matrix, so the last bit of a query's
    value would depend on which queries share its block. A running sum does not, and the zeros
    of the padding leave it as it is.
    """
    if terms.shape[1] == 0:
        return np.zeros(terms.shape[0])
    sums: FloatArray = np.cumsum(terms, axis=1)[:, -1] + 0.0  # -0 with and without padding
    return sums
