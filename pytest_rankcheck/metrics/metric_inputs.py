"""What a metric's function takes, beside judged hits: whole runs, times, and trails of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray, make_read_only
from pytest_rankcheck.metrics.judged_hits import JudgedHits

ABSENT = -1
"""The document number that marks the end of a ranking."""


class KnownDocuments(Protocol):
    """What is known about the N documents of a run; if a metric needs more, an error."""

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
    """How long a ranker took for each of Q queries."""

    seconds: FloatArray
    """``[Q]`` in seconds; NaN if unknown."""

    def __post_init__(self) -> None:
        make_read_only(self)


@dataclass(frozen=True, slots=True)
class Trails:
    """The outcomes of a block of S sessions; NaN if something did not happen or is unknown."""

    events: FloatArray
    """``[S]`` the number of events, at least 1."""

    final_rank: FloatArray
    """``[S]`` the 1-based rank of the final selection."""

    final_event: FloatArray
    """``[S]`` the 1-based position of the event with that selection among the session's events."""

    shown_last: FloatArray
    """``[S]`` the number of results that the last event showed."""

    click_rank: FloatArray
    """``[S]`` the mean 1-based rank of all selections; in one event, each rank counts once."""

    duration: FloatArray
    """``[S]`` seconds from the start of the session to its last event or selection."""

    first_selection: FloatArray
    """``[S]`` seconds from the start of the session to its first selection."""

    selected_in: NDArray[np.intp]
    """``[M]`` the index of each selection's session in the block. The selections of a session are
    in the order in which they become final: the last is the final one."""

    selected_rank: FloatArray
    """``[M]`` the 1-based rank of each selection."""

    selected_grade: FloatArray
    """``[M]`` how good each selection is; 1 if the log does not say."""

    states: JudgedHits | None = None
    """The judged hits of the result lists of all N events; None without judgments."""

    session_of: NDArray[np.intp] | None = None
    """``[N]`` the index of each event's session in the block."""

    place_of: FloatArray | None = None
    """``[N]`` the 1-based position of each event in its session."""

    def __post_init__(self) -> None:
        make_read_only(self)

    @property
    def is_abandoned(self) -> NDArray[np.bool_]:
        """``[S]`` whether the session has no selection."""
        return np.isnan(self.final_rank)

    def final_rank_from(self, grade: float | None) -> FloatArray:
        """Return the rank of the final selection with at least this grade, or NaN, ``[S]``.

        None means any grade.
        """
        if grade is None:
            return self.final_rank
        counted = np.flatnonzero(self.selected_grade >= grade)
        ranks = np.full(len(self.final_rank), np.nan)
        ranks[self.selected_in[counted]] = self.selected_rank[counted]  # the last assignment wins
        return ranks


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
