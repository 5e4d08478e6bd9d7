"""Parquet and Arrow files, which polars (the extra ``[fast]``) reads and writes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.packed_files import failures_named, is_packed, opened
from pytest_rankcheck.remedies import install

if TYPE_CHECKING:
    import polars as pl


_PARQUET = b"PAR1"
_ARROW = b"ARROW1\0\0"


def is_parquet(start: bytes) -> bool:
    """Whether a file that starts with these bytes is a Parquet file: binary data follows."""
    return start.startswith(_PARQUET) and not start[4:5].decode("latin-1").strip().isprintable()


def is_arrow(start: bytes) -> bool:
    """Whether a file that starts with these bytes is an Arrow IPC file, also called Feather."""
    return start.startswith(_ARROW)


def require_library(path: Path, error: type[RankcheckError], kind: str = "Parquet") -> None:
    """Check that polars is installed.

    Raises:
        error: it is missing; the message says what to install.
    """
    if find_spec("polars") is None:
        article = "an" if kind[0] in "AEIOU" else "a"
        raise error(
            f"{path} is {article} {kind} file; reading and writing it needs polars: "
            f"{install('fast')}"
        )


def library_errors() -> tuple[type[Exception], ...]:
    """Return the errors with which polars refuses to read or write a table."""
    import polars as pl

    usual = (OSError, ValueError, TypeError, OverflowError, MemoryError)
    return (*usual, pl.exceptions.PolarsError)


@contextmanager
def failures_of_library(where: str, error: type[RankcheckError], what: str) -> Iterator[None]:
    """Turn any failure of polars into ``error``, a panic of polars included.

    Args:
        where: the file, for the message.
        error: the exception type to raise.
        what: what failed, such as "cannot be read".
    """
    try:
        yield
    except library_errors() as failure:
        raise error(f"{where}: {what}: {quoted(failure, 300)}") from None
    except BaseException as failure:
        if type(failure).__name__ != "PanicException":  # a BaseException
            raise
        raise error(f"{where}: {what}: the file is damaged ({quoted(failure, 300)})") from None


def scan_of(
    path: Path, error: type[RankcheckError], kind: str = "Parquet"
) -> tuple[pl.LazyFrame, pl.Schema]:
    """Return a lazy scan of a Parquet or Arrow file by polars, and its columns.

    Raises:
        error: the file cannot be opened, is not a complete file of this kind, or has no columns; or
            polars is not installed.
    """
    with failures_named(path, error):
        is_in_pack = is_packed(path)  # refuses a pipe, with or without polars
    require_library(path, error, kind)
    import polars as pl

    with failures_named(path, error), opened(path) as file:
        source = io.BytesIO(file.read()) if is_in_pack else path
    with failures_of_library(str(path), error, f"cannot be read as {kind}"):
        table = pl.scan_parquet(source) if kind == "Parquet" else pl.scan_ipc(source)
        columns = table.collect_schema()
    if not columns:
        raise error(f"{path}: the {kind} file has no columns")
    return table, columns


def frames_of_scan(
    scan: pl.LazyFrame, rows: int, path: Path, error: type[RankcheckError]
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a scan, some at a time.

    Raises:
        error: the file is damaged.
    """
    start, height = 0, rows
    while height == rows:
        with failures_of_library(str(path), error, "cannot be read"):
            frame = scan.slice(start, rows).collect()
        yield frame
        start, height = start + rows, frame.height


def parquet_of(header: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """Return a table as the content of a Parquet file."""
    import polars as pl

    buffer = io.BytesIO()
    table = pl.DataFrame(rows, schema=header, orient="row", infer_schema_length=None)
    table.write_parquet(buffer)
    return buffer.getvalue()
