"""Rows that are identical in all columns: deliveries that arrived more than once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.files.plain_values import is_blank
from pytest_rankcheck.files.table_columns import CodedCells, Column
from pytest_rankcheck.sessions.event_columns import Events, item_places, place_in_row
from pytest_rankcheck.sessions.searches import RowItems

__all__ = ["Hashes", "hashes_of", "identical_rows"]

Hashes = NDArray[np.uint64]

_MASK = (1 << 64) - 1
_STEP = np.uint64(0x9E3779B97F4A7C15)


def hashes_of(coded: Mapping[str, CodedCells], others: Mapping[str, Column], size: int) -> Hashes:
    """Return a hash of the cells of each row in columns that nothing else keeps, ``[N]``.

    An empty cell counts as one that is not there. Hashes differ from one process to the next.

    Args:
        coded: columns whose distinct cells are known, by name.
        others: further columns, by name.
        size: N.
    """
    total: Hashes = np.zeros(size, dtype=np.uint64)
    for name, column in coded.items():
        total += _hashes(name, column.values)[column.codes]
    for name, other in others.items():
        if size and isinstance(other.cell(0), str):  # mostly texts: coding them takes longer
            total += _hashes(name, other.cells())
        else:
            column = other.coded()
            total += _hashes(name, column.values)[column.codes]
    return total


def _hashes(name: str, cells: Sequence[object]) -> Hashes:
    kinds = set(map(type, cells))
    if kinds == {str}:  # much faster; the hash of an empty text is 0, as that of any empty cell
        found = np.fromiter(map(hash, cells), np.int64, len(cells)).view(np.uint64)
    else:
        found = np.array([_hash(cell) for cell in cells], dtype=np.uint64)
    return found * np.uint64((hash(name) | 1) & _MASK)


def _hash(cell: object) -> int:
    if is_blank(cell):
        return 0
    if type(cell) is str:
        return hash(cell) & _MASK
    return hash((type(cell).__name__, repr(_as_list(cell)))) & _MASK


def _as_list(value: object) -> object:
    """Return an array as a list, whose text is complete."""
    to_list = getattr(value, "tolist", None)
    return to_list() if callable(to_list) else value


def identical_rows(
    events: Events, hashes: Hashes, items: RowItems | None, order: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the rows that are identical to an earlier one, and the first row of its kind.

    Args:
        events: one per row, in the order of the file.
        hashes: ``[N]`` those of the columns that are not in ``events``.
        items: what the rows are about, if they are to be merged.
        order: the rows by session, and in each session by index or time.
    """
    rows = _candidates(events, order)
    if not len(rows):
        return rows, rows
    keys = [
        *(events.session, events.event, events.time, events.start, events.query, events.count),
        *(hashes, events.is_finish, place_in_row(events.position)),
        *(() if items is None else items),
    ]
    chosen: list[IntArray | Hashes] = [_comparable(column[rows]) for column in keys]
    chosen.append(_hashes_of_lists(events.shown_starts, [events.shown], rows))
    selected: list[IntArray | FloatArray] = [
        events.selected_rank,
        events.selected_time,
        events.selected_grade,
    ]
    chosen.append(_hashes_of_lists(events.selected_starts, selected, rows))
    by_content = np.lexsort((rows, *chosen))
    is_same = np.ones(len(rows) - 1, dtype=bool)
    for column in chosen:
        is_same &= column[by_content[1:]] == column[by_content[:-1]]
    is_same = np.append(False, is_same)
    sorted_rows = rows[by_content]
    starts = np.flatnonzero(~is_same)
    first = sorted_rows[starts[np.cumsum(~is_same) - 1]]
    later = sorted_rows[is_same]
    in_file = np.argsort(later)
    return later[in_file], first[is_same][in_file]


def _candidates(events: Events, order: IntArray) -> IntArray:
    """Return the rows, in the order of the file, that share session and index or time."""
    key = events.event if not np.isnan(events.event).any() else events.time
    session, key = events.session[order], key[order]
    is_equal = (key[1:] == key[:-1]) | (np.isnan(key[1:]) & np.isnan(key[:-1]))
    pairs = np.flatnonzero((session[1:] == session[:-1]) & is_equal)
    return np.unique(order[np.concatenate((pairs, pairs + 1))])


def _comparable(column: IntArray | FloatArray | BoolArray | Hashes) -> IntArray:
    """Return a column whose equal cells are equal numbers, also NaN."""
    if column.dtype == np.float64:
        bits: IntArray = np.nan_to_num(column, nan=-1.0).view(np.int64) ^ np.isnan(column)
        return bits
    return column.view(np.int64) if column.dtype == np.uint64 else column.astype(np.int64)


def _hashes_of_lists(
    starts: IntArray, columns: list[IntArray | FloatArray], rows: IntArray
) -> Hashes:
    """Return a hash of the list that each row has in some columns, and of its length."""
    places, begins = item_places(starts, rows)
    lengths = np.diff(begins).astype(np.uint64)
    place = (np.arange(len(places)) - np.repeat(begins[:-1], np.diff(begins))).astype(np.uint64)
    total: Hashes = lengths * _STEP
    with np.errstate(over="ignore"):
        for column in columns:
            mixed = _mixed(_comparable(column[places]).view(np.uint64) + place * _STEP)
            sums = np.append(np.uint64(0), np.cumsum(mixed, dtype=np.uint64))
            total = _mixed(total) + sums[begins[1:]] - sums[begins[:-1]]
    return total


def _mixed(numbers: Hashes) -> Hashes:
    """Return numbers in which a change of any bit changes about half of all bits.

    This is splitmix64 (Steele, Lea and Flood, OOPSLA 2014, section 3).
    """
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
