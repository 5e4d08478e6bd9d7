"""Converting rows that are events to columns, and noting those that cannot be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.id_runs import starts_of
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.action_columns import ActionColumns
from pytest_rankcheck.sessions.duplicate_rows import Hashes, hashes_of
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
from pytest_rankcheck.sessions.log_lists import DocumentCodes, Lists, id_lists, no_lists
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.nested_events import EventRows, SessionIds
from pytest_rankcheck.sessions.searches import RowItems
from pytest_rankcheck.sessions.selections import Items, SelectionReader, Selections
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

    def __init__(
        self, options: LogOptions, sessions: SessionIds, problems: Problems, *, merges_rows: bool
    ) -> None:
        self._options, self._sessions, self._problems = options, sessions, problems
        self.clock = Clock(options.time_unit)
        self.queries = Codes[str]()
        self.documents = DocumentCodes()
        self.attributes = SessionAttributes(
            options.attributes or (), is_split=options.gap is not None
        )
        self.actions = ActionColumns(options.rule)
        self.parts: list[Events] = []
        self.items: list[RowItems] = []
        """What the rows of each part are about; empty if no rows are merged."""
        self.hashes: list[Hashes] = []
        """The hashes of the other columns of each part; empty if identical rows are kept."""
        self.searches = Codes[str]()
        self._merges_rows = merges_rows

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
        size = len(positions)
        items = Items.unknown(size) if self._merges_rows else None
        selections = self._selections(found, shown, counts, items, usable)
        _refuse_early(selections, time, usable)
        self.actions.count(found, usable.mask, selections.rows)
        events = Events(
            position=positions,
            session=session,
            event=event,
            time=time,
            end=time,
            start=start,
            query=self._queries(columns, size),
            count=counts,
            has_list=shown.lengths >= 0,
            is_finish=is_finish,
            shown_starts=shown.starts,
            shown=shown.items,
            selected_starts=starts_of(np.bincount(selections.rows, minlength=size)),
            selected_rank=selections.ranks,
            selected_time=selections.times,
            selected_grade=selections.grades,
        )
        rows = usable.rows
        if not len(rows):
            return
        self.parts.append(events if len(rows) == size else events.taken(rows))
        if items:
            codes = _codes(columns.get("search"), self.searches, size)
            about = RowItems(codes, items.documents, items.ranks, items.is_selection)
            self.items.append(about.taken(rows))
        self._read_others(found, session, rows)

    def _read_others(self, found: EventRows, session: IntArray, rows: IntArray) -> None:
        """Add what some rows have in columns that describe sessions or have no meaning."""
        coded = {name: column.coded() for name, column in found.describing.items()}
        described = dict(coded)
        if self._options.gap is not None:
            described[found.names["session"]] = found.columns["session"].coded()
        self.attributes.add(
            {
                name: (list(map(description, each.values)), each.codes[rows])
                for name, each in described.items()
            },
            session[rows],
        )
        if self._options.duplicates != "keep":
            others = {name: found.unclaimed[name] for name in found.unclaimed.keys() - coded.keys()}
            self.hashes.append(hashes_of(coded, others, len(session))[rows])

    def _indexes(self, columns: Mapping[str, Column], usable: _Usable) -> FloatArray:
        """Return the index of each event in its session; NaN without a column."""
        if "event" not in columns:
            return np.full(len(usable.mask), np.nan)
        event, errors = numbers(columns["event"])
        usable.refuse(errors, "no event index", "the event index: ")
        if not (
            self._merges_rows and "search" in columns
        ):  # then rows of one search share an index
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

    def _selections(
        self, found: EventRows, shown: Lists, counts: IntArray, items: Items | None, usable: _Usable
    ) -> Selections:
        """Return the selections of rows, with times and grades."""
        columns, rule, size = found.columns, self._options.rule, len(usable.mask)
        is_selection = rule.mask(found.unclaimed, size) if rule else np.ones(size, dtype=bool)
        if items:
            items.is_selection[:] = is_selection
        first_rank = 0 if found.counts_from_0 else self._options.first_rank
        read = SelectionReader(
            columns,
            shown,
            counts,
            self.documents,
            first_rank,
            self.clock,
            usable.positions,
            is_selection,
            items,
        ).read(usable.mask)
        for row, (reason, problem) in sorted(read.problems.items()):
            usable.refuse({row: problem}, reason)
        if rule and rule.wanted:
            lacking = is_selection & (np.bincount(read.rows, minlength=size) == 0)
            usable.refuse(dict.fromkeys(np.flatnonzero(lacking).tolist(), _LACKING), "unknown rank")
        times = self._times("selected_time", columns, usable)[read.rows]
        grades = self._grades(found, usable)[read.rows]
        return replace(
            read,
            times=np.where(np.isnan(read.times), times, read.times),
            grades=np.where(np.isnan(read.grades), grades, read.grades),
        )

    def _grades(self, found: EventRows, usable: _Usable) -> FloatArray:
        """Return the grade of each row's selections; 1 where the log does not say."""
        rule, grades = self._options.rule, np.full(len(usable.mask), np.nan)
        if "grade" in found.columns:
            grades, errors = numbers(found.columns["grade"])
            usable.refuse(errors, "bad grade", "the grade: ")
            negative = np.flatnonzero(grades < 0).tolist()
            usable.refuse(dict.fromkeys(negative, "the grade is negative"), "bad grade")
        if rule:
            of_values = rule.grades_of(found.unclaimed, len(grades))
            grades = np.where(np.isnan(grades), of_values, grades)
        return np.where(np.isnan(grades), 1.0, grades)

    def _queries(self, columns: Mapping[str, Column], size: int) -> IntArray:
        """Return the code of each event's query text, -1 without one."""
        return _codes(columns.get("query"), self.queries, size)


_LACKING = "the row is a selection, but has neither the rank nor the id of a document"


def _refuse_early(selections: Selections, time: FloatArray, usable: _Usable) -> None:
    """Note rows with a selection before the row's own time."""
    early = np.flatnonzero(selections.times < time[selections.rows]).tolist()
    text = "the selection is {:g} s earlier than its event".format
    rows = {int(selections.rows[each]): each for each in early}
    errors = {row: text(float(time[row] - selections.times[each])) for row, each in rows.items()}
    usable.refuse(errors, "bad time")


def _codes(column: Column | None, known: Codes[str], size: int) -> IntArray:
    """Return the code of each row's text, -1 for an empty cell or without the column."""
    if column is None:
        return np.full(size, UNKNOWN, dtype=np.int64)
    coded = column.coded()
    codes = [UNKNOWN if is_absent(each) else known[str(each)] for each in coded.values]
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
