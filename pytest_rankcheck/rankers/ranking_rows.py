"""The rows in which rankings are written to files and to DataFrames."""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_rankcheck.rankers.ranking import Ranking, by_score

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "Rankings", "frame_of", "ranked_rows"]

COLUMNS = ("query_id", "doc_id", "rank", "score")
"""The names of the columns in which runs are written."""

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


def frame_of(rankings: Rankings) -> pd.DataFrame:
    """Return rankings as a frame from which ``Run.from_frame`` reads them again."""
    import pandas as pd

    from pytest_rankcheck.files.data_frames import frame_of_columns

    rows: list[tuple[str, str, int, float | None]] = []
    for query_id, ranking in rankings.items():
        doc_ids, scores = ranking.doc_ids, ranking.scores or ()
        gives_order = scores and by_score(doc_ids, scores, query_id).doc_ids == doc_ids
        shown = scores if gives_order else itertools.repeat(None)
        ranks = range(1, len(ranking) + 1)
        rows.extend((query_id, *cells) for cells in zip(doc_ids, ranks, shown, strict=False))
    columns = zip(*rows, strict=True) if rows else ([] for _ in COLUMNS)
    frame = frame_of_columns(dict(zip(COLUMNS, map(list, columns), strict=True)))
    if any(score is None for *_, score in rows):  # pandas would turn None into NaN
        frame["score"] = pd.Series([score for *_, score in rows], dtype=object)
    return frame
