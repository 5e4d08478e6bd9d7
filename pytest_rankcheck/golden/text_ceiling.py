"""The ceiling of a golden set: what a perfect ranker that sees only the query text could reach.

Such a ranker answers queries with the same text alike. If their judgments differ, no ranking is
best for all. nDCG is a sum over documents, so the ranking with the best mean sorts the documents by
the sum of their gains, each divided by the ideal DCG of its query.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import Candidates
from pytest_rankcheck.metrics.judged_hits import JudgedHits, padded
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["alike", "ceiling_of", "same_texts"]

_Grades = Mapping[str, Mapping[str, float]]


def ceiling_of(
    queries: Mapping[str, Query], grades: _Grades, candidates: Candidates, cutoff: int
) -> dict[str, float]:
    """Return the highest possible nDCG at ``cutoff`` of each query, in [0, 1].

    Uses linear gain and trec_eval's discount. A query without a relevant document reaches 0.
    """
    reached = {
        query_id: float(any(grade > 0 for grade in judged.values()))
        for query_id, judged in grades.items()
    }
    metric = Metric.parse(f"nDCG@{cutoff}")
    for group in same_texts(queries.values(), candidates):
        if any(grades[query_id] != grades[group[0]] for query_id in group):
            reached.update(_shared(group, grades, cutoff, metric))
    return reached


def same_texts(queries: Iterable[Query], candidates: Candidates) -> list[tuple[str, ...]]:
    """Return groups of query ids that look the same to a ranker that sees only the text.

    Their texts are equal after Unicode normalisation, and so are their candidates, if the set has
    any.
    """
    return alike(queries, candidates, lambda text: unicodedata.normalize("NFC", text))


def alike(
    queries: Iterable[Query], candidates: Candidates, key: Callable[[str], object]
) -> list[tuple[str, ...]]:
    """Return groups of query ids with the same candidates, and the same key of their texts."""
    groups: dict[object, list[str]] = {}
    for query in queries:
        if query.text:
            visible = key(query.text), frozenset(candidates.rows(query.id))
            groups.setdefault(visible, []).append(query.id)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _shared(group: Sequence[str], grades: _Grades, cutoff: int, metric: Metric) -> dict[str, float]:
    """Return the nDCG of each query of a group under the ranking with the best mean."""
    dcg = Metric.parse(f"DCG@{cutoff}")
    value: dict[str, float] = {}
    for query_id in group:
        judged = grades[query_id]
        ideal = sorted(judged, key=lambda doc_id: -judged[doc_id])
        best = _value(dcg, judged, ideal)
        for doc_id, grade in judged.items():
            value[doc_id] = value.get(doc_id, 0.0) + (max(grade, 0.0) / best if best else 0.0)
    ranking = sorted(value, key=lambda doc_id: -value[doc_id])
    return {query_id: _value(metric, grades[query_id], ranking) for query_id in group}


def _value(metric: Metric, judged: Mapping[str, float], ranking: Sequence[str]) -> float:
    pairs = [(rank, judged[doc]) for rank, doc in enumerate(ranking, start=1) if doc in judged]
    hits = JudgedHits(
        ranks=padded([[float(rank) for rank, _ in pairs]]),
        grades=padded([[grade for _, grade in pairs]]),
        retrieved=np.array([float(len(ranking))]),
        ideal=padded([sorted(judged.values(), reverse=True)]),
        max_grade=max(judged.values(), default=0.0),
    )
    return float(metric.compute(hits)[0])
