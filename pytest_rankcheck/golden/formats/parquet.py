"""Parquet with a row a judgment, as in the comma-separated tables. Extra ``[fast]``.

Ids may be text or whole numbers; attributes and features keep their types.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.formats import Format, Sample
from pytest_rankcheck.files.parquet import is_parquet, require_polars, scan_of, write_table
from pytest_rankcheck.golden.content import Contents
from pytest_rankcheck.golden.source import Source
from pytest_rankcheck.golden.tables import Row, add_table, table_of_contents

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMAT"]

_BATCH_ROWS = 1 << 18


def read(source: Source) -> Contents:
    """Read a golden set.

    Raises:
        GoldenSetError: polars is not installed, the file is no Parquet file, a column is missing,
            or a row is malformed or contradicts another; the row is named.
    """
    table, columns = scan_of(source.file, GoldenSetError)
    contents = Contents(source)
    contents.places.before_number = ", row "
    add_table(contents, columns.names(), _rows(table, source.file))
    return contents


def _rows(table: pl.LazyFrame, path: Path) -> Iterator[Row]:
    """Yield the rows with their numbers from 0, some of them in memory at a time."""
    import polars as pl

    start = 0
    try:
        while (batch := table.slice(start, _BATCH_ROWS).collect()).height:
            yield from enumerate(batch.iter_rows(), start=start)
            start += batch.height
    except (pl.exceptions.PolarsError, OSError) as failure:
        raise GoldenSetError(f"{path}: cannot be read: {quoted(failure, 300)}") from None


def write(contents: Contents, path: Path) -> None:
    """Write a golden set.

    Raises:
        GoldenSetError: polars is not installed, or an attribute has the name of a column or values
            of several types.
    """
    require_polars(path, GoldenSetError)
    import polars as pl

    header, rows = table_of_contents(contents)
    try:
        table = pl.DataFrame(list(rows), schema=header, orient="row", infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as failure:
        raise GoldenSetError(
            f"the set cannot be a table: {quoted(failure, 300)}; an attribute has values of one "
            "type, or save as jsonl"
        ) from None
    write_table(table, path)


def _recognises(sample: Sample) -> bool:
    return is_parquet(sample.start)


FORMAT = Format(
    name="parquet",
    description="Parquet with the columns query_id, doc_id and relevance",
    recognises=_recognises,
    read=read,
    write=write,
    endings=(".parquet", ".pq"),
    is_binary=True,
)
