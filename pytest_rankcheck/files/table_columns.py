"""A column of a table, read by its role: as ids, as numbers, as a few values, or as plain cells."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn, NumberIds
from pytest_rankcheck.files.plain_values import finite_number, id_text, is_blank

NO_ROWS: IntArray = np.zeros(0, dtype=np.int64)
_NEVER_EQUAL = frozenset({str, int, type(None)})
"""Types whose values never equal a value of another of them."""


class IdCells(NamedTuple):
    """A column read as ids: text and whole numbers are ids."""

    ids: IdColumn
    """``[N]``; the value of an invalid row means nothing."""
    invalid: IntArray
    """The rows without an id, in order: empty cells, floats, booleans, lists and all the rest."""


class NumberCells(NamedTuple):
    """A column read as numbers, by the rules of `finite_number`."""

    values: FloatArray
    """``[N]``; NaN where a cell is empty or invalid. Perhaps the table's own: do not change it."""
    invalid: IntArray
    """The rows, in order, that are neither empty nor a finite number."""

    @classmethod
    def of(cls, values: FloatArray) -> NumberCells:
        """Return numbers as cells; infinite ones are invalid."""
        invalid: IntArray = np.flatnonzero(np.isinf(values))
        if len(invalid):
            values = values.copy()
            values[invalid] = np.nan
        return cls(values, invalid)


class CodedCells(NamedTuple):
    """A column of few distinct values."""

    values: Sequence[object]
    """The distinct cells; 1 and "1" differ, and lists may repeat."""
    codes: IntArray
    """``[N]`` the index of each cell among them."""


class MomentCells(NamedTuple):
    """A column of points in time."""

    microseconds: IntArray
    """``[N]`` since 1970, in UTC or in local time."""
    is_missing: BoolArray
    """``[N]``; the value of such a row means nothing."""
    is_zoned: bool


class ListCells(NamedTuple):
    """A column of lists."""

    lengths: IntArray
    """``[N]``; -1 where there is no list."""
    items: Column
    """The cells of all lists, one after the other."""


class Column:
    """A column of some rows of a table, in Python's own values."""

    kind = ""
    """The type of the column in its library, for messages; empty: each cell has its own."""

    def __init__(self, values: Sequence[object]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def ids(self) -> IdCells:
        """Return the column as ids."""
        cells = self.values
        kinds = set(map(type, cells))
        if kinds <= {str} and "" not in cells:
            return IdCells(HeldIds(cells), NO_ROWS)  # type: ignore[arg-type]
        if kinds == {int}:
            try:
                return IdCells(NumberIds(np.array(cells, dtype=np.int64)), NO_ROWS)
            except OverflowError:
                pass
        texts = [id_text(cell) for cell in cells]
        invalid = [row for row, text in enumerate(texts) if text is None]
        return IdCells(HeldIds([text or "" for text in texts]), np.array(invalid, dtype=np.int64))

    def numbers(self) -> NumberCells:
        """Return the column as numbers."""
        values = self._usual_numbers()
        if values is None:
            values = np.array([_number(cell) for cell in self.values], dtype=np.float64)
        return NumberCells.of(values)

    def _usual_numbers(self) -> FloatArray | None:
        """Return a column that numpy converts by our rules; None if there is another cell."""
        kinds, cells = set(map(type, self.values)), self.values
        try:
            if kinds <= {int, float, type(None)}:
                return np.array(cells, dtype=np.float64)  # None becomes NaN
            if kinds == {str} and "_" not in "".join(cells):  # type: ignore[arg-type]
                values: FloatArray = np.array(list(map(float, cells)))  # type: ignore[arg-type]
                return values if np.isfinite(values).all() else None
        except (OverflowError, ValueError):
            pass
        return None

    def coded(self) -> CodedCells:
        """Return the distinct cells, and which one each row has."""
        if set(map(type, self.values)) <= _NEVER_EQUAL:
            known = new_codes()
            codes = np.fromiter(map(known.__getitem__, self.values), np.int64, len(self.values))
            return CodedCells(list(known), codes)
        places: dict[object, int] = {}
        values: list[object] = []
        found = []
        for cell in self.values:
            try:
                code = places.setdefault((type(cell), cell), len(values))
            except TypeError:  # a list is not hashable
                code = len(values)
            if code == len(values):
                values.append(cell)
            found.append(code)
        return CodedCells(values, np.array(found, dtype=np.int64))

    def moments(self) -> MomentCells | None:
        """Return the column as points in time; None if its type is another."""
        return None  # Python's own times may be of several kinds

    def lists(self) -> ListCells | None:
        """Return the column as lists; None if its type is another."""
        return None  # Python's own lists may have items of several types

    def cells(self) -> Sequence[object]:
        """Return the cells."""
        return self.values

    def cell(self, row: int) -> object:
        """Return the cell of a row."""
        return self.values[row]


def new_codes() -> defaultdict[Any, int]:
    """Return a dict that gives each new key the next number, from 0."""
    return defaultdict(count().__next__)


def _number(cell: object) -> float:
    """Return a number; NaN for an empty cell, and infinity for one that is not a number."""
    if is_blank(cell):
        return math.nan
    number = finite_number(cell)
    return math.inf if number is None else number
