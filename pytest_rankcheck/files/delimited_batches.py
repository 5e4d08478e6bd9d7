"""The rows of a delimited table in batches: large tables by polars, others by the csv module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.delimited_tables import DelimitedTable
from pytest_rankcheck.files.large_files import polars_should_read
from pytest_rankcheck.files.table_batches import Batch, batches_of_rows

__all__ = ["delimited_batches"]


def delimited_batches(
    path: Path, table: DelimitedTable, error: type[RankcheckError]
) -> Iterator[Batch]:
    """Yield the rows of a table.

    Raises:
        error: as in `table_of`.
    """
    is_plain = len(table.header) > 1 and table.delimiter.isascii() and not table.is_spaced
    if is_plain and polars_should_read(path):
        from pytest_rankcheck.files.delimited_blocks import Blocks

        return Blocks(path, table, error).batches()
    return batches_of_rows(table.header, table.rows)
