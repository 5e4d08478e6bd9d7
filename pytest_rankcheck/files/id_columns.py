"""Columns of ids: Python's own strings, text in a columnar engine, or whole numbers.

An id is text. Whole numbers spell ids in one way, without leading zeros, so a column of them is
kept as numbers; and a column that a columnar engine read stays there. An object is made only for
the ids that someone asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pytest_rankcheck.array_types import IntArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["HeldIds", "IdColumn", "NumberIds", "TextIds", "number_spelled"]

_MOST_DIGITS = 4000
"""Python refuses to convert longer numbers to text, or from it."""
_BEYOND = 1 << 63
"""The first whole number that does not fit into 64 bits."""


class IdColumn(Protocol):
    """A column of ids, none of them empty."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def texts(self, rows: IntArray | None = None) -> list[str]:
        """Return the ids of some rows, or of all."""

    def part(self, start: int, end: int) -> IdColumn:
        """Return the rows from ``start`` to before ``end``."""

    def reordered(self, rows: IntArray) -> IdColumn:
        """Return these rows, in this order."""


@dataclass(frozen=True, slots=True)
class HeldIds:
    """Ids as Python's strings, as dicts and lists have them."""

    ids: Sequence[str]

    def __len__(self) -> int:
        return len(self.ids)

    def texts(self, rows: IntArray | None = None) -> list[str]:
        """Return the ids of some rows, or of all."""
        return list(self.ids) if rows is None else [self.ids[row] for row in rows.tolist()]

    def part(self, start: int, end: int) -> HeldIds:
        """Return the rows from ``start`` to before ``end``."""
        return HeldIds(self.ids[start:end])

    def reordered(self, rows: IntArray) -> HeldIds:
        """Return these rows, in this order."""
        return HeldIds(self.texts(rows))


@dataclass(frozen=True, slots=True)
class TextIds:
    """Ids as a column of text in polars."""

    ids: pl.Series

    def __len__(self) -> int:
        return len(self.ids)

    def texts(self, rows: IntArray | None = None) -> list[str]:
        """Return the ids of some rows, or of all."""
        found: list[str] = (self.ids if rows is None else self.ids.gather(rows)).to_list()
        return found

    def part(self, start: int, end: int) -> TextIds:
        """Return the rows from ``start`` to before ``end``."""
        return TextIds(self.ids[start:end])

    def reordered(self, rows: IntArray) -> TextIds:
        """Return these rows, in this order."""
        return TextIds(self.ids.gather(rows))


@dataclass(frozen=True, slots=True)
class NumberIds:
    """Ids that are whole numbers of 64 bits; ``7`` is the id ``"7"``."""

    ids: IntArray

    @classmethod
    def among(cls, texts: Sequence[str]) -> tuple[NumberIds, IntArray]:
        """Return those ids that numbers of 64 bits spell, and their rows among the texts."""
        numbers = map(number_spelled, texts)
        found = {
            row: number
            for row, number in enumerate(numbers)
            if number is not None and -_BEYOND <= number < _BEYOND
        }
        rows = np.array(list(found), np.int64)
        return cls(np.array(list(found.values()), np.int64)), rows

    def __len__(self) -> int:
        return len(self.ids)

    def texts(self, rows: IntArray | None = None) -> list[str]:
        """Return the ids of some rows, or of all."""
        return list(map(str, (self.ids if rows is None else self.ids[rows]).tolist()))

    def part(self, start: int, end: int) -> NumberIds:
        """Return the rows from ``start`` to before ``end``."""
        return NumberIds(self.ids[start:end])

    def reordered(self, rows: IntArray) -> NumberIds:
        """Return these rows, in this order."""
        return NumberIds(self.ids[rows])


def number_spelled(doc_id: str) -> int | None:
    """Return the whole number that spells exactly this id; None if none does."""
    digits = doc_id.removeprefix("-")
    if len(digits) > _MOST_DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    return None if digits[0] == "0" and doc_id != "0" else int(doc_id)
