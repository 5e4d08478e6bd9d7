"""Which ranked documents are judged, where the ids of both sides are in columns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.files.id_columns import NumberIds, TextIds
from pytest_rankcheck.files.id_runs import rows_of_groups
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.rankers.ranked_columns import RankedColumns


@dataclass(frozen=True, slots=True)
class Matches:
    """The rows of ranked documents that are judged."""

    places: IntArray
    """``[H]`` the place of the query of each match, ascending."""
    rows: IntArray
    """``[H]`` the row of the ranked document."""
    judged: FloatArray
    """``[H]`` what is known of the judged document: its grade, or its row among the judgments."""
    doubtful: Collection[int] = ()
    """The places of queries that have duplicates, or ids of one hash: they must be read one by
    one, whatever matches they have here."""

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
    from pytest_rankcheck.files.id_runs import keys_of, rows_with_equal_keys, same_ids

    documents = columns.documents
    assert isinstance(documents, (TextIds, NumberIds))
    first_row = _judged_alike(columns, codes, judgments)
    if first_row is not None:
        return _all_matched(columns, first_row)
    judged, row_of, starts = _judged_like(documents, judgments)
    candidates, candidate_starts = rows_of_groups(starts, codes)
    judged_places = np.repeat(np.arange(len(codes)), np.diff(candidate_starts))
    count = len(documents)
    places = np.repeat(np.arange(len(columns)), np.diff(columns.starts))
    keys = np.concatenate([keys_of(documents), keys_of(judged.reordered(candidates))])
    both_places = np.concatenate([places, judged_places])
    first, second = rows_with_equal_keys(keys, both_places)
    is_match = (first < count) & (second >= count)
    chained = np.zeros(0, bool)
    if len(first):
        chained = second[:-1] == first[1:]
    is_match[1:] &= ~chained
    is_match[:-1] &= ~chained
    rows, own = first[is_match], second[is_match]
    order = np.argsort(rows)  # neighbours are compared, and returned, together
    rows, own = rows[order], own[order]
    judged_rows = candidates[own - count]
    same = same_ids(documents, rows, judged, judged_rows)
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
    from pytest_rankcheck.files.id_runs import have_equal_ids

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
    return first if have_equal_ids(documents, judged) else None


def _all_matched(columns: RankedColumns, first_row: int) -> Matches:
    """Return every row as a match: the judged documents are the same, from ``first_row`` on."""
    rows = np.arange(int(columns.starts[-1]))
    places = np.repeat(np.arange(len(columns)), np.diff(columns.starts))
    judged = (rows + first_row).astype(np.float64)
    return Matches(places, rows, judged)


def _judged_like(
    documents: TextIds | NumberIds, judgments: Judgments
) -> tuple[TextIds | NumberIds, IntArray | None, IntArray]:
    """Return the judged documents that a column of this type can have.

    Also returns their rows among the judgments (None: all), and where each query's begin.
    """
    if isinstance(documents, TextIds):
        return judgments.texts, None, judgments.starts
    judged, row_of = judgments.numbers
    return judged, row_of, np.searchsorted(row_of, judgments.starts)
