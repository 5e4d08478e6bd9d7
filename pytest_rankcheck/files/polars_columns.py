"""Columns of polars, frames of them in batches, and large text files that polars reads in blocks.

Polars reads a block of a table if it finds the same cells as the row reader: each line has as many
cells as the header, and quotation marks occur only around cells and doubled within. In JSON lines
it would drop duplicate or new keys, and turn some values into text. So it reads only blocks whose
lines a pattern recognises as flat objects with the keys and types of the first ones. The row reader
reads any other block, and names the wrong line. Only modules that have found polars installed
import this one.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.delimited_tables import DelimitedTable
from pytest_rankcheck.files.id_columns import NumberIds, TextIds
from pytest_rankcheck.files.table_batches import (
    NO_ROWS,
    Batch,
    CodedCells,
    Column,
    IdCells,
    ListCells,
    MomentCells,
    NumberCells,
    batches_of_rows,
)
from pytest_rankcheck.files.text_files import blocks_of_lines, line_count, lines_of_block

_TEXTS = (pl.String, pl.Categorical, pl.Enum)
_FIT_64_BITS = (pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt32, pl.UInt16, pl.UInt8)


class PolarsColumn(Column):
    """A column of polars."""

    def __init__(self, series: pl.Series) -> None:
        self.series = series
        self.kind = str(series.dtype)

    @property
    def values(self) -> Sequence[object]:  # type: ignore[override]
        """The cells as Python values.

        If one is a time outside the years that Python knows, all become the text of their number.
        """
        try:
            cells: list[object] = self.series.to_list()
        except (Exception, pl.exceptions.PanicException):
            cells = self.series.to_physical().cast(pl.String).to_list()
        return cells

    def __len__(self) -> int:
        return len(self.series)

    def ids(self) -> IdCells:
        """Return the column as ids."""
        series, kind = self.series, self.series.dtype
        if kind == pl.Object:
            return super().ids()
        if kind in _TEXTS:
            texts = series.cast(pl.String)
            if not texts.null_count() and not (texts == "").any():
                return IdCells(TextIds(texts), NO_ROWS)
            filled = texts.fill_null("")
            return IdCells(TextIds(filled), np.flatnonzero((filled == "").to_numpy()))
        if not kind.is_integer():
            return IdCells(NumberIds(np.zeros(len(self), dtype=np.int64)), np.arange(len(self)))
        invalid = series.is_null().arg_true().to_numpy().astype(np.int64)
        filled = series.fill_null(0) if len(invalid) else series
        if kind not in _FIT_64_BITS:
            return IdCells(TextIds(filled.cast(pl.String)), invalid)
        return IdCells(NumberIds(filled.to_numpy().astype(np.int64, copy=False)), invalid)

    def numbers(self) -> NumberCells:
        """Return the column as numbers."""
        kind = self.series.dtype
        if kind in _TEXTS:
            return self._numbers_of_texts()
        if kind == pl.Null or kind.is_integer() or kind.is_float():
            return NumberCells.of(self.series.cast(pl.Float64).to_numpy())
        return super().numbers()

    def _numbers_of_texts(self) -> NumberCells:
        """Return texts as numbers; those that polars does not convert are converted one by one."""
        texts = self.series.cast(pl.String)
        numbers = texts.cast(pl.Float64, strict=False)
        is_odd = (numbers.is_null() | ~numbers.is_finite()) & texts.is_not_null() & (texts != "")
        values: FloatArray = numbers.to_numpy()
        odd = is_odd.fill_null(value=False).arg_true().to_numpy().astype(np.int64)
        if not len(odd):
            return NumberCells(values, odd)
        others = Column(texts.gather(odd).to_list()).numbers()
        values = values.copy()
        values[odd] = others.values
        return NumberCells(values, odd[others.invalid])

    def coded(self) -> CodedCells:
        """Return the distinct cells, and the index of each row's cell among them."""
        series = self.series
        is_number = series.dtype.is_numeric() and not series.dtype.is_decimal()
        if series.dtype in _TEXTS or is_number or series.dtype == pl.Boolean:
            distinct = series.unique(maintain_order=True)
            places = pl.Series(np.arange(len(distinct), dtype=np.int64))
            codes = series.replace_strict(distinct, places, return_dtype=pl.Int64)
            return CodedCells(PolarsColumn(distinct).cells(), codes.to_numpy())
        return super().coded()

    def moments(self) -> MomentCells | None:
        """Return the column as points in time; None if it has another type."""
        kind = self.series.dtype
        if not isinstance(kind, pl.Datetime):
            return None
        missing = self.series.is_null().to_numpy()
        count: IntArray = self.series.to_physical().fill_null(0).to_numpy()
        if kind.time_unit != "us":  # by numpy, because polars panics beyond its years
            count = count // 1000 if kind.time_unit == "ns" else count * 1000
        return MomentCells(count, missing, kind.time_zone is not None)

    def lists(self) -> ListCells | None:
        """Return the column as lists; None if it has another type."""
        if not isinstance(self.series.dtype, pl.List):
            return None
        lengths = self.series.list.len().cast(pl.Int64).fill_null(-1).to_numpy()
        items = self.series.filter(self.series.list.len() > 0).explode()
        return ListCells(lengths, PolarsColumn(items))

    def cell(self, row: int) -> object:
        """Return the cell of a row."""
        return PolarsColumn(self.series[row : row + 1]).values[0]


def frame_of_lines(
    text: bytes,
    separator: str,
    count: int,
    *,
    quote: str | None = None,
    wanted: Sequence[int] | None = None,
    numbers: Collection[int] = (),
) -> pl.DataFrame | None:
    """Return lines of this many cells in columns; None if polars finds more in a line.

    The columns in ``numbers`` hold numbers, all others text. Without ``wanted``, all are returned.
    """
    schema = {str(at): pl.Float64() if at in numbers else pl.String() for at in range(count)}
    try:
        return pl.read_csv(
            text,
            has_header=False,
            separator=separator,
            quote_char=quote,
            schema=schema,
            columns=None if wanted is None else list(wanted),
        )
    except pl.exceptions.PolarsError:
        return None


def batches_of_frames(
    frames: Iterable[pl.DataFrame], header: Sequence[str], wanted: Sequence[int], rows: int
) -> Iterator[Batch]:
    """Yield the rows of frames that consist of the wanted columns, some at a time."""
    places = {index: place for place, index in enumerate(wanted)}
    number = 0
    for frame in frames:
        for part in frame.iter_slices(rows):
            numbers = range(number + 1, number + part.height + 1)
            yield Batch(header, numbers, partial(_column, part, places))
            number += part.height


def _column(frame: pl.DataFrame, places: dict[int, int], index: int) -> PolarsColumn:
    return PolarsColumn(frame.to_series(places[index]))


_BLOCK = 8 << 20
_TEXT = r'"(?:[^"\\\x00-\x1f]|\\[/bfnrt]|\\u[0-9a-cefA-CEF][0-9a-fA-F]{3})*"'
"""No escaped quotation marks, because quotation marks show where keys are, and no surrogates."""
_VALUES: Mapping[pl.DataType, str] = {
    pl.Null(): "null",
    pl.String(): _TEXT,
    pl.Int64(): "-?(?:0|[1-9][0-9]{0,17})",
    pl.Float64(): r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?",
    pl.Boolean(): "true|false",
    pl.List(pl.String()): rf"\[(?:{_TEXT}(?:, ?{_TEXT})*)?\]",
}
"""The pattern of the values in each type of column."""
_ROW = "row of the block\n"
"""It cannot be the name of a column, because no pattern matches a line end in a key."""


def batches_of_blocks(
    path: Path, table: DelimitedTable, error: type[RankcheckError]
) -> Iterator[Batch]:
    """Yield the rows of a file as columns of polars.

    Raises:
        error: as in `table_of`.
    """
    blocks = blocks_of_lines(path, error, _BLOCK)
    for first, block in blocks:
        number = max(first, table.body)
        text = block.split(b"\n", number - first)[-1]
        frame = _frame_of(text, table)
        if frame is not None:
            numbers = range(number, number + frame.height)
            yield Batch(table.header, numbers, partial(_texts, frame))
            continue
        # A quoted cell may continue in the next block.
        rest = blocks if b'"' in text else iter(())
        lines = (lines_of_block(path, *each, error) for each in chain([(number, text)], rest))
        yield from batches_of_rows(table.header, table.rows_of(chain.from_iterable(lines)))


def _texts(frame: pl.DataFrame, index: int) -> PolarsColumn:
    return PolarsColumn(frame.to_series(index).fill_null(""))


def _frame_of(block: bytes, table: DelimitedTable) -> pl.DataFrame | None:
    """Return a block in columns; None if polars might find other cells than the row reader."""
    text = block.replace(b"\r\n", b"\n")
    separator = table.separator
    count = len(table.header)
    if count < 2 or len(separator) > 1:
        return None
    if b"\r" in text or b"\0" in text or text.startswith(codecs.BOM_UTF8):
        return None
    quote, lines = '"' if b'"' in text else None, line_count(text)
    # Polars refuses lines with too many cells, so none has too few if all together are right.
    is_regular = text.count(separator.encode()) == lines * (count - 1)
    if quote:
        is_regular = _have_whole_cells(text, separator, count)
    frame = frame_of_lines(text, separator, count, quote=quote) if is_regular else None
    return frame if frame is not None and frame.height == lines else None


def _have_whole_cells(text: bytes, separator: str, count: int) -> bool:
    """Whether each line has this many cells, each plain or quoted."""
    between = f"\\x{ord(separator):02x}"  # may have a meaning in the pattern
    cell = rf'(?:[^"{between}]*|"(?:[^"]|"")*")'
    lines = pl.Series([text.decode(errors="replace").removesuffix("\n")]).str.split("\n").explode()
    return bool(lines.str.contains(f"^{cell}(?:{between}{cell}){{{count - 1}}}$").all())


def layouts_of_block(first: int, block: bytes) -> list[Batch] | None:
    """Return lines in batches with the same keys, in the order of their first rows.

    Args:
        first: the number of the first line.
        block: complete lines.

    Returns:
        The batches; None if polars might find other values than the row reader.
    """
    try:
        lines = pl.Series([block.decode().removesuffix("\n")]).str.split("\n").explode()
        frame = pl.read_ndjson(io.BytesIO(block))
        is_ordinary = lines.str.contains(_pattern(frame.schema))
        has = {key: lines.str.contains(f'"{key}":', literal=True) for key in frame.columns}
        keys = pl.DataFrame(has)
        is_once = lines.str.count_matches('":', literal=True) == keys.sum_horizontal()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, LookupError, ValueError):
        return None
    if (is_ordinary & is_once).all():
        return list(_layouts(first, frame, keys))
    return None


def _pattern(schema: pl.Schema) -> str:
    cells = [f'"{re.escape(key)}": ?(?:null|{_VALUES[kind]})' for key, kind in schema.items()]
    cell = f"(?:{'|'.join(cells)})"
    return rf"^\{{{cell}(?:, ?{cell})*\}}$"


def _layouts(first: int, frame: pl.DataFrame, keys: pl.DataFrame) -> Iterator[Batch]:
    for has, part in keys.with_row_index(_ROW).group_by(keys.columns, maintain_order=True):
        rows = part[_ROW]
        header = [key for key, is_there in zip(keys.columns, has, strict=True) if is_there]
        columns = [PolarsColumn(cells) for cells in frame[header][rows]]
        yield Batch(header, (rows + first).to_list(), columns.__getitem__)
