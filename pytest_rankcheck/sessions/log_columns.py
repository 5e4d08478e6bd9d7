"""The columns of a log: their roles, and the cells of each role in some rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import SessionLogError, listed, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import Role, index_of_roles, normalised_name
from pytest_rankcheck.files.json_files import with_nested
from pytest_rankcheck.files.table_batches import Batch, Column
from pytest_rankcheck.sessions.log_cells import Cells, converted, id_of, is_placeholder
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_sources import Problems

_QUERY = Role("query", ("query_text", "search_query", "keyword", "keywords"))
ROLES = (
    Role("session", ("session_id", "sessionid", "sid")),
    Role("event", ("event_index", "event_number", "step"), ("index",)),
    Role("time", ("timestamp", "event_time", "time_epoch", "datetime", "ts")),
    _QUERY,
    Role("results", ("result_ids", "shown", "documents", "doc_ids"), ("ranking",)),
    Role("result_count", ("results_count", "num_results", "total_results")),
    Role(
        "selected_rank",
        ("selected_ranks", "selected_index", "selected_position", "clicked_rank", "click_rank"),
        ("rank", "position"),
    ),
    Role(
        "selected",
        ("selected_document", "selected_id", "clicked", "clicked_document", "click"),
        ("doc_id",),
    ),
    Role("selected_time", ("selection_time", "click_time", "clicked_at")),
    Role("grade", ("selected_grade", "click_grade")),
    Role("search", ("search_id",)),
    Role("clicks", ()),
    Role("start", ("session_start", "start_time")),
)
"""The roles of columns. ``clicks`` is nested, in JSON lines only. ``search`` counts only if rows
are merged; the last names of ``selected_rank`` and ``selected`` count only with
``selections_where``."""

_SELECTIONS = frozenset({"selected_rank", "selected", "clicks"})
_ABOUT = {name for role in ROLES if role.name in _SELECTIONS for name in role.otherwise}
"""Names of what a row is about; it is a selection only if something else says so."""
USER_NAMES = frozenset(
    (
        *("user", "user_id", "userid", "uid", "username", "client", "client_id", "clientid"),
        *("visitor_id", "customer_id", "account_id", "member_id", "device_id", "anonymous_id"),
    )
)
"""The names of attributes that are taken for users, normalised."""

Header = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventRows:
    """N events, which have the same columns."""

    positions: IntArray
    """``[N]`` their numbers in the file."""
    columns: Mapping[str, Column]
    """The columns by role."""
    names: Mapping[str, str]
    """The name of the column of each role."""
    describing: Mapping[str, Column]
    """The columns that may describe the session, by name."""
    unclaimed: Mapping[str, Column]
    """The columns without a role, and those of ``selections_where``, by name."""


def session_ids(column: Column | None, positions: IntArray, problems: Problems) -> Cells:
    """Return the session of each row, ``[N]``; a row without one gets None and is a problem."""
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


class LogColumns:
    """The columns of the rows of a log, which may differ from row to row in JSON lines."""

    def __init__(self, options: LogOptions, problems: Problems) -> None:
        self._options = options
        self._problems = problems
        self._layouts: dict[Header, Mapping[str, str]] = {}
        """``{role: column}`` by header."""

    def rows(self, batch: Batch) -> EventRows:
        """Return the events of some rows.

        Raises:
            SessionLogError: two columns could have the same role, or a name is not a text.
        """
        named = {str(name): batch.column(index) for index, name in enumerate(batch.header)}
        columns = with_nested(named, self._options.named)
        header = tuple(columns)
        if header not in self._layouts:
            self._layouts[header] = self._layout(header)
        names = self._layouts[header]
        claimed = set(names.values()) - self._conditions
        unclaimed = [name for name in header if name not in claimed]
        wanted = self._options.attributes
        describing = set(unclaimed) - self._conditions if wanted is None else set(wanted)
        return EventRows(
            np.array(batch.numbers, dtype=np.int64),
            {role: columns[name] for role, name in names.items()},
            names,
            {name: columns[name] for name in unclaimed if name in describing},
            {name: columns[name] for name in unclaimed},
        )

    def _layout(self, header: Header) -> Mapping[str, str]:
        """Return ``{role: column}``.

        A column of ``selections_where`` has a role only if ``columns`` says so.
        """
        if any(name.encode(errors="ignore").decode() != name for name in header):
            problem = f"a name of a column has a lone surrogate; rename it: {listed(header, 10)}"
            raise SessionLogError(f"{self._problems.source}: {problem}")
        given = self._options.columns
        free = [name for name in header if name not in self._conditions - set(given.values())]
        known = {role.name for role in ROLES}
        renamed = {
            meaning: column
            for meaning, column in given.items()
            if column in header or meaning not in known
        }
        roles = [each for each in ROLES if each.name != "search" or self.merges_rows]
        if self._options.rule is None:  # their other names say what a row is about
            roles = [
                replace(each, otherwise=()) if each.name in _SELECTIONS else each for each in roles
            ]
        indexes = index_of_roles(free, roles, renamed, self._problems.source, SessionLogError)
        layout = {role: free[at] for role, at in indexes.items()}
        search = layout.get("search")
        if search and "query" not in layout and _QUERY.among([normalised_name(search)]):
            layout["query"] = search  # the text tells searches apart, but stays the text too
        return layout

    @property
    def _conditions(self) -> frozenset[str]:
        """The columns whose values say which rows are selections."""
        rule = self._options.rule
        return frozenset(rule.wanted) if rule else frozenset()

    @property
    def merges_rows(self) -> bool:
        """Whether the rows of one search are merged into one event."""
        return self._options.rule is not None or "search" in self._options.columns

    @property
    def has_selections(self) -> bool:
        """Whether the log has a column of selections."""
        return self._has(*_SELECTIONS)

    def _has(self, *roles: str) -> bool:
        """Whether some row has one of these roles."""
        return any(role in layout for layout in self._layouts.values() for role in roles)

    def check(self) -> None:
        """Check that the log has the columns that it needs.

        Raises:
            SessionLogError: a column is missing; the message says what to write.
        """
        columns = list(dict.fromkeys(name for header in self._layouts for name in header))
        for column in self._options.named:
            if columns and column not in columns:
                raise SessionLogError(
                    f"{self._problems.source} has no column '{quoted(column)}'"
                    f"{suggestion(column, columns)}; it has {listed(columns, 12)}"
                )
        if columns and not self._has("session"):
            source = self._problems.source
            raise SessionLogError(
                f"{source}: there is no session column; the columns are {listed(columns, 12)}. "
                "Name it session_id, or pass columns={'session': ...}; if there are only users, "
                "name their column, and split what they did by pauses: session_gap='30min'"
            )
        if self._conditions and not self._has("search", "event"):
            raise SessionLogError(
                f"{self._problems.source}: no column says which rows are one search; name it: "
                "columns={'search': ...}, or, if few people search for the same text twice, "
                "columns={'search': 'query'}"
            )
        if not self.has_selections and _ABOUT.intersection(map(normalised_name, columns)):
            raise SessionLogError(
                f"{self._problems.source}: no column says what was selected; the columns are "
                f"{listed(columns, 12)}. Name it selected or selected_rank, or say which rows are "
                "selections, such as selections_where={'action': ['click']} "
                "(rankcheck_session_reading)"
            )
