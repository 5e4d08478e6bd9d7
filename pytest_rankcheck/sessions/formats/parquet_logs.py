"""Parquet with one row per event, as in the tables. Extra ``[fast]``."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.errors import SessionLogError, quoted
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.parquet_files import is_parquet, scan_of
from pytest_rankcheck.golden.source_places import Numbering
from pytest_rankcheck.sessions.log_problems import LogSource, NumberedRow

__all__ = ["FORMAT"]

_BATCH_ROWS = 1 << 16


def read(source: LogSource) -> Iterator[NumberedRow]:
    """Yield the rows, numbered from 1; a few ten thousand are in memory at a time.

    Raises:
        SessionLogError: polars is not installed, or the file is not a Parquet file.
    """
    table, _ = scan_of(source.path, SessionLogError)
    import polars as pl

    source.problems.numbering = Numbering(str(source.path), is_table=True)
    start = 1
    try:
        while (batch := table.slice(start - 1, _BATCH_ROWS).collect()).height:
            yield from enumerate(batch.iter_rows(named=True), start=start)
            start += batch.height
    except (pl.exceptions.PolarsError, OSError) as failure:
        raise SessionLogError(f"{source.path}: cannot be read: {quoted(failure, 300)}") from None


def _recognises(sample: FileSample) -> bool:
    return is_parquet(sample.start)


FORMAT = Format(
    name="parquet",
    description="Parquet with one row per event",
    recognises=_recognises,
    read=read,
    endings=(".parquet",),
    is_binary=True,
)
