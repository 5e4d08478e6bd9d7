"""Joining a run with a golden set into judged hits: done here, once, for every metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.hits import JudgedHits, padded
from pytest_rankcheck.rankers.run import Run

__all__ = ["BLOCK", "absent", "judged_hits"]

BLOCK = 4096
"""Queries a block: it bounds the padded matrices, and with them the memory."""


def judged_hits(run: Run, golden: GoldenSet, block: int = BLOCK) -> Iterator[JudgedHits]:
    """Yield the judged hits of all queries of ``golden``, in its order, in blocks.

    A query that the run lacks has an empty ranking. Nothing is made for an unjudged document.
    """
    query_ids = golden.query_ids
    for start in range(0, len(query_ids), block):
        yield _block(run, golden, query_ids[start : start + block])


def _block(run: Run, golden: GoldenSet, query_ids: Sequence[str]) -> JudgedHits:
    ranks: list[list[float]] = []
    grades: list[list[float]] = []
    retrieved: list[float] = []
    ideal: list[list[float]] = []
    for query_id in query_ids:
        judged = golden.grades(query_id)
        doc_ids = run.ranking(query_id)
        found = [(rank, judged[doc]) for rank, doc in enumerate(doc_ids, 1) if doc in judged]
        ranks.append([rank for rank, _ in found])
        grades.append([grade for _, grade in found])
        retrieved.append(len(doc_ids))
        ideal.append(sorted(judged.values(), reverse=True))
    return JudgedHits(
        ranks=padded(ranks),
        grades=padded(grades),
        retrieved=np.array(retrieved, dtype=np.float64),
        ideal=padded(ideal),
        max_grade=golden.max_grade,
    )


def absent(wanted: Iterable[str], there: Run | GoldenSet) -> tuple[str, ...]:
    """Return the query ids of ``wanted`` that ``there`` does not have."""
    return tuple(query_id for query_id in wanted if query_id not in there)
