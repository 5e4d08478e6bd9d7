"""The events of a log in columns: a million events take some tens of megabytes."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.sessions.raw_event import RawEvent

__all__ = ["EventCollector", "Events"]

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
    """Collects the events of a log, in the order of the file."""

    def __init__(self) -> None:
        self.sessions: dict[str, int] = {}
        self.queries: dict[str, int] = {}
        self.documents: dict[str, int] = {}
        self.starts: dict[int, float] = {}
        """When sessions started, where the log says so."""
        self.attributes: list[dict[str, object]] = []
        """The attributes of each session."""
        self.varying: dict[str, tuple[int, str]] = {}
        """Columns that change within a session: the first such row, and its session."""
        self._numbers = {name: array("q") for name in _WHOLE}
        self._reals = {name: array("d") for name in _REAL}

    def add(self, event: RawEvent) -> None:
        """Add an event."""
        session = self.sessions.setdefault(event.session, len(self.sessions))
        if session == len(self.attributes):
            self.attributes.append({})
        self._describe(session, event)
        if not math.isnan(event.start):
            self.starts[session] = min(event.start, self.starts.get(session, math.inf))
        whole, real = self._numbers, self._reals
        whole["session"].append(session)
        real["event"].append(event.event)
        real["time"].append(event.time)
        query = UNKNOWN
        if event.query is not None:
            query = self.queries.setdefault(event.query, len(self.queries))
        whole["query"].append(query)
        whole["count"].append(UNKNOWN if event.count is None else event.count)
        whole["has_list"].append(event.results is not None)
        whole["is_finish"].append(event.is_finish)
        whole["row"].append(event.row)
        documents = self.documents
        whole["shown"].extend(
            [documents.setdefault(doc_id, len(documents)) for doc_id in event.results or ()]
        )
        whole["shown_starts"].append(len(whole["shown"]))
        for selection in event.selections:
            whole["selected_rank"].append(selection.rank)
            real["selected_time"].append(selection.time)
        whole["selected_starts"].append(len(whole["selected_rank"]))

    def _describe(self, session: int, event: RawEvent) -> None:
        attributes = self.attributes[session]
        for name, value in event.attributes.items():
            if attributes.setdefault(name, value) != value and name not in self.varying:
                self.varying[name] = (event.row, event.session)

    def __len__(self) -> int:
        return len(self._numbers["session"])

    def finished(self) -> Events:
        """Return the events as arrays."""
        columns: dict[str, Any] = {
            name: np.array(column, dtype=np.int64) for name, column in self._numbers.items()
        }
        columns |= {name: np.array(column) for name, column in self._reals.items()}
        for name in ("shown_starts", "selected_starts"):
            columns[name] = np.concatenate((np.zeros(1, dtype=np.int64), columns[name]))
        for name in ("has_list", "is_finish"):
            columns[name] = columns[name].astype(bool)
        return Events(**columns)

    def plain_attributes(self) -> Sequence[Mapping[str, object]]:
        """Return the attributes of each session, without columns that change within one."""
        if not self.varying:
            return self.attributes
        return [
            {name: value for name, value in attributes.items() if name not in self.varying}
            for attributes in self.attributes
        ]


_REAL = ("event", "time", "selected_time")
_WHOLE = tuple(field.name for field in fields(Events) if field.name not in _REAL)
