"""The rows in which rankings are written to files."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence

from pytest_rankcheck.rankers.ranking import Ranking, by_score

__all__ = ["Rankings", "ranked_rows"]

Rankings = Mapping[str, Ranking]
"""The rankings of a run, by query id."""


def ranked_rows(rankings: Rankings) -> Iterator[tuple[str, str, int, float]]:
    """Yield query, document, rank and ordering score of every ranked document."""
    for query_id, ranking in rankings.items():
        pairs = zip(ranking.doc_ids, _ordering_scores(ranking, query_id), strict=True)
        for rank, (doc_id, score) in enumerate(pairs, start=1):
            yield query_id, doc_id, rank, score


def _ordering_scores(ranking: Ranking, query_id: str) -> Sequence[float]:
    """Return scores from which every evaluator reads the order of a ranking.

    These are the original scores if, with ties by document id, they give that order; otherwise
    they count down from the number of documents.
    """
    # Some evaluators compare scores as float32, in which close scores are tied.
    for precision in ("d", "f"):
        rounded = _as(precision, ranking.scores)
        if rounded is None:
            break
        if by_score(ranking.doc_ids, rounded, query_id).doc_ids != ranking.doc_ids:
            break
    else:
        return ranking.scores or ()
    return [float(len(ranking) - index) for index in range(len(ranking))]


def _as(precision: str, scores: Sequence[float] | None) -> list[float] | None:
    """Return scores at a C precision; None without scores, or if one is too large."""
    if scores is None:
        return None
    try:
        rounded = list(array(precision, scores))
    except OverflowError:
        return None
    return rounded if all(map(math.isfinite, rounded)) else None
