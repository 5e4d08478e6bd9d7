"""The rows of a log as they are, also of one that cannot be read: counts, values, duplicates."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rankcheck.errors import SessionLogError
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.log_cells import is_absent
from pytest_rankcheck.sessions.log_layouts import Layouts
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.repeated_users import USER_NAMES

__all__ = ["ColumnCounts", "RawRows"]

_MOST_VALUES = 1000
"""A column with more values has ids or texts; they are not counted any further."""


@dataclass
class ColumnCounts:
    """What the cells of a column are."""

    filled: int = 0
    """How many rows have a value."""
    values: Counter[str] = field(default_factory=Counter)
    """How many rows have each value; those of the first rows if there are many values."""
    has_more: bool = False
    """Whether there are more values than are counted."""

    def add(self, column: Column) -> None:
        """Add the cells of a column."""
        for cell in column.cells():
            if is_absent(cell) or isinstance(cell, (list, dict, tuple)):
                self.filled += not is_absent(cell)
                continue
            self.filled += 1
            text = str(cell)
            if text in self.values or len(self.values) < _MOST_VALUES:
                self.values[text] += 1
            else:
                self.has_more = True


@dataclass
class RawRows:
    """The rows of a log, counted."""

    count: int = 0
    columns: dict[str, ColumnCounts] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    """The column of each role that a row has."""
    sessions: Counter[str] = field(default_factory=Counter)
    """How many events each session id has."""
    duplicates: int = 0
    """How many rows are identical to an earlier one in all columns."""

    @classmethod
    def of(cls, table: Table, options: LogOptions) -> RawRows:
        """Count the rows of a table.

        Raises:
            SessionLogError: the file cannot be read as a table.
        """
        found, layouts = cls(), Layouts(options, Problems("log", is_lenient=True))
        seen = set[bytes]()
        for batch in table.batches():
            columns = layouts.nested.added(
                {str(name): batch.column(index) for index, name in enumerate(batch.header)}
            )
            try:
                roles = layouts.of(tuple(columns))
            except SessionLogError:  # two columns could have one role; the reading says so
                roles = {}
            found._add(columns, roles, len(batch), seen)
        return found

    def _add(
        self, columns: Mapping[str, Column], roles: Mapping[str, str], size: int, seen: set[bytes]
    ) -> None:
        self.count += size
        self.roles |= roles
        for name, column in columns.items():
            self.columns.setdefault(name, ColumnCounts()).add(column)
        cells = [columns[name].cells() for name in sorted(columns)]
        names = repr(sorted(columns))
        for row in zip(*cells, strict=True):
            digest = hashlib.blake2b(
                f"{names}{row}".encode("utf-8", "surrogatepass"), digest_size=16
            )
            self.duplicates += digest.digest() in seen
            seen.add(digest.digest())
        if "session" in roles:
            ids = columns[roles["session"]].cells()
            events: Sequence[object] = columns[roles["events"]].cells() if "events" in roles else ()
            for place, cell in enumerate(ids):
                inner = events[place] if events else None
                self.sessions[str(cell)] += len(inner) if isinstance(inner, (list, tuple)) else 1

    @property
    def users(self) -> Sequence[str]:
        """The columns that seem to name users."""
        return [name for name in self.columns if normalised_name(name) in USER_NAMES]
