"""The trails of sessions: all that a session metric needs to know of a log."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["Trails"]


@dataclass(frozen=True, slots=True)
class Trails:
    """What a block of sessions came to, S sessions; NaN is what did not happen or is not known."""

    events: FloatArray
    """``[S]`` how many events, at least 1."""

    final_rank: FloatArray
    """``[S]`` the 1-based rank of the final selection."""

    final_event: FloatArray
    """``[S]`` the 1-based place, among the session's events, of the one with that selection."""

    shown_last: FloatArray
    """``[S]`` how many results the last event showed."""

    click_rank: FloatArray
    """``[S]`` the mean of the 1-based ranks of all selections."""

    duration: FloatArray
    """``[S]`` seconds from the start of the session to its last event or selection."""

    first_selection: FloatArray
    """``[S]`` seconds from the start of the session to its first selection."""

    states: JudgedHits | None = None
    """The judged hits of the result lists of all events, N; None where nothing is judged."""

    session_of: NDArray[np.intp] | None = None
    """``[N]`` to which session of the block each of them belongs."""

    place_of: FloatArray | None = None
    """``[N]`` the 1-based place of each among its session's events."""

    @property
    def is_abandoned(self) -> NDArray[np.bool_]:
        """``[S]`` whether nothing was selected."""
        return np.isnan(self.final_rank)

    def judged(
        self, states: JudgedHits, session_of: NDArray[np.intp], place_of: FloatArray
    ) -> Trails:
        """Return the trails with judged hits of their events."""
        return replace(self, states=states, session_of=session_of, place_of=place_of)
