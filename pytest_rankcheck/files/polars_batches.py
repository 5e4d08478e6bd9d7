"""Tables that polars reads, in batches: Parquet and Arrow files, and frames in memory.

Polars fails in many ways on damaged files; each becomes an error that names the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import polars as pl

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.parquet_files import failures_of_polars
from pytest_rankcheck.files.polars_columns import PolarsColumn
from pytest_rankcheck.files.table_batches import Batch

__all__ = ["batches_of_frames", "batches_of_scan", "frames_of_arrow"]


def batches_of_scan(
    table: pl.LazyFrame,
    header: Sequence[str],
    wanted: Sequence[int],
    rows: int,
    *,
    where: str,
    error: type[RankcheckError],
) -> Iterator[Batch]:
    """Yield the rows of a scan of a file.

    Args:
        table: the scan.
        header: its column names.
        wanted: the indexes of the columns to load.
        rows: how many rows are in memory at a time.
        where: the file, for messages.
        error: the exception type to raise.

    Raises:
        error: the file is damaged.
    """
    chosen = table.select([header[index] for index in wanted])
    start = 0
    while True:
        with failures_of_polars(where, error, "cannot be read"):
            batch = chosen.slice(start, rows).collect()
        if not batch.height:
            return
        yield _batch(batch, header, wanted, start)
        start += batch.height
        if batch.height < rows:
            return


def batches_of_frames(
    frames: Iterable[pl.DataFrame], header: Sequence[str], wanted: Sequence[int], rows: int
) -> Iterator[Batch]:
    """Yield the rows of frames that consist of the wanted columns."""
    number = 0
    for frame in frames:
        for start in range(0, frame.height, rows):
            yield _batch(frame[start : start + rows], header, wanted, number + start)
        number += frame.height


def frames_of_arrow(
    parts: Iterable[object], name: str, error: type[RankcheckError]
) -> Iterator[pl.DataFrame]:
    """Yield tables of Arrow as frames of polars, without copying where their types agree.

    Raises:
        error: polars does not know a type.
    """
    for part in parts:
        with failures_of_polars(name, error, "cannot be read"):
            frame = pl.from_arrow(part)
        assert isinstance(frame, pl.DataFrame)
        yield frame


def _batch(frame: pl.DataFrame, header: Sequence[str], wanted: Sequence[int], start: int) -> Batch:
    places = {index: place for place, index in enumerate(wanted)}
    numbers = range(start + 1, start + frame.height + 1)
    return Batch(header, numbers, partial(_column, frame, places))


def _column(frame: pl.DataFrame, places: dict[int, int], index: int) -> PolarsColumn:
    return PolarsColumn(frame.to_series(places[index]))
