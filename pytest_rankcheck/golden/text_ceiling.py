"""The ceiling: what a perfect ranker that sees the text alone could reach on a golden set.

It answers queries of the same text alike. Where their judgments differ, no ranking is the best for
all; nDCG is a sum over documents, so the ranking that is best for their mean has the documents in
the order of the sum of their gains, each divided by the ideal DCG of its query.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import Candidates
from pytest_rankcheck.metrics.judged_hits import JudgedHits, padded
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["ceiling_of", "same_texts"]

Grades = Mapping[str, Mapping[str, float]]


def ceiling_of(
    queries: Mapping[str, Query], grades: Grades, candidates: Candidates, cutoff: int
) -> dict[str, float]:
    """Return the nDCG at ``cutoff`` that each query can reach, in [0, 1].

    Linear gain and the discount of trec_eval. A query without a relevant document reaches 0.
    """
    reached = {query_id: float(_has_relevant(grades[query_id])) for query_id in queries}
    metric = Metric.parse(f"nDCG@{cutoff}")
    for group in same_texts(queries.values(), candidates):
        if any(grades[query_id] != grades[group[0]] for query_id in group):
            reached.update(_shared(group, grades, cutoff, metric))
    return reached


def same_texts(queries: Iterable[Query], candidates: Candidates) -> list[tuple[str, ...]]:
    """Return the ids of queries that look the same to a ranker that sees the text alone.

    Texts are the same but for Unicode normalisation; where the set has candidates, which a ranker
    is given too, these are the same.
    """
    found: dict[object, list[str]] = {}
    for query in queries:
        if query.text:
            seen = unicodedata.normalize("NFC", query.text), frozenset(candidates.of(query.id))
            found.setdefault(seen, []).append(query.id)
    return [tuple(group) for group in found.values() if len(group) > 1]


def _shared(group: Sequence[str], grades: Grades, cutoff: int, metric: Metric) -> dict[str, float]:
    """Return what each query of a group reaches under the ranking that is best for their mean."""
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
    hits = [(rank, judged[doc]) for rank, doc in enumerate(ranking, start=1) if doc in judged]
    found = JudgedHits(
        ranks=padded([[float(rank) for rank, _ in hits]]),
        grades=padded([[grade for _, grade in hits]]),
        retrieved=np.array([float(len(ranking))]),
        ideal=padded([sorted(judged.values(), reverse=True)]),
        max_grade=max(judged.values(), default=0.0),
    )
    return float(metric.compute(found)[0])


def _has_relevant(judged: Mapping[str, float]) -> bool:
    return any(grade > 0 for grade in judged.values())
