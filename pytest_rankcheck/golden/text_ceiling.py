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

_BLOCK = 500
"""How many groups are computed at once, in matrices of one column for each rank."""


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
    groups = [
        group
        for group in same_texts(queries.values(), candidates)
        if any(grades[query_id] != grades[group[0]] for query_id in group)
    ]
    for start in range(0, len(groups), _BLOCK):
        reached.update(_shared(groups[start : start + _BLOCK], grades, cutoff))
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


def _shared(groups: Sequence[tuple[str, ...]], grades: _Grades, cutoff: int) -> dict[str, float]:
    """Return the nDCG of each query of some groups, under its best common ranking."""
    judged = {query_id: grades[query_id] for group in groups for query_id in group}
    ideal = [sorted(each, key=lambda doc_id: -each[doc_id])[:cutoff] for each in judged.values()]
    best = dict(zip(judged, _values("DCG", cutoff, judged, ideal), strict=True))
    rankings: list[Sequence[str]] = []
    for group in groups:
        value: dict[str, float] = {}
        for query_id in group:
            for doc_id, grade in judged[query_id].items():
                share = max(grade, 0.0) / best[query_id] if best[query_id] else 0.0
                value[doc_id] = value.get(doc_id, 0.0) + share
        rankings += [sorted(value, key=lambda doc_id: -value[doc_id])[:cutoff]] * len(group)
    return dict(zip(judged, _values("nDCG", cutoff, judged, rankings), strict=True))


def _values(
    name: str, cutoff: int, judged: _Grades, rankings: Sequence[Sequence[str]]
) -> list[float]:
    """Return a metric's value at a cutoff for each query, whose ranking ends there."""
    hits = [
        [(rank, grades[doc_id]) for rank, doc_id in enumerate(ranking, 1) if doc_id in grades]
        for ranking, grades in zip(rankings, judged.values(), strict=True)
    ]
    ideal = [sorted(grades.values(), reverse=True)[:cutoff] for grades in judged.values()]
    block = JudgedHits(
        ranks=padded([[rank for rank, _ in pairs] for pairs in hits]),
        grades=padded([[grade for _, grade in pairs] for pairs in hits]),
        retrieved=np.array(list(map(len, rankings)), np.float64),
        ideal=padded(ideal),
    )
    values: list[float] = Metric.of(name, cutoff).compute(block).tolist()
    return values
