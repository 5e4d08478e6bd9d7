"""Parquet with one row per judgment, as in the comma-separated tables. Extra ``[fast]``.

Ids may be text or whole numbers; attributes and features keep their types.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.parquet_files import is_parquet, require_polars, scan_of, write_table
from pytest_rankcheck.golden.format_limits import refuse_expectations
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.judgment_columns import (
    Row,
    add_table,
    only_judgments,
    table_of_contents,
)
from pytest_rankcheck.golden.source_places import Numbering

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMAT"]

_BATCH_ROWS = 1 << 18


def read(source: Source) -> Contents:
    """Read a golden set.

    Raises:
        GoldenSetError: polars is not installed, the file is not a Parquet file, a column is
            missing, or a row is malformed or contradicts another; the message names the row.
    """
    table, columns = scan_of(source.file, GoldenSetError)
    contents = Contents(source)
    contents.places.numbering = Numbering(str(source.file), is_table=True)
    header = columns.names()
    batches = _batches(table, source.file)
    judgments = only_judgments(contents, header)
    if judgments is None:
        add_table(contents, header, chain.from_iterable(_rows(*batch) for batch in batches))
        return contents
    for start, batch in batches:
        if not _add_at_once(contents, start, batch, judgments):
            add_table(contents, header, _rows(start, batch))
    return contents


def _batches(table: pl.LazyFrame, path: Path) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield batches of rows, each with the number of its first row."""
    import polars as pl

    start = 1
    try:
        while (batch := table.slice(start - 1, _BATCH_ROWS).collect()).height:
            yield start, batch
            start += batch.height
    except (pl.exceptions.PolarsError, OSError) as failure:
        raise GoldenSetError(f"{path}: cannot be read: {quoted(failure, 300)}") from None


def _rows(start: int, batch: pl.DataFrame) -> Iterator[Row]:
    return enumerate(batch.iter_rows(), start=start)


def _add_at_once(
    contents: Contents, start: int, batch: pl.DataFrame, columns: tuple[str, str, str]
) -> bool:
    """Add rows without empty cells, consecutive rows of a query at once; False if impossible.

    Only columns whose values have one form as text can be added: the result does not depend on
    whether it is possible.
    """
    import polars as pl

    texts = (pl.String, pl.Categorical, pl.Enum)
    query_kind, doc_kind, grade_kind = (batch.schema[column] for column in columns)
    are_ids = all(kind in texts or kind.is_integer() for kind in (query_kind, doc_kind))
    if not are_ids or not (grade_kind in texts or grade_kind.is_numeric()):
        return False
    if grade_kind == pl.Float32:
        batch = batch.with_columns(pl.col(columns[2]).cast(pl.Float64))  # as Python widens it
    queries, docs, grades = (batch[column].cast(pl.String) for column in columns)
    if any(column.null_count() or (column == "").any() for column in (queries, docs, grades)):
        return False
    doc_ids, values = docs.to_list(), grades.to_list()
    row = 0
    for run in queries.rle().to_list():
        end = row + run["len"]
        for index in range(row, end):
            contents.add_judgment(run["value"], doc_ids[index], values[index], start + index)
        row = end
    return True


def write(contents: Contents, path: Path) -> None:
    """Write a golden set.

    Raises:
        GoldenSetError: polars is not installed, an attribute has the name of a column or values
            of several types, or the set has expectations.
    """
    require_polars(path, GoldenSetError)
    import polars as pl

    refuse_expectations(contents, "parquet")
    header, rows = table_of_contents(contents)
    try:
        table = pl.DataFrame(list(rows), schema=header, orient="row", infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as failure:
        raise GoldenSetError(
            f"the set cannot be written as a table: {quoted(failure, 300)}; give each attribute "
            "values of one type, or save as jsonl"
        ) from None
    write_table(table, path)


def _recognises(sample: FileSample) -> bool:
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
