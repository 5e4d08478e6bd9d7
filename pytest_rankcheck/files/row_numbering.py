"""How messages name the lines of a file, or the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import quoted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Numbering"]


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
        label = (
            "" if self.labels is None else f" (index label {quoted(self.labels[number - 1], 40)})"
        )
        return f"{self.source}, row {number}{label}"
