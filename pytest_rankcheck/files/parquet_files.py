"""Parquet and Arrow files, which polars (the extra ``[fast]``) or else pyarrow reads and writes."""

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
    import pyarrow as pa


_PARQUET = b"PAR1"
_ARROW = b"ARROW1\0\0"


def is_parquet(start: bytes) -> bool:
    """Whether a file that starts with these bytes is a Parquet file: binary data follows."""
    return start.startswith(_PARQUET) and not start[4:5].decode("latin-1").strip().isprintable()


def is_arrow(start: bytes) -> bool:
    """Whether a file that starts with these bytes is an Arrow IPC file, also called Feather."""
    return start.startswith(_ARROW)


def require_library(path: Path, error: type[RankcheckError], kind: str = "Parquet") -> None:
    """Check that polars or pyarrow is installed.

    Raises:
        error: both are missing; the message says what to install.
    """
    if find_spec("polars") is None and find_spec("pyarrow") is None:
        article = "an" if kind[0] in "AEIOU" else "a"
        raise error(
            f"{path} is {article} {kind} file; reading and writing it needs polars or pyarrow: "
            f"{install('fast')}"
        )


def library_errors() -> tuple[type[Exception], ...]:
    """Return the errors with which polars or pyarrow refuse to read or write a table."""
    usual = (OSError, ValueError, TypeError, OverflowError, MemoryError)
    if find_spec("polars") is not None:
        import polars as pl

        return (*usual, pl.exceptions.PolarsError)
    import pyarrow as pa

    return (*usual, pa.ArrowException)


@contextmanager
def failures_of_library(where: str, error: type[RankcheckError], what: str) -> Iterator[None]:
    """Turn any failure of polars or pyarrow into ``error``, a panic of polars included.

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
        error: the file is not a complete file of this kind, or has no columns.
    """
    import polars as pl

    source = _source(path, error, kind)
    with failures_of_library(str(path), error, f"cannot be read as {kind}"):
        table = pl.scan_parquet(source) if kind == "Parquet" else pl.scan_ipc(source)
        columns = table.collect_schema()
    if not columns:
        raise error(f"{path}: the {kind} file has no columns")
    return table, columns


def arrow_table(path: Path, error: type[RankcheckError], kind: str) -> pa.Table:
    """Return a Parquet or Arrow file as a table of pyarrow, whole in memory.

    Raises:
        error: the file is not a complete file of this kind.
    """
    source = _source(path, error, kind)  # refuses the file where no library is installed
    from pyarrow import feather, parquet

    with failures_of_library(str(path), error, f"cannot be read as {kind}"):
        read = parquet.read_table if kind == "Parquet" else feather.read_table
        return read(source)


def _source(path: Path, error: type[RankcheckError], kind: str) -> Path | io.BytesIO:
    """Return what to read: the file, or its content unpacked into memory.

    Raises:
        error: the file cannot be opened, or no library is installed.
    """
    with failures_named(path, error):
        is_in_pack = is_packed(path)  # refuses a pipe, with or without a library
    require_library(path, error, kind)
    with failures_named(path, error), opened(path) as file:
        return io.BytesIO(file.read()) if is_in_pack else path


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
    buffer = io.BytesIO()
    if find_spec("polars") is not None:
        import polars as pl

        table = pl.DataFrame(rows, schema=header, orient="row", infer_schema_length=None)
        table.write_parquet(buffer)
        return buffer.getvalue()
    import pyarrow as pa
    from pyarrow import parquet

    columns = [[row[index] for row in rows] for index in range(len(header))]
    parquet.write_table(pa.table(columns, names=header), buffer)
    return buffer.getvalue()
