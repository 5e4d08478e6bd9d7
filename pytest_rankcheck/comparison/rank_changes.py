"""What moved between two rankings of a query: documents, across a cutoff, and lost answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired
from pytest_rankcheck.comparison.measurement import Measured, Tops
from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric

FIRST, TOP = 3, 10
"""An answer is among the first three; it is lost if nothing relevant is in the top ten. That is
also the top that counts if a metric has no cutoff."""
_HIGH = 9.0
"""A grade that is relevant to every metric."""


@dataclass(frozen=True, slots=True)
class Move:
    """A document whose rank differs between two rankings of one query."""

    doc_id: str
    grade: float | None
    """None: unjudged."""
    before: int | None
    """Its rank before; None: it was not in the known part of the ranking."""
    after: int | None
    """Its rank now; None: it is not in the known part of the ranking."""
    k: int
    """The number of documents that count as the top."""

    @property
    def entered(self) -> bool:
        """Whether it is in the top now and was not before."""
        return self._in_top(self.after) and not self._in_top(self.before)

    @property
    def left(self) -> bool:
        """Whether it was in the top before and is not now."""
        return self._in_top(self.before) and not self._in_top(self.after)

    def _in_top(self, rank: int | None) -> bool:
        return rank is not None and rank <= self.k


def moves_between(evaluation: Evaluation, other: Measured, query_id: str, k: int) -> Sequence[Move]:
    """Return the documents in a query's top k, then or now, whose rank differs.

    As `Comparison.moved` does.

    Args:
        evaluation: what is measured now.
        other: what it is compared with.
        query_id: the query.
        k: how many documents count as the top.
    """
    for side in (evaluation, other):
        side.read_rankings(k)
    if other.known_depth == 0:  # no document is known to be new
        return []
    grades = evaluation.golden.grades(query_id)
    before, after = other.ranks(query_id), evaluation.ranks(query_id)
    tops = (side.ranking(query_id)[:k] for side in (other, evaluation))
    moves = [
        Move(doc_id, grades.get(doc_id), before.get(doc_id), after.get(doc_id), k)
        for doc_id in dict.fromkeys(doc_id for top in tops for doc_id in top)
        if before.get(doc_id) != after.get(doc_id)
    ]
    return sorted(moves, key=_importance)


def _importance(move: Move) -> tuple[bool, float, float, float]:
    """Sort what explains a change first: relevant documents, high grades, long falls."""
    beyond = 1e9
    before, after = move.before or beyond, move.after or beyond
    grade = move.grade or 0
    if grade <= 0:
        return (True, 0, after, before)
    return (False, -grade, before - after, after)


def answers_between(before: Tops, now: Tops, golden: JudgedQueries) -> tuple[Set[str], Set[str]]:
    """Return the queries that lost their answers, and those that gained some in the same way.

    Args:
        before: the first ten documents of each query before.
        now: the same now.
        golden: the judged queries.
    """
    lost, gained = set[str](), set[str]()
    for query_id in before.keys() & now.keys():
        then, since = before[query_id], now[query_id]
        if then == since:
            continue
        grades = golden.grades(query_id)
        relevant = {doc_id for doc_id, grade in grades.items() if grade > 0}
        if relevant.isdisjoint(since):
            if not relevant.isdisjoint(then[:FIRST]):
                lost.add(query_id)
        elif relevant.isdisjoint(then) and not relevant.isdisjoint(since[:FIRST]):
            gained.add(query_id)
    return lost, gained


@dataclass(frozen=True, slots=True)
class Crossing:
    """How many relevant documents left the top, and how many entered it, over all queries."""

    k: int
    """The number of documents that count as the top."""
    left: int
    entered: int


def crossing_between(
    evaluation: Evaluation, other: Measured, values: ComparedValues
) -> Crossing | None:
    """Return how many relevant documents crossed the cutoff of a metric; None if none is known.

    Args:
        evaluation: what is measured now.
        other: what it is compared with.
        values: the values of a metric on both sides, for all queries or for a slice.
    """
    cutoff, depth = values.metric.cutoff, other.relevant_depth
    if not isinstance(values, Paired) or not values.metric.kind.is_of_judgments or not cutoff:
        return None
    if top_of(evaluation, other, values.metric) < cutoff and depth is not None and depth < cutoff:
        return None
    crossed = crossed_in(evaluation, other, values.query_ids, cutoff).values()
    left, entered = (sum(len(each[at]) for each in crossed) for at in (0, 1))
    return Crossing(cutoff, left, entered) if left or entered else None


def crossed_in(
    evaluation: Evaluation, other: Measured, query_ids: Sequence[str], k: int
) -> Mapping[str, tuple[Set[str], Set[str]]]:
    """Return the relevant documents that left the top k of each query, and those that entered it.

    Queries in which none did may be left out.
    """
    before, now = (_tops(side, query_ids, k) for side in (other, evaluation))
    changed = [each for each in query_ids if before.get(each, ()) != now.get(each, ())]
    crossed = {}
    for query_id in changed:
        grades = evaluation.golden.grades(query_id)
        was, is_now = (
            {doc for doc in grades.keys() & tops.get(query_id, ()) if grades[doc] > 0}
            for tops in (before, now)
        )
        crossed[query_id] = was - is_now, is_now - was
    return crossed


def _tops(side: Measured, query_ids: Sequence[str], k: int) -> Tops:
    """Return the documents of each query that are known to be in its top k."""
    if side.known_depth is None or side.known_depth >= k:
        return side.tops(k)
    return {
        query_id: [doc for doc, rank in side.ranks(query_id).items() if rank <= k]
        for query_id in query_ids
    }


def top_of(evaluation: Evaluation, other: Measured, metric: Metric) -> int:
    """Return how many documents count as the top, as far as both sides know their rankings."""
    wanted = (metric.cutoff or TOP, evaluation.depth)
    depths = (*wanted, evaluation.known_depth, other.known_depth)
    return min(depth for depth in depths if depth is not None)


def ignores_order(metric: Metric) -> bool:
    """Return whether only the documents above the cutoff matter, not their order, by trying it."""
    if not metric.cutoff or not metric.kind.is_of_judgments:
        return False
    with suppress(MetricError):
        return tried(metric, [1.0], 1) == tried(metric, [float(metric.cutoff)], 1)
    return False


def tried(metric: Metric, ranks: Sequence[float], judged: int) -> float:
    """Return the value of a query with relevant documents at some ranks."""
    hits = JudgedHits(
        ranks=np.array([ranks]),
        grades=np.full((1, len(ranks)), _HIGH),
        retrieved=np.array([max(10.0, *ranks)]),
        ideal=np.full((1, judged), _HIGH),
        max_grade=_HIGH,
    )
    return float(metric.compute(hits)[0])
