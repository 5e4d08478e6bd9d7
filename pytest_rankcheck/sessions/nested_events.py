"""Rows that are not events themselves: flat event logs with a payload, and whole sessions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.json_rows import layouts_of_objects
from pytest_rankcheck.files.table_batches import Batch
from pytest_rankcheck.sessions.log_layouts import MEANINGS, Layouts
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.session_attributes import description
from pytest_rankcheck.sessions.session_ids import SessionIds

__all__ = ["EventRows", "NestedEvents"]

_SHOWN = "searchRestarted"
_FINISHED = "sessionFinished"

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class EventRows:
    """Some rows with the same columns, each of which is an event."""

    batch: Batch
    places: Sequence[int] | None = None
    """The place of each event in its row; None if each row is one event."""
    attributes: Sequence[Mapping[str, object]] = ()
    """What describes the session of each event besides its own columns."""
    counts_from_0: bool = False
    """Whether ranks count from 0, whatever the options say."""


@dataclass
class _Events:
    """Events that were found in rows."""

    numbers: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    attributes: list[Mapping[str, object]] = field(default_factory=list)

    def add(self, number: int, place: int, row: Row, attributes: Mapping[str, object]) -> None:
        """Add an event."""
        self.numbers.append(number)
        self.places.append(place)
        self.rows.append(row)
        self.attributes.append(attributes)

    def by_layout(self, *, counts_from_0: bool) -> Iterator[EventRows]:
        """Yield the events in groups with the same columns."""
        for batch in layouts_of_objects(range(len(self.rows)), self.rows):
            chosen = batch.numbers
            numbers = [self.numbers[index] for index in chosen]
            yield EventRows(
                Batch(batch.header, numbers, batch.column),
                [self.places[index] for index in chosen],
                [self.attributes[index] for index in chosen],
                counts_from_0,
            )


class NestedEvents:
    """Finds the events in rows that hold them."""

    def __init__(self, layouts: Layouts, sessions: SessionIds, problems: Problems) -> None:
        self._layouts, self._sessions, self._problems = layouts, sessions, problems
        self.ignored: Counter[str] = Counter()
        """How many events of other kinds a flat log has, by kind."""

    def events(self, batch: Batch) -> Iterator[EventRows]:
        """Yield the events of some rows; rows that cannot be used become problems.

        Raises:
            SessionLogError: two columns could have the same role.
        """
        layout = self._layouts.of(tuple(batch.header))
        if "event_data" in layout:
            yield from self._flattened(batch, layout).by_layout(counts_from_0=True)
        elif "events" in layout:
            yield from self._nested(batch, layout).by_layout(counts_from_0=False)
        else:
            yield EventRows(batch)

    def _flattened(self, batch: Batch, layout: Mapping[str, int]) -> _Events:
        """Return the search events of a flat log."""
        found, header = _Events(), batch.header
        kept = [
            index
            for index in range(len(header))
            if index not in layout.values()
            or index in {place for role, place in layout.items() if role in MEANINGS}
        ]
        outer: dict[tuple[str, ...], list[int]] = {}
        """By the keys of a payload, the columns that are not among them."""
        for number, cells in batch.rows():
            kind = str(cells[layout["event_id"]])
            if kind not in (_SHOWN, _FINISHED):
                self.ignored[kind] += 1
                continue
            payload = self._payload(number, cells[layout["event_data"]])
            if payload is not None:
                keys = tuple(payload)
                if keys not in outer:
                    taken = set(map(normalised_name, map(str, keys)))
                    outer[keys] = [i for i in kept if normalised_name(header[i]) not in taken]
                row = {header[index]: cells[index] for index in outer[keys]}
                found.add(number, 0, {**row, **payload, "finished": kind == _FINISHED}, {})
        return found

    def _payload(self, number: int, payload: object) -> Row | None:
        if isinstance(payload, str):
            try:
                payload = json.loads(payload)
            except (ValueError, RecursionError) as failure:
                text = f"event_data is not JSON: {quoted(failure)}"
                self._problems.add(number, None, "broken payload", text)
                return None
        if not isinstance(payload, Mapping):
            text = f"event_data is '{quoted(payload, 60)}', not a JSON object"
            self._problems.add(number, None, "broken payload", text)
            return None
        return payload

    def _nested(self, batch: Batch, layout: Mapping[str, int]) -> _Events:
        """Return the events of rows that hold whole sessions."""
        found, header = _Events(), batch.header
        describing = self._layouts.describing(tuple(header))
        outer = [layout[role] for role in ("session", "start") if role in layout]
        numbers = batch.numbers
        codes = self._sessions.codes(batch, layout).tolist()
        for row, (number, cells) in enumerate(batch.rows()):
            if codes[row] < 0:
                continue
            session, events = self._sessions.ids[codes[row]], cells[layout["events"]]
            if not isinstance(events, Sequence) or isinstance(events, str) or not events:
                text = f"session '{quoted(session)}' has no list of events"
                self._problems.add(numbers[row], session, "no events", text)
                continue
            described = {header[index]: description(cells[index]) for index in describing}
            shared = {header[index]: cells[index] for index in outer}
            for place, event in enumerate(events):
                if not isinstance(event, Mapping):
                    text = f"session '{quoted(session)}' has the event '{quoted(event, 60)}'"
                    self._problems.add(number, session, "no event", text, place=place)
                    break
                found.add(number, place, {**shared, **event}, described)
        return found
