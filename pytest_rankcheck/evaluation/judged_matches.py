"""Which ranked documents are judged, found in columns: the one place where ids meet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.files.id_columns import NumberIds, TextIds
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns

__all__ = ["Matches", "ids_matched", "lists_matched", "rows_of_queries"]

_SPARSE = 8
"""If the judged documents are fewer than the ranked ones by this factor, they are looked up among
the ranked ones, otherwise the other way round."""
_FEW = 3
"""Up to so many judged documents are searched for in a list."""

Lookup = Mapping[str, float]
"""A number for each judged document of a query: its grade, or its row among the judgments."""
Group = Sequence[str] | dict[str, float]
"""The documents of a query."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The rows of ranked documents that are judged."""

    places: IntArray
    """``[H]`` the place of the query of each match, ascending."""
    rows: IntArray
    """``[H]`` the row of the ranked document; -1 - n if only its id is known, ``docs[n]``."""
    judged: FloatArray
    """``[H]`` what is known of the judged document: see `Lookup`."""
    scores: FloatArray | None
    """``[H]`` the score of the ranked document; None without scores."""
    docs: Sequence[str] = ()
    doubtful: Collection[int] = ()
    """The places of queries that have duplicates, or ids of one hash: they must be read one by
    one, and none of their rows is among the matches."""

    def without(self, places: Collection[int]) -> Matches:
        """Return the matches of all other queries."""
        if not places:
            return self
        kept = ~np.isin(self.places, list(places))
        scores = None if self.scores is None else self.scores[kept]
        return Matches(self.places[kept], self.rows[kept], self.judged[kept], scores, self.docs)


def ids_matched(columns: RankedColumns, codes: IntArray, judgments: Judgments) -> Matches:
    """Return which rows are judged, by sorting the hashes of both sides.

    Args:
        columns: the rankings, with documents as text or numbers.
        codes: the place of each query in the golden set; -1 for a query that it lacks.
        judgments: the golden set's.
    """
    from pytest_rankcheck.files.id_pairs import keys_of, rows_with_equal_keys, same_ids

    documents = columns.documents
    assert isinstance(documents, (TextIds, NumberIds))
    if documents is judgments.documents and np.array_equal(columns.starts, judgments.starts):
        return _all_matched(columns)
    judged, row_of, starts = _judged_like(documents, judgments)
    candidates, judged_places = rows_of_queries(starts, codes)
    count = len(documents)
    places = np.repeat(np.arange(len(columns)), np.diff(columns.starts))
    keys = np.concatenate([keys_of(documents), keys_of(judged.reordered(candidates))])
    both_places = np.concatenate([places, judged_places])
    first, second = rows_with_equal_keys(keys, both_places)
    is_match = (first < count) & (second >= count)
    chained = second[:-1] == first[1:] if len(first) else np.zeros(0, bool)
    is_match[1:] &= ~chained
    is_match[:-1] &= ~chained
    rows, own = first[is_match], second[is_match]
    order = np.argsort(rows)  # neighbours are compared, and returned, together
    rows, own = rows[order], own[order]
    judged_rows = candidates[own - count]
    same = same_ids(documents, rows, judged, judged_rows)
    same &= places[rows] == both_places[own]
    wrong = np.concatenate([first[~is_match], second[~is_match]])
    doubtful = set(both_places[wrong].tolist())
    doubtful.update(both_places[rows[~same]].tolist())
    doubtful.update(both_places[own[~same]].tolist())
    keep = same if not doubtful else same & ~np.isin(places[rows], list(doubtful))
    if not keep.all():
        rows, judged_rows = rows[keep], judged_rows[keep]
    if row_of is not None:
        judged_rows = row_of[judged_rows]
    scores = None if columns.ordering_scores is None else columns.ordering_scores[rows]
    return Matches(places[rows], rows, judged_rows.astype(np.float64), scores, (), doubtful)


def _all_matched(columns: RankedColumns) -> Matches:
    """Return every row as a match: the documents of both sides are the same column."""
    rows = np.arange(len(columns.documents))  # type: ignore[arg-type]
    places = np.repeat(np.arange(len(columns)), np.diff(columns.starts))
    return Matches(places, rows, rows.astype(np.float64), columns.ordering_scores)


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


def rows_of_queries(starts: IntArray, codes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of some queries, one query after the other.

    Args:
        starts: where the rows of each query begin, and where the last ones end.
        codes: the queries; -1 for one without rows.

    Returns:
        The rows, and the place in ``codes`` that each belongs to.
    """
    lengths = np.append(np.diff(starts), 0)[codes]  # -1 is the 0 at the end
    ends = np.cumsum(lengths)
    rows = np.arange(lengths.sum()) + np.repeat(starts[codes] - ends + lengths, lengths)
    return rows, np.repeat(np.arange(len(codes)), lengths)


def lists_matched(
    columns: RankedColumns, lookups: Sequence[Lookup | None], *, are_bytes: bool = False
) -> Matches:
    """Return which documents of lists and dicts are judged.

    Args:
        columns: the rankings, with documents in lists or dicts.
        lookups: what is known of the judged documents of each query; None for a query that the
            golden set lacks.
        are_bytes: whether all that is known are whole numbers from 0 to 254.
    """
    assert isinstance(columns.documents, HeldDocuments)
    groups, are_distinct = columns.documents.groups, columns.documents.are_distinct
    few = _FewMatches(columns.starts)
    dense: list[tuple[int, Group, Lookup]] = []
    doubtful = set()
    for place, (group, judged) in enumerate(zip(groups, lookups, strict=True)):
        lookup = judged
        if not are_distinct:
            distinct = set(group)
            if len(distinct) < len(group):
                doubtful.add(place)
                continue
            lookup = {doc: judged[doc] for doc in judged.keys() & distinct} if judged else None
        if not lookup:
            continue
        most = _FEW if not isinstance(group, dict) else len(group) // _SPARSE
        if len(lookup) > most:
            dense.append((place, group, lookup))
        elif not few.add(place, group, lookup):
            doubtful.add(place)
    found = few.matches(columns)
    if dense:
        found = _both(_looked_up(columns, dense, doubtful, are_bytes=are_bytes), found)
    return replace(found, doubtful=doubtful)


class _FewMatches:
    """The few judged documents of some queries, looked up among the ranked ones."""

    def __init__(self, starts: IntArray) -> None:
        self._starts = starts
        self._places: list[int] = []
        self._rows: list[int] = []
        self._docs: list[str] = []
        self._judged: list[float] = []
        self._scores: list[float] = []

    def add(self, place: int, group: Group, lookup: Lookup) -> bool:
        """Look up the judged documents of a query.

        False, and nothing is added, if a key of a dict may be a number whose digits are judged.
        """
        docs = [doc for doc in lookup if doc in group]
        if isinstance(group, dict):
            if len(docs) < len(lookup) and _may_be_numbers(lookup) and not _all_text(group):
                return False
            known = len(self._docs)
            self._scores.extend([group[doc] for doc in docs])
            self._rows.extend(range(-1 - known, -1 - known - len(docs), -1))
            self._docs.extend(docs)
        else:
            start = int(self._starts[place])
            self._rows.extend([start + group.index(doc) for doc in docs])
        self._places.extend([place] * len(docs))
        self._judged.extend([lookup[doc] for doc in docs])
        return True

    def matches(self, columns: RankedColumns) -> Matches:
        """Return all matches."""
        rows, scores = np.array(self._rows, np.int64), columns.ordering_scores
        if scores is not None:
            scores = np.array(self._scores) if self._scores else scores[rows]
        places, judged = np.array(self._places, np.int64), np.array(self._judged, np.float64)
        return Matches(places, rows, judged, scores, self._docs)


def _looked_up(
    columns: RankedColumns,
    queries: Sequence[tuple[int, Group, Lookup]],
    doubtful: set[int],
    *,
    are_bytes: bool,
) -> Matches:
    """Return the matches of queries whose ranked documents are looked up among the judged ones.

    Args:
        columns: the rankings.
        queries: the place, the documents and the judged documents of each.
        doubtful: here the places of queries are added whose dicts may have numbers as keys.
        are_bytes: whether what is known fits into a byte, which is faster.
    """
    missing = 255 if are_bytes else np.nan
    packed: Callable[[Sequence[Any]], Any] = bytes if are_bytes else list
    absent, may_all_be_judged = repeat(missing), True
    places, found = [], []
    for place, group, lookup in queries:
        values: Sequence[float] | None = None
        if may_all_be_judged and 1 < len(group) <= len(lookup):
            try:
                values = itemgetter(*group)(lookup)
            except KeyError:
                may_all_be_judged = False
        if values is None:
            if not _all_text(group):
                doubtful.add(place)
                continue
            values = list(map(lookup.get, group, absent))
        places.append(place)
        found.append(packed(values))
    lengths = np.diff(columns.starts)[places]
    if are_bytes:
        known = np.frombuffer(b"".join(found), np.uint8)
        at = np.flatnonzero(known != missing)
    else:
        known = np.fromiter(chain.from_iterable(found), np.float64, int(lengths.sum()))
        at = np.flatnonzero(~np.isnan(known))
    offsets = columns.starts[:-1][places] - np.cumsum(lengths) + lengths
    rows = np.repeat(offsets, lengths)[at] + at
    scores = None if columns.ordering_scores is None else columns.ordering_scores[rows]
    of_rows = np.repeat(np.array(places, np.int64), lengths)[at]
    return Matches(of_rows, rows, known[at].astype(np.float64), scores)


def _both(one: Matches, other: Matches) -> Matches:
    """Return the matches of different queries together."""
    if not len(other.places):
        return one
    places = np.concatenate([one.places, other.places])
    order = np.argsort(places, kind="stable")
    scores = None
    if one.scores is not None and other.scores is not None:
        scores = np.concatenate([one.scores, other.scores])[order]
    rows, judged = np.append(one.rows, other.rows), np.append(one.judged, other.judged)
    return Matches(places[order], rows[order], judged[order], scores, other.docs)


def _may_be_numbers(lookup: Lookup) -> bool:
    """Whether a judged id seems to spell a number, which could be the key of a dict."""
    return any(doc_id.removeprefix("-").isdecimal() for doc_id in lookup)


def _all_text(group: Group) -> bool:
    """Whether all keys of a dict are text; of a number, the id is its digits."""
    if not isinstance(group, dict):
        return True
    try:
        "".join(group)
    except TypeError:
        return False
    return True
