"""Reading and writing Parquet files with polars (the extra ``[fast]``)."""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import RankcheckError, install_hint, quoted
from pytest_rankcheck.files.packed_files import failures_named
from pytest_rankcheck.files.whole_files import write_whole

if TYPE_CHECKING:
    import polars as pl

__all__ = ["is_parquet", "require_polars", "scan_of", "write_table"]

_MAGIC = b"PAR1"
"""The first bytes of every Parquet file; binary data follows."""


def is_parquet(start: bytes) -> bool:
    """Whether a file that starts with these bytes is a Parquet file."""
    return start.startswith(_MAGIC) and not start[4:5].decode("latin-1").strip().isprintable()


def require_polars(path: Path, error: type[RankcheckError]) -> None:
    """Check that polars is installed.

    Raises:
        error: it is missing; the message says what to install.
    """
    if find_spec("polars") is None:
        raise error(
            f"{path} is a Parquet file; reading and writing it needs polars: {install_hint('fast')}"
        )


def scan_of(path: Path, error: type[RankcheckError]) -> tuple[pl.LazyFrame, pl.Schema]:
    """Return a lazy scan of a Parquet file, and its columns.

    Raises:
        error: polars is not installed, or the file is not a complete Parquet file.
    """
    require_polars(path, error)
    import polars as pl

    with failures_named(path, error), path.open("rb"):
        pass
    try:
        table = pl.scan_parquet(path)
        return table, table.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as failure:
        raise error(f"{path}: cannot be read as Parquet: {quoted(failure, 300)}") from None


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table to a file atomically."""
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    write_whole(path, buffer.getvalue())
