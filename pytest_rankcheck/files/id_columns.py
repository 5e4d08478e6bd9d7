"""Columns of ids: Python's own strings, text in a columnar engine, or whole numbers.

An id is text. Whole numbers spell ids in one way, without leading zeros, so a column of them is
kept as numbers; and a column that a columnar engine read stays there. An object is made only for
the ids that someone asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pytest_rankcheck.array_types import IntArray

if TYPE_CHECKING:
    import polars as pl


_MOST_DIGITS = 4000
"""Python refuses to convert longer numbers to text, or from it."""
_BEYOND = 1 << 63
"""The first whole number that does not fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class IdColumn:
    """A column of ids, none of them empty, in one of the forms below."""

    ids: Any

    def __len__(self) -> int:
        return len(self.ids)

    def texts(self, rows: IntArray | None = None) -> list[str]:
        """Return the ids of some rows, or of all, in a list that must not change."""
        raise NotImplementedError

    def part(self, start: int, end: int) -> Self:
        """Return the rows from ``start`` to before ``end``."""
        return type(self)(self.ids[start:end])

    def reordered(self, rows: IntArray) -> Self:
        """Return these rows, in this order."""
        return type(self)(self.ids[rows])


@dataclass(frozen=True, slots=True)
class HeldIds(IdColumn):
    """Ids as Python's strings, as dicts and lists have them."""

    ids: Sequence[str]

    def texts(self, rows: IntArray | None = None) -> list[str]:
        """Return the ids of some rows, or of all."""
        if rows is None:
            return self.ids if isinstance(self.ids, list) else list(self.ids)
        if len(rows) and (np.diff(rows) == 1).all():
            return list(self.ids[int(rows[0]) : int(rows[-1]) + 1])
        return [*map(self.ids.__getitem__, rows.tolist())]

    def reordered(self, rows: IntArray) -> Self:
        """Return these rows, in this order."""
        return type(self)(self.texts(rows))


@dataclass(frozen=True, slots=True)
class WordIds(IdColumn):
    """Ids in UTF-8, of which those are decoded that someone asks for: many rows have the same."""

    ids: list[bytes]

    def texts(self, rows: IntArray | None = None) -> list[str]:
        """Return the ids of some rows, or of all."""
        found = self if rows is None else self.reordered(rows)
        return list(map(bytes.decode, found.ids))

    def reordered(self, rows: IntArray) -> Self:
        """Return these rows, in this order."""
        return type(self)([*map(self.ids.__getitem__, rows.tolist())])


@dataclass(frozen=True, slots=True)
class TextIds(IdColumn):
    """Ids as a column of text in polars."""

    ids: pl.Series

    def texts(self, rows: IntArray | None = None) -> list[str]:
        """Return the ids of some rows, or of all."""
        found: list[str] = (self.ids if rows is None else self.ids.gather(rows)).to_list()
        return found

    def reordered(self, rows: IntArray) -> Self:
        """Return these rows, in this order."""
        return type(self)(self.ids.gather(rows))


@dataclass(frozen=True, slots=True)
class NumberIds(IdColumn):
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

    def texts(self, rows: IntArray | None = None) -> list[str]:
        """Return the ids of some rows, or of all."""
        return list(map(str, (self.ids if rows is None else self.ids[rows]).tolist()))


def numbered(column: IdColumn, known: dict[str, int]) -> IntArray:
    """Return a number for each id, ``[N]``: that of ``known``, to which new ids are added."""
    if isinstance(column, TextIds):
        texts = column.ids.unique(maintain_order=True)
        numbers = [known.setdefault(each, len(known)) for each in texts.to_list()]
        codes = column.ids.replace_strict(texts, numbers).to_numpy()
        return np.asarray(codes, dtype=np.int64)
    import pandas as pd

    ids = np.array(column.ids, dtype=object if isinstance(column, HeldIds) else np.int64)
    places, distinct = pd.factorize(ids)
    numbers = [known.setdefault(str(each), len(known)) for each in distinct.tolist()]
    return np.array(numbers, np.int64)[places]


def number_spelled(doc_id: str) -> int | None:
    """Return the whole number that spells exactly this id; None if none does."""
    digits = doc_id.removeprefix("-")
    if len(digits) > _MOST_DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    return None if digits[0] == "0" and doc_id != "0" else int(doc_id)
