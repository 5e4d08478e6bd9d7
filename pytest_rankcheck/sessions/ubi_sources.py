"""The sources of User Behavior Insights: queries and events, read as columns of their fields.

The fields are those of the schemas 1.0 to 1.3 (https://github.com/o19s/ubi), as OpenSearch and
Elasticsearch record them. A dump may have them within ``_source``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from pytest_rankcheck.argument_checks import library_of_frame
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import SessionLogError
from pytest_rankcheck.files.json_files import with_nested
from pytest_rankcheck.files.table_batches import Column, Table
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.files.text_files import JoinedNumbering
from pytest_rankcheck.sessions.event_frames import FrameLike
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import (
    Cells,
    Errors,
    converted,
    id_lists,
    id_of,
    numbers,
    objects,
)
from pytest_rankcheck.sessions.log_sources import LogFiles, LogSource, Problems, table_of_records
from pytest_rankcheck.sessions.selections import UsableRows

if TYPE_CHECKING:
    from pytest_rankcheck.files.frame_tables import Frame

UbiSource: TypeAlias = (
    "str | PathLike[str] | Sequence[str | PathLike[str]] | Iterable[Mapping[str, object]] | Frame"
)
"""Files, a table in memory, or dicts."""

HITS = "query_response_hit_ids"
_ROWS = 1 << 31
"""More than the number of queries; events are numbered from here on."""
_IDS = ("query_id", "session_id", "client_id", "user_id", "object_id", "internal_id")
_FIELDS: dict[str, Sequence[str]] = {
    **{name: (name,) for name in (*_IDS[:4], "timestamp", "user_query", "query_attributes")},
    HITS: (HITS, "query_response_objects_ids"),
    "action_name": ("action_name",),
    "object_id": ("event_attributes.object.object_id", "object_id"),
    "internal_id": ("event_attributes.object.internal_id", "internal_id"),
    "ordinal": ("event_attributes.position.ordinal", "ordinal"),
}
"""The fields of queries and events, and the columns that may hold them; the last three are nested,
or columns of a table. The first one that a source has counts; a dump has them in ``_source``."""
_PLACES = {
    field: (*usual, *(f"_source.{name}" for name in usual)) for field, usual in _FIELDS.items()
}


@dataclass(frozen=True, slots=True)
class UbiRows:
    """The queries or the events."""

    rows: FrameLike
    """One row for each usable one, sorted by time (those without a time last): a column for each
    field, None or NaN if unknown; ``seconds``; and the row's ``number``.
    """
    times: Collection[str]
    """The kinds of its times."""


def rows_of_source(
    name: str, source: UbiSource, problems: Problems, numbering: JoinedNumbering
) -> UbiRows:
    """Return the queries or the events, and add their numbering to that of both.

    Raises:
        SessionLogError: a file cannot be read, or its times are of several kinds.
    """
    clock = Clock(None)
    after = len(numbering.parts) * _ROWS
    table = _opened(source, name, problems, after)
    numbering.parts.append((after, table.numbering))
    wanted = [path for places in _PLACES.values() for path in places]
    frames = [pd.DataFrame(columns=["number", *_FIELDS], dtype=object)]
    for batch in table.batches():
        own = {name: batch.column(at) for at, name in enumerate(batch.header)}
        found = with_nested(own, wanted)
        own_numbers = [number + after for number in batch.numbers]
        nobody = objects([None] * len(batch))
        is_usable = np.ones(len(batch), dtype=bool)
        usable = UsableRows(nobody, np.array(own_numbers, np.int64), problems, is_usable)
        fields = _fields_of(found, clock, usable)
        frames.append(pd.DataFrame({"number": own_numbers, **fields})[usable.mask])
    clock.refuse_mixture(problems.place, are_seconds=True)
    rows = pd.concat(frames, ignore_index=True).rename(columns={"timestamp": "seconds"})
    rows = rows.astype(dict.fromkeys(("number", "seconds", "ordinal"), float))
    rows = rows.sort_values(["seconds", "number"], kind="stable", ignore_index=True)
    return UbiRows(rows, clock.kinds)


def _fields_of(columns: Mapping[str, Column], clock: Clock, usable: UsableRows) -> dict[str, Any]:
    """Return the cells of each field; refuse the rows with an invalid one."""
    found: dict[str, Any] = {}
    for field, places in _PLACES.items():
        column = next((columns[path] for path in places if path in columns), None)
        if column is None:
            found[field] = usable.ids
            continue
        cells, errors = _cells(field, column, clock, usable)
        usable.refuse(errors, f"bad {field}", f"{field}: ")
        found[field] = pd.Series(cells, dtype=object)
    return found


def _cells(
    field: str, column: Column, clock: Clock, usable: UsableRows
) -> tuple[Sequence[object] | FloatArray | Cells, Errors]:
    """Return the cells of a field, and why a cell is invalid."""
    if field == "timestamp":
        return clock.column(column, usable.positions, usable.mask)
    if field == "ordinal":
        return numbers(column)
    if field == HITS:
        return id_lists(column)
    if field in _IDS:
        return converted(column, id_of)
    return list(column.cells()), {}


def _opened(source: UbiSource, name: str, problems: Problems, after: int) -> Table:
    """Return a source as a table."""
    if library_of_frame(source) is not None:
        return read_table(source, SessionLogError, name=name)
    some = source if isinstance(source, (list, tuple)) else [source]
    if some and all(isinstance(each, (str, PathLike)) for each in some):
        return LogFiles.of(some).table(problems, after)  # type: ignore[arg-type]
    return table_of_records(source, LogSource(Path(name), problems, after))  # type: ignore[arg-type]


def check_times(asked: UbiRows, done: UbiRows) -> None:
    """Check that the times of queries and events can be compared."""
    for kind, words in (("local", "text without a time zone"), ("relative", "no times since 1970")):
        if asked.times and done.times and (kind in asked.times) != (kind in done.times):
            which = "queries" if kind in asked.times else "events"
            raise SessionLogError(
                f"the times of the {which} are {words}, those of the other file are not, so they "
                "cannot be compared; write all times in the same way"
            )
