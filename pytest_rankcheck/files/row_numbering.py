"""How messages name the lines of a file, or the rows of a table."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import quoted

if TYPE_CHECKING:
    import pandas as pd


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
