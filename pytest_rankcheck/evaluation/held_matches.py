"""Which ranked documents are judged, where the rankings are lists or dicts of ids."""

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
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns

_SPARSE = 8
"""If the judged documents are fewer than the ranked ones by this factor, they are looked up among
these, otherwise the other way round."""
_FEW = 3
"""Up to so many judged documents are searched for in a list that is known to have no duplicates."""

Grades = Mapping[str, float]
"""The grade of each judged document of a query."""
Group = Sequence[str] | dict[str, float]
"""The documents of a query."""
_Query = tuple[int, Group, Grades]
"""The place of a query among the rankings, its ranked documents, and its judged ones."""


def held_matched(
    columns: RankedColumns, codes: IntArray, judgments: Judgments, *, as_rows: bool
) -> Matches:
    """Return which documents of lists and dicts are judged, with their grades.

    Args:
        columns: the rankings, with documents in lists or dicts.
        codes: the place of each query in the golden set; -1 for a query that it lacks.
        judgments: the golden set's.
        as_rows: whether to return the rows of the judged documents instead of their grades.
    """
    assert isinstance(columns.documents, HeldDocuments)
    groups, are_distinct = columns.documents.groups, columns.documents.are_distinct
    known = judgments.rows_of if as_rows else judgments.of_query
    in_lists, doubtful = list[tuple[int, int, float]](), set[int]()
    in_dicts, many = list[_Query](), list[_Query]()
    for place, (group, code) in enumerate(zip(groups, codes.tolist(), strict=True)):
        documents = group if are_distinct else set(group)
        if len(documents) < len(group):
            doubtful.add(place)
            continue
        lookup = {} if code < 0 else known(code)
        is_sparse = len(lookup) * _SPARSE <= len(group)
        if isinstance(group, dict):
            (in_dicts if is_sparse else many).append((place, group, lookup))
        elif len(lookup) <= _FEW or (is_sparse and not are_distinct):
            in_lists += [
                (place, group.index(doc), lookup[doc]) for doc in lookup if doc in documents
            ]
        else:
            many.append((place, group, lookup))
    found = []
    if in_lists:
        found.append(_found_in_lists(columns, in_lists))
    if in_dicts:
        found.append(_found_in_dicts(in_dicts, doubtful))
    if many:
        are_bytes = judgments.has_byte_grades and not as_rows
        found.append(_looked_up(columns, many, doubtful, are_bytes=are_bytes))
    return replace(_together(found), doubtful=doubtful)


def _found_in_lists(columns: RankedColumns, found: Sequence[tuple[int, int, float]]) -> Matches:
    """Return the matches at the places and rows where judged documents were found in lists."""
    places, own, judged = np.array(found, np.float64).T
    of_rows: IntArray = places.astype(np.int64)
    rows = columns.starts[of_rows] + own.astype(np.int64)
    scores = None if columns.scores is None else columns.scores[rows]
    return Matches(of_rows, rows, judged, scores)


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
            if isinstance(group, dict) and not _all_text(group):
                doubtful.add(place)
                continue
            values = list(map(lookup.get, group, absent))
        places.append(place)
        found.append(packed(values))
    lengths = np.diff(columns.starts)[places]
    known: np.ndarray
    if are_bytes:
        known = np.frombuffer(b"".join(found), np.uint8)
        at = np.flatnonzero(known != missing)
    else:
        known = np.fromiter(chain.from_iterable(found), np.float64, int(lengths.sum()))
        at = np.flatnonzero(~np.isnan(known))
    before = np.cumsum(lengths) - lengths
    offsets = columns.starts[:-1][places] - before
    rows = np.repeat(offsets, lengths)[at] + at
    scores = None if columns.scores is None else columns.scores[rows]
    of_rows = np.repeat(np.array(places, np.int64), lengths)[at]
    return Matches(of_rows, rows, known[at].astype(np.float64), scores)


def _together(found: Sequence[Matches]) -> Matches:
    """Return the matches of different queries in the order of the queries."""
    if len(found) == 1:
        return found[0]
    nothing = np.zeros(0)
    places = np.concatenate([nothing.astype(np.int64), *(each.places for each in found)])
    order = np.argsort(places, kind="stable")
    rows = np.concatenate([nothing.astype(np.int64), *(each.rows for each in found)])
    judged = np.concatenate([nothing, *(each.judged for each in found)])
    scores = [each.scores for each in found if each.scores is not None]
    return Matches(
        places[order],
        rows[order],
        judged[order],
        np.concatenate(scores)[order] if scores else None,
        [doc for each in found for doc in each.docs],
    )


def _numbers_spelled(doc_ids: Sequence[str]) -> Sequence[int | None]:
    """Return the whole number that each id may spell, None for other ids.

    int() is quick, and also takes "007", which no number spells: looking for 7 only costs time.
    """
    try:
        return list(map(int, doc_ids))
    except ValueError:
        return list(map(number_spelled, doc_ids))


def _all_text(scores: dict[str, float]) -> bool:
    """Whether all keys of a dict are text; of a number, the id is its digits."""
    try:
        "".join(scores)
    except TypeError:
        return False
    return True
