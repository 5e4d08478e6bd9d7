"""Frames as tables: of pandas, of polars, and of Arrow, which polars takes without copying."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_rankcheck.argument_kinds import library_of_frame
from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.table_columns import CellColumn, Column

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    Frame: TypeAlias = (
        pd.DataFrame
        | pl.DataFrame
        | pl.LazyFrame
        | pa.Table
        | pa.RecordBatch
        | pa.RecordBatchReader
    )

__all__ = ["table_of_frame"]


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
    library = library_of_frame(frame)
    readers = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}
    if library is None:
        raise error(
            f"{name}: a {type(frame).__name__} is not a table; give a DataFrame of pandas or "
            "polars, or a Table of pyarrow"
        )
    return readers[library](frame, error, name)


def _of_pandas(frame: Any, error: type[RankcheckError], name: str) -> Table:
    header = [str(column) for column in frame.columns]

    def read(wanted: Sequence[int], rows: int) -> Iterator[Batch]:
        from pytest_rankcheck.files.pandas_columns import PandasColumn

        def column(part: Any, index: int) -> Column:
            return PandasColumn(part.iloc[:, index])

        for start in range(0, len(frame), rows):
            part = frame.iloc[start : start + rows]
            numbers = range(start + 1, start + len(part) + 1)
            yield Batch(header, numbers, partial(column, part))

    return Table(header, Numbering(name, is_table=True, labels=frame.index), read)


def _of_polars(frame: Any, error: type[RankcheckError], name: str) -> Table:
    from pytest_rankcheck.files.parquet_files import failures_of_polars
    from pytest_rankcheck.files.polars_batches import batches_of_frames

    with failures_of_polars(name, error, "cannot be read"):
        header = frame.lazy().collect_schema().names()

    def read(wanted: Sequence[int], rows: int) -> Iterator[Batch]:
        with failures_of_polars(name, error, "cannot be read"):
            chosen = frame.lazy().select([header[index] for index in wanted]).collect()
        return batches_of_frames([chosen], header, wanted, rows)

    return Table(header, Numbering(name, is_table=True), read)


def _of_arrow(frame: Any, error: type[RankcheckError], name: str) -> Table:
    import pyarrow as pa

    header = list(frame.schema.names)
    is_reader = isinstance(frame, pa.RecordBatchReader)

    def parts(wanted: Sequence[int]) -> Iterator[Any]:
        for part in frame if is_reader else [frame]:
            yield pa.table([part.column(index) for index in wanted], [str(i) for i in wanted])

    def read(wanted: Sequence[int], rows: int) -> Iterator[Batch]:
        if find_spec("polars") is None:
            return _batches_of_cells(parts(wanted), header, wanted, rows)
        from pytest_rankcheck.files.polars_batches import batches_of_frames, frames_of_arrow

        frames = frames_of_arrow(parts(wanted), name, error)
        return batches_of_frames(frames, header, wanted, rows)

    return Table(header, Numbering(name, is_table=True), read)


def _batches_of_cells(
    parts: Iterable[Any], header: Sequence[str], wanted: Sequence[int], rows: int
) -> Iterator[Batch]:
    """Yield the rows of tables of Arrow as Python values, without polars."""
    number = 0
    for part in parts:
        for start in range(0, part.num_rows, rows):
            some = part.slice(start, rows)

            def column(index: int, some: Any = some) -> Column:
                return CellColumn(some.column(str(index)).to_pylist())

            numbers = range(number + start + 1, number + start + some.num_rows + 1)
            yield Batch(header, numbers, column)
        number += part.num_rows
