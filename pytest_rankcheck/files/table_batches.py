"""A table that is being read, in batches of columns, and how messages name its rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import quoted

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.files.table_columns import Column


BATCH_ROWS = 1 << 18
"""How many rows of a Parquet file or a frame a batch has, unless the caller asks for others."""
TEXT_ROWS = 1 << 14
"""How many rows that were read one by one a batch has."""


@dataclass(frozen=True, slots=True)
class Numbering:
    """How messages name the lines or rows of a source; both are counted from 1."""

    source: str
    is_table: bool = False
    """Whether it has rows (a DataFrame, a Parquet file), not lines."""
    labels: pd.Index[Any] | None = None
    """The index of a DataFrame."""

    @property
    def is_frame(self) -> bool:
        """Whether the source is a DataFrame."""
        return self.labels is not None

    @property
    def index_names(self) -> list[str]:
        """The names of the index of a DataFrame."""
        names = () if self.labels is None else self.labels.names
        return [str(name) for name in names if name is not None]

    def place(self, number: int) -> str:
        """Return a place as text: ``web.qrels:17`` or ``judgments, row 3 (index label 12)``."""
        if not self.is_table:
            return f"{self.source}:{number}"
        place = f"{self.source}, row {number}"
        if self.labels is None:
            return place
        return f"{place} (index label {quoted(self.labels[number - 1], 40)})"


@dataclass(frozen=True, slots=True)
class JoinedNumbering(Numbering):
    """Names the rows of several sources that are read one after the other."""

    parts: list[tuple[int, Numbering]] = field(default_factory=list)
    """The number of the last row before each source, ascending, and how its own are named."""
    empty: list[str] = field(default_factory=list)
    """The sources without any row, among those read so far."""

    def place(self, number: int) -> str:
        """Return a place as text, in the source that has the row."""
        index = bisect_right(self.parts, number - 1, key=lambda part: part[0]) - 1
        before, numbering = self.parts[index]
        return numbering.place(number - before)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a table."""

    header: Sequence[str]
    """The column names. Those of the table; in JSON lines, later batches may have more."""
    numbers: Sequence[int]
    """The number of each row, for messages: its line in the file, or its row from 1."""
    column: Callable[[int], Column]
    """Returns the column with an index in the header; an index that was not asked for fails."""

    def __len__(self) -> int:
        return len(self.numbers)

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
    from pytest_rankcheck.files.table_columns import Column  # with numpy

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
            columns: the indexes of the columns that will be asked for; None for all. Others are
                not loaded from Parquet and Arrow files.
            rows: how many rows of a Parquet file, an Arrow file or a frame are in memory at a
                time; None for some 100,000. Text files have smaller batches.

        Raises:
            RankcheckError: the file is damaged, or a row of a text file is malformed; the message
                names file and line.
        """
        wanted = range(len(self.header)) if columns is None else columns
        return self._read(wanted, rows or BATCH_ROWS)
