"""From the rows of a file to events: rows that are states, flat event logs, and nested sessions."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pytest_rankcheck.errors import SessionLogError, listed, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import index_of_roles, normalised
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import (
    LARGEST,
    flag_of,
    id_of,
    ids_of,
    is_absent,
    number_of,
)
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.log_reading import PAYLOAD_ROLES, ROLES, LogReading
from pytest_rankcheck.sessions.raw_event import RawEvent
from pytest_rankcheck.sessions.selections import UnusableError, naming, selections_of

__all__ = ["Row", "Rows"]

Row = Mapping[str, object]

_SHOWN = "searchRestarted"
_FINISHED = "sessionFinished"
_UNINFORMATIVE = frozenset({"query_length", "querylength", "event_id", "event_data"})
_MEANINGS = {role.name for role in ROLES}
_RANKED = {"selected_rank", "clicks"}


class Rows:
    """Reads rows, each ``{column: cell}``; notes those that cannot be used."""

    def __init__(self, reading: LogReading, problems: Problems) -> None:
        self._reading = reading
        self._problems = problems
        self._layouts: dict[tuple[str, ...], Mapping[str, str]] = {}
        self.has_selections = False
        """Whether a column says what was selected; known at the end."""
        self._without_session: list[tuple[int, list[str]]] = []
        """The first row without a column of sessions, and its columns."""
        self._unclaimed: dict[tuple[str, ...], Sequence[str]] = {}
        """By the columns of rows, those that no meaning claims."""
        self.clock = Clock(reading.time_unit)
        self.ignored: Counter[str] = Counter()
        """How many events of other kinds a flat log has, which are no states of a search."""

    def events(self, number: int, row: object) -> Iterator[RawEvent]:
        """Yield the events that a row is or holds; none where it cannot be used.

        Raises:
            SessionLogError: the columns are not those of a log.
        """
        if not isinstance(row, Mapping):
            text = f"'{quoted(row, 60)}' is no object with the columns of a log"
            self._problems.add(number, None, "no event", text)
            return
        layout = self._layout(row)
        if "event_data" in layout:
            found = self._flattened(number, row, layout)
            if found is not None:
                yield from self._one(number, found, self._layout(found), {}, counts_from_0=True)
        elif "events" in layout:
            yield from self._nested(number, row, layout)
        else:
            yield from self._one(number, row, layout, {})

    def check_columns(self) -> None:
        """Refuse columns that were given a meaning and are nowhere, and a log without sessions.

        Raises:
            SessionLogError: naming the nearest one that there is.
        """
        seen = list(dict.fromkeys(str(key) for keys in self._layouts for key in keys))
        wanted = [*self._reading.columns.values(), *(self._reading.attributes or ())]
        for column in wanted:
            if seen and column not in seen:
                raise SessionLogError(
                    f"{self._problems.source} has no column '{quoted(column)}'"
                    f"{suggestion(column, seen)}; it has {listed(seen, 12)}"
                )
        meanings = {meaning for one in self._layouts.values() for meaning in one}
        if meanings and self._reading.first_rank is not None and not meanings & _RANKED:
            raise SessionLogError(
                f"{self._problems.source}: first_rank={self._reading.first_rank} was said, but no "
                f"column is known to have the ranks of selections; it has {listed(seen, 12)}. "
                "Name it selected_rank, or say columns={'selected_rank': ...}"
            )
        if meanings and self._reading.time_unit is not None and not meanings & {"time", "clicks"}:
            raise SessionLogError(
                f"{self._problems.source}: time_unit={self._reading.time_unit} was said, but no "
                f"column is known to have times; it has {listed(seen, 12)}. Name it time, or "
                "say columns={'time': ...}"
            )
        self.has_selections = bool(meanings & (_RANKED | {"selected"}))
        if self._without_session and not any("session" in one for one in self._layouts.values()):
            number, known = self._without_session[0]
            raise SessionLogError(
                f"{self._problems.place(number)}: no column says to which session an event "
                f"belongs; it has {listed(known, 12)}. Name it session_id, or say "
                "columns={'session': ...}"
            )

    def _layout(self, row: Row) -> Mapping[str, str]:
        """Return ``{meaning: column}`` of rows with these columns."""
        keys = tuple(row)
        known = self._layouts.get(keys)
        if known is None:
            names = [str(key) for key in keys]
            given = {
                meaning: column
                for meaning, column in self._reading.columns.items()
                if column in names or meaning not in _MEANINGS | {"event_id", "event_data"}
            }
            places = index_of_roles(
                names,
                (*PAYLOAD_ROLES, *ROLES),
                given,
                self._problems.source,
                SessionLogError,
            )
            known = {meaning: keys[place] for meaning, place in places.items()}
            if not {"event_id", "event_data"} <= set(known):
                known.pop("event_id", None)
                known.pop("event_data", None)
            self._layouts[keys] = known
        return known

    def _flattened(self, number: int, row: Row, layout: Mapping[str, str]) -> Row | None:
        """Return an event of a flat log as a row; None where it is none or cannot be used."""
        kind = str(row.get(layout.get("event_id", ""), ""))
        if kind not in (_SHOWN, _FINISHED):
            self.ignored[kind] += 1
            return None
        payload = row[layout["event_data"]]
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
        outer = {key: cell for key, cell in row.items() if key not in layout.values()}
        outer |= {layout[name]: row[layout[name]] for name in layout if name in _MEANINGS}
        taken = {normalised(str(key)) for key in payload}
        outer = {key: cell for key, cell in outer.items() if normalised(key) not in taken}
        return {**outer, **payload, "finished": kind == _FINISHED}

    def _nested(self, number: int, row: Row, layout: Mapping[str, str]) -> Iterator[RawEvent]:
        """Yield the events of a row that is a session."""
        session = self._session(number, row, layout)
        events = row[layout["events"]]
        if session is None:
            return
        if not isinstance(events, Sequence) or isinstance(events, str) or not events:
            text = f"session '{quoted(session)}' has no list of events"
            self._problems.add(number, session, "no events", text)
            return
        outer = {layout[name]: row[layout[name]] for name in ("session", "start") if name in layout}
        attributes = self._attributes(row, layout)
        for event in events:
            if not isinstance(event, Mapping):
                text = f"session '{quoted(session)}' has the event '{quoted(event, 60)}'"
                self._problems.add(number, session, "no event", text)
                return
            whole = {**outer, **event}
            yield from self._one(number, whole, self._layout(whole), attributes)

    def _session(self, number: int, row: Row, layout: Mapping[str, str]) -> str | None:
        if "session" not in layout:
            self._without_session.append((number, [str(key) for key in row]))
            del self._without_session[1:]
            text = "the event has no session; give it the id of one"
            self._problems.add(number, None, "no session", text)
            return None
        try:
            session = id_of(row[layout["session"]])
        except ValueError as error:
            self._problems.add(number, None, "no session", f"the session: {error}")
            return None
        if session is None:
            text = "the event has no session; give it the id of one"
            self._problems.add(number, None, "no session", text)
        return session

    def _one(
        self,
        number: int,
        row: Row,
        layout: Mapping[str, str],
        attributes: Mapping[str, object],
        *,
        counts_from_0: bool = False,
    ) -> Iterator[RawEvent]:
        """Yield the event that a row is; nothing where it cannot be used."""
        session = self._session(number, row, layout)
        if session is None:
            return
        cells = {meaning: row[column] for meaning, column in layout.items()}
        first_rank = 0 if counts_from_0 else self._reading.first_rank
        described = {**attributes, **self._attributes(row, layout)}
        try:
            yield self._event(number, session, cells, first_rank, described)
        except UnusableError as error:
            text = f"session '{quoted(session)}': {error}"
            self._problems.add(number, session, error.reason, text)

    def _event(
        self,
        number: int,
        session: str,
        cells: Mapping[str, object],
        first_rank: int | None,
        attributes: Mapping[str, object],
    ) -> RawEvent:
        """Return the event that some cells, by their meanings, are.

        Raises:
            UnusableError: they are none.
        """
        with naming("no event index", "the event index"):
            index = number_of(cells.get("event"))
        if "event" in cells and index is None:
            raise UnusableError("no event index", "the event has no index, as others have")
        with naming("bad time", "the time"):
            time = self.clock.seconds(cells.get("time"), number)
            start = self.clock.seconds(cells.get("start"), number)
        if "time" in cells and math.isnan(time):
            raise UnusableError("bad time", "the event has no time, as others have")
        results, count = _shown(cells)
        with naming("bad finish", "the mark of a finish"):
            is_finish = flag_of(cells.get("finished"))
        return RawEvent(
            row=number,
            session=session,
            event=math.nan if index is None else index,
            time=time,
            query=None if is_absent(cells.get("query")) else str(cells["query"]),
            results=results,
            count=count,
            selections=selections_of(
                cells, results, count, first_rank=first_rank, clock=self.clock, row=number
            ),
            is_finish=is_finish,
            attributes=attributes,
            start=start,
        )

    def _attributes(self, row: Row, layout: Mapping[str, str]) -> dict[str, object]:
        """Return the cells that no column's meaning claims, and that may describe the session."""
        keys = tuple(row)
        known = self._unclaimed.get(keys)
        if known is None:
            claimed, wanted = set(layout.values()), self._reading.attributes
            known = self._unclaimed[keys] = [
                key
                for key in keys
                if key not in claimed
                and (key in wanted if wanted is not None else _may_describe(key))
            ]
        return {key: row[key] for key in known if _describes(row[key])}


def _shown(cells: Mapping[str, object]) -> tuple[list[str] | None, int | None]:
    """Return the documents shown, and how many; None for what is not known."""
    with naming("bad results", "the results"):
        results = ids_of(cells.get("results"))
        count = number_of(cells.get("result_count"))
    if results is None and cells.get("results") == "" and "result_count" not in cells:
        results = []  # in a table, nothing between two separators
    if results is not None:
        return results, len(results)
    if count is not None and (not 0 <= count <= LARGEST or not count.is_integer()):
        raise UnusableError("bad results", f"{count:g} results cannot have been shown")
    return None, None if count is None else int(count)


def _may_describe(name: str) -> bool:
    return normalised(name) not in _UNINFORMATIVE


def _describes(cell: object) -> bool:
    return isinstance(cell, (str, int, float, bool)) and not is_absent(cell)
