"""Frames as tables: of pandas, polars and Arrow; and Parquet files, which polars reads."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pytest_rankcheck.argument_checks import library_of_frame
from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.packed_files import failures_named, opened
from pytest_rankcheck.files.table_batches import Batch, Column, Table
from pytest_rankcheck.files.text_files import Numbering
from pytest_rankcheck.remedies import install

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    Frame: TypeAlias = (
        pd.DataFrame
        | pl.DataFrame
        | pl.LazyFrame
        | pa.Table
        | pa.RecordBatch
        | pa.RecordBatchReader
    )


_PARQUET = b"PAR1"
_MANY = 10_000
"""With at least this many rows, columns are handed to polars; importing it costs 0.1 s."""


def table_of_frame(frame: object, error: type[RankcheckError], name: str) -> Table:
    """Return a frame as a table.

    Args:
        frame: a DataFrame of pandas, a DataFrame or LazyFrame of polars, or a Table, RecordBatch
            or RecordBatchReader of pyarrow.
        error: the exception type to raise.
        name: what messages call it.

    Raises:
        error: the value is something else, or polars cannot read it.
    """
    readers = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}
    library = library_of_frame(frame)
    if library is None:
        raise error(
            f"{name}: a {type(frame).__name__} is not a table; give a DataFrame of pandas or "
            "polars, or a Table of pyarrow"
        )
    return readers[library](frame, error, name)


def _of_pandas(frame: pd.DataFrame, error: type[RankcheckError], name: str) -> Table:
    header = [str(column) for column in frame.columns]

    def read(wanted: Sequence[int], rows: int) -> Iterator[Batch]:
        for start in range(0, len(frame), rows):
            part = frame.iloc[start : start + rows]
            numbers = range(start + 1, start + len(part) + 1)
            yield Batch(header, numbers, cache(lambda at, part=part: _of_series(part.iloc[:, at])))

    return Table(header, Numbering(name, is_table=True), read)


def _of_series(series: pd.Series[Any]) -> Column:
    """Return a column in polars if it has many rows and polars takes them unchanged."""
    import pandas as pd

    kind = series.dtype
    is_numpy = isinstance(kind, np.dtype) and kind.kind in "iufM"
    is_arrow = isinstance(kind, pd.StringDtype) and kind.storage == "pyarrow"
    is_many = "polars" in sys.modules or len(series) >= _MANY
    if not (is_numpy or is_arrow) or not is_many or find_spec("polars") is None:
        return Column(series.tolist())
    import polars as pl

    from pytest_rankcheck.files.polars_columns import PolarsColumn

    if is_numpy:
        return PolarsColumn(pl.Series(series.to_numpy()))
    import pyarrow as pa

    texts = pl.from_arrow(pa.chunked_array(pa.array(series.array)))
    assert isinstance(texts, pl.Series)
    return PolarsColumn(texts)


def _of_polars(frame: Any, error: type[RankcheckError], name: str) -> Table:
    with failures_of_library(name, error, "cannot be read"):
        header = frame.lazy().collect_schema().names()

    def read(wanted: Sequence[int], rows: int) -> Iterator[Batch]:
        from pytest_rankcheck.files.polars_columns import batches_of_frames

        with failures_of_library(name, error, "cannot be read"):
            names = [header[index] for index in wanted]
            chosen = frame.lazy().select(names).collect()
        return batches_of_frames([chosen], header, wanted, rows)

    return Table(header, Numbering(name, is_table=True), read)


def _of_arrow(frame: Any, error: type[RankcheckError], name: str) -> Table:
    import pyarrow as pa

    header = list(frame.schema.names)
    has_polars = find_spec("polars") is not None
    parts = frame if isinstance(frame, pa.RecordBatchReader) else [frame]

    def column(part: Any, index: int) -> Column:
        cells = part.column(index)
        if not has_polars:
            return Column(cells.to_pylist())
        import polars as pl

        from pytest_rankcheck.files.polars_columns import PolarsColumn

        with failures_of_library(name, error, "cannot be read"):
            series = pl.from_arrow(cells)  # without copying, where the types agree
        assert isinstance(series, pl.Series)
        return PolarsColumn(series)

    def read(_: object, rows: int) -> Iterator[Batch]:
        number = 0
        for part in parts:
            for start in range(0, part.num_rows, rows):
                some = part.slice(start, rows)
                numbers = range(number + 1, number + some.num_rows + 1)
                yield Batch(header, numbers, cache(partial(column, some)))
                number += some.num_rows

    return Table(header, Numbering(name, is_table=True), read)


def frame_of_columns(columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> pd.DataFrame:
    """Return a DataFrame of columns of equal length, whose texts may hold any character.

    The texts of pandas 3 cannot hold lone surrogates, which JSON can. With one, the columns have
    Python objects instead.
    """
    import pandas as pd

    try:
        return pd.DataFrame(columns)
    except UnicodeEncodeError:
        objects = {name: pd.Series(cells, dtype=object) for name, cells in columns.items()}
        return pd.DataFrame(objects)


def is_parquet(start: bytes) -> bool:
    """Whether a file that starts with these bytes is a Parquet file: binary data follows."""
    return start.startswith(_PARQUET) and not start[4:5].decode("latin-1").strip().isprintable()


def require_library(path: Path, error: type[RankcheckError]) -> None:
    """Check that polars is installed.

    Raises:
        error: it is missing; the message says what to install.
    """
    if find_spec("polars") is None:
        raise error(
            f"{path} is a Parquet file; reading and writing it needs polars: {install('fast')}"
        )


@contextmanager
def failures_of_library(where: str, error: type[RankcheckError], what: str) -> Iterator[None]:
    """Turn any failure of polars into ``error``, a panic of polars included.

    Args:
        where: the file, for the message.
        error: the exception type to raise.
        what: what failed, such as "cannot be read".
    """
    import polars as pl

    usual = (OSError, ValueError, TypeError, OverflowError, MemoryError, pl.exceptions.PolarsError)
    try:
        yield
    except usual as failure:
        raise error(f"{where}: {what}: {quoted(failure, 300)}") from None
    except BaseException as failure:
        if type(failure).__name__ != "PanicException":  # a BaseException
            raise
        raise error(f"{where}: {what}: the file is damaged ({quoted(failure, 300)})") from None


def scan_of(path: Path, error: type[RankcheckError]) -> tuple[pl.LazyFrame, pl.Schema]:
    """Return a lazy scan of a Parquet file by polars, and its columns.

    Raises:
        error: the file cannot be opened, is not a complete Parquet file, or has no columns; or
            polars is not installed.
    """
    with failures_named(path, error), opened(path):
        pass  # refuses a pipe, with or without polars
    require_library(path, error)
    import polars as pl

    with failures_of_library(str(path), error, "cannot be read as Parquet"):
        table = pl.scan_parquet(path)
        columns = table.collect_schema()
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
