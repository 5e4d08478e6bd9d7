"""The formats of logs. All are tables, which one reader reads.

A CSV or TSV file, a Parquet or Arrow file (extra ``[fast]``) has one row per event. JSON lines have
one object per event, with a table's columns as keys; or one object per session::

    {"session_id": "s1", "event": 1, "time": 0.5, "query": "cam", "results": ["d7", "d3"]}
    {"session_id": "s1", "event": 2, "time": 1.5, "query": "camel", "results": ["d3"],
     "selected": "d3"}

    {"session": "s1", "start": 0.0, "events": [{"event": 1, "time": 0.5, "query": "cam",
     "results": ["d7", "d3"], "clicks": [{"rank": 2, "start": 2.5, "end": 9.0}]}]}
"""

from __future__ import annotations

from functools import partial

from pytest_rankcheck.errors import SessionLogError
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.parquet_files import is_arrow, is_parquet
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.files.tables import TableKind, read_table
from pytest_rankcheck.sessions.event_columns import positions
from pytest_rankcheck.sessions.log_problems import LogSource

__all__ = ["FORMATS"]

_REASONS = {"no object": "no event"}


def read(source: LogSource, *, kind: TableKind) -> Table:
    """Read a table; lines that are not rows of it become problems.

    Raises:
        SessionLogError: the file is not a table of this kind, or polars is needed and missing.
    """

    def note(number: int, reason: str, text: str) -> None:
        source.problems.add(positions([number])[0], None, _REASONS.get(reason, reason), text)

    return read_table(
        source.path, SessionLogError, name="log", kind=kind, by_layout=True, on_broken=note
    )


def _is_delimited(sample: FileSample, delimiter: str) -> bool:
    is_json = sample.line.lstrip().startswith(("{", "["))
    return not is_json and len(sample.header) > 1 and ("\t" in sample.line) == (delimiter == "\t")


FORMATS = (
    Format(
        name="csv",
        description="comma-separated with a header such as session_id,event,time,query,results,"
        "selected; map other names with columns=...",
        recognises=partial(_is_delimited, delimiter=","),
        read=partial(read, kind="delimited"),
        endings=(".csv",),
        is_vague=True,
    ),
    Format(
        name="tsv",
        description="the same, separated by tabs",
        recognises=partial(_is_delimited, delimiter="\t"),
        read=partial(read, kind="delimited"),
        endings=(".tsv",),
        is_vague=True,
    ),
    Format(
        name="jsonl",
        description="one JSON object per line: an event, or a session with its events",
        recognises=lambda sample: sample.begins_object,
        read=partial(read, kind="json lines"),
        endings=(".jsonl", ".ndjson"),
    ),
    Format(
        name="parquet",
        description="Parquet with one row per event",
        recognises=lambda sample: is_parquet(sample.start),
        read=partial(read, kind="Parquet"),
        endings=(".parquet",),
        is_binary=True,
    ),
    Format(
        name="arrow",
        description="Arrow (also called Feather) with one row per event",
        recognises=lambda sample: is_arrow(sample.start),
        read=partial(read, kind="Arrow"),
        endings=(".arrow", ".feather"),
        is_binary=True,
    ),
)
