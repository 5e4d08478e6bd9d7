"""One query's ranking as a run file holds it: documents, scores, and which decides the order."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from pytest_rankcheck.rankers.ranking import Ranking, Ties, by_score

__all__ = ["FileRanking", "FileRankings", "ranked_rows"]


@dataclass(slots=True)
class FileRanking:
    """The documents that a run file lists for one query, in file order."""

    doc_ids: list[str] = field(default_factory=list)
    scores: list[float] | None = None
    score_decides: bool = False
    """Whether the ranking is by score, as in TREC runs, or in file order."""

    @classmethod
    def of(cls, ranking: Ranking) -> FileRanking:
        """Return a ranking in the form in which it is written to a file."""
        return cls(list(ranking.doc_ids), None if ranking.scores is None else list(ranking.scores))

    def ranking(self, query_id: str, ties: Ties) -> Ranking:
        """Return the ranking.

        Raises:
            RunError: scores are tied and ``ties`` is ``"error"``.
        """
        if self.score_decides and self.scores is not None:
            return by_score(self.doc_ids, self.scores, query_id, ties)
        return Ranking(tuple(self.doc_ids), None if self.scores is None else tuple(self.scores))

    def ordering_scores(self, query_id: str) -> list[float]:
        """Return scores from which every evaluator reads the order of the list.

        These are the original scores if, with ties by document id, they give that order; otherwise
        they count down from the number of documents.
        """
        # Some evaluators compare scores as float32, in which close scores are tied.
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
    """Return scores at a C precision; None without scores, or if one is too large."""
    if scores is None:
        return None
    try:
        rounded = list(array(precision, scores))
    except OverflowError:
        return None
    return rounded if all(map(math.isfinite, rounded)) else None


FileRankings = dict[str, FileRanking]
"""The rankings of a file, by query id."""


def ranked_rows(rankings: FileRankings) -> Iterator[tuple[str, str, int, float]]:
    """Yield query, document, rank and ordering score of every ranked document."""
    for query_id, file_ranking in rankings.items():
        pairs = zip(file_ranking.doc_ids, file_ranking.ordering_scores(query_id), strict=True)
        for rank, (doc_id, score) in enumerate(pairs, start=1):
            yield query_id, doc_id, rank, score
