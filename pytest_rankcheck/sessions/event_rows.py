"""The events in rows: each row is an event, one of a flat log with a payload, or a session."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.json_rows import layouts_of_objects
from pytest_rankcheck.files.table_batches import Batch
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.log_cells import Cells, converted, id_of, is_placeholder, with_nested
from pytest_rankcheck.sessions.log_layouts import Layouts
from pytest_rankcheck.sessions.log_problems import Problems, positions

_SHOWN = "searchRestarted"
_FINISHED = "sessionFinished"

Columns = dict[str, Column]
Placed = Iterator[tuple[int, Mapping[str, object]]]
"""Events as objects, each with its position in the file."""


@dataclass(frozen=True, slots=True)
class EventRows:
    """N events, which have the same columns."""

    positions: IntArray
    """``[N]`` where they are in the file."""
    columns: Mapping[str, Column]
    """The columns by role."""
    names: Mapping[str, str]
    """The name of the column of each role."""
    describing: Mapping[str, Column]
    """The columns that may describe the session, by name."""
    unclaimed: Mapping[str, Column]
    """The columns without a role, and those of ``selections_where``, by name."""
    counts_from_0: bool
    """Whether ranks count from 0, whatever the options say."""


def session_ids(column: Column | None, positions: IntArray, problems: Problems) -> Cells:
    """Return the session of each row, ``[N]``; None for a row without one, which is a problem."""
    if column is None:
        column = Column([None] * len(positions))
    ids, errors = converted(column, _session_id)
    for row in np.flatnonzero(pd.isna(ids)).tolist():
        why = "the event has no session; give it a session id"
        if row in errors:
            why = f"the session: {errors[row]}"
        problems.add(int(positions[row]), None, "no session", why)
    return ids


def _session_id(value: object) -> str | None:
    text = id_of(value)
    if text is not None and is_placeholder(text):
        raise ValueError(f"'{quoted(text)}' is a placeholder, not the id of a session")
    return text


class RowReader:
    """Finds the events in rows."""

    def __init__(self, layouts: Layouts, problems: Problems) -> None:
        self._layouts, self._problems = layouts, problems
        self.ignored: Counter[str] = Counter()
        """How many events of other kinds a flat log has, by kind."""

    def events(self, batch: Batch) -> Iterator[EventRows]:
        """Yield the events of some rows; rows that cannot be used become problems.

        Raises:
            SessionLogError: two columns could have the same role.
        """
        columns, places = self._columns(batch), positions(batch.numbers)
        names = self._layouts.of(tuple(columns))
        if "event_data" in names:
            found = list(self._of_payloads(columns, names, places))
        elif "events" in names:
            found = list(self._of_sessions(columns, names, places))
        else:
            yield self._rows(columns, places)
            return
        inner = layouts_of_objects([place for place, _ in found], [event for _, event in found])
        for part in inner:
            at = np.array(part.numbers, dtype=np.int64)
            yield self._rows(self._columns(part), at, from_0="event_data" in names)

    def _columns(self, batch: Batch) -> Columns:
        columns = {str(name): batch.column(index) for index, name in enumerate(batch.header)}
        return with_nested(columns, self._layouts.named)

    def _rows(self, columns: Columns, places: IntArray, *, from_0: bool = False) -> EventRows:
        header = tuple(columns)
        names = self._layouts.of(header)
        roles = {role: columns[name] for role, name in names.items()}
        describing = {name: columns[name] for name in self._layouts.describing(header)}
        free = {name: columns[name] for name in self._layouts.unclaimed(header)}
        return EventRows(places, roles, names, describing, free, from_0)

    def _of_payloads(self, columns: Columns, names: Mapping[str, str], places: IntArray) -> Placed:
        """Yield the search events of a flat log: their payloads, with the other columns."""
        used = (names["event_id"], names["event_data"])
        outer = {normalised_name(name): name for name in columns if name not in used}
        rows = _objects(columns, outer.values())
        kinds, payloads = (columns[name].cells() for name in used)
        for place, row, kind, cell in zip(places.tolist(), rows, kinds, payloads, strict=True):
            if kind not in (_SHOWN, _FINISHED):
                self.ignored[quoted(kind)] += 1
                continue
            try:
                payload = json.loads(cell) if isinstance(cell, str) else cell
                problem = f"event_data is '{quoted(payload, 60)}', not a JSON object"
            except (ValueError, RecursionError) as failure:
                payload = None
                problem = f"event_data is not JSON: {quoted(failure)}"
            if not isinstance(payload, Mapping):
                self._problems.add(place, None, "broken payload", problem)
                continue
            for name in map(normalised_name, payload):
                row.pop(outer.get(name, name), None)
            yield place, {**row, **payload}

    def _of_sessions(self, columns: Columns, names: Mapping[str, str], places: IntArray) -> Placed:
        """Yield the events of rows that hold whole sessions, with what describes the session."""
        ids = session_ids(columns.get(names.get("session", "")), places, self._problems)
        shared = [names[role] for role in ("session", "start") if role in names]
        rows = _objects(columns, [*shared, *self._layouts.describing(tuple(columns))])
        lists = columns[names["events"]].cells()
        for place, session, row, events in zip(places.tolist(), ids, rows, lists, strict=True):
            if session is None:
                continue
            if not isinstance(events, Sequence) or isinstance(events, str) or not events:
                self._problems.add(place, session, "no events", "there is no list of events")
                self._problems.lost_rows += 1
                continue
            for at, event in enumerate(events, start=place):
                if not isinstance(event, Mapping):
                    text = f"the event '{quoted(event, 60)}' is not an object"
                    self._problems.add(at, session, "no event", text)
                    self._problems.lost_rows += 1
                    break
                yield at, {**row, **event}


def _objects(columns: Columns, names: Iterable[str]) -> Iterator[dict[str, object]]:
    """Yield the cells of some columns as an object for each row."""
    chosen = list(names)
    rows = zip(*(columns[name].cells() for name in chosen), strict=True)
    size = len(next(iter(columns.values())))
    return (dict(zip(chosen, row, strict=True)) for row in (rows if chosen else [()] * size))
