"""The formats of logs. All are tables, read by one reader.

A CSV or TSV file, a Parquet file (extra ``[fast]``) has one row per event. JSON lines have
one object per event, with a table's columns as keys::

    {"session_id": "s1", "event": 1, "time": 0.5, "query": "cam", "results": ["d7", "d3"]}
    {"session_id": "s1", "event": 2, "time": 1.5, "query": "camel", "results": ["d3"],
     "selected": "d3"}
    {"session_id": "s1", "event": 3, "time": 2.5, "query": "cam", "results": ["d7", "d3"],
     "clicks": [{"rank": 2, "time": 4.5}]}

A JSON file may also be an array of such objects, or one of them.
"""

from __future__ import annotations

from functools import partial

from pytest_rankcheck.errors import SessionLogError
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.files.tables import TableKind, read_table, table_formats
from pytest_rankcheck.sessions.log_problems import LogSource


def read(source: LogSource, *, kind: TableKind) -> Table:
    """Read a table; lines that are not rows become problems.

    Raises:
        SessionLogError: the file is not a table of this kind, or polars is needed and missing.
    """
    return read_table(
        source.path, SessionLogError, name="log", kind=kind, on_broken=source.note_broken
    )


FORMATS = (
    *table_formats(
        read,
        lambda header: len(header) > 1,
        columns="session_id,event,time,query,results,selected",
        error=SessionLogError,
    ),
    Format(
        name="jsonl",
        description="one JSON object per line or in an array, each an event",
        recognises=lambda sample: sample.is_json,
        read=partial(read, kind="JSON"),
    ),
)
