"""Parquet and Arrow with one row per judgment, as in the separated tables. Extra ``[fast]``.

Ids may be text or whole numbers; attributes and features keep their types.
"""

from __future__ import annotations

from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.parquet_files import is_arrow, is_parquet, require_polars, write_table
from pytest_rankcheck.golden.format_limits import refuse_expectations
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source

__all__ = ["FORMATS"]


def read(source: Source) -> Contents:
    """Read a golden set.

    Raises:
        GoldenSetError: polars is not installed, the file is damaged, a column is missing, or a row
            is malformed or contradicts another; the message names the row.
    """
    from pytest_rankcheck.files.tables import read_table
    from pytest_rankcheck.golden.judgment_table import add_table

    contents = Contents(source)
    add_table(contents, read_table(source.file, GoldenSetError))
    return contents


def write(contents: Contents, path: Path) -> None:
    """Write a golden set.

    Raises:
        GoldenSetError: polars is not installed, an attribute has the name of a column or values
            of several types, or the set has expectations.
    """
    require_polars(path, GoldenSetError)
    import polars as pl

    from pytest_rankcheck.golden.contents_table import table_of_contents

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


def _is_parquet(sample: FileSample) -> bool:
    return is_parquet(sample.start)


def _is_arrow(sample: FileSample) -> bool:
    return is_arrow(sample.start)


FORMATS = (
    Format(
        name="parquet",
        description="Parquet with the columns query_id, doc_id and relevance",
        recognises=_is_parquet,
        read=read,
        write=write,
        endings=(".parquet", ".pq"),
        is_binary=True,
    ),
    Format(
        name="arrow",
        description="Arrow IPC or Feather with the same columns",
        recognises=_is_arrow,
        read=read,
        is_binary=True,
    ),
)
