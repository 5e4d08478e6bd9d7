"""Columns of polars. Only modules that have found polars installed import this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.files.id_columns import NumberIds, TextIds
from pytest_rankcheck.files.table_columns import (
    CellColumn,
    CodedCells,
    Column,
    IdCells,
    ListCells,
    MomentCells,
    NumberCells,
)

__all__ = ["PolarsColumn", "in_polars"]

_TEXTS = (pl.String, pl.Categorical, pl.Enum)
_FIT_64_BITS = (pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt32, pl.UInt16, pl.UInt8)


@dataclass(frozen=True, slots=True)
class PolarsColumn:
    """A column of polars."""

    series: pl.Series

    @property
    def kind(self) -> str:
        """The type of the column in polars."""
        return str(self.series.dtype)

    def __len__(self) -> int:
        return len(self.series)

    def ids(self) -> IdCells:
        """Return the column as ids."""
        series, kind = self.series, self.series.dtype
        if kind == pl.Object:
            return CellColumn(self.cells()).ids()
        if kind in _TEXTS:
            texts = series.cast(pl.String)
            missing = texts.is_null() | (texts == "")
            invalid = missing.arg_true().to_numpy().astype(np.int64)
            return IdCells(TextIds(texts.fill_null("") if len(invalid) else texts), invalid)
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
        if kind == pl.Null:
            return NumberCells(np.full(len(self), np.nan), np.zeros(0, dtype=np.int64))
        if kind.is_integer() or kind.is_float():
            return NumberCells.of(self.series.cast(pl.Float64).to_numpy())
        return CellColumn(self.cells()).numbers()

    def _numbers_of_texts(self) -> NumberCells:
        """Return texts as numbers; those that polars does not convert are converted one by one."""
        texts = self.series.cast(pl.String)
        numbers = texts.cast(pl.Float64, strict=False)
        is_odd = (numbers.is_null() | ~numbers.is_finite()) & texts.is_not_null() & (texts != "")
        values: FloatArray = numbers.to_numpy()
        odd = is_odd.fill_null(value=False).arg_true().to_numpy().astype(np.int64)
        if not len(odd):
            return NumberCells(values, odd)
        others = CellColumn(texts.gather(odd).to_list()).numbers()
        values = values.copy()
        values[odd] = others.values
        return NumberCells(values, odd[others.invalid])

    def coded(self) -> CodedCells:
        """Return the distinct cells, and which one each row has."""
        series = self.series
        is_number = series.dtype.is_numeric() and not series.dtype.is_decimal()
        if series.dtype in _TEXTS or is_number or series.dtype == pl.Boolean:
            distinct = series.unique(maintain_order=True)
            if series.dtype == pl.String and not distinct.null_count():
                codes = series.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64)
            else:
                places = pl.Series(np.arange(len(distinct), dtype=np.int64))
                codes = series.replace_strict(distinct, places, return_dtype=pl.Int64)
            return CodedCells(PolarsColumn(distinct).cells(), codes.to_numpy())
        return CellColumn(self.cells()).coded()

    def moments(self) -> MomentCells | None:
        """Return the column as points in time; None if its type is another."""
        kind = self.series.dtype
        if not isinstance(kind, pl.Datetime):
            return None
        missing = self.series.is_null().to_numpy()
        count: IntArray = self.series.to_physical().fill_null(0).to_numpy()
        if kind.time_unit != "us":  # by numpy, because polars panics beyond its years
            count = count // 1000 if kind.time_unit == "ns" else count * 1000
        return MomentCells(count, missing, kind.time_zone is not None)

    def lists(self) -> ListCells | None:
        """Return the column as lists; None if its type is another."""
        if not isinstance(self.series.dtype, pl.List):
            return None
        lengths = self.series.list.len().cast(pl.Int64).fill_null(-1).to_numpy()
        items = self.series.filter(self.series.list.len() > 0).explode()
        return ListCells(lengths, PolarsColumn(items))

    def cells(self) -> Sequence[object]:
        """Return the cells as Python values.

        Times outside the years that Python knows become the text of their number.
        """
        series = self.series
        try:
            cells: list[object] = series.to_list()
        except BaseException as failure:
            _require_failure(failure)
            physical = series.to_physical()
            cells = [_cell(series, physical, row) for row in range(len(series))]
        return cells

    def cell(self, row: int) -> object:
        """Return the cell of a row."""
        return PolarsColumn(self.series[row : row + 1]).cells()[0]


def in_polars(column: Column) -> Column:
    """Return a column of texts in polars, which codes many of them faster; others as they are.

    Polars cannot hold lone surrogates.
    """
    try:
        texts = pl.Series(column.cells(), dtype=pl.String, strict=True)
    except (TypeError, UnicodeEncodeError, pl.exceptions.PolarsError):
        return column
    return PolarsColumn(texts)


def _cell(series: pl.Series, physical: pl.Series, row: int) -> object:
    try:
        return series[row]
    except BaseException as failure:
        _require_failure(failure)
        return str(physical[row])


def _require_failure(failure: BaseException) -> None:
    """Raise a failure again that is not about a value: an interruption from outside.

    The panics of polars are no Exceptions.
    """
    if not isinstance(failure, Exception) and type(failure).__name__ != "PanicException":
        raise failure
