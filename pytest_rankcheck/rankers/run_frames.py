"""A run as a DataFrame, with one row for each ranked document."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from pytest_rankcheck.files.data_frames import frame_of_columns
from pytest_rankcheck.rankers.ranking import by_score
from pytest_rankcheck.rankers.ranking_rows import Rankings

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame_of"]

_COLUMNS = ("query_id", "doc_id", "rank", "score")


def frame_of(rankings: Rankings) -> pd.DataFrame:
    """Return rankings as a frame from which ``Run.from_frame`` reads them again."""
    import pandas as pd

    rows: list[tuple[str, str, int, float | None]] = []
    for query_id, ranking in rankings.items():
        doc_ids, scores = ranking.doc_ids, ranking.scores or ()
        gives_order = scores and by_score(doc_ids, scores, query_id).doc_ids == doc_ids
        shown = scores if gives_order else itertools.repeat(None)
        ranks = range(1, len(ranking) + 1)
        rows.extend((query_id, *cells) for cells in zip(doc_ids, ranks, shown, strict=False))
    columns = zip(*rows, strict=True) if rows else ([] for _ in _COLUMNS)
    frame = frame_of_columns(dict(zip(_COLUMNS, map(list, columns), strict=True)))
    if any(score is None for *_, score in rows):  # pandas would turn None into NaN
        frame["score"] = pd.Series([score for *_, score in rows], dtype=object)
    return frame
