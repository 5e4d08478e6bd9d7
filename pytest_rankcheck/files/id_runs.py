"""Rows of equal ids that follow each other, and columns of ids put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import ne

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn, NumberIds, TextIds

__all__ = ["joined_ids", "last_run_start", "row_blocks", "run_starts", "starts_of"]

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
        ids = column.texts()
        changes = np.fromiter(map(ne, ids[1:], ids), np.bool_, len(ids) - 1)
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


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
    return HeldIds([doc_id for column in columns for doc_id in column.texts()])
