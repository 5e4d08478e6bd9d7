"""The ranks of a few documents among many scores, for many queries at once.

A document's rank is one more than the number of documents above it: those with a higher score, and
those with the same score that the rule for ties puts first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray

_CELLS = 1 << 21
"""The size of the padded matrices in which queries are sorted."""
_COUNTED = 4
"""Up to so many documents per query, higher scores are counted: cheaper than sorting them."""


def disordered(scores: FloatArray, starts: IntArray) -> BoolArray:
    """Return ``[S]`` whether the scores of each query do not fall strictly from row to row."""
    does_not_fall = scores[1:] >= scores[:-1]
    rises = np.flatnonzero(does_not_fall) + 1
    places = np.searchsorted(starts, rises, side="right") - 1
    found = np.zeros(len(starts) - 1, dtype=np.bool_)
    found[places[starts[places] != rises]] = True
    return found


def ranks_by_score(
    scores: FloatArray, starts: IntArray, places: IntArray, own: FloatArray
) -> tuple[IntArray, BoolArray]:
    """Return the rank of each document, and whether another document has the same score.

    The rank is from 1, as if no other document had the same score.

    Args:
        scores: ``[N]`` of all documents, the rows of each query together.
        starts: ``[S + 1]`` where the rows of each query begin and the last ones end.
        places: ``[H]`` the query of each document whose rank is wanted, ascending.
        own: ``[H]`` its score.
    """
    ranks = np.empty(len(places), dtype=np.int64)
    tied = np.empty(len(places), dtype=np.bool_)
    # Like np.unique, whose first call imports numpy.ma: 10 ms.
    begins = np.flatnonzero(np.diff(places, prepend=-1))
    wanted, counts = places[begins], np.diff(begins, append=len(places))
    for chosen in of_like_lengths(np.diff(starts)[wanted]):
        some = counts[chosen]
        offsets = begins[chosen] - (np.cumsum(some) - some)
        hits = np.arange(some.sum()) + np.repeat(offsets, some)
        of_query = np.repeat(np.arange(len(chosen)), some)
        matrix = padded_scores(scores, starts, wanted[chosen])
        if len(hits) <= _COUNTED * len(chosen):
            ranks[hits], tied[hits] = _counted(matrix, of_query, own[hits])
        else:
            ranks[hits], tied[hits] = _searched(np.sort(matrix, axis=1), of_query, own[hits])
    return ranks, tied


def rows_by_score(
    scores: FloatArray, starts: IntArray, queries: IntArray, top: int | None = None
) -> tuple[IntArray, BoolArray]:
    """Return all rows, those of some queries by falling score.

    Also returns ``[S]`` which of these queries have equal scores, so that their order is open: in
    their first ``top`` rows, or anywhere.
    """
    rows, is_tied = np.arange(len(scores)), np.zeros(len(starts) - 1, dtype=np.bool_)
    lengths = np.diff(starts)
    for chosen in of_like_lengths(lengths[queries]):
        places = queries[chosen]
        matrix = padded_scores(scores, starts, places)
        order = np.argsort(-matrix, axis=1)
        best = np.take_along_axis(matrix, order[:, :top], axis=1)
        is_equal = (best[:, 1:] == best[:, :-1]) & np.isfinite(best[:, 1:])  # padding is -inf
        is_tied[places] = is_equal.any(axis=1)
        columns = np.arange(matrix.shape[1])
        is_given = columns < lengths[places, np.newaxis]
        begins = starts[places, np.newaxis]
        rows[(begins + columns)[is_given]] = (begins + order)[is_given]
    return rows, is_tied


def of_like_lengths(lengths: IntArray) -> Iterator[IntArray]:
    """Yield the places of rankings of like length, so many that a padded matrix stays small."""
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order]
    start = 0
    while start < len(order):
        end = int(np.searchsorted(ordered, 2 * ordered[start] + 8, side="right"))
        width = max(1, int(ordered[end - 1]))
        end = min(end, start + max(1, _CELLS // width))
        yield order[start:end]
        start = end


def padded_scores(scores: FloatArray, starts: IntArray, queries: IntArray) -> FloatArray:
    """Return the scores of some queries as a matrix, padded with minus infinity at the end."""
    lengths = np.diff(starts)
    width = int(lengths[queries].max(initial=0))
    if (lengths == width).all():
        return scores.reshape(len(lengths), width)[queries]
    columns = np.arange(width)
    matrix = scores.take(starts[queries][:, np.newaxis] + columns, mode="clip")
    matrix[columns >= lengths[queries][:, np.newaxis]] = -np.inf
    return matrix


def _counted(matrix: FloatArray, queries: IntArray, own: FloatArray) -> tuple[IntArray, BoolArray]:
    """Return ranks and ties by comparing each document with all of its query."""
    ranks = np.empty(len(own), dtype=np.int64)
    tied = np.empty(len(own), dtype=np.bool_)
    step = max(1, _CELLS // max(1, matrix.shape[1]))
    for start in range(0, len(own), step):
        some = slice(start, start + step)
        rows, values = matrix[queries[some]], own[some, np.newaxis]
        ranks[some] = 1 + np.count_nonzero(rows > values, axis=1)
        tied[some] = np.count_nonzero(rows == values, axis=1) > 1
    return ranks, tied


def _searched(
    ordered: FloatArray, queries: IntArray, own: FloatArray
) -> tuple[IntArray, BoolArray]:
    """Return ranks and ties by a search in the scores of each query, lowest first."""
    width = ordered.shape[1]
    above = np.empty(len(own), dtype=np.int64)
    starts = np.searchsorted(queries, np.arange(len(ordered) + 1)).tolist()
    for row, (start, end) in zip(ordered, pairwise(starts), strict=True):
        above[start:end] = row.searchsorted(own[start:end], side="right")
    before = ordered[queries, np.maximum(above - 2, 0)]  # the score before its own
    tied = (above >= 2) & (before == own)
    return width - above + 1, tied
