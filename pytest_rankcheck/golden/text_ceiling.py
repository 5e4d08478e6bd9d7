"""The ceiling of a golden set: what a perfect ranker that sees only the query text could reach.

Such a ranker gives queries with the same text the same answer. If their judgments differ, no
ranking is best for all. nDCG is a sum over documents, so the ranking with the best mean sorts the
documents by the sum of their gains, each divided by the ideal DCG of its query.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import Candidates

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
    for group in same_texts(queries.values(), candidates):
        judged = {query_id: grades[query_id] for query_id in group}
        if any(each != judged[group[0]] for each in judged.values()):
            reached.update(_shared(judged, cutoff))
    return reached


def same_texts(queries: Iterable[Query], candidates: Candidates) -> list[tuple[str, ...]]:
    """Return groups of query ids that look the same to a ranker that sees only the text.

    Their texts are equal after Unicode normalisation, and so are their candidates, if the set has
    any.
    """
    groups: dict[object, list[str]] = {}
    for query in queries:
        if query.text:
            text = unicodedata.normalize("NFC", query.text)
            visible = text, frozenset(candidates.rows(query.id))
            groups.setdefault(visible, []).append(query.id)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _shared(judged: _Grades, cutoff: int) -> dict[str, float]:
    """Return the nDCG of queries under the common ranking that is best for all of them."""
    discounts = [1 / math.log2(rank + 1) for rank in range(1, cutoff + 1)]

    def dcg(gains: Iterable[float]) -> float:
        return sum(gain * discount for gain, discount in zip(gains, discounts, strict=False))

    gains = {
        query_id: {doc_id: max(grade, 0.0) for doc_id, grade in of_query.items()}
        for query_id, of_query in judged.items()
    }
    best = {each: dcg(sorted(gains[each].values(), reverse=True)) for each in judged}
    shares: defaultdict[str, float] = defaultdict(float)
    for query_id, of_query in gains.items():
        for doc_id, gain in of_query.items():
            if best[query_id]:
                shares[doc_id] += gain / best[query_id]
    ranking = sorted(shares, key=lambda doc_id: -shares[doc_id])[:cutoff]
    reached = dict.fromkeys(judged, 0.0)
    for query_id, of_query in gains.items():
        if best[query_id]:
            found = dcg(of_query.get(doc_id, 0.0) for doc_id in ranking)
            reached[query_id] = found / best[query_id]
    return reached
