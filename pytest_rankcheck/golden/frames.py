"""Golden sets from and to pandas. The only module of this folder that imports pandas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from pytest_rankcheck.errors import GoldenSetError, listed
from pytest_rankcheck.golden.content import Contents, checked_grade, checked_id
from pytest_rankcheck.golden.query import Query

__all__ = ["contents_from_frames", "judgments_frame", "queries_frame"]


def contents_from_frames(judgments: pd.DataFrame, queries: pd.DataFrame | None) -> Contents:
    """Return the contents of a golden set from a frame of judgments and one of queries.

    Raises:
        GoldenSetError: as in ``GoldenSet.from_frames``.
    """
    contents = Contents()
    if queries is not None:
        _require(queries, ("query_id", "query"), "queries")
        names = [str(name) for name in queries.columns if name not in ("query_id", "query")]
        for row, record in enumerate(queries.to_dict("records")):
            where = f"queries, row {row}"
            key = checked_id(_plain(record["query_id"]), "query_id", where)
            text = _plain(record["query"])
            attributes = {name: _plain(record[name]) for name in names}
            present = {name: value for name, value in attributes.items() if value is not None}
            contents.add_query(Query(key, None if text is None else str(text), present), where)
    _require(judgments, ("query_id", "doc_id", "relevance"), "judgments")
    columns = (judgments[name].tolist() for name in ("query_id", "doc_id", "relevance"))
    for row, (query_id, doc_id, grade) in enumerate(zip(*columns, strict=True)):
        where = f"judgments, row {row}"
        key = checked_id(_plain(query_id), "query_id", where)
        doc = checked_id(_plain(doc_id), "doc_id", where)
        contents.add_judgment(key, doc, checked_grade(_plain(grade), doc, where), where)
    return contents


def queries_frame(queries: Iterable[Query], attributes: Sequence[str]) -> pd.DataFrame:
    """Return a frame with a row a query: ``query_id``, ``query`` and the attributes."""
    rows = [
        [query.id, query.text, *(query.attributes.get(name) for name in attributes)]
        for query in queries
    ]
    return pd.DataFrame(rows, columns=["query_id", "query", *attributes])


def judgments_frame(grades: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Return a frame with a row a judgment: ``query_id``, ``doc_id``, ``relevance``."""
    rows = [
        (query_id, doc_id, grade)
        for query_id, judged in grades.items()
        for doc_id, grade in judged.items()
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


def _plain(value: object) -> object:
    """Return None for every way pandas has of saying that a value is missing."""
    if isinstance(value, (list, tuple, dict)):
        return value
    return None if pd.isna(value) else value  # type: ignore[call-overload]


def _require(frame: pd.DataFrame, columns: tuple[str, ...], what: str) -> None:
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise GoldenSetError(
            f"{what} has no column {listed(missing)}; it has {listed(list(frame.columns), 10)}. "
            f"Rename its columns to {', '.join(columns)}"
        )
