"""A table that is being read, in batches of columns.

A column is read by its role: as ids, as numbers, as a few values, or as plain cells.
"""

from __future__ import annotations

import gc
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import RankcheckError, listed
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn, NumberIds
from pytest_rankcheck.files.plain_values import finite_number, id_text, is_blank
from pytest_rankcheck.files.text_files import JoinedNumbering, Numbering

NO_ROWS: IntArray = np.zeros(0, dtype=np.int64)
_NEVER_EQUAL = frozenset({str, int, type(None)})
"""Types whose values never equal a value of another of these types."""


class IdCells(NamedTuple):
    """A column read as ids: text and whole numbers are ids."""

    ids: IdColumn
    """``[N]``; the value of an invalid row means nothing."""
    invalid: IntArray
    """The rows without an id, in order: empty cells, floats, booleans, lists and the like."""


class NumberCells(NamedTuple):
    """A column read as numbers, by the rules of `finite_number`."""

    values: FloatArray
    """``[N]``; NaN where a cell is empty or invalid. The array may belong to the table; do not
    change it."""
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
    """The type of the column in its library, for messages; empty if each cell has its own."""

    def __init__(self, values: Sequence[object]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[object]:
        return iter(self.cells())

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
        """Return a column that numpy converts by our rules; None if it has any other cell."""
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


BATCH_ROWS = 1 << 18
"""How many rows of a Parquet file or a frame a batch has, unless the caller says otherwise."""
TEXT_ROWS = 1 << 14
"""How many rows that were read one by one a batch has."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a table."""

    header: Sequence[str]
    """The column names of the table; in JSON lines, later batches may have more."""
    numbers: Sequence[int]
    """The number of each row, for messages: its line in the file, or its row from 1."""
    column: Callable[[int], Column]
    """Returns the column with an index in the header; it fails if the column was not requested."""

    def __len__(self) -> int:
        return len(self.numbers)

    def row_numbers(self) -> IntArray:
        """Return the numbers in an array."""
        if isinstance(self.numbers, range):  # numpy would iterate over these
            return np.arange(self.numbers.start, self.numbers.stop)
        return np.array(self.numbers, np.int64)

    def rows(self) -> Iterator[tuple[int, tuple[object, ...]]]:
        """Yield each row with its number, as Python values."""
        columns = [self.column(index).cells() for index in range(len(self.header))]
        return zip(self.numbers, zip(*columns, strict=True), strict=True)


def batches_of_rows(
    header: Sequence[str], rows: Iterator[tuple[int, list[str]]]
) -> Iterator[Batch]:
    """Yield numbered rows in batches of columns."""
    while some := list(islice(rows, TEXT_ROWS)):
        numbers, cells = zip(*some, strict=True)
        yield Batch(header, numbers, partial(_column, list(zip(*cells, strict=True))))


def _column(columns: Sequence[Sequence[str]], index: int) -> Column:
    return Column(columns[index])


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is being read."""

    header: list[str]
    """The column names."""
    numbering: Numbering
    """How messages name its rows."""
    _read: Callable[[Sequence[int], int], Iterator[Batch]]

    def batches(
        self, columns: Sequence[int] | None = None, rows: int | None = None
    ) -> Iterator[Batch]:
        """Yield the rows in batches, in the order of the table. They can be read once.

        Args:
            columns: the indexes of the columns that will be used; None for all. Others are
                not loaded from Parquet files.
            rows: how many rows of a Parquet file or a frame are in memory at a time; None for some
                100,000. Text files have smaller batches.

        Raises:
            RankcheckError: the file is damaged, or a row of a text file is malformed; the message
                names file and line.
        """
        wanted = range(len(self.header)) if columns is None else columns
        return self._read(wanted, rows or BATCH_ROWS)


def joined_tables(
    tables: Sequence[tuple[Path, Table]], error: type[RankcheckError], name: str
) -> Table:
    """Return the rows of several files as one table.

    Args:
        tables: the files, and each as a table.
        error: the exception type to raise.
        name: what messages call all files together.

    Raises:
        error: two files have different columns.
    """
    first, model = tables[0]
    for path, table in tables[1:]:
        if table.header != model.header:
            raise error(
                f"the parts {first} and {path} have different columns: "
                f"{listed(model.header, 10)}; {listed(table.header, 10)}. Write all parts with the "
                "same columns, in the same order"
            )
    numbering = JoinedNumbering(name, model.numbering.is_table)

    def read(wanted: Sequence[int], rows: int) -> Iterator[Batch]:
        before = 0
        numbering.parts.clear()
        for _, table in tables:
            numbering.parts.append((before, table.numbering))
            last = 0
            for batch in table.batches(wanted, rows):
                last = max([last, *batch.numbers[-1:]])
                yield replace(batch, numbers=_shifted(batch.numbers, before))
            before += last

    return Table(list(model.header), numbering, read)


def _shifted(numbers: Sequence[int], by: int) -> Sequence[int]:
    if isinstance(numbers, range):
        return range(numbers.start + by, numbers.stop + by)
    return [number + by for number in numbers]


_MANY_OBJECTS = 10_000


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collection of reference cycles.

    Reading a file creates many small objects and no cycles. Each collection would traverse every
    object that the caller holds, and find nothing. If many objects were made meanwhile, they are
    marked as old, so that the next collection of new ones does not traverse them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > _MANY_OBJECTS and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
