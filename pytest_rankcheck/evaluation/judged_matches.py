"""Which ranked documents are judged, and the order of their rows: best first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.files import id_columns
from pytest_rankcheck.files.id_columns import (
    NumberIds,
    TextIds,
    falling_ids,
    row_blocks,
    rows_of_groups,
)
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns
from pytest_rankcheck.rankers.ranking_forms import PairedScores

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


_SPARSE = 8
"""If there are fewer judged than ranked documents by this factor, the judged ones are looked up
among the ranked ones; otherwise the other way round."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The rows of ranked documents that are judged."""

    places: IntArray
    """``[H]`` the place of the query of each match, ascending."""
    rows: IntArray
    """``[H]`` the row of the ranked document."""
    judged: FloatArray
    """``[H]`` the grade of the judged document, or its row among the judgments."""
    doubtful: Collection[int] = ()
    """The places of queries with duplicates or with ids that share a hash; these must be read one
    by one, whatever matches they have here."""

    def without(self, places: Collection[int]) -> Matches:
        """Return the matches of all other queries."""
        if not places:
            return self
        kept = ~np.isin(self.places, list(places))
        return Matches(self.places[kept], self.rows[kept], self.judged[kept])


def ids_matched(columns: RankedColumns, codes: IntArray, judgments: Judgments) -> Matches:
    """Return which rows are judged, by sorting the hashes of both sides.

    Args:
        columns: the rankings, with documents as text or numbers.
        codes: the place of each query in the golden set; -1 for a query that it lacks.
        judgments: the golden set's.
    """
    documents = columns.documents
    assert isinstance(documents, (TextIds, NumberIds))
    first_row = _judged_alike(columns, codes, judgments)
    if first_row is not None:
        return _all_matched(columns, first_row)
    judged, row_of, starts = _judged_like(documents, judgments)
    candidates, candidate_starts = id_columns.rows_of_groups(starts, codes)
    judged_places = np.repeat(np.arange(len(codes)), np.diff(candidate_starts))
    count = len(documents)
    places = np.repeat(np.arange(len(columns)), np.diff(columns.starts))
    keys = np.concatenate(
        [id_columns.keys_of(documents), id_columns.keys_of(judged.reordered(candidates))]
    )
    both_places = np.concatenate([places, judged_places])
    first, second = id_columns.rows_with_equal_keys(keys, both_places)
    is_match = (first < count) & (second >= count)
    chained = np.zeros(0, bool)
    if len(first):
        chained = second[:-1] == first[1:]
    is_match[1:] &= ~chained
    is_match[:-1] &= ~chained
    rows, own = first[is_match], second[is_match]
    order = np.argsort(rows)  # neighbours are compared and returned together
    rows, own = rows[order], own[order]
    judged_rows = candidates[own - count]
    same = id_columns.same_ids(documents, rows, judged, judged_rows)
    same &= places[rows] == both_places[own]
    unmatched = [first[~is_match], second[~is_match]]
    wrong = np.concatenate([*unmatched, rows[~same], own[~same]])
    doubtful = set(both_places[wrong].tolist())
    rows, judged_rows = rows[same], judged_rows[same]
    if row_of is not None:
        judged_rows = row_of[judged_rows]
    return Matches(places[rows], rows, judged_rows.astype(np.float64), doubtful)


def _judged_alike(columns: RankedColumns, codes: IntArray, judgments: Judgments) -> int | None:
    """Return the first row of the judgments if they have the same documents in the same order.

    None if they differ. In learning to rank, scores and grades often come in the same order.
    """
    documents = columns.documents
    assert isinstance(documents, (TextIds, NumberIds))
    if not len(codes) or codes[0] < 0:
        return None
    if not np.array_equal(codes, np.arange(codes[0], codes[0] + len(codes))):
        return None
    starts = judgments.starts[codes[0] : codes[-1] + 2]
    if not np.array_equal(columns.starts, starts - starts[0]):
        return None
    first, last = int(starts[0]), int(starts[-1])
    judged = judgments.documents.part(first, last)
    return first if id_columns.have_equal_ids(documents, judged) else None


def _all_matched(columns: RankedColumns, first_row: int) -> Matches:
    """Return every row as a match: from ``first_row`` on, the judged documents are the same."""
    rows = np.arange(int(columns.starts[-1]))
    places = np.repeat(np.arange(len(columns)), np.diff(columns.starts))
    judged = (rows + first_row).astype(np.float64)
    return Matches(places, rows, judged)


def _judged_like(
    documents: TextIds | NumberIds, judgments: Judgments
) -> tuple[TextIds | NumberIds, IntArray | None, IntArray]:
    """Return the judged documents that a column of this type can contain.

    Also returns their rows among the judgments (None: all), and where each query's begin.
    """
    if isinstance(documents, TextIds):
        return judgments.texts, None, judgments.starts
    judged, row_of = judgments.numbers
    return judged, row_of, np.searchsorted(row_of, judgments.starts)


# --- rankings in lists or dicts ------------------------------------------------------------------

_Found = tuple[IntArray, IntArray, FloatArray]
"""The places of queries, the rows of their judged documents, and the grades or rows of these."""


class HeldJoin:
    """Looks for the judged documents in lists and dicts.

    Args:
        columns: the rankings, with documents in lists or dicts.
        codes: the place of each query in the golden set; -1 for a query that it lacks.
        judgments: the golden set's.
        order: the order of the rows.
        as_rows: whether to return the rows of the judged documents instead of their grades.
    """

    def __init__(
        self,
        columns: RankedColumns,
        codes: IntArray,
        judgments: Judgments,
        order: RowOrder,
        *,
        as_rows: bool,
    ) -> None:
        assert isinstance(columns.documents, HeldDocuments)
        self._columns, self._codes, self._judgments = columns, codes, judgments
        self._held, self._order, self._as_rows = columns.documents, order, as_rows
        self._groups: Sequence[Any] = columns.documents.groups
        self._known: Callable[[int], Mapping[str, float]]
        self._known = judgments.rows_of if as_rows else judgments.of_query

    def matches(self) -> Matches:
        """Return which documents are judged, with their grades or their rows."""
        columns = self._columns
        lengths = np.diff(columns.starts)
        counts = np.append(np.diff(self._judgments.starts), 0)[self._codes]
        doubtful: list[int] = []
        if not columns.are_dicts and not self._held.are_distinct:
            sizes = np.fromiter(map(len, map(set, self._groups)), np.int64, len(counts))
            doubtful = np.flatnonzero(sizes < lengths).tolist()
        is_open = (counts > 0) & (lengths > 0)
        is_open[doubtful] = False
        if not columns.are_dicts and set(map(type, self._groups)) != {PairedScores}:
            return Matches(*self._looked_up(np.flatnonzero(is_open)), doubtful)
        is_few = is_open & (counts * _SPARSE <= lengths)
        few, is_tied = self._found_in_dicts(np.flatnonzero(is_few))
        many = self._looked_up(np.flatnonzero(is_open & ~(is_few & ~is_tied)))
        if not len(few[0]) or not len(many[0]):
            return Matches(*(few if len(few[0]) else many))
        places, rows = (np.concatenate([few[at], many[at]]) for at in (0, 1))
        judged = np.concatenate([few[2], many[2]])
        order = np.argsort(places, kind="stable")
        return Matches(places[order], rows[order], judged[order])

    def _found_in_dicts(self, places: IntArray) -> tuple[_Found, BoolArray]:
        """Return the matches of some queries, whose judged documents are looked up in dicts.

        A dict gives a score, and the order gives the row with that score. Also return ``[S]`` which
        queries have a score that several rows share; these have no matches.
        """
        judged, begins = id_columns.rows_of_groups(self._judgments.starts, self._codes[places])
        docs, counts = self._judgments.documents.texts(judged), np.diff(begins)
        groups = map(repeat, map(self._groups.__getitem__, places.tolist()), counts.tolist())
        scores = map(dict.get, chain.from_iterable(groups), docs, repeat(np.nan))
        own = np.fromiter(scores, np.float64, len(docs))
        at = np.flatnonzero(~np.isnan(own))
        of_places = np.repeat(places, counts)[at]
        if self._columns.are_dicts:
            rows, are_tied = self._order.with_score(of_places, own[at])
        else:  # pairs in their order
            found = zip(of_places.tolist(), at.tolist(), strict=True)
            ranks = [[*self._groups[place]].index(docs[number]) for place, number in found]
            rows = self._columns.starts[of_places] + np.array(ranks, np.int64)
            are_tied = np.zeros(len(rows), dtype=np.bool_)
        is_tied = np.zeros(len(self._groups), dtype=np.bool_)
        is_tied[of_places[are_tied]] = True
        kept = ~is_tied[of_places]
        judged = judged[at[kept]]
        known = judged.astype(np.float64) if self._as_rows else self._judgments.grades[judged]
        return (of_places[kept], rows[kept], known), is_tied

    def _looked_up(self, places: IntArray) -> _Found:
        """Return the matches of some queries, whose documents are looked up among the judged ones.

        Grades that are whole numbers from 0 to 254 are held in bytes, which are faster.
        """
        are_bytes = self._judgments.has_byte_grades and not self._as_rows
        missing = 255 if are_bytes else np.nan
        packed: Callable[[Any], Any] = bytes if are_bytes else list
        absent, may_all_be_judged = repeat(missing), True
        found = []
        groups = map(self._groups.__getitem__, places.tolist())
        lookups = map(self._known, self._codes[places].tolist())
        for group, lookup in zip(groups, lookups, strict=True):
            values: Any = None
            if may_all_be_judged and 1 < len(group) <= len(lookup):
                try:
                    values = itemgetter(*group)(lookup)
                except KeyError:
                    may_all_be_judged = False
            if values is None:
                values = map(lookup.get, group, absent)
            found.append(packed(values))
        if are_bytes:
            known = np.frombuffer(b"".join(found), np.uint8)
            at = np.flatnonzero(known != missing)
        else:
            known = np.array(list(chain.from_iterable(found)), np.float64)
            at = np.flatnonzero(~np.isnan(known))
        rows, starts = id_columns.rows_of_groups(self._columns.starts, places)
        of_places = np.repeat(places, np.diff(starts))[at]
        return of_places, rows[at], known[at].astype(np.float64)
