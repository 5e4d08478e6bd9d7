"""Joining a run with a golden set into judged hits: done once, for every metric."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.judged_hits import JudgedHits, padded
from pytest_rankcheck.rankers.paused_collector import collector_paused
from pytest_rankcheck.rankers.query_hits import QueryHits
from pytest_rankcheck.rankers.run import Run

__all__ = ["BLOCK", "Joined", "has_relevant", "join", "judged_hits", "padded_hits"]

BLOCK = 4096
"""Queries per block. It limits the size of the padded matrices, and so the memory."""

_NOTHING = QueryHits(0, (), ())


@dataclass(frozen=True, slots=True)
class Joined:
    """The judged documents that a run has for each query."""

    hits: Mapping[str, QueryHits]
    """By judged query, for the queries that the run has."""
    extra: tuple[str, ...]
    """The queries of the run without judgments."""

    def has_hits(self, golden: GoldenSet, queries: int) -> bool:
        """Return whether so many queries with a relevant judgment rank a judged document."""
        hits = (
            query_id
            for query_id, query in self.hits.items()
            if query.ranks and has_relevant(golden.grades(query_id))
        )
        return len(tuple(islice(hits, queries))) == queries


def has_relevant(grades: Mapping[str, float]) -> bool:
    """Return whether a query has a relevant judgment."""
    return any(grade > 0 for grade in grades.values())


def join(run: Run, golden: GoldenSet) -> Joined:
    """Find the judged documents in a run. No object is created for an unjudged document.

    Raises:
        RunError: the run is in a file with a malformed line.
    """

    def wanted(query_id: str) -> Collection[str] | None:
        return golden.grades(query_id) if query_id in golden else None

    hits: dict[str, QueryHits] = {}
    extra: list[str] = []
    with collector_paused():
        for query_id, result in run.found(wanted):
            if result is None:
                extra.append(query_id)
            else:
                hits[query_id] = result
    return Joined(hits, tuple(extra))


def judged_hits(joined: Joined, golden: GoldenSet, block: int = BLOCK) -> Iterator[JudgedHits]:
    """Yield the judged hits of all queries of ``golden``, in its order, in blocks.

    A query that the run lacks has an empty ranking.
    """
    query_ids = golden.query_ids
    for start in range(0, len(query_ids), block):
        yield _block(joined.hits, golden, query_ids[start : start + block])


def _block(
    hits: Mapping[str, QueryHits], golden: GoldenSet, query_ids: Sequence[str]
) -> JudgedHits:
    return padded_hits(
        [hits.get(query_id, _NOTHING) for query_id in query_ids],
        [golden.grades(query_id) for query_id in query_ids],
        golden.scale,
    )


def padded_hits(
    hits: Sequence[QueryHits], judged: Sequence[Mapping[str, float]], max_grade: float
) -> JudgedHits:
    """Return the judged hits of some rankings.

    Args:
        hits: where the judged documents of each were found.
        judged: the grades of all judged documents of each.
        max_grade: the scale of the golden set.
    """
    pairs = zip(hits, judged, strict=True)
    return JudgedHits(
        ranks=padded([query.ranks for query in hits]),
        grades=padded([[grades[doc] for doc in query.doc_ids] for query, grades in pairs]),
        retrieved=np.array([query.retrieved for query in hits], dtype=np.float64),
        ideal=padded([sorted(grades.values(), reverse=True) for grades in judged]),
        max_grade=max_grade,
    )
