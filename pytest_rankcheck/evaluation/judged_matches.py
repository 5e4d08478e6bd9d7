"""Which ranked documents are judged, found in columns: the one place where ids meet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from operator import itemgetter

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


def lists_matched(columns: RankedColumns, lookups: Sequence[Lookup | None]) -> Matches:
    """Return which documents of lists and dicts are judged.

    Args:
        columns: the rankings, with documents in lists or dicts.
        lookups: what is known of the judged documents of each query; None for a query that the
            golden set lacks.
    """
    assert isinstance(columns.documents, HeldDocuments)
    groups, are_distinct = columns.documents.groups, columns.documents.are_distinct
    found = _Found(columns)
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
        few = _FEW if not isinstance(group, dict) else len(group) // _SPARSE
        if len(lookup) > few:
            found.dense.append((place, group, lookup))
        elif not found.add_few(place, group, lookup):
            doubtful.add(place)
    return found.matches(doubtful)


class _Found:
    """The judged documents found in lists and dicts so far."""

    def __init__(self, columns: RankedColumns) -> None:
        self._columns = columns
        self.dense: list[tuple[int, Group, Lookup]] = []
        """The queries whose ranked documents are looked up among the judged ones."""
        self._places: list[int] = []
        self._rows: list[int] = []
        self._docs: list[str] = []
        self._judged: list[float] = []
        self._scores: list[float] = []

    def add_few(self, place: int, group: Group, lookup: Lookup) -> bool:
        """Look up few judged documents among the ranked ones; False if a dict has other keys."""
        if isinstance(group, dict):
            docs = [doc for doc in lookup if doc in group]
            if len(docs) < len(lookup) and _may_be_numbers(lookup) and not _all_text(group):
                return False
            if not docs:
                return True
            self._scores.extend([group[doc] for doc in docs])
            known = len(self._docs)
            self._rows.extend(range(-1 - known, -1 - known - len(docs), -1))
            self._docs.extend(docs)
        else:
            docs = [doc for doc in lookup if doc in group]
            start = int(self._columns.starts[place]) if docs else 0
            self._rows.extend([start + group.index(doc) for doc in docs])
        self._places.extend([place] * len(docs))
        self._judged.extend([lookup[doc] for doc in docs])
        return True

    def matches(self, doubtful: set[int]) -> Matches:
        """Return all matches; the queries of `dense` are looked up now.

        Args:
            doubtful: the places of queries that must be read one by one; added to here.
        """
        starts, scores = self._columns.starts, self._columns.ordering_scores
        dense: list[int] = []
        found: list[Iterable[float]] = []
        for place, group, lookup in self.dense:
            values = _looked_up(lookup, group)
            if values is None:
                doubtful.add(place)
            else:
                dense.append(place)
                found.append(values)
        lengths = np.diff(starts)[dense]
        known = np.fromiter(chain.from_iterable(found), np.float64, int(lengths.sum()))
        at = np.flatnonzero(~np.isnan(known))
        rows = np.repeat(starts[:-1][dense] - np.cumsum(lengths) + lengths, lengths)[at] + at
        places = np.repeat(np.array(dense, np.int64), lengths)[at]
        few_rows = np.array(self._rows, np.int64)
        own = None
        if scores is not None:
            few = np.array(self._scores) if self._scores else scores[few_rows]
            own = np.concatenate([few, scores[rows]])
        all_places = np.concatenate([np.array(self._places, np.int64), places])
        order = np.argsort(all_places, kind="stable")
        return Matches(
            all_places[order],
            np.concatenate([few_rows, rows])[order],
            np.concatenate([np.array(self._judged, np.float64), known[at]])[order],
            None if own is None else own[order],
            self._docs,
            doubtful,
        )


def _looked_up(lookup: Lookup, group: Group) -> Iterable[float] | None:
    """Return what is known of each document of a query; NaN for one that is not judged.

    None if a key of a dict may be a number, whose digits may be a judged id.
    """
    if len(group) > 1 and len(lookup) >= len(group):
        try:
            found: Iterable[float] = itemgetter(*group)(lookup)
        except KeyError:
            pass
        else:
            return found
    return map(lookup.get, group, repeat(np.nan)) if _all_text(group) else None


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
