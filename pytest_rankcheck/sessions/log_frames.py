"""A log as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.files.data_frames import frame_of_columns
from pytest_rankcheck.sessions.log_reader import LogContents
from pytest_rankcheck.sessions.log_trails import event_places

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["events_frame"]


def events_frame(log: LogContents) -> pd.DataFrame:
    """Return a DataFrame with one row per event, in order."""
    events = log.events
    rows = range(len(events))
    starts = events.selected_starts
    return frame_of_columns(
        {
            "session_id": np.array(log.session_ids, dtype=object)[events.session],
            "event": event_places(events, len(log.session_ids)),
            "time": events.time,
            "query": [log.query_at(row) for row in rows],
            "results": [list(log.results_at(row)) for row in rows],
            "selected": [
                events.selected_rank[starts[row] : starts[row + 1]].tolist() for row in rows
            ],
        }
    )
