"""Columns of lists: the documents that were shown or selected, and ranks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.files.id_runs import starts_of
from pytest_rankcheck.files.table_columns import CellColumn, Column, ListCells
from pytest_rankcheck.sessions.event_columns import Codes, item_places
from pytest_rankcheck.sessions.log_cells import (
    LARGEST,
    Errors,
    id_list_of,
    id_of,
    per_distinct_value,
    plain_lists,
    rank_list_of,
)

__all__ = ["DocumentCodes", "Lists", "id_lists", "no_lists", "rank_lists"]

_MANY = 10_000
"""From this number of texts on, polars finds the distinct ones, if it is in use."""


class DocumentCodes(Codes[str]):
    """The code of each document.

    Looking up anything else than a text that is not blank is a ValueError.
    """

    def __missing__(self, doc_id: str | None) -> int:
        """Give a document a code."""
        if not isinstance(doc_id, str) or not doc_id.strip():
            raise ValueError(doc_id)
        return super().__missing__(str(doc_id))

    def of(self, items: Column) -> IntArray | None:
        """Return the codes of the documents in a column; None if one of its cells is not an id."""
        if len(items) >= _MANY and isinstance(items, CellColumn) and "polars" in sys.modules:
            from pytest_rankcheck.files.polars_columns import in_polars

            items = in_polars(items)
        if isinstance(items, CellColumn):
            with suppress(TypeError, ValueError):
                texts = map(self.__getitem__, items.values)  # type: ignore[arg-type]
                return np.fromiter(texts, np.int64, len(items))
        coded = items.coded()
        with suppress(ValueError):
            codes = [self[id_of(value)] for value in coded.values]  # type: ignore[index]
            return np.array(codes, dtype=np.int64)[coded.codes]
        return None


@dataclass(frozen=True)
class Lists:
    """A list of numbers in each row of a column."""

    lengths: IntArray
    """``[N]``; -1 where there is no list."""
    items: IntArray
    """The numbers of all lists, one after the other."""
    errors: Errors
    """By row, why its cell is invalid; such a row has no list."""

    @cached_property
    def rows(self) -> IntArray:
        """The row of each item."""
        return np.repeat(np.arange(len(self.lengths)), np.maximum(self.lengths, 0))

    @cached_property
    def starts(self) -> IntArray:
        """``[N + 1]`` where the items of each row begin, and where the last row's end."""
        return starts_of(np.maximum(self.lengths, 0))

    def places_of(self, rows: IntArray, items: IntArray) -> IntArray:
        """Return the first places from 0 of some items in the lists of their rows, else -1."""
        is_needed = np.zeros(len(self.lengths), dtype=bool)
        is_needed[rows] = True
        candidates = np.flatnonzero(is_needed[self.rows])
        size = 1 + int(max(self.items.max(initial=0), items.max(initial=0)))
        keys = self.rows[candidates] * size + self.items[candidates]
        order = np.append(np.argsort(keys, kind="stable"), len(keys))
        keys, candidates = np.append(keys, -1), np.append(candidates, -1)  # past the last one
        wanted = rows * size + items
        nearest = order[np.searchsorted(keys[order[:-1]], wanted)]
        return np.where(keys[nearest] == wanted, candidates[nearest] - self.starts[rows], -1)


def no_lists(count: int) -> Lists:
    """Return the lists of a column that the log does not have."""
    lengths: IntArray = np.full(count, -1, dtype=np.int64)
    return Lists(lengths, lengths[:0], {})


def id_lists(
    column: Column, documents: DocumentCodes, *, empty_text_is_list: bool = False
) -> Lists:
    """Return a column of lists of ids, as the codes of documents.

    Args:
        column: the column: of lists, or of texts as `id_list_of` reads them.
        documents: gives each document a code.
        empty_text_is_list: whether an empty text is an empty list, instead of an unknown one.
    """
    lists = column.lists()
    codes = documents.of(lists.items) if lists else None
    if lists is not None and codes is not None:
        return Lists(lists.lengths, codes, {})

    plain = None if lists else plain_lists(column.cells())
    if plain is not None:
        codes = documents.of(CellColumn(plain[1], are_words=True))
        assert codes is not None
        return Lists(np.array(plain[0], dtype=np.int64), codes, {})

    def convert(cell: object) -> Sequence[str] | None:
        is_empty = empty_text_is_list and isinstance(cell, str) and not cell
        return () if is_empty else id_list_of(cell)

    values, places, errors = per_distinct_value(column, convert)
    codes = documents.of(CellColumn(list(chain.from_iterable(filter(None, values)))))
    assert codes is not None
    return _spread(values, codes, places, errors)


def rank_lists(column: Column) -> Lists:
    """Return a column of lists of ranks as they are written; a rank is also a list of one."""
    lists = column.lists() or ListCells(np.ones(len(column), dtype=np.int64), column)
    found = lists.items.numbers()
    is_absent = np.isnan(found.values)
    is_whole = (found.values == np.floor(found.values)) & (np.abs(found.values) <= LARGEST)
    is_plain = lists.items is column and not len(found.invalid)
    if not (is_whole | is_absent if is_plain else is_whole).all():
        values, places, errors = per_distinct_value(column, rank_list_of)
        ranks = np.array(list(chain.from_iterable(filter(None, values))), dtype=np.int64)
        return _spread(values, ranks, places, errors)
    lengths = np.where(is_absent, -1, 1) if is_plain else lists.lengths
    return Lists(lengths, found.values[is_whole].astype(np.int64), {})


def _spread(
    values: Sequence[Sequence[object] | None], items: IntArray, places: IntArray, errors: Errors
) -> Lists:
    """Return the list of each row: one of the distinct values, whose numbers are the items."""
    lengths = np.array([-1 if value is None else len(value) for value in values], dtype=np.int64)
    chosen, _ = item_places(starts_of(np.maximum(lengths, 0)), places)
    return Lists(lengths[places], items[chosen], errors)
