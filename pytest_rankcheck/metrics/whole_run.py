"""The whole run: the tops of all rankings at once, or how long the ranker took for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray, make_read_only

ABSENT = -1
"""The document number that marks the end of a ranking."""


class KnownDocuments(Protocol):
    """What is known about the N documents of a run; an error where a metric needs what is not."""

    @property
    def catalogue_size(self) -> int:
        """The number of documents in the catalogue, ranked or not."""

    @property
    def in_catalogue(self) -> BoolArray:
        """``[N]`` whether the catalogue has the document."""

    @property
    def user_count(self) -> int:
        """The number of users who have interacted with any item."""

    @property
    def popularity(self) -> IntArray:
        """``[N]`` how many users have interacted with each document."""

    def seen(self, documents: IntArray) -> BoolArray:
        """Which of the documents, ``[Q, D]``, the user of the query has interacted with."""

    def values(self, attribute: str) -> Sequence[object]:
        """The attribute of each document, ``[N]``; None where it is unknown."""

    def judged(self, attribute: str) -> tuple[IntArray, FloatArray, Sequence[object]]:
        """The query, the grade and the attribute of each judgment; None where it is unknown."""


@dataclass(frozen=True, slots=True)
class WholeRun:
    """The rankings of Q queries, down to a depth D."""

    documents: IntArray
    """``[Q, D]`` the number of each document, the same in all rankings; -1 past the end, and
    where a document is ranked again."""

    retrieved: FloatArray
    """``[Q]`` the number of ranked documents, including those below the depth."""

    known: KnownDocuments
    """What is known about the documents, by their numbers."""

    def __post_init__(self) -> None:
        make_read_only(self)

    def top(self, cutoff: int | None) -> IntArray:
        """Return the documents of the top k, at most ``[Q, k]``."""
        return self.documents[:, :cutoff]


@dataclass(frozen=True, slots=True)
class Timings:
    """How long a ranker took for each of Q queries, asked one by one."""

    seconds: FloatArray
    """``[Q]`` in seconds; NaN if unknown."""

    order: IntArray
    """``[Q]`` how many queries were asked before it."""

    def __post_init__(self) -> None:
        make_read_only(self)


def jackknife(whole: float, without: FloatArray) -> FloatArray:
    """Return a value for each query, ``[Q]``, such that their mean is the value of the whole run.

    They are the pseudo-values of the delete-one jackknife, moved to have that mean, so that
    the standard error of their mean is that of the jackknife (Efron, The Jackknife, the Bootstrap
    and Other Resampling Plans, SIAM 1982, equation 3.6).

    Args:
        whole: the value of the whole run.
        without: the value of the run without each query.
    """
    return np.asarray(whole + (len(without) - 1) * (without.mean() - without), dtype=np.float64)
