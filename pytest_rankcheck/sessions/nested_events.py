"""The events in rows: each row is an event, one of a flat log with a payload, or a session."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.json_rows import layouts_of_objects
from pytest_rankcheck.files.table_batches import Batch
from pytest_rankcheck.files.table_columns import CellColumn, Column
from pytest_rankcheck.sessions.event_columns import Codes, positions
from pytest_rankcheck.sessions.log_cells import Errors, id_of, is_placeholder, per_distinct_value
from pytest_rankcheck.sessions.log_layouts import Layouts
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.session_attributes import description

__all__ = ["EventRows", "NestedEvents", "SessionIds"]

_SHOWN = "searchRestarted"
_FINISHED = "sessionFinished"
_NO_SESSION = "the event has no session; give it a session id"

_SCAN: Callable[[str, int], tuple[object, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
"""Parses a value without the steps around it, which take as long."""

Columns = dict[str, Column]
Row = Mapping[str, object]


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
    counts_from_0: bool = False
    """Whether ranks count from 0, whatever the options say."""


class SessionIds:
    """Gives each session of a log a code."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._codes = Codes[str]()

    @property
    def ids(self) -> Sequence[str]:
        """The id of each code."""
        return list(self._codes)

    def codes(self, column: Column | None, positions: IntArray) -> IntArray:
        """Return the session of each row, ``[N]``; -1 for rows without one, which become problems.

        The column is None if the log has no sessions.
        """
        codes: IntArray = np.full(len(positions), -1, dtype=np.int64)
        errors: Errors = {}
        if column is not None:
            ids, places, errors = per_distinct_value(column, _session_id)
            codes = np.array([-1 if text is None else self._codes[text] for text in ids])[places]
        for row in np.flatnonzero(codes < 0).tolist():
            text = f"the session: {errors[row]}" if row in errors else _NO_SESSION
            self._problems.add(positions[row], None, "no session", text)
        return codes


class NestedEvents:
    """Finds the events in rows."""

    def __init__(self, layouts: Layouts, sessions: SessionIds, problems: Problems) -> None:
        self._layouts, self._sessions, self._problems = layouts, sessions, problems
        self.ignored: Counter[str] = Counter()
        """How many events of other kinds a flat log has, by kind."""

    def events(self, batch: Batch) -> Iterator[EventRows]:
        """Yield the events of some rows; rows that cannot be used become problems.

        Raises:
            SessionLogError: two columns could have the same role.
        """
        columns = self._with_nested(
            {name: batch.column(index) for index, name in enumerate(batch.header)}
        )
        names = self._layouts.of(tuple(columns))
        places = positions(batch.numbers)
        if "event_data" in names:
            yield from self._of_payloads(columns, names, places)
        elif "events" in names:
            yield from self._of_sessions(columns, names, places)
        else:
            yield self._rows(columns, places, self._describing(columns))

    def _with_nested(self, columns: Columns) -> Columns:
        return self._layouts.nested.added(columns)

    def _rows(
        self, columns: Columns, places: IntArray, describing: Columns, *, from_0: bool = False
    ) -> EventRows:
        names = self._layouts.of(tuple(columns))
        roles = {role: columns[name] for role, name in names.items()}
        free = {name: columns[name] for name in self._layouts.unclaimed(tuple(columns))}
        return EventRows(places, roles, names, describing, {**free, **describing}, from_0)

    def _describing(self, columns: Columns) -> Columns:
        return {name: columns[name] for name in self._layouts.describing(tuple(columns))}

    def _of_payloads(
        self, columns: Columns, names: Mapping[str, str], places: IntArray
    ) -> Iterator[EventRows]:
        """Yield the search events of a flat log."""
        rows: list[int] = []
        payloads: list[Row] = []
        cells = columns[names["event_data"]].cells()
        for row, kind in enumerate(map(str, columns[names["event_id"]].cells())):
            if kind not in (_SHOWN, _FINISHED):
                self.ignored[kind] += 1
                continue
            payload = self._payload(places[row], cells[row])
            if payload is not None:
                rows.append(row)
                payloads.append({**payload, "finished": kind == _FINISHED})
        used = (names["event_id"], names["event_data"])
        outer = {name: column for name, column in columns.items() if name not in used}
        for chosen, own in _by_layout(payloads):
            at = np.array(rows)[chosen]
            taken = set(map(normalised_name, own))
            kept = {name: outer[name] for name in outer if normalised_name(name) not in taken}
            merged = {**_repeated(kept, at), **self._with_nested(own)}
            yield self._rows(merged, places[at], self._describing(merged), from_0=True)

    def _payload(self, position: int, payload: object) -> Row | None:
        if isinstance(payload, str):
            try:
                payload = _parsed(payload)
            except (ValueError, RecursionError) as failure:
                text = f"event_data is not JSON: {quoted(failure)}"
                self._problems.add(position, None, "broken payload", text)
                return None
        if not isinstance(payload, Mapping):
            text = f"event_data is '{quoted(payload, 60)}', not a JSON object"
            self._problems.add(position, None, "broken payload", text)
            return None
        return payload

    def _of_sessions(
        self, columns: Columns, names: Mapping[str, str], places: IntArray
    ) -> Iterator[EventRows]:
        """Yield the events of rows that hold whole sessions."""
        codes = self._sessions.codes(columns.get(names.get("session", "")), places)
        rows: list[int] = []
        order: list[int] = []
        events: list[Row] = []
        cells, ids = columns[names["events"]].cells(), self._sessions.ids
        for row in np.flatnonzero(codes >= 0).tolist():
            found = self._events_of(cells[row], ids[codes[row]], places[row])
            rows += [row] * len(found)
            order += range(len(found))
            events += found
        shared = {
            names[role]: columns[names[role]] for role in ("session", "start") if role in names
        }
        described = self._describing(columns)
        for chosen, own in _by_layout(events):
            at = np.array(rows)[chosen]
            merged = {**_repeated(shared, at), **self._with_nested(own)}
            describing = self._describing(merged)
            for name, column in _repeated(described, at).items():
                inner = describing.get(name)
                describing[name] = column if inner is None else _either(inner, column)
            yield self._rows(merged, places[at] + np.array(order)[chosen], describing)

    def _events_of(self, cell: object, session: str, position: int) -> Sequence[Row]:
        """Return the events of a session; those before one that is not an object."""
        if not isinstance(cell, Sequence) or isinstance(cell, str) or not cell:
            text = f"session '{quoted(session)}' has no list of events"
            self._problems.add(position, session, "no events", text)
            return ()
        for place, event in enumerate(cell):
            if not isinstance(event, Mapping):
                text = f"session '{quoted(session)}' has the event '{quoted(event, 60)}'"
                self._problems.add(position + place, session, "no event", text)
                return cell[:place]
        return cell


def _session_id(value: object) -> str | None:
    """Return the id of a session; None for an empty cell.

    Raises:
        ValueError: the value is not an id, or a placeholder for a missing one.
    """
    text = id_of(value)
    if text is not None and is_placeholder(text):
        raise ValueError(f"'{quoted(text)}' is a placeholder, not the id of a session")
    return text


def _parsed(text: str) -> object:
    """Return the JSON value of a text, or raise ValueError or RecursionError."""
    with suppress(StopIteration):
        value, end = _SCAN(text, 0)
        if end == len(text):
            return value
    return json.loads(text)  # white space around it, or an error


def _by_layout(objects: list[Row]) -> Iterator[tuple[IntArray, Columns]]:
    """Yield the objects with the same keys, as their indexes and their columns."""
    for batch in layouts_of_objects(range(len(objects)), objects):
        columns = {str(name): batch.column(index) for index, name in enumerate(batch.header)}
        yield np.array(batch.numbers), columns


def _repeated(columns: Columns, rows: IntArray) -> Columns:
    """Return columns with some of their rows, in this order."""
    cells = {name: column.cells() for name, column in columns.items()}
    return {name: CellColumn([own[row] for row in rows.tolist()]) for name, own in cells.items()}


def _either(inner: Column, outer: Column) -> Column:
    """Return a column with the cells of another one where a cell describes nothing."""
    cells = zip(map(description, inner.cells()), outer.cells(), strict=True)
    return CellColumn([other if cell is None else cell for cell, other in cells])
