"""Golden sets as pandas DataFrames. No other module of this folder imports pandas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from pytest_rankcheck.files.data_frames import frame_of_columns
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import Candidates

__all__ = ["candidates_frame", "judgments_frame", "queries_frame"]


def queries_frame(queries: Iterable[Query], attributes: Sequence[str]) -> pd.DataFrame:
    """Return one row per query: ``query_id``, ``query`` and the attributes."""
    rows = list(queries)
    return frame_of_columns(
        {
            "query_id": [query.id for query in rows],
            "query": [query.text for query in rows],
            **{name: [query.attributes.get(name) for query in rows] for name in attributes},
        }
    )


def judgments_frame(judgments: Judgments) -> pd.DataFrame:
    """Return one row per judgment: ``query_id``, ``doc_id``, ``relevance``."""
    columns: dict[str, list[object]] = {"query_id": [], "doc_id": [], "relevance": []}
    for query_id, documents, grades in judgments.walk():
        columns["query_id"] += [query_id] * len(documents)
        columns["doc_id"] += documents
        columns["relevance"] += grades
    return frame_of_columns(columns)


def candidates_frame(candidates: Candidates, query_ids: Iterable[str]) -> pd.DataFrame:
    """Return one row per candidate: ``query_id``, ``doc_id`` and the columns."""
    columns: dict[str, list[object]] = {"query_id": [], "doc_id": []}
    rows: list[int] = []
    for query_id in query_ids:
        row_of = candidates.rows(query_id)
        columns["query_id"] += [query_id] * len(row_of)
        columns["doc_id"] += row_of
        rows += row_of.values()
    for name, column in candidates.columns.items():
        columns[name] = [column[row] for row in rows]
    return frame_of_columns(columns)
