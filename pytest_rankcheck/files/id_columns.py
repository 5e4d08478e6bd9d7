"""Columns of ids: Python's own strings, text in a columnar engine, or whole numbers.

An id is text. A whole number spells an id in one way, without leading zeros, so a column of them is
kept as numbers. A column that a columnar engine has read stays there. Objects are made only for the
ids that are needed.

Two columns are joined, or the duplicates of one found, with a single sort of 64-bit numbers: the
upper bits are a hash of group and id, the lower ones the number of the row. Equal hashes nearly
always mean equal ids; the caller compares the ids, which is cheap, for the pairs that are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice
from operator import ne
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.array_types import BoolArray, IntArray

if TYPE_CHECKING:
    import polars as pl


_MOST_DIGITS = 4000
"""Python refuses to convert longer numbers to text or back."""
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
    """Ids as Python strings, as in dicts and lists."""

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
class RunIds(IdColumn):
    """Ids as Python strings; each run of rows with the same id is held once."""

    ids: Sequence[str]
    starts: IntArray
    """``[R + 1]`` where each run begins, and where the last one ends; neighbours differ."""

    def __len__(self) -> int:
        return int(self.starts[-1])

    def texts(self, rows: IntArray | None = None) -> list[str]:
        """Return the ids of some rows, or of all."""
        rows = np.arange(len(self)) if rows is None else rows
        runs = np.searchsorted(self.starts, rows, "right") - 1
        return [*map(self.ids.__getitem__, runs.tolist())]

    def part(self, start: int, end: int) -> RunIds:
        """Return the rows from ``start`` to before ``end``."""
        first = int(np.searchsorted(self.starts, start, "right")) - 1
        last = int(np.searchsorted(self.starts, end))
        starts = self.starts[first : last + 1] - start
        starts[0], starts[-1] = 0, min(starts[-1], end - start)
        return RunIds(self.ids[first:last], starts)

    def reordered(self, rows: IntArray) -> HeldIds:  # type: ignore[override]
        """Return these rows, in this order."""
        return HeldIds(self.texts(rows))


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


_TAIL = 1024
KeyArray = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_BY_30, _BY_27, _BY_31 = np.uint64(30), np.uint64(27), np.uint64(31)


def run_starts(column: IdColumn) -> IntArray:
    """Return the rows whose id differs from that of the row before, from row 0 on."""
    if not len(column):
        return np.zeros(0, np.int64)
    if isinstance(column, RunIds):
        return column.starts[:-1]
    if isinstance(column, NumberIds):
        changes = np.not_equal(column.ids[1:], column.ids[:-1])
    elif isinstance(column, TextIds):
        changes = (column.ids[1:] != column.ids[:-1]).to_numpy()
    else:
        return np.array(starts_of_runs(column.ids), np.int64)
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def starts_of_runs(values: Sequence[Any]) -> list[int]:
    """Return the rows whose value differs from that of the row before, from row 0 on."""
    changes = compress(range(1, len(values)), map(ne, values, islice(values, 1, None)))
    return [0, *changes] if values else []


def starts_of(lengths: Sequence[int] | IntArray) -> IntArray:
    """Return where each run of rows begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def counts_of(is_counted: BoolArray, starts: IntArray) -> IntArray:
    """Return how many of these rows each group has, whose rows begin at ``starts``."""
    return np.diff(np.searchsorted(np.flatnonzero(is_counted), starts))


def row_blocks(starts: IntArray, rows: int) -> Iterator[tuple[int, int]]:
    """Yield the first group of each block of about this many rows, and the first one after it.

    Args:
        starts: where the rows of each group begin, and where the last ones end.
        rows: the size; a block has more only if it is a single group.
    """
    first, count = 0, len(starts) - 1
    while first < count:
        last = int(np.searchsorted(starts, starts[first] + rows, "right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


def rows_of_groups(starts: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of some groups, one group after the other, and where those of each begin.

    Args:
        starts: where the rows of each group begin, and where the last ones end.
        groups: the groups; -1 for one without rows.
    """
    lengths = np.where(groups < 0, 0, starts[groups + 1] - starts[groups])
    begins = starts_of(lengths)
    return np.arange(begins[-1]) + np.repeat(starts[groups] - begins[:-1], lengths), begins


def falling_ids(column: IdColumn, rows: IntArray, starts: IntArray) -> IntArray:
    """Return some rows sorted by falling id within each group.

    UTF-8 sorts as Python's texts do.

    Args:
        column: ids.
        rows: rows of the column, grouped.
        starts: where the rows of each group begin, and where the last ones end.
    """
    texts = column.texts(rows)
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    data = np.frombuffer(joined + bytes(9), np.uint8)
    ends = np.flatnonzero(data[:-8] == 0)
    if len(ends) > len(texts):  # a text contains the separator used here
        groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        falling = sorted(range(len(texts)), key=texts.__getitem__, reverse=True)
        return np.array(sorted(falling, key=groups.__getitem__))
    order, at, places = (np.arange(len(rows)) for _ in range(3))
    begins = np.append(0, ends + 1)
    words = np.ndarray(len(data) - 7, ">u8", data, strides=(1,))
    done = 0
    while len(at):  # each turn compares more bytes of the rows that are still equal
        bits = len(starts).bit_length()
        groups = np.repeat(np.arange(len(starts) - 1, dtype=np.uint64), np.diff(starts))
        keys = ~words[begins[at] + done].astype(np.uint64) >> np.uint64(bits)
        keys |= groups << np.uint64(64 - bits)
        by_key = np.argsort(keys)
        at, keys = at[by_key], keys[by_key]
        order[places] = at
        done += (64 - bits) // 8
        is_same = np.zeros(len(at) + 1, dtype=np.bool_)
        is_same[1:-1] = keys[1:] == keys[:-1]
        alike = np.flatnonzero(is_same[:-1] | is_same[1:])
        alike = alike[begins[at[alike]] + done <= ends[at[alike]]]
        starts = np.append(np.flatnonzero(~is_same[alike]), len(alike))
        at, places = at[alike], places[alike]
    return order


def last_run_start(column: IdColumn) -> int:
    """Return the first of the last rows that all have the same id; 0 for an empty column."""
    count, tail = len(column), _TAIL
    while tail < count:
        begins = run_starts(column.part(count - tail, count))
        if len(begins) > 1:
            return count - tail + int(begins[-1])
        tail *= 4
    return int(run_starts(column)[-1]) if count else 0


def joined_ids(columns: Sequence[IdColumn]) -> IdColumn:
    """Return columns of ids joined one after the other, in their form if all have the same."""
    if len(columns) == 1:
        return columns[0]
    numbers = [column.ids for column in columns if isinstance(column, NumberIds)]
    if columns and len(numbers) == len(columns):
        return NumberIds(np.concatenate(numbers))
    texts = [column.ids for column in columns if isinstance(column, TextIds)]
    if columns and len(texts) == len(columns):
        import polars as pl

        return TextIds(pl.concat(texts))
    runs = [column for column in columns if isinstance(column, RunIds)]
    if columns and len(runs) == len(columns):
        ids = list(chain.from_iterable(column.ids for column in runs))
        starts = starts_of(np.concatenate([np.diff(column.starts) for column in runs]))
        kept = starts_of_runs(ids)  # a run may continue in the next column
        return RunIds([ids[run] for run in kept], np.append(starts[kept], starts[-1]))
    held = list[str]()
    for column in columns:
        held += column.ids if isinstance(column, HeldIds) else column.texts()
    return HeldIds(held)


def keys_of(column: TextIds | NumberIds) -> KeyArray:
    """Return a hash of each id. Equal ids of columns of one type have equal keys."""
    if isinstance(column, NumberIds):
        return _mixed(column.ids.astype(np.uint64))
    keys: KeyArray = column.ids.hash().to_numpy()
    return keys


def _mixed(numbers: KeyArray) -> KeyArray:
    """Return numbers whose upper bits depend on all bits (the last steps of SplitMix64).

    Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
    """
    with np.errstate(over="ignore"):
        mixed = (numbers + _GOLDEN).astype(np.uint64)
        mixed = (mixed ^ (mixed >> _BY_30)) * _FIRST
        mixed = (mixed ^ (mixed >> _BY_27)) * _SECOND
    return mixed ^ (mixed >> _BY_31)


def rows_with_equal_keys(keys: KeyArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Return pairs of rows of one group with equal keys, the lower row first.

    For k such rows, k - 1 pairs chain each to the next. A pair may also consist of two ids, or of
    two groups, that share a hash by chance.

    Args:
        keys: the key of each row.
        groups: the group of each row, such as its query, from 0.
    """
    bits = np.uint64(max(len(keys) - 1, 1).bit_length())
    of_group = _mixed(np.arange(groups.max(initial=0) + 1, dtype=np.uint64))
    packed = (keys ^ of_group[groups]) >> bits << bits
    packed |= np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    at = np.flatnonzero((packed[1:] ^ packed[:-1]) >> bits == 0)
    rows = packed & ((np.uint64(1) << bits) - np.uint64(1))
    return rows[at].astype(np.int64), rows[at + 1].astype(np.int64)


def same_ids(
    first: TextIds | NumberIds,
    first_rows: IntArray,
    second: TextIds | NumberIds,
    second_rows: IntArray,
) -> BoolArray:
    """Return whether the ids of each pair of rows are equal; the columns have one type."""
    if isinstance(first, NumberIds) and isinstance(second, NumberIds):
        return np.equal(first.ids[first_rows], second.ids[second_rows])
    assert isinstance(first, TextIds)
    assert isinstance(second, TextIds)
    if not len(first_rows):
        return np.zeros(0, np.bool_)
    same = first.ids.gather(first_rows) == second.ids.gather(second_rows)
    found: BoolArray = same.fill_null(False).to_numpy()
    return found


def have_equal_ids(first: IdColumn, second: IdColumn) -> bool:
    """Return whether two columns of equal length certainly have equal ids, row by row.

    Also False if they are held in different forms.
    """
    if isinstance(first, NumberIds) and isinstance(second, NumberIds):
        return np.array_equal(first.ids, second.ids)
    if not isinstance(first, TextIds) or not isinstance(second, TextIds):
        return False
    some = np.arange(min(len(first), 1))
    return first.texts(some) == second.texts(some) and first.ids.equals(second.ids)
