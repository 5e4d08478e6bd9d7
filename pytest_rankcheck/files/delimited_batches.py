"""The rows of a delimited table in batches: large tables by polars, others by the csv module."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.delimited_tables import DelimitedTable
from pytest_rankcheck.files.packed_files import is_packed
from pytest_rankcheck.files.table_batches import Batch, batches_of_rows

__all__ = ["delimited_batches"]

LARGE_FILE = 4 << 20
"""From this size in bytes on, polars reads a file; importing it costs 0.1 s."""
_PACKING = 4
"""How much smaller a packed file is, at least."""


def delimited_batches(
    path: Path, table: DelimitedTable, error: type[RankcheckError]
) -> Iterator[Batch]:
    """Yield the rows of a table.

    Raises:
        error: as in `table_of`.
    """
    is_large = path.stat().st_size >= LARGE_FILE // (_PACKING if is_packed(path) else 1)
    is_plain = len(table.header) > 1 and table.delimiter.isascii() and not table.is_spaced
    if is_large and is_plain and find_spec("polars"):
        from pytest_rankcheck.files.delimited_blocks import Blocks

        return Blocks(path, table, error).batches()
    return batches_of_rows(table.header, table.rows)
