"""Logs of User Behavior Insights: the queries and the events, joined to one row per search."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_rankcheck.errors import (
    ConfigurationError,
    SessionLogError,
    plural,
    quoted,
    suggestion,
)
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.json_rows import layouts_of_objects
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.sessions.log_layouts import ROLES
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.nested_columns import object_in
from pytest_rankcheck.sessions.session_attributes import description
from pytest_rankcheck.sessions.ubi.ubi_rows import EVENTS, QUERIES, UbiRows, UbiSource, check_fields
from pytest_rankcheck.sessions.ubi.ubi_searches import Action, Search, searches_of
from pytest_rankcheck.sessions.ubi.ubi_sessions import sessions_of

__all__ = ["UbiChoice", "grades_of", "table_of_ubi"]

_TAKEN = frozenset(name for role in ROLES for name in (role.name, *role.names, *role.otherwise))
"""The names of columns that mean something in a log; attributes must have others."""


@dataclass(frozen=True, slots=True)
class UbiChoice:
    """How queries and events are read."""

    grades: Mapping[str, float]
    """The grade of each action that is a selection, in lower case."""
    gap: float
    """The time in seconds after which the next search of a client begins a session."""
    columns: Mapping[str, str]
    """``{field: column}`` for fields in unusual columns."""
    first_rank: int | None = None
    """Whether positions count from 0 or 1; None: as the documents show, or else from 1."""
    is_lenient: bool = False

    @property
    def convention(self) -> str:
        """What decides which sessions there are and what they came to, as records keep it."""
        chosen = {
            "grades": dict(sorted(self.grades.items())),
            "session_gap": self.gap,
            "columns": dict(sorted(self.columns.items())) or None,
            "first_rank": self.first_rank,
            "lenient": self.is_lenient or None,
        }
        texts = (f"{name}={each}" for name, each in chosen.items() if each is not None)
        return f"ubi({', '.join(texts)})"


def grades_of(
    select: str | Sequence[str], grades: Mapping[str, float] | None
) -> Mapping[str, float]:
    """Return the grade of each action that is a selection, by its name in lower case.

    Raises:
        ConfigurationError: no action is given, or a grade is not a number above 0.
    """
    found = dict.fromkeys([select] if isinstance(select, str) else select, 1.0) | dict(grades or {})
    for name, grade in found.items():
        is_number = isinstance(grade, (int, float)) and not isinstance(grade, bool)
        if not isinstance(name, str) or not is_number or not 0 < grade < math.inf:
            raise ConfigurationError(
                f"the grade {quoted(grade, 40)} of the action '{quoted(name, 60)}' is invalid; "
                "give names of actions and numbers above 0, such as grades={'purchase': 3}"
            )
    if not found:
        raise ConfigurationError('no action is a selection; give one, such as select=("click",)')
    return {name.strip().casefold(): float(grade) for name, grade in found.items()}


def table_of_ubi(
    queries: UbiSource, events: UbiSource, choice: UbiChoice
) -> tuple[Table, Problems]:
    """Return a log with a row for each search, and the collector of its problems.

    Raises:
        SessionLogError: a file cannot be read, or a row cannot be used and the reading is strict.
        ConfigurationError: a field in ``columns`` is unknown.
    """
    check_fields(choice.columns)
    how = {"columns": choice.columns, "is_lenient": choice.is_lenient}
    asked = UbiRows.read(queries, QUERIES, name="queries", **how)  # type: ignore[arg-type]
    done = UbiRows.read(events, EVENTS, name="events", **how)  # type: ignore[arg-type]
    if "action_name" in asked.known and "action_name" not in done.known:
        raise SessionLogError(
            "the queries have actions (action_name), and the events do not: the arguments are "
            "swapped; write from_ubi(queries, events)"
        )
    _check_columns(asked, done, choice.columns)
    _check_clocks(asked, done)
    searches, not_counted = searches_of(asked, done, choice.grades)
    joined = _Joined(asked, done, list(searches.values()), choice, not_counted.selections)
    rows = joined.rows()
    for part in (asked, done):
        part.problems.refuse()
    problems = Problems(asked.problems.source, is_lenient=choice.is_lenient)
    problems.times_are_seconds = True
    problems.notes += [*asked.notes(), *done.notes(), *joined.notes, *not_counted.notes()]
    numbers = [asked.numbers[search.rows[0]] for search in searches.values()]
    numbering = asked.problems.numbering
    return Table([], numbering, lambda *_: layouts_of_objects(numbers, rows)), problems


def _check_columns(asked: UbiRows, done: UbiRows, columns: Mapping[str, str]) -> None:
    known = {**asked.known, **done.known}
    for column in columns.values():
        if known and column not in known:
            raise SessionLogError(
                f"neither the queries nor the events have a column '{quoted(column)}'"
                f"{suggestion(column, known)}"
            )


def _check_clocks(asked: UbiRows, done: UbiRows) -> None:
    """Check that the times of queries and events can be compared."""
    for kind, words in (("local", "text without a time zone"), ("relative", "no times since 1970")):
        kinds = [part.clock.kinds for part in (asked, done)]
        if all(kinds) and (kind in kinds[0]) != (kind in kinds[1]):
            which = "queries" if kind in kinds[0] else "events"
            raise SessionLogError(
                f"the times of the {which} are {words}, those of the other file are not, so they "
                "cannot be compared; write all times in the same way"
            )


class _Joined:
    """The rows of a log, made of searches."""

    def __init__(
        self,
        queries: UbiRows,
        events: UbiRows,
        searches: Sequence[Search],
        choice: UbiChoice,
        not_counted: Counter[str],
    ) -> None:
        self._queries, self._events = queries, events
        self._searches, self._choice = searches, choice
        self.notes: list[str] = []
        """What is unusual, as sentences."""
        self._not_counted = not_counted
        self._early: list[float] = []
        """How many seconds selections are earlier than their queries."""
        self._first_rank = self._ranks_count_from()

    def rows(self) -> list[Mapping[str, object]]:
        """Return a row for each search, with the columns of a log and attributes."""
        ids = {name: self._ids(name) for name in ("session_id", "client_id", "user_id")}
        clients, known = ids["client_id"], ids["session_id"]
        times = [self._time(search) for search in self._searches]
        gap = self._choice.gap
        sessions = sessions_of(known, clients, times, gap)
        unknown = sum(each is None for each in known)
        if unknown:
            missing = (
                "no search has"
                if unknown == len(known)
                else (plural(unknown, "search lacks", "searches lack"))
            )
            self.notes.append(
                f"{missing} a session_id: there, a session is what a client does without a pause "
                f"of more than {gap / 60:g} minutes"
            )
        described = [name for name in ("client_id", "user_id") if any(ids[name])]
        found: list[Mapping[str, object]] = []
        for place, search in enumerate(self._searches):
            row = self._attributes(search)
            row |= {name: ids[name][place] for name in described}
            row |= {
                "session": sessions[place],
                "time": times[place],
                "query": self._queries.cells["user_query"][search.rows[0]],
                "results": None if search.hits is None else list(search.hits),
                "clicks": self._clicks(search, times[place]),
            }
            found.append(row)
        if self._early:
            selections = plural(len(self._early), "selection is", "selections are")
            self.notes.append(
                f"{selections} earlier than the query, by up to {max(self._early):.3g} s; they "
                "count as simultaneous with it"
            )
        return found

    def _ids(self, name: str) -> list[str | None]:
        """Return an id of each search: of its query, or else of the first event that has one."""
        of_queries, of_events = self._queries.ids(name), self._events.ids(name)
        found = []
        for search in self._searches:
            given = [of_queries[row] for row in search.rows]
            given += [of_events[row] for row in search.events]
            found.append(next(filter(None, given), None))
        return found

    def _time(self, search: Search) -> float:
        return self._queries.seconds[search.rows[0]]

    def _attributes(self, search: Search) -> dict[str, object]:
        """Return what describes a query: the plain values in ``query_attributes``."""
        described = object_in(self._queries.cells["query_attributes"][search.rows[0]]) or {}
        attributes = {}
        for name, value in described.items():
            is_taken = normalised_name(str(name)) in _TAKEN
            key = f"query_attributes.{name}" if is_taken else str(name)
            if description(value) is not None:
                attributes[key] = description(value)
        return attributes

    def _clicks(self, search: Search, asked: float) -> list[Mapping[str, object]]:
        clicks: list[Mapping[str, object]] = []
        for action in search.selections:
            rank = self._rank(search, action)
            if rank is None:
                continue
            time = self._events.seconds[action.row]
            if time < asked:
                self._early.append(asked - time)
            start = None if math.isnan(time) else max(time, asked)
            clicks.append({"rank": rank, "start": start, "grade": action.grade})
        return clicks

    def _rank(self, search: Search, action: Action) -> int | None:
        rank = search.rank_of(action)
        if search.hits is not None:
            if rank is None:
                self._not_counted["of a document that was not among the results"] += 1
            return rank
        if action.ordinal is None:
            self._not_counted["of an unknown rank, without results and position"] += 1
            return None
        if action.ordinal < self._first_rank:
            text = f"the position is {action.ordinal}, counted from {self._first_rank}"
            self._events.note(action.row, "rank too small", text)
            return None
        return action.ordinal - self._first_rank + 1

    def _ranks_count_from(self) -> int:
        """Return the position of the first result: as given, as documents show it, or else 1."""
        ranks = [
            (action.ordinal, search.rank_of(action))
            for search in self._searches
            for action in search.selections
            if action.ordinal is not None and search.rank_of(action) is not None
        ]
        from_0 = sum(ordinal + 1 == rank for ordinal, rank in ranks)
        from_1 = sum(ordinal == rank for ordinal, rank in ranks)
        first = self._choice.first_rank
        if first is None:
            first = 0 if from_0 > from_1 else 1
        agree = from_0 if first == 0 else from_1
        if agree < len(ranks):
            self.notes.append(
                f"{len(ranks) - agree:,} of {plural(len(ranks), 'position')}, counted from "
                f"{first}, are not the rank of their document; the document decides"
            )
        return first
