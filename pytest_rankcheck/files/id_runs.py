"""Rows of equal ids that follow each other, and columns of ids put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, compress, islice
from operator import ne
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn, NumberIds, TextIds

_TAIL = 1024


def run_starts(column: IdColumn) -> IntArray:
    """Return the rows whose id differs from that of the row before, from row 0 on."""
    if not len(column):
        return np.zeros(0, np.int64)
    if isinstance(column, NumberIds):
        changes = np.not_equal(column.ids[1:], column.ids[:-1])
    elif isinstance(column, TextIds):
        changes = (column.ids[1:] != column.ids[:-1]).to_numpy()
    else:
        return np.array(starts_of_runs(column.texts()), np.int64)
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def starts_of_runs(values: list[Any]) -> list[int]:
    """Return the rows whose value differs from that of the row before, from row 0 on."""
    changes = compress(range(1, len(values)), map(ne, values, islice(values, 1, None)))
    return [0, *changes] if values else []


def starts_of(lengths: Sequence[int] | IntArray | BoolArray) -> IntArray:
    """Return where each run of rows begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def row_blocks(starts: IntArray, rows: int) -> Iterator[tuple[int, int]]:
    """Yield the first group of each block of about so many rows, and the first one after it.

    Args:
        starts: where the rows of each group begin, and where the last ones end.
        rows: a block has more only if it is a single group.
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
        groups: -1 for one without rows.
    """
    lengths = np.where(groups < 0, 0, starts[groups + 1] - starts[groups])
    begins = starts_of(lengths)
    return np.arange(begins[-1]) + np.repeat(starts[groups] - begins[:-1], lengths), begins


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
    """Return columns of ids one after the other, in the form of the first if all have it."""
    if len(columns) == 1:
        return columns[0]
    numbers = [column.ids for column in columns if isinstance(column, NumberIds)]
    if columns and len(numbers) == len(columns):
        return NumberIds(np.concatenate(numbers))
    texts = [column.ids for column in columns if isinstance(column, TextIds)]
    if columns and len(texts) == len(columns):
        import polars as pl

        return TextIds(pl.concat(texts))
    held = (column.ids if isinstance(column, HeldIds) else column.texts() for column in columns)
    return HeldIds(list(chain.from_iterable(held)))
