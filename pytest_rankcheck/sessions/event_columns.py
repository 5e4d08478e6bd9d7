"""The events of a log in columns: a million events take some tens of megabytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.files.id_runs import starts_of

__all__ = [
    "UNKNOWN",
    "Codes",
    "Events",
    "item_places",
    "joined",
    "number_at",
    "place_in_row",
    "positions",
]

K = TypeVar("K")

UNKNOWN = -1

_PLACES = 1 << 31
"""More events than a row can hold."""


class Codes(dict[K, int]):
    """The code of each key. A new one gets the next code when it is looked up."""

    def __missing__(self, key: K) -> int:
        """Give a key a code."""
        code = self[key] = len(self)
        return code


@dataclass(frozen=True)
class Events:
    """N events in columns. Sessions, queries and documents are indexes into the log's lists."""

    position: IntArray
    """``[N]`` where the event is in the file, ascending with it: see `positions`."""
    session: IntArray
    """``[N]`` the index of the session."""
    event: FloatArray
    """``[N]`` the event's index in its session; NaN if the log does not say."""
    time: FloatArray
    """``[N]`` seconds; NaN where the log has no times."""
    end: FloatArray
    """``[N]`` the time of the last row of the event, in seconds; mostly equal to `time`."""
    start: FloatArray
    """``[N]`` when the session started, in seconds; NaN where the event does not say."""
    query: IntArray
    """``[N]`` the index of the query text; -1 without one."""
    count: IntArray
    """``[N]`` how many results were shown; -1 where unknown."""
    has_list: BoolArray
    """``[N]`` whether the results shown are known."""
    is_finish: BoolArray
    """``[N]`` whether the event ends the session."""
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
    selected_grade: FloatArray
    """How good each selection is; 1 where the log does not say."""

    def __len__(self) -> int:
        return len(self.session)

    @property
    def selections(self) -> IntArray:
        """``[N]`` how many documents were selected in each event."""
        return np.diff(self.selected_starts)

    def grades_at(self, place: int) -> Mapping[int, float]:
        """Return the highest grade of the selections of an event, by their ranks."""
        start, end = self.selected_starts[place : place + 2].tolist()
        ranks, grades = self.selected_rank[start:end], self.selected_grade[start:end]
        return dict(sorted(zip(ranks.tolist(), grades.tolist(), strict=True)))  # the last one wins

    def taken(self, rows: IntArray) -> Events:
        """Return the events at the given rows, in that order."""
        shown, shown_starts = item_places(self.shown_starts, rows)
        selected, selected_starts = item_places(self.selected_starts, rows)
        plain = [column.name for column in fields(self)][: -len(_ITEMS)]
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in plain},
            shown_starts=shown_starts,
            shown=self.shown[shown],
            selected_starts=selected_starts,
            selected_rank=self.selected_rank[selected],
            selected_time=self.selected_time[selected],
            selected_grade=self.selected_grade[selected],
        )


_ITEMS = (
    *("shown_starts", "shown"),
    *("selected_starts", "selected_rank", "selected_time", "selected_grade"),
)
"""The last columns, which do not have one value for each event."""


def positions(numbers: Sequence[int]) -> IntArray:
    """Return where the rows with these numbers begin; add the place of an event in its row."""
    return np.asarray(numbers, dtype=np.int64) * _PLACES


def number_at(position: int) -> int:
    """Return the number of the row of an event."""
    return int(position) // _PLACES


def place_in_row(position: IntArray) -> IntArray:
    """Return the place of each event in its row; 0 where a row is one event."""
    return position % _PLACES


def item_places(starts: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the places of the items of some rows, in this order, and where each row's begin there.

    ``starts[N + 1]`` says where the items of every row begin, and where the last row's end.
    """
    lengths = starts[rows + 1] - starts[rows]
    ends = starts_of(lengths)
    shift = np.repeat(starts[rows] - ends[:-1], lengths)
    return np.arange(ends[-1], dtype=np.int64) + shift, ends


def joined(parts: Sequence[Events]) -> Events:
    """Return the events of several parts, one after the other."""
    columns: dict[str, Any] = {}
    for column in fields(Events):
        arrays = [getattr(part, column.name) for part in parts]
        if column.name.endswith("_starts"):
            ends = starts_of([array[-1] for array in arrays])
            arrays = [array[:-1] + end for array, end in zip(arrays, ends, strict=False)]
            arrays.append(ends[-1:])
        columns[column.name] = np.concatenate(arrays)
    return Events(**columns)
