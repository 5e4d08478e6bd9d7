"""Which documents of lists and dicts are judged, looked up in one of the two sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress, repeat
from operator import itemgetter
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.evaluation.judged_matches import Matches
from pytest_rankcheck.files.id_columns import number_spelled
from pytest_rankcheck.files.id_runs import starts_of
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns

__all__ = ["grades_matched", "rows_matched"]

_SPARSE = 8
"""If the judged documents are fewer than the ranked ones by this factor, they are looked up among
the ranked ones, otherwise the other way round."""
_FEW = 3
"""Up to so many judged documents are searched for in a list."""

Grades = Mapping[str, float]
"""The grade of each judged document of a query."""
Group = Sequence[str] | dict[str, float]
"""The documents of a query."""
_Query = tuple[int, Group, Grades]
"""The place of a query among the rankings, its ranked documents, and its judged ones."""


def rows_matched(columns: RankedColumns, codes: IntArray, judgments: Judgments) -> Matches:
    """Return which documents of lists are judged, and where among the judgments.

    Args:
        columns: the rankings, with documents in lists.
        codes: the place of each query in the golden set; -1 for a query that it lacks.
        judgments: the golden set's.
    """
    assert isinstance(columns.documents, HeldDocuments)
    doubtful, places, firsts, found = set(), [], [], []
    for place, group in enumerate(columns.documents.groups):
        assert not isinstance(group, dict)
        code = int(codes[place])
        start = 0 if code < 0 else int(judgments.starts[code])
        end = 0 if code < 0 else int(judgments.starts[code + 1])
        rows = _rows_of_judged(group, judgments.documents.part(start, end).texts())
        if rows is None:
            doubtful.add(place)
        elif rows:
            places.append(place)
            firsts.append(start)
            found.append(rows)
    lengths = list(map(len, found))
    own = np.fromiter(chain.from_iterable(found), np.int64, sum(lengths))
    at = np.flatnonzero(own >= 0)
    query = np.repeat(np.arange(len(found)), lengths)[at]
    of_rows = np.array(places, np.int64)[query]
    rows_found = columns.starts[of_rows] + own[at]
    judged = np.array(firsts, np.int64)[query] + at - starts_of(lengths)[query]
    scores = None if columns.ordering_scores is None else columns.ordering_scores[rows_found]
    return Matches(of_rows, rows_found, judged.astype(np.float64), scores, doubtful=doubtful)


def _rows_of_judged(group: Sequence[str], judged: Sequence[str]) -> list[int] | None:
    """Return the place of each judged document in a ranking, -1 if it is not there.

    None if a document of the ranking is a duplicate.
    """
    if len(judged) * _SPARSE < len(group):
        distinct = set(group)
        if len(distinct) < len(group):
            return None
        return [group.index(doc) if doc in distinct else -1 for doc in judged]
    row_of = dict(zip(group, range(len(group)), strict=True))
    return list(map(row_of.get, judged, repeat(-1))) if len(row_of) == len(group) else None


def grades_matched(columns: RankedColumns, codes: IntArray, judgments: Judgments) -> Matches:
    """Return which documents of lists and dicts are judged, and their grades.

    Args:
        columns: the rankings, with documents in lists or dicts.
        codes: the place of each query in the golden set; -1 for a query that it lacks.
        judgments: the golden set's.
    """
    assert isinstance(columns.documents, HeldDocuments)
    groups, are_distinct = columns.documents.groups, columns.documents.are_distinct
    in_dicts, in_lists, dense = list[_Query](), list[_Query](), list[_Query]()
    doubtful = set()
    for place, (group, code) in enumerate(zip(groups, codes.tolist(), strict=True)):
        if not are_distinct and len(set(group)) < len(group):
            doubtful.add(place)
            continue
        lookup = {} if code < 0 else judgments.of_query(code)
        if isinstance(group, dict):
            chosen = in_dicts if len(lookup) * _SPARSE <= len(group) else dense
        else:
            chosen = in_lists if len(lookup) <= _FEW else dense
        if lookup:
            chosen.append((place, group, lookup))
    assert not (in_dicts and in_lists), "the documents of a block are all in dicts or all in lists"
    found = _found_in_dicts(in_dicts, doubtful) if in_dicts else _found_in_lists(columns, in_lists)
    if dense:
        are_bytes = judgments.has_byte_grades
        found = _both(_looked_up(columns, dense, doubtful, are_bytes=are_bytes), found)
    return replace(found, doubtful=doubtful)


def _found_in_dicts(queries: Sequence[_Query], doubtful: set[int]) -> Matches:
    """Return the matches of queries whose few judged documents are looked up in dicts of scores.

    Args:
        queries: the place, the scores and the judged documents of each.
        doubtful: here the places of queries are added whose dicts may have numbers as keys.
    """
    counts = [len(lookup) for _, _, lookup in queries]
    docs = list(chain.from_iterable(lookup for _, _, lookup in queries))
    grades = chain.from_iterable(lookup.values() for _, _, lookup in queries)
    groups = list(chain.from_iterable(map(repeat, (group for _, group, _ in queries), counts)))
    found = map(dict.get, groups, docs, repeat(np.nan))  # type: ignore[arg-type]
    scores = np.fromiter(found, np.float64, len(docs))
    places = np.repeat([place for place, _, _ in queries], counts)
    are_keys = map(dict.__contains__, groups, _numbers_spelled(docs))  # type: ignore[arg-type]
    doubtful.update(compress(places.tolist(), are_keys))
    at = np.flatnonzero(~np.isnan(scores))
    judged = np.fromiter(grades, np.float64, len(docs))[at]
    return Matches(places[at], -1 - at, judged, scores[at], docs)


def _found_in_lists(columns: RankedColumns, queries: Sequence[_Query]) -> Matches:
    """Return the matches of queries whose few judged documents are searched for in lists."""
    found = [
        (place, group.index(doc), grade)
        for place, group, lookup in queries
        for doc, grade in lookup.items()
        if doc in group and not isinstance(group, dict)
    ]
    places, own, judged = np.array(found, np.float64).reshape(-1, 3).T
    places_found: IntArray = places.astype(np.int64)
    rows = columns.starts[places_found] + own.astype(np.int64)
    scores = None if columns.ordering_scores is None else columns.ordering_scores[rows]
    return Matches(places_found, rows, judged, scores)


def _looked_up(
    columns: RankedColumns,
    queries: Sequence[_Query],
    doubtful: set[int],
    *,
    are_bytes: bool,
) -> Matches:
    """Return the matches of queries whose ranked documents are looked up among the judged ones.

    Args:
        columns: the rankings.
        queries: the place, the documents and the judged documents of each.
        doubtful: here the places of queries are added whose dicts may have numbers as keys.
        are_bytes: whether the grades are whole numbers from 0 to 254; bytes are faster.
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


def _numbers_spelled(doc_ids: Sequence[str]) -> Sequence[int | None]:
    """Return the whole number that each id may spell, None for other ids.

    int() is quick, and also takes "007", which no number spells: looking for 7 only costs time.
    """
    try:
        return list(map(int, doc_ids))
    except ValueError:
        return list(map(number_spelled, doc_ids))


def _all_text(group: Group) -> bool:
    """Whether all keys of a dict are text; of a number, the id is its digits."""
    if not isinstance(group, dict):
        return True
    try:
        "".join(group)
    except TypeError:
        return False
    return True
