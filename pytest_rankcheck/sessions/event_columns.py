"""The events of a log in columns: a million events take some tens of megabytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.sessions.session_attributes import SessionAttributes
from pytest_rankcheck.sessions.shown_lists import DocumentCodes

__all__ = ["UNKNOWN", "EventCollector", "Events"]

UNKNOWN = -1


@dataclass(frozen=True)
class Events:
    """N events in columns. Sessions, queries and documents are indexes into the log's lists."""

    session: IntArray
    """``[N]`` the index of the session."""
    event: FloatArray
    """``[N]`` the event's index in its session; NaN if the log does not say."""
    time: FloatArray
    """``[N]`` seconds; NaN where the log has no times."""
    query: IntArray
    """``[N]`` the index of the query text; -1 without one."""
    count: IntArray
    """``[N]`` how many results were shown; -1 where unknown."""
    has_list: NDArray[np.bool_]
    """``[N]`` whether the results shown are known."""
    is_finish: NDArray[np.bool_]
    """``[N]`` whether the event ends the session."""
    row: IntArray
    """``[N]`` the line in the file."""
    shown_starts: IntArray
    """``[N + 1]`` where each event's results begin in `shown`."""
    shown: IntArray
    """The indexes of the documents shown."""
    selected_starts: IntArray
    """``[N + 1]`` where each event's selections begin in `selected_rank` and `selected_time`."""
    selected_rank: IntArray
    """The 1-based ranks of the selected documents."""
    selected_time: FloatArray
    """When each was selected, in seconds; NaN where only the event's time is known."""

    def __len__(self) -> int:
        return len(self.session)

    @property
    def selections(self) -> IntArray:
        """``[N]`` how many documents were selected in each event."""
        return np.diff(self.selected_starts)

    def taken(self, rows: IntArray) -> Events:
        """Return the events at the given rows, in that order."""
        shown, shown_starts = _item_places(self.shown_starts, rows)
        selected, selected_starts = _item_places(self.selected_starts, rows)
        plain = ("session", "event", "time", "query", "count", "has_list", "is_finish", "row")
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in plain},
            shown_starts=shown_starts,
            shown=self.shown[shown],
            selected_starts=selected_starts,
            selected_rank=self.selected_rank[selected],
            selected_time=self.selected_time[selected],
        )


def _item_places(starts: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the places of the items of some rows, in the order of the rows, and their new starts.

    Args:
        starts: ``[N + 1]`` where the items of each row begin, and where the last row's end.
        rows: ``[n]`` the rows to take.

    Returns:
        The places of their items, and ``[n + 1]`` the starts among these.
    """
    lengths = starts[rows + 1] - starts[rows]
    ends = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    shift = np.repeat(starts[rows] - ends[:-1], lengths)
    return np.arange(ends[-1], dtype=np.int64) + shift, ends


class EventCollector:
    """Collects the events of a log, in any order."""

    def __init__(self) -> None:
        self.queries: dict[str, int] = {}
        self.documents = DocumentCodes()
        self.attributes = SessionAttributes()
        self._parts: list[tuple[Events, IntArray]] = []
        self._starts: list[tuple[IntArray, FloatArray]] = []

    def add(self, events: Events, places: IntArray, starts: FloatArray) -> None:
        """Add events.

        Args:
            events: the events; sessions, queries and documents are codes of this collector.
            places: the place of each event in its row, ``[N]``.
            starts: when its session started, in seconds, NaN where unknown, ``[N]``.
        """
        self._parts.append((events, places))
        has_start = ~np.isnan(starts)
        if has_start.any():
            self._starts.append((events.session[has_start], starts[has_start]))

    def finished(self) -> tuple[Events, IntArray]:
        """Return the events in the order of the file, and the codes of their sessions.

        The sessions of the events are renumbered in the order of their first events.
        """
        events = _joined([part for part, _ in self._parts])
        places = np.concatenate([places for _, places in self._parts])
        steps = np.diff(events.row)
        if ((steps < 0) | ((steps == 0) & (np.diff(places) < 0))).any():
            events = events.taken(np.lexsort((places, events.row)))
        codes, first = np.unique(events.session, return_index=True)
        order = np.argsort(first)
        numbers = np.zeros(int(codes[-1]) + 1, dtype=np.int64)
        numbers[codes[order]] = np.arange(len(codes))
        return replace(events, session=numbers[events.session]), codes[order]

    def starts(self, sessions: int) -> FloatArray:
        """Return when each session started, by its code; NaN where unknown."""
        starts = np.full(sessions, np.inf)
        for codes, times in self._starts:
            np.minimum.at(starts, codes, times)
        return np.where(np.isinf(starts), np.nan, starts)

    def __bool__(self) -> bool:
        return bool(self._parts)


def _joined(parts: Sequence[Events]) -> Events:
    """Return the events of several parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    columns: dict[str, Any] = {}
    for field in fields(Events):
        arrays = [getattr(part, field.name) for part in parts]
        if field.name.endswith("_starts"):
            ends = np.cumsum([0, *(array[-1] for array in arrays)])
            arrays = [array[:-1] + end for array, end in zip(arrays, ends, strict=False)]
            arrays.append(ends[-1:])
        columns[field.name] = np.concatenate(arrays)
    return Events(**columns)
