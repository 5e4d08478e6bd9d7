"""Digests of rankings: two copies of a query are equal only if all their rows are equal.

The digest of a query covers the ids and scores of all its ranked documents, judged or not, in the
order of the ranking. It does not depend on how the rows were stored, on their order in the input
(unless that decides ties), or on the machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.evaluation.hit_ranks import disordered
from pytest_rankcheck.files.id_columns import NumberIds, TextIds
from pytest_rankcheck.files.id_runs import rows_of_groups, run_starts, starts_of
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns

__all__ = ["SIZE", "RankingDigest", "digests_of", "encoded_texts"]

SIZE = 16
"""Bytes of a digest: two different rankings have equal digests with probability 2^-128."""


class RankingDigest:
    """The digest of one ranking, whose rows are added in order, in blocks."""

    def __init__(self) -> None:
        self._lengths, self._ids, self._scores = (
            hashlib.blake2b(digest_size=SIZE) for _ in range(3)
        )

    def add(self, lengths: IntArray, ids: bytes | memoryview, scores: FloatArray | None) -> None:
        """Add the next rows.

        Args:
            lengths: ``[N]`` how many bytes each id has in UTF-8.
            ids: the ids in UTF-8, one after the other.
            scores: ``[N]`` the scores, or negated ranks; None if only the order is known.
        """
        self._lengths.update(np.ascontiguousarray(lengths, dtype="<i8").data)
        self._ids.update(ids)
        if scores is not None:
            self._scores.update((np.ascontiguousarray(scores, dtype="<f8") + 0.0).data)

    def value(self) -> bytes:
        """Return the digest of the rows added so far."""
        parts = (self._lengths, self._ids, self._scores)
        joined = b"".join(part.digest() for part in parts)
        return hashlib.blake2b(joined, digest_size=SIZE).digest()


def digests_of(columns: RankedColumns, places: IntArray) -> list[bytes]:
    """Return the digests of the rankings at some places of a block.

    Args:
        columns: the rankings; documents are in lists or in columns, not in dicts.
        places: ascending.
    """
    rows, starts = _ordered_rows(columns, places)
    lengths, blob = _encoded(columns, rows)
    ends = starts_of(lengths)[starts].tolist()
    scores = None if columns.scores is None else columns.scores[rows]
    bounds = pairwise(starts.tolist())
    digests, view = [], memoryview(blob)
    for (start, end), (first, last) in zip(bounds, pairwise(ends), strict=True):
        digest = RankingDigest()
        own = None if scores is None else scores[start:end]
        digest.add(lengths[start:end], view[first:last], own)
        digests.append(digest.value())
    return digests


def _ordered_rows(columns: RankedColumns, places: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of some queries in ranking order, and where each query begins."""
    rows, starts = rows_of_groups(columns.starts, places)
    scores = columns.ordering_scores
    if scores is None:
        return rows, starts
    wrong = np.flatnonzero(disordered(scores, columns.starts)[places])
    if not len(wrong):
        return rows, starts
    at, _ = rows_of_groups(starts, wrong)
    query = np.repeat(wrong, np.diff(starts)[wrong])
    some = rows[at]
    own = scores[some]
    if ((own[1:] > own[:-1]) & (query[1:] == query[:-1])).any():  # also where scores are not tied
        some = some[np.lexsort((-own, query))]  # stable: ties as in the input
    if columns.rules.ties != "input":
        _order_ties(columns, some, query)
    rows[at] = some
    return rows, starts


def _order_ties(columns: RankedColumns, rows: IntArray, query: IntArray) -> None:
    """Sort the rows of one query that have equal scores by their ids, descending."""
    assert columns.scores is not None
    scores = columns.scores[rows]
    is_tied = (scores[1:] == scores[:-1]) & (query[1:] == query[:-1])
    group = starts_of(~is_tied)  # the number of the group of each row, from 0
    tied = np.flatnonzero(np.append(is_tied, False) | np.append(False, is_tied))
    if not len(tied):
        return
    groups = group[tied]
    begins = run_starts(NumberIds(groups))
    texts = _texts(columns, rows[tied])
    for start, end in pairwise([*begins.tolist(), len(tied)]):
        order = sorted(range(start, end), key=texts.__getitem__, reverse=True)
        rows[tied[start:end]] = rows[tied[order]]


def _texts(columns: RankedColumns, rows: IntArray) -> list[str]:
    documents = columns.documents
    if isinstance(documents, HeldDocuments):
        every = list(chain.from_iterable(documents.groups))
        return [every[row] for row in rows.tolist()]
    return documents.texts(rows)


def _encoded(columns: RankedColumns, rows: IntArray) -> tuple[IntArray, bytes]:
    """Return the length of each row's id in UTF-8 bytes, and all ids as one text."""
    documents = columns.documents
    if isinstance(documents, TextIds):
        is_all = len(rows) == len(documents) and np.array_equal(rows, np.arange(len(rows)))
        return _encoded_series(documents.ids if is_all else documents.ids.gather(rows))
    if isinstance(documents, NumberIds):
        numbers = documents.ids[rows]
        return _encoded_numbers(numbers)
    return encoded_texts(_texts(columns, rows))


def _encoded_numbers(numbers: IntArray) -> tuple[IntArray, bytes]:
    try:
        import polars as pl
    except ModuleNotFoundError:
        return encoded_texts(list(map(str, numbers.tolist())))
    return _encoded_series(pl.Series(numbers).cast(pl.String))


def _encoded_series(series: Any) -> tuple[IntArray, bytes]:
    lengths: IntArray = series.str.len_bytes().to_numpy().astype(np.int64)
    text: str = series.str.join("").item() if len(series) else ""
    return lengths, text.encode()


def encoded_texts(texts: Sequence[str]) -> tuple[IntArray, bytes]:
    """Return the length of each text in UTF-8 bytes, and all texts as one."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return np.fromiter(map(len, encoded), np.int64, len(encoded)), b"".join(encoded)
