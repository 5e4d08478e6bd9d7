"""What to judge next: the unjudged documents at the top, most influential first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_rankcheck.comparison.unjudged_documents import can_rejudge, values_under
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import first_ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentToJudge:
    """An unjudged document at the top of a query's ranking."""

    golden_set: str
    query_id: str
    query: str
    doc_id: str
    title: str
    rank: int
    metric: str
    influence: float
    """How far the metric's mean would move if the document had the highest grade."""


def most_influential(documents: Iterable[DocumentToJudge]) -> tuple[DocumentToJudge, ...]:
    """Return each document of a query once, with the metric that it moves most, sorted by move."""
    best: dict[tuple[str, str, str], DocumentToJudge] = {}
    for document in documents:
        key = (document.golden_set, document.query_id, document.doc_id)
        if key not in best or document.influence > best[key].influence:
            best[key] = document
    return tuple(sorted(best.values(), key=lambda document: -document.influence))


def to_judge(
    evaluation: Evaluation, metrics: Sequence[Metric], top: int = 10
) -> Iterator[DocumentToJudge]:
    """Yield the unjudged documents in the top of each ranking, most influential first.

    Each document appears once, with the metric that it could move most.

    Args:
        evaluation: what was measured.
        metrics: those that are gated; metrics of ir_measures, and those that need more of a
            ranking than is known, are left out.
        top: how many documents of each ranking are looked at, at most the metric's cutoff.
    """
    evaluation = evaluation.of_rankings
    found = [
        document
        for metric in metrics
        if can_rejudge(evaluation, metric)
        for document in _of_metric(evaluation, metric, min(top, metric.cutoff or top))
    ]
    found.sort(key=lambda document: (document.query_id, document.rank))
    yield from most_influential(found)


def _of_metric(evaluation: Evaluation, metric: Metric, top: int) -> Iterator[DocumentToJudge]:
    golden = evaluation.golden
    rows = [
        (query_id, doc_id, rank)
        for query_id in golden.query_ids
        for doc_id, rank in first_ranks(evaluation.ranking(query_id)[:top]).items()
        if doc_id not in golden.grades(query_id)
    ]
    if not rows:
        return
    highest = max(golden.scale, 1.0)
    after = values_under(
        metric,
        [evaluation.ranking(query_id) for query_id, _, _ in rows],
        [{**golden.grades(query_id), doc_id: highest} for query_id, doc_id, _ in rows],
        max_grade=highest,
        conventions=evaluation.conventions,
    )
    before = dict(zip(evaluation.query_ids, evaluation.values(metric).tolist(), strict=True))
    for (query_id, doc_id, rank), value in zip(rows, after.tolist(), strict=True):
        moved = abs(value - before[query_id]) / len(before)
        yield DocumentToJudge(
            golden_set=golden.name,
            query_id=query_id,
            query=golden.query(query_id).text or "",
            doc_id=doc_id,
            title=golden.title(doc_id) or "",
            rank=rank,
            metric=str(metric),
            influence=0.0 if math.isnan(moved) else moved,  # NaN if the query does not count
        )
