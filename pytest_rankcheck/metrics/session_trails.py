"""The trails of sessions: everything that a session metric needs from a log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.array_types import FloatArray, make_read_only
from pytest_rankcheck.metrics.judged_hits import JudgedHits


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
    """``[M]`` how good each selection is; 1 where the log does not say."""

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
        """Return the rank of the final selection with at least a grade, NaN without one, ``[S]``.

        None: of the final selection with any grade.
        """
        if grade is None:
            return self.final_rank
        counted = np.flatnonzero(self.selected_grade >= grade)
        ranks = np.full(len(self.final_rank), np.nan)
        ranks[self.selected_in[counted]] = self.selected_rank[counted]  # the last assignment wins
        return ranks
