"""The rows of rankings, best first: by score, with equal scores by the rule for ties.

Rows that are already in order are not sorted, and ties are put in order only if needed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.files.id_columns import falling_ids, row_blocks, rows_of_groups
from pytest_rankcheck.rankers.ranked_columns import RankedColumns

_CELLS = 1 << 21
"""The size of the padded matrices in which queries are sorted."""
_TIED_ROWS = 1 << 13
"""How many tied rows are put in order at once; few, so that memory is reused."""


class RowOrder:
    """The order of N rows of S rankings.

    Args:
        columns: the rankings.
        wanted: ``[S]`` whether the order of a ranking is needed.
    """

    def __init__(self, columns: RankedColumns, wanted: BoolArray) -> None:
        self._columns, self._starts = columns, columns.starts
        count = int(columns.starts[-1])
        self._rows: IntArray | None = None  # in order already
        self._scores, scores = np.zeros(0), columns.ordering_scores
        self._is_repeat = np.zeros(count + 1, dtype=np.bool_)
        """Whether a row, in this order, has the score of the row before it."""
        if scores is None:
            return
        self._scores = scores
        rises = np.flatnonzero(scores[1:] > scores[:-1]) + 1
        queries = self._queries_with(rises) & wanted
        if queries.any():
            is_stable = columns.rules.ties == "input"
            self._rows = _by_score(scores, self._starts, np.flatnonzero(queries), is_stable)
            self._scores = scores[self._rows]
        self._is_repeat[1:count] = self._scores[1:] == self._scores[:-1]
        self._is_repeat[self._starts] = False

    def _queries_with(self, rows: IntArray) -> BoolArray:
        """Return ``[S]`` which queries have one of these rows, apart from their first."""
        places = np.searchsorted(self._starts, rows, side="right") - 1
        found = np.zeros(len(self._columns), dtype=np.bool_)
        found[places[self._starts[places] != rows]] = True
        return found

    @property
    def has_ties(self) -> BoolArray:
        """``[S]`` which queries have equal scores."""
        return self._queries_with(np.flatnonzero(self._is_repeat))

    def at(self, positions: IntArray) -> IntArray:
        """Return the rows at some positions in the order."""
        return positions if self._rows is None else self._rows[positions]

    def positions(self, rows: IntArray) -> IntArray:
        """Return the positions of some rows in the order, from the start of each ranking."""
        if self._rows is None:
            return rows
        positions = np.empty(len(self._rows), dtype=np.int64)
        positions[self._rows] = np.arange(len(self._rows))
        return positions[rows]

    def with_score(self, places: IntArray, scores: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return a row with the score in each query, and whether another row has it too."""
        low, high = self._starts[places], self._starts[places + 1] - 1
        while (low < high).any():
            middle = (low + high) // 2
            is_above = self._scores[middle] > scores
            low, high = np.where(is_above, middle + 1, low), np.where(is_above, high, middle)
        return self.at(low), self._is_repeat[low + 1]

    def settle_ties(self, positions: IntArray) -> None:
        """Put the rows that are tied with those at some positions in order."""
        again = self._is_repeat
        tied = np.flatnonzero(again[:-1] | again[1:])
        if self._columns.rules.ties != "doc_id" or not len(tied):
            return
        is_meant = np.zeros(len(again), dtype=np.bool_)
        is_meant[positions] = True
        starts = np.append(np.flatnonzero(~again[tied]), len(tied))
        is_chosen = np.logical_or.reduceat(is_meant[tied], starts[:-1])
        chosen, starts = rows_of_groups(starts, np.flatnonzero(is_chosen))
        if len(chosen):
            tied = tied[chosen]
            rows = self.at(tied)
            self._rows = self.at(np.arange(len(again) - 1)).copy()
            for first, last in row_blocks(starts, _TIED_ROWS):
                some = slice(starts[first], starts[last])
                column, places = self._columns.column_with(rows[some])
                order = falling_ids(column, places, starts[first : last + 1] - starts[first])
                self._rows[tied[some]] = rows[some][order]


def _by_score(scores: FloatArray, starts: IntArray, queries: IntArray, is_stable: bool) -> IntArray:
    """Return all rows, with those of some queries sorted by falling score."""
    rows, lengths = np.arange(len(scores)), np.diff(starts)
    for chosen in _of_like_lengths(lengths[queries]):
        begins, own = starts[queries[chosen], np.newaxis], lengths[queries[chosen], np.newaxis]
        columns = np.arange(int(own.max()))
        cells, is_given = begins + columns, columns < own
        matrix = np.where(is_given, -scores.take(cells, mode="clip"), np.inf)
        order = begins + np.argsort(matrix, axis=1, kind="stable" if is_stable else None)
        rows[cells[is_given]] = order[is_given]
    return rows


def _of_like_lengths(lengths: IntArray) -> Iterator[IntArray]:
    """Yield groups of rankings of similar length, so that their padded matrix stays small."""
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order]
    start = 0
    while start < len(order):
        end = int(np.searchsorted(ordered, 2 * ordered[start] + 8, side="right"))
        width = max(1, int(ordered[end - 1]))
        end = min(end, start + max(1, _CELLS // width))
        yield order[start:end]
        start = end
