"""Tied scores: documents whose order the ranker leaves to chance, and the orders they can have."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.run import Run

__all__ = ["TieOrder", "tied_queries", "ties_reordered"]

TieOrder = Literal["best", "worst"]
"""Among documents with the same score: the highest grade first, or last."""


def tied_queries(run: Run, golden: GoldenSet, k: int | None) -> tuple[str, ...]:
    """Return the queries in which a judged document of the top k shares its score.

    Empty if the run has no scores, or was not read into memory.
    """
    if not run.is_in_memory:
        return ()
    return tuple(
        query_id
        for query_id in golden.query_ids
        if any(
            not golden.grades(query_id).keys().isdisjoint(group)
            for group in _groups(run, query_id, k)
        )
    )


def ties_reordered(run: Run, golden: GoldenSet, order: TieOrder) -> Run:
    """Return the run with tied documents in the best or the worst order for the metrics.

    An unjudged document counts as grade 0.
    """
    sign = -1 if order == "best" else 1
    rankings: dict[str, Sequence[str]] = {}
    for query_id in run:
        grades: Mapping[str, float] = golden.grades(query_id) if query_id in golden else {}
        docs = run.ranking(query_id)
        scores = run.scores(query_id) if grades and run.has_ties(query_id) else None
        if scores is not None and _is_falling(scores):
            pairs = sorted(
                zip(docs, scores, strict=True),
                key=lambda pair: (-pair[1], sign * grades.get(pair[0], 0.0)),
            )
            docs = [doc for doc, _ in pairs]
        rankings[query_id] = docs
    reordered = Run.from_dict(rankings, name=run.name, ties=run.ties, duplicates=run.duplicates)
    reordered.depth = run.depth
    return reordered


def _groups(run: Run, query_id: str, k: int | None) -> Iterator[Sequence[str]]:
    """Yield each group of documents with the same score that starts in the top k."""
    has_ties = query_id in run and run.has_ties(query_id)
    scores = run.scores(query_id) if has_ties else None
    if scores is None or not _is_falling(scores):
        return
    start = 0
    for _, tied in itertools.groupby(scores):
        size = len(tuple(tied))
        if k is not None and start >= k:
            return
        if size > 1:
            yield run.ranking(query_id)[start : start + size]
        start += size


def _is_falling(scores: Sequence[float]) -> bool:
    """Whether the scores fall along the ranking; a ranker may return another order."""
    return all(before >= after for before, after in itertools.pairwise(scores))
