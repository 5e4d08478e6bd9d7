"""What a file says of one query: documents, scores, and which of the two decides the order."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_rankcheck.rankers.ranking import Ranking, Ties, by_score

__all__ = ["Listing", "Listings"]


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


Listings = dict[str, Listing]
"""The listings of a file, by query id."""
