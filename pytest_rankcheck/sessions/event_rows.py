"""Converting rows that are events to columns, and noting those that cannot be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.event_columns import UNKNOWN, EventCollector, Events
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import LARGEST, flag_of, is_absent
from pytest_rankcheck.sessions.log_columns import (
    Errors,
    numbers,
    per_distinct_value,
)
from pytest_rankcheck.sessions.log_layouts import Layouts
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.nested_events import EventRows
from pytest_rankcheck.sessions.selections import Reading, selections_of
from pytest_rankcheck.sessions.session_attributes import description
from pytest_rankcheck.sessions.session_ids import SessionIds
from pytest_rankcheck.sessions.shown_lists import ShownLists, shown_lists, unknown_lists

__all__ = ["EventReader"]


@dataclass
class _Usable:
    """The rows that can be used so far. Only the first problem of a row is noted."""

    session: IntArray
    """``[N]`` the code of the session, -1 without one."""
    ids: Sequence[str]
    """The id of each session."""
    numbers: IntArray
    """``[N]`` the number of each row."""
    places: IntArray
    """``[N]`` the place of each event in its row."""
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
                number, place = int(self.numbers[row]), int(self.places[row])
                self.problems.add(number, session, reason, text, place=place)

    def refuse_missing(self, values: FloatArray, reason: str, text: str) -> None:
        """Note rows without a value that others have."""
        self.refuse(dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), text), reason)


class EventReader:
    """Converts rows to events."""

    def __init__(
        self, options: LogOptions, layouts: Layouts, sessions: SessionIds, problems: Problems
    ) -> None:
        self._options, self._layouts = options, layouts
        self._sessions, self._problems = sessions, problems
        self.clock = Clock(options.time_unit)
        self.collector = EventCollector()

    def read(self, found: EventRows) -> None:
        """Add the events of some rows to the collector.

        Raises:
            SessionLogError: two columns could have the same role; or there are ranks of
                selections, and it is unknown whether they count from 0 or 1.
        """
        batch, header = found.batch, tuple(found.batch.header)
        layout = self._layouts.of(header)
        columns = {role: batch.column(index) for role, index in layout.items()}
        row_numbers = np.asarray(batch.numbers, dtype=np.int64)
        session = self._sessions.codes(batch, layout)
        places = np.asarray(found.places or np.zeros(len(batch)), dtype=np.int64)
        usable = _Usable(session, self._sessions.ids, row_numbers, places, self._problems)
        event = self._indexes(columns, usable)
        time, start = self._times(columns, usable)
        shown = self._shown(columns, usable)
        is_finish = _finishes(columns, usable)
        first_rank = 0 if found.counts_from_0 else self._options.first_rank
        reading = Reading(row_numbers, first_rank, self.clock)
        documents = self.collector.documents
        selections = selections_of(columns, shown, documents, usable.rows, reading)
        for row, problem in selections.problems.items():
            usable.refuse({row: str(problem)}, problem.reason)
        events = Events(
            session=session,
            event=event,
            time=time,
            query=self._queries(columns, len(batch)),
            count=shown.lengths,
            has_list=shown.has_list,
            is_finish=is_finish,
            row=row_numbers,
            shown_starts=_starts(np.where(shown.has_list, shown.lengths, 0)),
            shown=shown.codes,
            selected_starts=_starts(np.bincount(selections.rows, minlength=len(batch))),
            selected_rank=selections.ranks,
            selected_time=selections.times,
        )
        rows = usable.rows
        if not len(rows):
            return
        kept = events if len(rows) == len(batch) else events.taken(rows)
        self.collector.add(kept, places[rows], start[rows])
        self._describe(found, rows, kept.session, np.column_stack((row_numbers, places))[rows])

    def _indexes(self, columns: Mapping[str, Column], usable: _Usable) -> FloatArray:
        """Return the index of each event in its session; NaN without a column."""
        if "event" not in columns:
            return np.full(len(usable.mask), np.nan)
        event, errors = numbers(columns["event"])
        usable.refuse(errors, "no event index", "the event index: ")
        missing = "the event has no index, although others have"
        usable.refuse_missing(event, "no event index", missing)
        return event

    def _times(
        self, columns: Mapping[str, Column], usable: _Usable
    ) -> tuple[FloatArray, FloatArray]:
        """Return the time of each event, and the start of its session; NaN where unknown."""
        found = []
        for role in ("time", "start"):
            seconds: FloatArray = np.full(len(usable.mask), np.nan)
            errors: Errors = {}
            if role in columns:
                seconds, errors = self.clock.column(columns[role], usable.numbers, usable.rows)
            usable.refuse(errors, "bad time", "the time: ")
            found.append(seconds)
        if "time" in columns:
            missing = "the event has no time, although others have"
            usable.refuse_missing(found[0], "bad time", missing)
        return found[0], found[1]

    def _shown(self, columns: Mapping[str, Column], usable: _Usable) -> ShownLists:
        """Return what each event showed, and how many documents; -1 where unknown."""
        size = len(usable.mask)
        shown = unknown_lists(size)
        if "results" in columns:
            has_count = "result_count" in columns
            documents = self.collector.documents
            shown = shown_lists(columns["results"], documents, empty_text_is_list=not has_count)
            usable.refuse(shown.errors, "bad results", "the results: ")
        if "result_count" in columns:
            counts, errors = numbers(columns["result_count"])
            usable.refuse(errors, "bad results", "the results: ")
            is_unknown = shown.lengths < 0
            is_possible = (counts >= 0) & (counts <= LARGEST) & (counts == np.floor(counts))
            impossible = np.flatnonzero(is_unknown & ~np.isnan(counts) & ~is_possible)
            usable.refuse(
                {
                    row: f"{counts[row]:g} is not a possible number of results"
                    for row in impossible.tolist()
                },
                "bad results",
            )
            given = is_unknown & is_possible
            shown.lengths[given] = counts[given].astype(np.int64)
        return shown

    def _queries(self, columns: Mapping[str, Column], size: int) -> IntArray:
        """Return the code of each event's query text, -1 without one."""
        if "query" not in columns:
            return np.full(size, UNKNOWN, dtype=np.int64)
        coded, queries = columns["query"].coded(), self.collector.queries
        codes = [
            UNKNOWN if is_absent(value) else queries.setdefault(str(value), len(queries))
            for value in coded.values
        ]
        found: IntArray = np.array(codes, dtype=np.int64)[coded.codes]
        return found

    def _describe(
        self, found: EventRows, rows: IntArray, sessions: IntArray, places: IntArray
    ) -> None:
        """Add the columns that describe the sessions."""
        batch, attributes = found.batch, self.collector.attributes
        own = {
            batch.header[index]: batch.column(index)
            for index in self._layouts.describing(tuple(batch.header))
        }
        for name in dict.fromkeys(name for outer in found.attributes for name in outer):
            values = [found.attributes[row].get(name) for row in rows.tolist()]
            if name in own:
                cells = own.pop(name).cells()
                described = (description(cells[row]) for row in rows.tolist())
                values = [
                    value if cell is None else cell
                    for value, cell in zip(values, described, strict=True)
                ]
            attributes.add(name, values, np.arange(len(rows)), sessions, places)
        for name, column in own.items():
            coded = column.coded()
            described_values = list(map(description, coded.values))
            attributes.add(name, described_values, coded.codes[rows], sessions, places)


def _finishes(columns: Mapping[str, Column], usable: _Usable) -> BoolArray:
    """Return whether each event ends its session."""
    if "finished" not in columns:
        return np.zeros(len(usable.mask), dtype=bool)
    flags, codes, errors = per_distinct_value(columns["finished"], flag_of)
    usable.refuse(errors, "bad finish", "the finish flag: ")
    is_finish: BoolArray = np.array(flags, dtype=object).astype(bool)[codes]
    return is_finish


def _starts(lengths: Sequence[int] | IntArray) -> IntArray:
    """Return where the items of each row begin, and where the last row's end, ``[N + 1]``."""
    starts: IntArray = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return starts
