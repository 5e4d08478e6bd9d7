"""Converting rows that are events to columns, and noting those that cannot be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.id_runs import starts_of
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.event_columns import UNKNOWN, Codes, Events
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import (
    LARGEST,
    Errors,
    flag_of,
    is_absent,
    numbers,
    per_distinct_value,
)
from pytest_rankcheck.sessions.log_layouts import LogOptions
from pytest_rankcheck.sessions.log_lists import DocumentCodes, Lists, id_lists, no_lists
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.nested_events import EventRows, SessionIds
from pytest_rankcheck.sessions.selections import SelectionReader
from pytest_rankcheck.sessions.session_attributes import SessionAttributes, description

__all__ = ["EventReader"]


@dataclass
class _Usable:
    """Which of N rows can be used so far. Only the first problem of a row is noted."""

    session: IntArray
    """``[N]`` the code of the session, -1 without one."""
    ids: Sequence[str]
    """The id of each session."""
    positions: IntArray
    """``[N]``."""
    problems: Problems
    mask: BoolArray = field(init=False)
    """``[N]`` whether each row can be used."""

    def __post_init__(self) -> None:
        self.mask = self.session >= 0

    @property
    def rows(self) -> IntArray:
        """The rows that can be used."""
        found: IntArray = np.flatnonzero(self.mask)
        return found

    def refuse(self, errors: Errors, reason: str, subject: str = "") -> None:
        """Note rows that cannot be used, if nothing is wrong with them yet."""
        for row in sorted(errors):
            if self.mask[row]:
                self.mask[row] = False
                session = self.ids[self.session[row]]
                text = f"session '{quoted(session)}': {subject}{errors[row]}"
                self.problems.add(int(self.positions[row]), session, reason, text)

    def refuse_missing(self, values: FloatArray, reason: str, text: str) -> None:
        """Note rows without a value that others have."""
        self.refuse(dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), text), reason)


class EventReader:
    """Converts rows to events."""

    def __init__(self, options: LogOptions, sessions: SessionIds, problems: Problems) -> None:
        self._options, self._sessions, self._problems = options, sessions, problems
        self.clock = Clock(options.time_unit)
        self.queries = Codes[str]()
        self.documents = DocumentCodes()
        self.attributes = SessionAttributes(options.attributes or ())
        self.parts: list[Events] = []

    def read(self, found: EventRows) -> None:
        """Add the events of some rows.

        Raises:
            SessionLogError: there are ranks of selections, and it is unknown whether they count
                from 0 or 1.
        """
        columns, positions = found.columns, found.positions
        session = self._sessions.codes(columns.get("session"), positions)
        usable = _Usable(session, self._sessions.ids, positions, self._problems)
        event = self._indexes(columns, usable)
        time = self._times("time", columns, usable)
        start = self._times("start", columns, usable)
        shown, counts = self._shown(columns, usable)
        is_finish = _finishes(columns, usable)
        first_rank = 0 if found.counts_from_0 else self._options.first_rank
        selections = SelectionReader(
            columns, shown, counts, self.documents, first_rank, self.clock, positions
        ).read(usable.mask)
        for row, (reason, problem) in sorted(selections.problems.items()):
            usable.refuse({row: problem}, reason)
        events = Events(
            position=positions,
            session=session,
            event=event,
            time=time,
            start=start,
            query=self._queries(columns, len(positions)),
            count=counts,
            has_list=shown.lengths >= 0,
            is_finish=is_finish,
            shown_starts=shown.starts,
            shown=shown.items,
            selected_starts=starts_of(np.bincount(selections.rows, minlength=len(positions))),
            selected_rank=selections.ranks,
            selected_time=selections.times,
        )
        rows = usable.rows
        described = {
            name: (list(map(description, coded.values)), coded.codes[rows])
            for name, coded in ((name, column.coded()) for name, column in found.describing.items())
        }
        if len(rows):
            self.parts.append(events if len(rows) == len(events) else events.taken(rows))
            self.attributes.add(described, session[rows])

    def _indexes(self, columns: Mapping[str, Column], usable: _Usable) -> FloatArray:
        """Return the index of each event in its session; NaN without a column."""
        if "event" not in columns:
            return np.full(len(usable.mask), np.nan)
        event, errors = numbers(columns["event"])
        usable.refuse(errors, "no event index", "the event index: ")
        missing = "the event has no index, although others have"
        usable.refuse_missing(event, "no event index", missing)
        return event

    def _times(self, role: str, columns: Mapping[str, Column], usable: _Usable) -> FloatArray:
        """Return times in seconds; NaN where unknown."""
        if role not in columns:
            return np.full(len(usable.mask), np.nan)
        seconds, errors = self.clock.column(columns[role], usable.positions, usable.rows)
        usable.refuse(errors, "bad time", "the time: ")
        if role == "time":
            usable.refuse_missing(
                seconds, "bad time", "the event has no time, although others have"
            )
        return seconds

    def _shown(self, columns: Mapping[str, Column], usable: _Usable) -> tuple[Lists, IntArray]:
        """Return what each event showed, and how many documents; -1 where unknown."""
        shown = no_lists(len(usable.mask))
        if "results" in columns:
            has_count = "result_count" in columns
            shown = id_lists(columns["results"], self.documents, empty_text_is_list=not has_count)
            usable.refuse(shown.errors, "bad results", "the results: ")
        counts = shown.lengths.copy()
        if "result_count" in columns:
            given, errors = numbers(columns["result_count"])
            usable.refuse(errors, "bad results", "the results: ")
            is_possible = (given >= 0) & (given <= LARGEST) & (given == np.floor(given))
            is_wrong = (counts < 0) & ~np.isnan(given) & ~is_possible
            problem = "{:g} is not a possible number of results".format
            wrong = {row: problem(given[row]) for row in np.flatnonzero(is_wrong).tolist()}
            usable.refuse(wrong, "bad results")
            is_given = (counts < 0) & is_possible
            counts[is_given] = given[is_given].astype(np.int64)
        return shown, counts

    def _queries(self, columns: Mapping[str, Column], size: int) -> IntArray:
        """Return the code of each event's query text, -1 without one."""
        if "query" not in columns:
            return np.full(size, UNKNOWN, dtype=np.int64)
        coded = columns["query"].coded()
        codes = [UNKNOWN if is_absent(each) else self.queries[str(each)] for each in coded.values]
        found: IntArray = np.array(codes, dtype=np.int64)[coded.codes]
        return found


def _finishes(columns: Mapping[str, Column], usable: _Usable) -> BoolArray:
    """Return whether each event ends its session."""
    if "finished" not in columns:
        return np.zeros(len(usable.mask), dtype=bool)
    flags, codes, errors = per_distinct_value(columns["finished"], flag_of)
    usable.refuse(errors, "bad finish", "the finish flag: ")
    is_finish: BoolArray = np.array(flags, dtype=object).astype(bool)[codes]
    return is_finish
