"""Columns of pandas DataFrames. No other module of this folder imports pandas."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.files.id_columns import NumberIds
from pytest_rankcheck.files.table_columns import (
    CellColumn,
    CodedCells,
    Column,
    IdCells,
    ListCells,
    MomentCells,
    NumberCells,
)

if TYPE_CHECKING:
    from pytest_rankcheck.files.polars_columns import PolarsColumn

__all__ = ["PandasColumn"]

_LARGEST = np.iinfo(np.int64).max
_MANY = 10_000
"""From this number of rows on, text is handed to polars; importing it costs 0.1 s."""


@dataclass(frozen=True, slots=True)
class PandasColumn:
    """A column of a pandas DataFrame."""

    series: pd.Series[Any]

    @property
    def kind(self) -> str:
        """The type of the column in pandas."""
        return str(self.series.dtype)

    def __len__(self) -> int:
        return len(self.series)

    def ids(self) -> IdCells:
        """Return the column as ids."""
        series, kind = self.series, self.series.dtype
        if isinstance(kind, pd.CategoricalDtype):
            return self._categories_as_ids()
        if pd.api.types.is_integer_dtype(kind) and not (series > _LARGEST).any():
            missing: IntArray = np.flatnonzero(series.isna().to_numpy())
            filled = series.fillna(0) if len(missing) else series
            return IdCells(NumberIds(filled.to_numpy(dtype=np.int64)), missing)
        return self._other().ids()

    def _categories_as_ids(self) -> IdCells:
        codes = self.series.cat.codes.to_numpy().astype(np.int64)
        categories = CellColumn(self.series.cat.categories.tolist()).ids()
        is_invalid = np.zeros(len(categories.ids) + 1, dtype=bool)
        is_invalid[categories.invalid] = True
        is_invalid[-1] = True  # the code -1, of a missing cell
        if not len(categories.ids):
            return IdCells(categories.ids, np.arange(len(self)))
        invalid: IntArray = np.flatnonzero(is_invalid[codes])
        return IdCells(categories.ids.reordered(np.maximum(codes, 0)), invalid)

    def numbers(self) -> NumberCells:
        """Return the column as numbers."""
        kind = self.series.dtype
        is_number = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
        if not is_number or kind.kind not in "iuf":
            return self._other().numbers()
        return NumberCells.of(self.series.to_numpy(dtype=np.float64, na_value=np.nan))

    def coded(self) -> CodedCells:
        """Return the distinct cells, and which one each row has."""
        if self.series.dtype == object or len(self) < _MANY:
            return CellColumn(self.cells()).coded()
        codes, distinct = pd.factorize(self.series, use_na_sentinel=False)
        return CodedCells(distinct.tolist(), codes.astype(np.int64))

    def moments(self) -> MomentCells | None:
        """Return the column as points in time; None if its type is another."""
        kind = self.series.dtype
        is_zoned = isinstance(kind, pd.DatetimeTZDtype)
        if (not is_zoned and kind.kind != "M") or isinstance(kind, pd.ArrowDtype):
            return None
        plain = self.series.dt.tz_convert("UTC").dt.tz_localize(None) if is_zoned else self.series
        times = plain.to_numpy()
        if times.dtype == np.dtype("M8[ns]"):
            count = (times.astype(np.int64) + 500) // 1000
        else:
            count = times.astype("M8[us]").astype(np.int64)
        return MomentCells(count, np.isnat(times), is_zoned)

    def lists(self) -> ListCells | None:
        """Return the column as lists; None if it has other cells."""
        return CellColumn(self.cells()).lists() if self.series.dtype == object else None

    def cells(self) -> Sequence[object]:
        """Return the cells as Python values."""
        cells: list[object] = self.series.tolist()
        return cells

    def cell(self, row: int) -> object:
        """Return the cell of a row."""
        return self.series.iloc[row : row + 1].tolist()[0]

    def _other(self) -> Column:
        """Return the column in the form that converts it fastest."""
        return self._in_polars() or CellColumn(self.cells())

    def _in_polars(self) -> PolarsColumn | None:
        """Return a column of text that Arrow holds, which polars takes as it is; otherwise None."""
        kind = self.series.dtype
        is_arrow = isinstance(kind, pd.StringDtype) and kind.storage == "pyarrow"
        if not is_arrow or not ("polars" in sys.modules or len(self) >= _MANY):
            return None
        if find_spec("polars") is None:
            return None
        import polars as pl
        import pyarrow as pa

        from pytest_rankcheck.files.polars_columns import PolarsColumn

        texts = pl.from_arrow(pa.chunked_array(pa.array(self.series.array)))
        assert isinstance(texts, pl.Series)
        return PolarsColumn(texts)
