"""Runs as DataFrames, with one row for each ranked document."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.files.data_frames import frame_of_columns
from pytest_rankcheck.rankers.rank_order import by_rank
from pytest_rankcheck.rankers.ranking import IncompleteRanks, Ranking, Ties, by_score
from pytest_rankcheck.rankers.ranking_forms import given_twice, ids_of, numbers_of, query_id_of
from pytest_rankcheck.rankers.run_columns import refuse_unused_numbers, run_columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame_of", "frame_rankings"]

_COLUMNS = ("query_id", "doc_id", "rank", "score")


def frame_rankings(
    frame: pd.DataFrame, columns: Mapping[str, str], ties: Ties, incomplete_ranks: IncompleteRanks
) -> Iterator[tuple[str, Ranking]]:
    """Yield the rankings of a frame with their query ids, in the order of their first rows.

    Raises:
        RunError: a column is missing, an id, a score or a rank is invalid, the ranks that decide
            the order are incomplete, or a column of numbers may be a misspelt score or rank.
    """
    header = list(map(str, frame.columns))
    place = run_columns(header, columns, "the run", in_order=True)
    if "score" not in place and "rank" not in place:
        refuse_unused_numbers(header, place, lambda index: frame.iloc[:, index].tolist())
    query_ids, order, ends = _queries(frame.iloc[:, place["query_id"]])
    cells = {role: frame.iloc[order, index].tolist() for role, index in place.items()}
    for query_id, start, end in zip(query_ids, [0, *ends], ends, strict=False):
        doc_ids = ids_of(cells["doc_id"][start:end], query_id)
        scores = cells["score"][start:end] if "score" in place else ()
        has_scores = any(not _is_missing(score) for score in scores)
        if has_scores or ("score" in place and "rank" not in place):
            numbers = numbers_of(scores, doc_ids, query_id, "score")
            yield query_id, by_score(doc_ids, numbers, query_id, ties)
        elif "rank" in place:
            numbers = numbers_of(cells["rank"][start:end], doc_ids, query_id, "rank")
            yield query_id, by_rank(doc_ids, numbers, query_id, ties, incomplete_ranks)
        else:
            yield query_id, Ranking(doc_ids)


def _queries(column: pd.Series[Any]) -> tuple[list[str], IntArray, list[int]]:
    """Return the queries, the rows sorted by query, and where each query ends among them.

    Raises:
        RunError: a query id is neither text nor a whole number, or is given in both ways.
    """
    import pandas as pd

    try:
        codes, distinct = pd.factorize(column)
        query_ids = [query_id_of(value) for value in distinct]
    except TypeError:  # a value is not hashable
        codes = np.array([-1])
    if (codes < 0).any():
        query_ids = [query_id_of(value) for value in column]  # raises an error
    repeated = next((query_id for query_id, n in Counter(query_ids).items() if n > 1), None)
    if repeated is not None:
        raise given_twice(repeated)
    order = np.argsort(codes, kind="stable")
    return query_ids, order, np.cumsum(np.bincount(codes)).tolist()


def _is_missing(value: object) -> bool:
    """Whether a cell is empty; pandas reads an empty cell of a file as NaN."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ == "NAType"


def frame_of(rankings: Iterable[tuple[str, Ranking]]) -> pd.DataFrame:
    """Return rankings as a frame from which `frame_rankings` reads them again."""
    import pandas as pd

    rows: list[tuple[str, str, int, float | None]] = []
    for query_id, ranking in rankings:
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
