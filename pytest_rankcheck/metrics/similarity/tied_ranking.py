"""Rankings as their documents' places."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from pytest_rankcheck.errors import MetricError, quoted

__all__ = ["TiedRanking", "places_of", "top_of"]

TiedRanking = Sequence[str | AbstractSet[str]]
"""Document ids, best first; a set of ids stands where tied documents share their place."""


def top_of(ranking: Sequence[str], k: int | None) -> dict[str, int]:
    """Return the place of each document of the top k, from 0."""
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise MetricError(f"k={quoted(k)}: a cutoff is a whole number of at least 1")
    top = {doc: place for place, doc in enumerate(ranking[:k])}
    if len(top) < len(ranking[:k]):
        raise MetricError("a document stands twice in a ranking; rank it once")
    return top


def places_of(ranking: TiedRanking) -> dict[str, tuple[int, int]]:
    """Return the first and the last rank, from 1, that each document may have."""
    places: dict[str, tuple[int, int]] = {}
    before = 0
    for item in ranking:
        group = [item] if isinstance(item, str) else sorted(item)
        for doc in group:
            if doc in places:
                raise MetricError(f"document '{quoted(doc)}' stands twice in a ranking")
            places[doc] = (before + 1, before + len(group))
        before += len(group)
    return places
