"""Comma- or tab-separated tables with a header and one row per event."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pytest_rankcheck.errors import SessionLogError
from pytest_rankcheck.files.delimited_tables import table_of
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.sessions.log_problems import LogSource, NumberedRow

__all__ = ["FORMATS"]


def read(source: LogSource) -> Iterator[NumberedRow]:
    """Yield the rows of a table, with their lines; rows of the wrong length become problems."""

    def note(number: int, problem: str) -> None:
        source.problems.add(number, None, "broken row", problem)

    table = table_of(source.path, SessionLogError, on_broken=note)
    header = table.header
    for number, row in table.rows:
        yield number, dict(zip(header, row, strict=True))


def _recognises(sample: FileSample, delimiter: str) -> bool:
    is_json = sample.line.lstrip().startswith(("{", "["))
    return not is_json and len(sample.header) > 1 and ("\t" in sample.line) == (delimiter == "\t")


FORMATS = (
    Format(
        name="csv",
        description="comma-separated with a header such as session_id,event,time,query,results,"
        "selected; map other names with columns=...",
        recognises=partial(_recognises, delimiter=","),
        read=read,
        endings=(".csv",),
        is_vague=True,
    ),
    Format(
        name="tsv",
        description="the same, separated by tabs",
        recognises=partial(_recognises, delimiter="\t"),
        read=read,
        endings=(".tsv",),
        is_vague=True,
    ),
)
