"""The rows of User Behavior Insights: the queries and events of OpenSearch and Elasticsearch.

The fields are those of the schemas 1.0 to 1.3 (https://github.com/o19s/ubi). A dump may have them
within ``_source``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_rankcheck.argument_kinds import library_of_frame
from pytest_rankcheck.errors import ConfigurationError, SessionLogError, quoted, suggestion
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.sessions.event_columns import positions
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import id_of
from pytest_rankcheck.sessions.log_files import LogFiles, table_of_records
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.nested_columns import NestedColumns

if TYPE_CHECKING:
    from pytest_rankcheck.files.frame_tables import Frame

__all__ = ["EVENTS", "QUERIES", "UbiRows", "UbiSource", "check_fields"]

UbiSource: TypeAlias = (
    "str | PathLike[str] | Sequence[str | PathLike[str]] | Iterable[Mapping[str, object]] | Frame"
)
"""Files, a table in memory, or dicts."""

_IDS = {name: (name,) for name in ("query_id", "session_id", "client_id", "user_id")}
QUERIES: Mapping[str, Sequence[str]] = {
    **_IDS,
    "timestamp": ("timestamp",),
    "user_query": ("user_query",),
    "query_response_hit_ids": ("query_response_hit_ids", "query_response_objects_ids"),
    "query_attributes": ("query_attributes",),
}
"""The fields of a query, and the columns that they may be in."""
EVENTS: Mapping[str, Sequence[str]] = {
    **_IDS,
    "timestamp": ("timestamp",),
    "action_name": ("action_name",),
    "object_id": ("event_attributes.object.object_id", "object_id"),
    "internal_id": ("event_attributes.object.internal_id", "internal_id"),
    "ordinal": ("event_attributes.position.ordinal", "ordinal"),
}
"""The fields of an event; the last three are nested, or columns of a table."""


def check_fields(columns: Mapping[str, str]) -> None:
    """Check that a mapping of fields to columns names fields of UBI.

    Raises:
        ConfigurationError: a field is unknown; the message suggests the nearest one.
    """
    known = list(dict.fromkeys([*QUERIES, *EVENTS]))
    for name in columns:
        if name not in known:
            raise ConfigurationError(
                f"columns: unknown field '{quoted(name)}'{suggestion(name, known)}; the fields of "
                f"User Behavior Insights are {', '.join(known)}"
            )


@dataclass
class UbiRows:
    """The queries or the events, one value per row in each list."""

    problems: Problems
    clock: Clock
    cells: dict[str, list[object]]
    """The values of each field; None where a row has none."""
    numbers: list[int] = field(default_factory=list)
    """How the source numbers the rows, for messages."""
    seconds: list[float] = field(default_factory=list)
    """The times; NaN where a row has none."""
    known: dict[str, None] = field(default_factory=dict)
    """The columns of the source, and the dotted names in them as far as known."""

    @classmethod
    def read(
        cls,
        source: UbiSource,
        fields: Mapping[str, Sequence[str]],
        columns: Mapping[str, str],
        *,
        name: str,
        is_lenient: bool,
    ) -> UbiRows:
        """Read all rows.

        Args:
            source: files, a table in memory, or dicts.
            fields: the fields to read.
            columns: ``{field: column}`` for fields in unusual columns.
            name: what messages call a source that is not a file: "queries" or "events".
            is_lenient: whether rows that cannot be used are noted, instead of refused later.

        Raises:
            SessionLogError: a file cannot be read, or its times are of several kinds.
        """
        table, problems = _opened(source, name, is_lenient=is_lenient)
        problems.numbering = table.numbering
        found = cls(problems, Clock(None), {key: [] for key in fields})
        places = {
            key: [*filter(None, [columns.get(key)]), *usual, *(f"_source.{each}" for each in usual)]
            for key, usual in fields.items()
        }
        nested = NestedColumns(path for paths in places.values() for path in paths)
        for batch in table.batches():
            found._add(batch, nested, places)
        found.known |= nested.known
        found.clock.refuse_mixture(problems.place, are_seconds=True)
        return found

    def __len__(self) -> int:
        return len(self.numbers)

    def notes(self) -> list[str]:
        """Return what was unusual in the source, and which rows of it cannot be used."""
        notes = list(self.problems.notes)
        if self.problems.reasons:
            kinds = ", ".join(
                f"{count:,} x {reason}" for reason, count in self.problems.reasons.items()
            )
            notes.append(f"rows that cannot be used: {kinds}; first: {self.problems.examples[0]}")
        return notes

    def in_order(self) -> list[int]:
        """Return the rows in the order of their times; those without one are last."""

        def key(row: int) -> tuple[float, int]:
            seconds = self.seconds[row]
            return math.inf if math.isnan(seconds) else seconds, self.numbers[row]

        return sorted(range(len(self)), key=key)

    @cached_property
    def object_ids(self) -> Sequence[str | None]:
        """The external ids of the objects of events."""
        return self.ids("object_id")

    @cached_property
    def internal_ids(self) -> Sequence[str | None]:
        """The ids that the search engine has for the objects of events."""
        return self.ids("internal_id")

    def ids(self, name: str) -> list[str | None]:
        """Return a field of ids as text; what is not an id is None, and a problem."""
        found = list[str | None]()
        for row, cell in enumerate(self.cells[name]):
            try:
                found.append(id_of(cell))
            except ValueError as error:
                found.append(None)
                self.note(row, f"bad {name}", f"{name}: {error}")
        return found

    def note(self, row: int, reason: str, text: str) -> None:
        """Note a row that cannot be used."""
        self.problems.add(int(positions([self.numbers[row]])[0]), None, reason, text)

    def _add(
        self, batch: Batch, nested: NestedColumns, places: Mapping[str, Sequence[str]]
    ) -> None:
        columns = nested.added(
            {str(name): batch.column(index) for index, name in enumerate(batch.header)}
        )
        self.known |= dict.fromkeys(columns)
        size = len(batch)
        for name, paths in places.items():
            column = next((columns[path] for path in paths if path in columns), None)
            self.cells[name] += [None] * size if column is None else column.cells()
            if name == "timestamp":
                self.seconds += self._times(column, batch.numbers)
        self.numbers += batch.numbers

    def _times(self, column: Column | None, numbers: Sequence[int]) -> list[float]:
        if column is None:
            return [math.nan] * len(numbers)
        at = positions(numbers)
        seconds, errors = self.clock.column(column, at, np.arange(len(numbers)))
        for row, error in errors.items():
            self.problems.add(int(at[row]), None, "bad time", f"timestamp: {error}")
        return list(map(float, seconds))


def _opened(source: UbiSource, name: str, *, is_lenient: bool) -> tuple[Table, Problems]:
    """Return a source as a table, and the collector of its problems."""
    if library_of_frame(source) is not None:
        return read_table(source, SessionLogError, name=name), Problems(name, is_lenient=is_lenient)
    if isinstance(source, (str, PathLike)) or _are_paths(source):
        files = LogFiles.of(source)  # type: ignore[arg-type]
        problems = Problems(files.words, is_lenient=is_lenient)
        return files.table(None, None, problems), problems
    problems = Problems(name, is_lenient=is_lenient)
    return table_of_records(source, problems), problems  # type: ignore[arg-type]


def _are_paths(source: object) -> bool:
    is_list = isinstance(source, (list, tuple)) and bool(source)
    return is_list and all(isinstance(path, (str, PathLike)) for path in source)  # type: ignore[attr-defined]
