"""Documents that a replayed log never showed, so that nobody could select them.

Every metric counts them as not relevant. A ranker that finds new documents therefore looks bad,
and one that drops such documents looks good.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_rankcheck.comparison.compared_values import Paired
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.rank_changes import TOP, top_of
from pytest_rankcheck.comparison.unjudged_documents import can_rejudge, values_under
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import as_recorded


def unseen_between(
    evaluation: Evaluation, other: Measured, values: Paired
) -> tuple[int, float, float]:
    """Return how many documents count as the top, and how much of it was never shown.

    These are the shares of the top now and of the top before, in [0, 1], in searches where the log
    showed other documents. A document at the same rank on both sides does not count, because it
    cannot change the difference.

    Args:
        evaluation: what is measured now, on a replay.
        other: what it is compared with.
        values: the values of a metric on both sides.
    """
    k = top_of(evaluation, other, values.metric)

    def share(here: Measured, there: Measured) -> float:
        ids = values.query_ids
        tops = ((each, here.ranking(each)[:k], there.ranking(each)[:k]) for each in ids)
        return _share(tops, evaluation)

    return k, share(evaluation, other), share(other, evaluation)


def without_unseen(evaluation: Evaluation, values: Paired) -> Paired | None:
    """Return the values with documents that were never shown left out of the rankings now.

    Those below them move up (condensed lists: Sakai, Alternatives to Bpref, SIGIR 2007), so no
    unseen document can lower a value. None if the rankings are not known to their ends, or the
    metric cannot be computed again.

    Args:
        evaluation: what is measured now, on a replay.
        values: the values of a metric on both sides.
    """
    golden, metric = evaluation.golden, values.metric
    if evaluation.known_depth is not None or not can_rejudge(evaluation, metric):
        return None
    shown = [set(golden.candidates_of(query_id)) for query_id in values.query_ids]
    condensed = [
        [doc_id for doc_id in evaluation.ranking(query_id) if doc_id in seen]
        for query_id, seen in zip(values.query_ids, shown, strict=True)
    ]
    after = values_under(
        metric,
        condensed,
        [dict(golden.grades(query_id)) for query_id in values.query_ids],
        max_grade=golden.scale,
        conventions=evaluation.conventions,
    )
    return replace(values, after=as_recorded(after)).counted()


def unseen_share(evaluation: Evaluation, k: int = TOP) -> float:
    """Return the share of the top k of all queries that was never shown, in [0, 1]."""
    tops = ((each, evaluation.ranking(each)[:k], ()) for each in evaluation.query_ids)
    return _share(tops, evaluation)


def _share(
    tops: Iterable[tuple[str, Sequence[str], Sequence[str]]], evaluation: Evaluation
) -> float:
    """Return the share of documents that were never shown.

    Args:
        tops: a query, its top, and the documents that do not count at the same places.
        evaluation: the evaluation on the golden set.
    """
    unseen = documents = 0
    for query_id, top, same in tops:
        shown = set(evaluation.golden.candidates_of(query_id))
        documents += len(top)
        unseen += sum(
            doc_id not in shown and (place >= len(same) or same[place] != doc_id)
            for place, doc_id in enumerate(top)
        )
    return unseen / documents if documents else 0.0
