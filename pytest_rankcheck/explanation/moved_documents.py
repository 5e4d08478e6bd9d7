"""The documents that moved the values of a query: those that crossed the cutoff come first."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.rank_changes import TOP, ignores_order
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.explanation.explanation import Absence, Rank, RankedDocument
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import first_ranks

_RELEVANT = 4
_NEWCOMERS = 3
_BEYOND = 10**9
_BEST = 3
"""How many of the best judged documents are shown, and how many from the top of the ranking."""


def moved_documents(
    comparison: Comparison, query_id: str, metrics: Collection[Metric]
) -> Sequence[RankedDocument]:
    """Return the documents that explain why a query fell.

    Relevant ones come first, starting with those that crossed a cutoff; then what took their
    place. When a document falls by five ranks, others rise by one; they are left out.

    Args:
        comparison: what is compared.
        query_id: the query.
        metrics: those in which it fell.
    """
    evaluation, other = comparison.evaluation, comparison.other
    if other.known_depth == 0:  # no document is known to be new
        return ()
    known = [metric.cutoff for metric in metrics if metric.cutoff]
    moves = comparison.moved(query_id, TOP)
    grades, before, now = (
        evaluation.golden.grades(query_id),
        other.ranks(query_id),
        evaluation.ranks(query_id),
    )

    def is_in(rank: int | None, k: int) -> bool:
        return rank is not None and rank <= k

    def sides(doc: str) -> tuple[int | None, int | None]:
        return before.get(doc), now.get(doc)

    def crossed(doc: str) -> bool:
        then, after = sides(doc)
        return any(is_in(then, k) != is_in(after, k) for k in known)

    def importance(doc: str) -> tuple[bool, float, float, float]:
        then, after = (_BEYOND if rank is None else rank for rank in sides(doc))
        return (not crossed(doc), -grades[doc], then - after, after)

    deepest = max((TOP, *known))
    relevant = sorted(
        (
            doc
            for doc, grade in grades.items()
            if grade > 0
            and before.get(doc) != now.get(doc)
            and any(is_in(rank, deepest) for rank in sides(doc))
        ),
        key=importance,
    )[:_RELEVANT]
    if all(map(ignores_order, metrics)):
        relevant = [doc for doc in relevant if crossed(doc)] or relevant
    if not relevant and len(known) < len(metrics):  # a metric that looks at whole rankings
        both = (doc for doc in grades if grades[doc] > 0 and None not in sides(doc))
        deep = (doc for doc in both if before[doc] != now[doc])
        relevant = sorted(deep, key=importance)[:_RELEVANT]
    places = {before.get(doc) for doc in relevant}
    is_shallow = min(known, default=TOP) <= TOP
    came = [
        move.doc_id
        for move in moves
        if (move.grade or 0) <= 0
        and move.after is not None
        and (move.after in places or (is_shallow and move.entered))
    ]
    return [
        RankedDocument(
            doc,
            evaluation.golden.title(doc),
            grades.get(doc),
            _rank(evaluation, query_id, now.get(doc)),
            _rank(other, query_id, before.get(doc)),
        )
        for doc in (*relevant, *came[:_NEWCOMERS])
    ]


def _rank(side: Measured, query_id: str, rank: int | None) -> Rank:
    """Return a rank, or why it is not known."""
    if rank is not None:
        return rank
    depth = side.known_depth
    if isinstance(side, Evaluation) or depth is None or len(side.ranking(query_id)) < depth:
        return Absence.NOT_RANKED
    return Absence.NOT_KEPT


def best_documents(
    evaluation: Evaluation, query_id: str, metrics: Sequence[Metric]
) -> Sequence[RankedDocument]:
    """Return the best judged documents of a query, and what is at the top instead."""
    if not metrics[0].kind.is_of_documents:
        return ()
    golden, ranking = evaluation.golden, evaluation.ranking(query_id)
    grades, ranks = golden.grades(query_id), first_ranks(ranking)
    best = sorted((doc for doc in grades if grades[doc] > 0), key=lambda doc: -grades[doc])[:_BEST]
    return [
        RankedDocument(doc, golden.title(doc), grades.get(doc), ranks.get(doc, Absence.NOT_RANKED))
        for doc in dict.fromkeys((*best, *ranking[:_BEST]))
    ]
