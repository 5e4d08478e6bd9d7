"""What a file says of one query: documents, scores, and which of the two decides the order."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from pytest_rankcheck.rankers.ranking import Ranking, Ties, by_score

__all__ = ["Listing", "Listings", "rows_of"]


@dataclass(slots=True)
class Listing:
    """The documents that a file lists for one query, in the order of the file."""

    doc_ids: list[str] = field(default_factory=list)
    scores: list[float] | None = None
    score_decides: bool = False
    """Whether the ranking is by score, as in TREC runs, or as the file lists it."""

    @classmethod
    def of(cls, ranking: Ranking) -> Listing:
        """Return a ranking as it is written to a file."""
        return cls(list(ranking.doc_ids), None if ranking.scores is None else list(ranking.scores))

    def ranking(self, query_id: str, ties: Ties) -> Ranking:
        """Return the ranking that the file means.

        Raises:
            RunError: scores are tied and ``ties`` is ``"error"``.
        """
        if self.score_decides and self.scores is not None:
            return by_score(self.doc_ids, self.scores, query_id, ties)
        return Ranking(tuple(self.doc_ids), None if self.scores is None else tuple(self.scores))

    def ordering_scores(self, query_id: str) -> list[float]:
        """Return scores that give the order of the list to every evaluator that reads them.

        Its own scores where they, with ties by document id, give that order; else they count
        down from the number of documents.
        """
        # Some evaluators compare scores as float32, where close ones are tied.
        for precision in ("d", "f"):
            rounded = _as(precision, self.scores)
            if rounded is None:
                break
            if by_score(self.doc_ids, rounded, query_id).doc_ids != tuple(self.doc_ids):
                break
        else:
            return self.scores or []
        return [float(len(self.doc_ids) - index) for index in range(len(self.doc_ids))]


def _as(precision: str, scores: list[float] | None) -> list[float] | None:
    """Return scores at a precision of C, or None where there are none or one is too large."""
    if scores is None:
        return None
    try:
        rounded = list(array(precision, scores))
    except OverflowError:
        return None
    return rounded if all(map(math.isfinite, rounded)) else None


Listings = dict[str, Listing]
"""The listings of a file, by query id."""


def rows_of(listings: Listings) -> Iterator[tuple[str, str, int, float]]:
    """Yield query, document, rank and an ordering score of every ranked document."""
    for query_id, listing in listings.items():
        pairs = zip(listing.doc_ids, listing.ordering_scores(query_id), strict=True)
        for rank, (doc_id, score) in enumerate(pairs, start=1):
            yield query_id, doc_id, rank, score
