"""The usual selections, found by the column: one rank that is a number, or one document."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.files.table_columns import CellColumn, Column
from pytest_rankcheck.sessions.log_cells import LARGEST, is_absent
from pytest_rankcheck.sessions.shown_lists import DocumentCodes, ShownLists

__all__ = ["NOTHING", "UNUSUAL", "usual_ranks"]

NOTHING, UNUSUAL = 0, -1

_ONE_ID = re.compile(r"[^\s|;,\[\x1c-\x1f]+")
"""A text that cannot be a list of ids."""


def usual_ranks(
    columns: Mapping[str, Column], shown: ShownLists, documents: DocumentCodes, first_rank: int
) -> IntArray:
    """Return the 1-based rank of the one selection of each event, ``[N]``.

    It is 0 without a selection, and -1 if the event must be looked at: it has several selections,
    clicks with times, or a rank or document that is wrong.

    Args:
        columns: the columns of the events, by role.
        shown: what they showed.
        documents: the code of each document.
        first_rank: the rank of the first result, 0 or 1.
    """
    ranks: IntArray = np.zeros(len(shown.lengths), dtype=np.int64)
    if "selected_rank" in columns:
        ranks = _ranks(_without_lists_of_one(columns["selected_rank"]), shown, first_rank)
    if "selected" in columns:
        places = _places(columns["selected"], shown, documents)
        agree = (places == NOTHING) | (ranks == NOTHING) | (places == ranks)
        ranks = np.where(agree, np.where(places == NOTHING, ranks, places), UNUSUAL)
    if "clicks" in columns:
        clicks = columns["clicks"].cells()
        ranks[[row for row, cell in enumerate(clicks) if cell]] = UNUSUAL
    return ranks


def _ranks(column: Column, shown: ShownLists, first_rank: int) -> IntArray:
    """Return the ranks in a column of numbers."""
    found = column.numbers()
    values: FloatArray = found.values
    with np.errstate(invalid="ignore"):
        is_valid = (values >= first_rank) & (values <= LARGEST) & (values == np.floor(values))
        is_valid &= (shown.lengths < 0) | (values - first_rank < shown.lengths)
    ranks = np.where(np.isnan(values), float(NOTHING), np.where(is_valid, values, np.nan))
    ranks = np.where(is_valid, ranks - first_rank + 1, ranks)
    ranks[found.invalid] = np.nan
    unusual: IntArray = np.where(np.isnan(ranks), float(UNUSUAL), ranks).astype(np.int64)
    return unusual


def _places(column: Column, shown: ShownLists, documents: DocumentCodes) -> IntArray:
    """Return the 1-based places of single documents in what was shown."""
    coded = column.coded()
    kinds = [_code_of(value, documents) for value in coded.values]
    wanted: IntArray = np.array(kinds, dtype=np.int64)[coded.codes]
    places = np.where(wanted == _ABSENT, NOTHING, UNUSUAL)
    lengths = np.where(shown.has_list, shown.lengths, 0)
    starts = np.cumsum(lengths) - lengths
    matches = np.flatnonzero(shown.codes == np.repeat(wanted, lengths))
    rows = np.repeat(np.arange(len(lengths)), lengths)[matches]
    first_rows, first = np.unique(rows, return_index=True)
    places[first_rows] = matches[first] - starts[first_rows] + 1
    return places


_ABSENT, _UNKNOWN = -2, -3
"""Codes that no document has."""


def _code_of(value: object, documents: DocumentCodes) -> int:
    if is_absent(value):
        return _ABSENT
    is_one = isinstance(value, str) and _ONE_ID.fullmatch(value)
    return documents.get(value, _UNKNOWN) if is_one else _UNKNOWN  # type: ignore[call-overload]


def _without_lists_of_one(column: Column) -> Column:
    """Return a column in which a list of one number is that number, and an empty list is empty."""
    cells = column.cells()
    if list not in set(map(type, cells)):
        return column
    return CellColumn([_unwrapped(cell) for cell in cells])


def _unwrapped(cell: object) -> object:
    if isinstance(cell, list) and len(cell) < 2:
        if not cell:
            return None
        return cell[0] if type(cell[0]) is int else cell
    return cell
