"""Converting the rows of a file to events: one event per row, flat event logs, nested sessions."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from pytest_rankcheck.errors import SessionLogError, listed, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import index_of_roles, normalised_name
from pytest_rankcheck.files.plain_values import plain_value
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import (
    LARGEST,
    flag_of,
    id_list_of,
    id_of,
    is_absent,
    number_of,
)
from pytest_rankcheck.sessions.log_options import PAYLOAD_ROLES, ROLES, LogOptions
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.raw_event import RawEvent
from pytest_rankcheck.sessions.selections import UnusableError, naming, selections_of

__all__ = ["Row", "RowReader"]

Row = Mapping[str, object]

_SHOWN = "searchRestarted"
_FINISHED = "sessionFinished"
_UNINFORMATIVE = frozenset({"query_length", "querylength", "event_id", "event_data"})
_MEANINGS = {role.name for role in ROLES}
_RANKED = {"selected_rank", "clicks"}


class RowReader:
    """Converts rows, each ``{column: cell}``, to events; notes those that cannot be used."""

    def __init__(self, options: LogOptions, problems: Problems) -> None:
        self._options = options
        self._problems = problems
        self._layouts: dict[tuple[str, ...], Mapping[str, str]] = {}
        self.has_selections = False
        """Whether the log has a column of selections; set by `check_columns`."""
        self._without_session: list[tuple[int, list[str]]] = []
        """The first row without a session column, and its columns."""
        self._unclaimed: dict[tuple[str, ...], Sequence[str]] = {}
        """By the columns of rows, those that have no role."""
        self.clock = Clock(options.time_unit)
        self.ignored: Counter[str] = Counter()
        """How many events of other kinds a flat log has, by kind."""

    def events(self, number: int, row: object) -> Iterator[RawEvent]:
        """Yield the events of a row; nothing if it cannot be used.

        Raises:
            SessionLogError: two columns could have the same role.
        """
        if not isinstance(row, Mapping):
            text = f"'{quoted(row, 60)}' is not an object with the columns of a log"
            self._problems.add(number, None, "no event", text)
            return
        layout = self._layout(row)
        if "event_data" in layout:
            event = self._flattened(number, row, layout)
            if event is not None:
                yield from self._single(number, event, self._layout(event), {}, counts_from_0=True)
        elif "events" in layout:
            yield from self._nested(number, row, layout)
        else:
            yield from self._single(number, row, layout, {})

    def check_columns(self) -> None:
        """Check that the columns named in the options exist, and that the log has sessions.

        Raises:
            SessionLogError: a column is missing (the nearest one is suggested), or an option
                applies to no column.
        """
        columns = list(dict.fromkeys(str(key) for keys in self._layouts for key in keys))
        wanted = [*self._options.columns.values(), *(self._options.attributes or ())]
        for column in wanted:
            if columns and column not in columns:
                raise SessionLogError(
                    f"{self._problems.source} has no column '{quoted(column)}'"
                    f"{suggestion(column, columns)}; it has {listed(columns, 12)}"
                )
        meanings = {meaning for layout in self._layouts.values() for meaning in layout}
        if meanings and self._options.first_rank is not None and not meanings & _RANKED:
            raise SessionLogError(
                f"{self._problems.source}: first_rank={self._options.first_rank} was given, but "
                "there is no known column with the ranks of selections; it has "
                f"{listed(columns, 12)}. Name the column selected_rank, or pass "
                "columns={'selected_rank': ...}"
            )
        if meanings and self._options.time_unit is not None and not meanings & {"time", "clicks"}:
            raise SessionLogError(
                f"{self._problems.source}: time_unit={self._options.time_unit} was given, but "
                f"there is no known column with times; it has {listed(columns, 12)}. Name the "
                "column time, or pass columns={'time': ...}"
            )
        self.has_selections = bool(meanings & (_RANKED | {"selected"}))
        if self._without_session and "session" not in meanings:
            number, names = self._without_session[0]
            raise SessionLogError(
                f"{self._problems.place(number)}: there is no session column; the columns are "
                f"{listed(names, 12)}. Name it session_id, or pass columns={{'session': ...}}"
            )

    def _layout(self, row: Row) -> Mapping[str, str]:
        """Return ``{role: column}`` for rows with these columns."""
        keys = tuple(row)
        layout = self._layouts.get(keys)
        if layout is None:
            names = [str(key) for key in keys]
            renamed = {
                meaning: column
                for meaning, column in self._options.columns.items()
                if column in names or meaning not in _MEANINGS | {"event_id", "event_data"}
            }
            places = index_of_roles(
                names,
                (*PAYLOAD_ROLES, *ROLES),
                renamed,
                self._problems.source,
                SessionLogError,
            )
            layout = {meaning: keys[place] for meaning, place in places.items()}
            if not {"event_id", "event_data"} <= set(layout):
                layout.pop("event_id", None)
                layout.pop("event_data", None)
            self._layouts[keys] = layout
        return layout

    def _flattened(self, number: int, row: Row, layout: Mapping[str, str]) -> Row | None:
        """Return an event of a flat log as a row; None if it is ignored or cannot be used."""
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
        taken = {normalised_name(str(key)) for key in payload}
        outer = {key: cell for key, cell in outer.items() if normalised_name(key) not in taken}
        return {**outer, **payload, "finished": kind == _FINISHED}

    def _nested(self, number: int, row: Row, layout: Mapping[str, str]) -> Iterator[RawEvent]:
        """Yield the events of a row that holds a whole session."""
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
            yield from self._single(number, whole, self._layout(whole), attributes)

    def _session(self, number: int, row: Row, layout: Mapping[str, str]) -> str | None:
        if "session" not in layout:
            self._without_session.append((number, [str(key) for key in row]))
            del self._without_session[1:]
            text = "the event has no session; give it a session id"
            self._problems.add(number, None, "no session", text)
            return None
        try:
            session = id_of(row[layout["session"]])
        except ValueError as error:
            self._problems.add(number, None, "no session", f"the session: {error}")
            return None
        if session is None:
            text = "the event has no session; give it a session id"
            self._problems.add(number, None, "no session", text)
        return session

    def _single(
        self,
        number: int,
        row: Row,
        layout: Mapping[str, str],
        attributes: Mapping[str, object],
        *,
        counts_from_0: bool = False,
    ) -> Iterator[RawEvent]:
        """Yield the event of a row; nothing if it cannot be used."""
        session = self._session(number, row, layout)
        if session is None:
            return
        cells = {meaning: row[column] for meaning, column in layout.items()}
        first_rank = 0 if counts_from_0 else self._options.first_rank
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
        """Return the event in some cells, which are keyed by role.

        Raises:
            UnusableError: the cells do not make a valid event.
        """
        with naming("no event index", "the event index"):
            index = number_of(cells.get("event"))
        if "event" in cells and index is None:
            raise UnusableError("no event index", "the event has no index, although others have")
        with naming("bad time", "the time"):
            time = self.clock.seconds(cells.get("time"), number)
            start = self.clock.seconds(cells.get("start"), number)
        if "time" in cells and math.isnan(time):
            raise UnusableError("bad time", "the event has no time, although others have")
        results, count = _shown(cells)
        with naming("bad finish", "the finish flag"):
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
        """Return the cells without a role that may describe the session."""
        keys = tuple(row)
        names = self._unclaimed.get(keys)
        if names is None:
            claimed, wanted = set(layout.values()), self._options.attributes
            names = self._unclaimed[keys] = [
                key
                for key in keys
                if key not in claimed
                and (key in wanted if wanted is not None else _may_describe(key))
            ]
        cells = {key: _description(row[key]) for key in names}
        return {key: cell for key, cell in cells.items() if cell is not None}


def _shown(cells: Mapping[str, object]) -> tuple[list[str] | None, int | None]:
    """Return the documents shown and their number; None for what is unknown."""
    with naming("bad results", "the results"):
        results = id_list_of(cells.get("results"))
        count = number_of(cells.get("result_count"))
    if results is None and cells.get("results") == "" and "result_count" not in cells:
        results = []  # an empty cell of a table is an empty list
    if results is not None:
        return results, len(results)
    if count is not None and (not 0 <= count <= LARGEST or not count.is_integer()):
        raise UnusableError("bad results", f"{count:g} is not a possible number of results")
    return None, None if count is None else int(count)


def _may_describe(name: str) -> bool:
    return normalised_name(name) not in _UNINFORMATIVE


def _description(cell: object) -> object:
    """Return a cell as a plain value; None if it is empty or cannot describe a session."""
    with suppress(TypeError):
        value = plain_value(cell)
        if isinstance(value, (str, int, float, bool)) and not is_absent(value):
            return value
    return None
