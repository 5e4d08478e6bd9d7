"""Ranks of a few documents among many scores, without sorting all documents.

A document's rank is one more than the number of documents above it: those with a higher score, and
those with the same score that the tie rule puts first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

from pytest_rankcheck.rankers.ranking import Ties

__all__ = ["ranks_of", "top_by_score"]

Id = TypeVar("Id", str, bytes)
"""A document id as text or UTF-8 bytes: both sort in the same order."""

_MANY_TIES = 8
"""From this many tied scores on, one pass over all documents is cheaper than one per score."""


def ranks_of(
    wanted: Iterable[Id],
    score_of: Callable[[Id], float | None],
    ids: Collection[Id],
    scores: Collection[float],
    *,
    ordered: Sequence[float],
    ties: Ties,
) -> list[tuple[int, Id]]:
    """Return the ranks of the wanted documents that were retrieved, best first.

    Args:
        wanted: the documents to look up.
        score_of: returns a document's score, or None if it was not retrieved.
        ids: all documents, in the order of the input.
        scores: their scores.
        ordered: the same scores, lowest first.
        ties: how equal scores are ordered; the caller must handle ``"error"``.
    """
    ranks: list[tuple[int, Id]] = []
    tied: list[tuple[float, Id]] = []
    for doc_id in wanted:
        score = score_of(doc_id)
        if score is None:
            continue
        end = bisect_right(ordered, score)
        above = len(ordered) - end
        if end - bisect_left(ordered, score, max(0, end - 2), end) > 1:
            tied.append((score, doc_id))
        else:
            ranks.append((above + 1, doc_id))
    if tied:
        ranks.extend(_tied_ranks(tied, ids, scores, ordered, ties))
    ranks.sort()
    return ranks


def _tied_ranks(
    tied: Sequence[tuple[float, Id]],
    ids: Collection[Id],
    scores: Collection[float],
    ordered: Sequence[float],
    ties: Ties,
) -> list[tuple[int, Id]]:
    """Return the ranks of documents that share their scores with others."""
    groups: dict[float, list[Id]] = {score: [] for score, _ in tied}
    if len(groups) < _MANY_TIES:
        for score, group in groups.items():
            group.extend(doc for doc, other in zip(ids, scores, strict=True) if other == score)
    else:
        for doc, score in zip(ids, scores, strict=True):
            if score in groups:
                groups[score].append(doc)
    places: dict[Id, int] = {}
    for score, group in groups.items():
        above = len(ordered) - bisect_right(ordered, score)
        if ties == "doc_id":
            group.sort(reverse=True)
        places.update((doc, above + place) for place, doc in enumerate(group, start=1))
    return [(places[doc], doc) for _, doc in tied]


def top_by_score(
    ids: Sequence[Id], scores: Sequence[float], ordered: Sequence[float], ties: Ties, depth: int
) -> list[Id]:
    """Return the first ``depth`` documents, best first."""
    if not ordered:
        return []
    lowest = ordered[-depth] if depth <= len(ordered) else ordered[0]
    count = len(ordered) - bisect_left(ordered, lowest)
    if min(scores[:count]) >= lowest:  # in most files the best come first
        best = list(zip(scores[:count], ids[:count], strict=True))
    else:
        best = [pair for pair in zip(scores, ids, strict=True) if pair[0] >= lowest]
    if ties == "doc_id":
        best.sort(reverse=True)
    else:
        best.sort(key=lambda pair: -pair[0])
    return [doc for _, doc in best[:depth]]
