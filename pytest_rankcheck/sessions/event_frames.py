"""Rows of a log as events in one canonical form: a frame of events, and one of selections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.files.plain_values import is_blank, plain_value
from pytest_rankcheck.files.table_batches import Column
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import (
    Cells,
    converted,
    id_lists,
    is_absent,
    numbers,
    objects,
)
from pytest_rankcheck.sessions.log_columns import EventRows, session_ids
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_sources import Problems
from pytest_rankcheck.sessions.selections import LARGEST, SelectionReader, UsableRows

FrameLike: TypeAlias = Any
"""A DataFrame or a Series. The stubs of pandas do not know what columns hold, so mypy passes."""
ATTRIBUTE = "attribute "
"""The prefix of the columns of a frame that may describe sessions."""
_LACKING = "the row is a selection, but has neither the rank nor the id of a document"
_OF_SELECTIONS = ("clicks", "selected", "selected_rank", "selected_time", "grade")


@dataclass(frozen=True)
class Events:
    """N events, and their selections."""

    frame: FrameLike
    """One row per event: ``position`` in the file; ``session``, its id, later its number;
    ``event``, its index, NaN if the log does not say; ``time``, ``end`` (of its last row) and
    ``start`` (of the session) in seconds, NaN if unknown; ``query``; ``results``, a tuple of ids,
    None if unknown; ``count``, how many were shown, -1 if unknown.

    Rows to be merged also have ``search``, their ``document`` and its ``rank`` (from 1, 0 without
    one), and ``is_selection``. ``other`` is a hash of all other columns.
    """
    selections: FrameLike
    """One row per selection, by event: ``event``, its row in `frame`; ``rank`` from 1, 0 if it is
    known only when rows are merged; ``time``, NaN where only the event's time is known; ``grade``.
    """
    session_ids: Sequence[str] = ()
    """The id of each session, by its number."""

    def __len__(self) -> int:
        return len(self.frame)

    def column(self, name: str) -> IntArray:
        """Return a column of numbers or flags."""
        values: IntArray = self.frame[name].to_numpy()
        return values

    @property
    def sizes(self) -> IntArray:
        """How many events each session has, ``[S]``."""
        return np.bincount(self.column("session"), minlength=len(self.session_ids))

    def taken(self, rows: IntArray) -> Events:
        """Return the events at the given rows, in that order."""
        if len(rows) == len(self) and (np.diff(rows) > 0).all():
            return self
        numbers: IntArray = np.full(len(self), -1, dtype=np.int64)
        numbers[rows] = np.arange(len(rows))
        event = numbers[self.selections["event"].to_numpy()]
        kept = self.selections.assign(event=event)[event >= 0]
        return Events(
            self.frame.iloc[rows].reset_index(drop=True),
            kept.sort_values("event", kind="stable", ignore_index=True),
            self.session_ids,
        )

    def of_sessions(self, kept: IntArray) -> Events:
        """Return the events of some sessions, with new session numbers."""
        chosen = self.taken(np.flatnonzero(np.isin(self.column("session"), kept)))
        frame = chosen.frame.assign(session=np.searchsorted(kept, chosen.column("session")))
        session_ids = tuple(self.session_ids[each] for each in kept.tolist())
        return Events(frame, chosen.selections, session_ids)

    def note(self, wrong: Mapping[int, str], problems: Problems, reason: str) -> None:
        """Note events that cannot be used: what is wrong with each."""
        places, sessions = self.column("position"), self.column("session")
        for row, text in wrong.items():
            problems.add(int(places[row]), self.session_ids[sessions[row]], reason, text)

    @staticmethod
    def joined(parts: Sequence[Events]) -> Events:
        """Return the events of several parts, in the order of their positions; empty the parts."""
        before = 0
        for part in parts:
            part.selections["event"] += before
            before += len(part)
        frame = _concatenated([part.frame for part in parts])
        whole = Events(frame, _concatenated([part.selections for part in parts]))
        return whole.taken(np.argsort(whole.column("position"), kind="stable"))


def _concatenated(frames: Sequence[FrameLike]) -> FrameLike:
    """Return the rows of all frames, emptying them, in half the memory of `pd.concat`."""
    found = {}
    for name in dict.fromkeys(name for frame in frames for name in frame):
        columns = [frame.pop(name) if name in frame else _nothing(frame) for frame in frames]
        found[name] = pd.concat(columns, ignore_index=True)
    return pd.DataFrame(found, copy=False)


def _nothing(frame: FrameLike) -> FrameLike:
    return pd.Series(objects([None] * len(frame)), index=frame.index)


class Normaliser:
    """Turns rows into events of the canonical form, part by part."""

    def __init__(self, options: LogOptions, problems: Problems, *, merges_rows: bool) -> None:
        self._options, self._problems, self._merges_rows = options, problems, merges_rows
        self.clock = Clock(options.time_unit)
        self.parts: list[Events] = []

    def read(self, found: EventRows) -> None:
        """Add the events of some rows.

        Raises:
            SessionLogError: there are ranks of selections, and it is unknown whether they count
                from 0 or 1.
        """
        columns = found.columns
        positions = found.positions
        rule = self._options.rule
        size = len(positions)
        ids = session_ids(columns.get("session"), positions, self._problems)
        has_session = ~pd.isna(ids)
        usable = UsableRows(ids, positions, self._problems, has_session.copy())
        frame: dict[str, Any] = {"position": positions, "session": ids}
        frame["event"] = self._indexes(columns, usable)
        frame["time"] = frame["end"] = self._times("time", columns, usable)
        frame["start"] = self._times("start", columns, usable)
        frame["query"] = _texts(columns.get("query"), size)
        frame["results"], frame["count"] = shown, counts = _shown(columns, usable)
        is_selection, by_value = np.ones(size, dtype=bool), np.full(size, np.nan)
        if rule:
            is_selection, by_value = rule.read(found.unclaimed, size)
        reader = SelectionReader(
            columns, shown, counts, is_selection, usable, self._options.first_rank, self.clock
        )
        if self._merges_rows:
            frame["document"] = reader.documents = objects([None] * size)
            frame["rank"] = reader.ranks = np.zeros(size, dtype=np.int64)
            frame["search"] = _texts(columns.get("search"), size)
            frame["is_selection"] = is_selection
        selections = reader.read()
        if rule and rule.wanted:
            is_unknown = np.bincount(selections["event"], minlength=size) == 0
            usable.refuse(is_selection & is_unknown, "unknown rank", _LACKING)
        self._complete(selections, found, frame["time"], by_value, usable)
        for name, column in found.describing.items():
            frame[f"{ATTRIBUTE}{name}"] = converted(column, description)[0]
        if self._options.gap is not None and "session" in columns:
            frame[f"{ATTRIBUTE}{found.names['session']}"] = ids
        if self._options.duplicates != "keep":
            others = dict(found.unclaimed)
            for role in columns.keys() & _OF_SELECTIONS:
                others[found.names[role]] = columns[role]
            frame["other"] = _hashes(others, size)
        series = {}
        for name, cells in frame.items():
            series[name] = pd.Series(cells, dtype=cells.dtype, copy=False)
        events = Events(pd.DataFrame(series, copy=False), selections)
        rows = np.flatnonzero(usable.mask)
        if len(rows):
            self.parts.append(events.taken(rows))
        self._problems.lost_rows += int(has_session.sum()) - len(rows)

    def _indexes(self, columns: Mapping[str, Column], usable: UsableRows) -> FloatArray:
        """Return the index of each event in its session; NaN without a column."""
        if "event" not in columns:
            return np.full(len(usable.mask), np.nan)
        event, errors = numbers(columns["event"])
        usable.refuse(errors, "no event index", "the event index: ")
        if not (self._merges_rows and "search" in columns):  # merged rows share an index
            text = "the event has no index, although others have"
            usable.refuse(np.isnan(event), "no event index", text)
        return event

    def _times(self, role: str, columns: Mapping[str, Column], usable: UsableRows) -> FloatArray:
        """Return times in seconds; NaN where unknown."""
        seconds: FloatArray = np.full(len(usable.mask), np.nan)
        if role in columns:
            seconds, errors = self.clock.column(columns[role], usable.positions, usable.mask)
            usable.refuse(errors, "bad time", "the time: ")
        if role == "time" and (role in columns or self._options.gap is not None):
            text = "the event has no time, although others have, or session_gap needs it"
            usable.refuse(np.isnan(seconds), "bad time", text)
        return seconds

    def _complete(
        self,
        selections: FrameLike,
        found: EventRows,
        time: FloatArray,
        grades: FloatArray,
        usable: UsableRows,
    ) -> None:
        """Add the times and the grades of rows to their selections; refuse impossible ones."""
        rows = selections["event"].to_numpy()
        times = self._times("selected_time", found.columns, usable)
        if "grade" in found.columns:
            given, errors = numbers(found.columns["grade"])
            usable.refuse(errors, "bad grade", "the grade: ")
            usable.refuse(given < 0, "bad grade", "the grade is negative")
            grades = np.where(np.isnan(given), grades, given)
        of_row = pd.DataFrame({"time": times, "grade": grades}).iloc[rows].reset_index(drop=True)
        selections[["time", "grade"]] = selections[["time", "grade"]].fillna(of_row)
        selections["grade"] = selections["grade"].fillna(1.0)
        early = time[rows] - selections["time"].to_numpy()
        wrong = {}
        for item in np.flatnonzero(early > 0).tolist():
            text = f"the selection is {early[item]:g} s earlier than its event"
            wrong[int(rows[item])] = text
        usable.refuse(wrong, "bad time")


def description(cell: object) -> object:
    """Return a cell as a plain value; None if it is empty or cannot describe a session."""
    with suppress(TypeError, ValueError, OverflowError):
        value = plain_value(cell)
        if isinstance(value, (str, int, float, bool)) and not is_absent(value):
            return value
    return None


def _texts(column: Column | None, size: int) -> Cells:
    """Return each row's text; None for an empty cell or without the column."""
    if column is None:
        return objects([None] * size)
    return converted(column, lambda cell: None if is_absent(cell) else str(cell))[0]


def _shown(columns: Mapping[str, Column], usable: UsableRows) -> tuple[Cells, IntArray]:
    """Return what each event showed, and how many documents; -1 if unknown."""
    size, has_count = len(usable.mask), "result_count" in columns
    shown, counts = objects([None] * size), np.full(size, -1)
    if "results" in columns:
        shown, errors = id_lists(columns["results"], empty_text_is_list=not has_count)
        usable.refuse(errors, "bad results", "the results: ")
        counts = np.array([-1 if each is None else len(each) for each in shown], dtype=np.int64)
    if has_count:
        given, errors = numbers(columns["result_count"])
        usable.refuse(errors, "bad results", "the results: ")
        is_possible = (given >= 0) & (given <= LARGEST) & (given == np.floor(given))
        wrong = (counts < 0) & ~np.isnan(given) & ~is_possible
        text = "{:g} is not a possible number of results".format
        odd = {row: text(given[row]) for row in np.flatnonzero(wrong).tolist()}
        usable.refuse(odd, "bad results")
        counts = np.where((counts < 0) & is_possible, np.nan_to_num(given), counts)
    return shown, counts.astype(np.int64)


def _hashes(columns: Mapping[str, Column], size: int) -> IntArray:
    """Return a hash of the cells of each row, ``[N]``; empty cells do not count."""
    total = np.zeros(size, dtype=np.uint64)
    for name, column in columns.items():
        coded = column.coded()
        texts = list(map(_text_of, coded.values))
        hashes = pd.util.hash_array(objects([*texts, name]), categorize=False)
        odd = hashes[-1] | np.uint64(1)
        is_empty = [not text for text in texts]
        own = np.where(is_empty, np.uint64(0), hashes[:-1] * odd)
        total += own[coded.codes]
    return total.view(np.int64)


def _text_of(cell: object) -> str:
    """Return a cell as text that no other cell has; empty for an empty cell.

    Text that is not printable is escaped: pandas cannot hash a lone surrogate.
    """
    if type(cell) is str and cell.isprintable():
        return cell
    plain = cell.tolist() if hasattr(cell, "tolist") else cell
    return "" if is_blank(plain) else f"{type(plain)} {plain!r}"
