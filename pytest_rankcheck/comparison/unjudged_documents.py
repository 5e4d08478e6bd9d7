"""How much of a difference unjudged documents could explain.

A better ranker finds unjudged documents, which count as not relevant. So do those that it no longer
shows. The bounds are the differences if only the new ones at the top had the highest grade, or only
those that left it (compare the residual of Moffat and Zobel, TOIS 2008, for one ranking).

Documents that a replayed log never showed are unjudged too: nobody could select them. A ranker that
finds new documents therefore looks bad, and one that drops such documents looks good.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.rank_changes import TOP, top_of, tried
from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.evaluation.conventions import Conventions, meant, settled
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import as_recorded
from pytest_rankcheck.evaluation.run_golden_join import hits_of_lists
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The unjudged documents that are new in the top of the compared queries, or left it.

    Differences are those of the means, after minus before. They are NaN if they are not known: the
    values are means of several runs or another library's, or one side keeps less of its rankings
    than the metric looks at.
    """

    k: int
    """The number of documents that count as the top."""
    documents: int
    """How many documents are new and unjudged, over all queries."""
    queries: int
    """How many queries have new ones."""
    left: int
    """How many unjudged documents left the top, over all queries."""
    if_irrelevant: float
    """The difference if all of them were irrelevant."""
    if_relevant: float
    """The difference if all new ones had the highest grade, and those that left were irrelevant."""
    if_left_relevant: float
    """The difference if all that left had the highest grade, and the new ones were irrelevant.

    NaN if the rankings before are not known far enough down to compute it.
    """
    grade: float
    """The highest grade of the golden set."""


_NOTHING = Unjudged(TOP, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
"""None for metrics of sessions and of the whole run, which use no judgments of single documents."""


def unjudged_between(
    evaluation: Evaluation,
    other: Measured,
    values: ComparedValues,
    joined: dict[int, TopDocuments],
    *,
    in_full: bool = True,
) -> Unjudged:
    """Return how much unjudged documents could change a difference.

    The values of both sides are computed again, because a document that becomes relevant changes
    the ideal ranking of both; so both must be known far enough down (a baseline record has ten
    documents per query). Only if the first relevant document decides a metric, as in RR, can the
    values before stay as they are.

    Args:
        evaluation: what is measured now.
        other: what it is compared with.
        values: the values of a metric on both sides, for all queries or for a slice.
        joined: the documents at the top that were joined before, by how many count as the top.
        in_full: whether to compute all bounds; otherwise only that of the new ones, if irrelevant
            documents are judged too, and the others are NaN.
    """
    if not isinstance(values, Paired) or not values.metric.kind.is_of_judgments:
        return _NOTHING
    if not in_full and not (evaluation.golden.contents.judgments.grades <= 0).any():
        return _NOTHING  # without irrelevant documents, all others are unjudged
    k = top_of(evaluation, other, values.metric)
    if k not in joined:
        joined[k] = TopDocuments(evaluation, other, k)
    documents = joined[k]
    found = [documents.changed[each] for each in values.query_ids if each in documents.changed]
    highest = max(evaluation.golden.scale, 1.0)
    is_known = can_rejudge(evaluation, values.metric) and (
        can_rejudge(other, values.metric) or _is_decided_by_first(other, values.metric)
    )

    def bound(of_new: float, of_left: float) -> float:
        is_wanted = is_known and (in_full or of_new > 0)
        return documents.difference(values, of_new, of_left) if is_wanted else math.nan

    return Unjudged(
        k=k,
        documents=sum(len(each.new) for each in found),
        queries=sum(bool(each.new) for each in found),
        left=sum(len(each.left) for each in found),
        if_irrelevant=bound(0.0, 0.0),
        if_relevant=bound(highest, 0.0),
        if_left_relevant=bound(0.0, highest),
        grade=highest,
    )


class QueryTop(NamedTuple):
    """The unjudged documents at the top of one of a query's two rankings only."""

    new: Sequence[str]
    """Those of the ranking now."""
    left: Sequence[str]
    """Those of the ranking before."""


class TopDocuments:
    """The first documents of the queries of both sides, with their judgments.

    The rankings of queries with unjudged documents that are new in the top, or left it, are joined
    once for all metrics, with each pair of grades that these documents could have.

    Args:
        evaluation: what is measured now.
        other: what it is compared with.
        k: how many documents count as the top.
    """

    def __init__(self, evaluation: Evaluation, other: Measured, k: int) -> None:
        self._evaluation, self._other = evaluation, other
        before, now = other.tops(k), evaluation.tops(k)
        self._joined: dict[tuple[int, float, float], JudgedHits] = {}
        self.changed: dict[str, QueryTop] = {}
        for query_id in evaluation.query_ids:
            grades = evaluation.golden.grades(query_id)
            then, top = before.get(query_id, ()), now.get(query_id, ())
            new, left = _only_in(top, then, grades), _only_in(then, top, grades)
            if new or left:
                self.changed[query_id] = QueryTop(new, left)
        self._place_of = {query_id: place for place, query_id in enumerate(self.changed)}

    def difference(self, pairs: Paired, of_new: float, of_left: float) -> float:
        """Return the difference of the means if all new ones, and all that left, had these grades.

        NaN if those that left have a grade above 0 and the values before cannot be computed.
        """
        ids = pairs.query_ids
        at = [place for place, query_id in enumerate(ids) if query_id in self.changed]
        if not at:
            return pairs.difference
        knows_before = can_rejudge(self._other, pairs.metric)
        if not knows_before and of_left > 0 and any(self.changed[ids[n]].left for n in at):
            return math.nan
        among = [self._place_of[ids[place]] for place in at]

        def rejudged(side: Measured, values: FloatArray) -> FloatArray:
            changed, hits = values.copy(), self._hits(side, of_new, of_left)
            changed[at] = _counted(pairs.metric, hits, self._evaluation.conventions)[among]
            return changed

        after = rejudged(self._evaluation, pairs.after)
        before = rejudged(self._other, pairs.before) if knows_before else pairs.before
        return replace(pairs, before=before, after=after).counted().difference

    def _hits(self, side: Measured, of_new: float, of_left: float) -> JudgedHits:
        """Return the judged hits of one side, of the queries that changed."""
        key = id(side), of_new, of_left
        if key not in self._joined:
            golden, rankings = self._evaluation.golden, side.tops()
            grades = [
                {
                    **golden.grades(query_id),
                    **dict.fromkeys(top.new, of_new),
                    **dict.fromkeys(top.left, of_left),
                }
                for query_id, top in self.changed.items()
            ]
            # A query that was added since has no earlier ranking.
            own = [rankings.get(each, ()) for each in self.changed]
            scale = max(golden.scale, *(max(each.values()) for each in grades))
            self._joined[key] = hits_of_lists(own, grades, scale)
        return self._joined[key]


def _only_in(
    top: Sequence[str], other: Sequence[str], grades: Mapping[str, float]
) -> Sequence[str]:
    """Return the unjudged documents of a top that another one lacks."""
    if top == other:
        return ()
    return [doc for doc in dict.fromkeys(top) if doc not in grades and doc not in other]


def can_rejudge(side: Measured, metric: Metric) -> bool:
    """Return whether the rankings of a side are known far enough down to compute a metric.

    The values of several runs are means, and only the rankings of the first are kept. Weights by
    judged documents would change with the judgments.
    """
    is_mean = side.averaged(metric).count > 1 or metric.definition.aggregate == "by_judged"
    if is_mean or metric.definition.ir_measures or not metric.kind.is_of_judgments:
        return False
    if side.known_depth is None:
        return True
    counts_deeper = bool(dict(metric.parameters)["judged_only"])
    is_shallow = metric.cutoff is not None and metric.cutoff <= side.known_depth
    return is_shallow and not counts_deeper


def _is_decided_by_first(side: Measured, metric: Metric) -> bool:
    """Return whether a metric depends only on the first relevant document of a ranking.

    This is tried out: a second relevant document, retrieved or not, changes nothing.
    """
    if side.averaged(metric).count > 1 or dict(metric.parameters)["judged_only"]:
        return False
    value = partial(tried, metric)
    with suppress(MetricError):  # the metric needs more than ranks and grades
        return value([2.0], 1) == value([2.0], 2) == value([2.0, 3.0], 2)
    return False


def values_under(
    metric: Metric,
    rankings: Sequence[Sequence[str]],
    grades: Sequence[Mapping[str, float]],
    *,
    max_grade: float,
    conventions: Conventions,
) -> FloatArray:
    """Return the value of each query, ``[Q]``, under given grades.

    Args:
        metric: the metric, which is not one of ir_measures.
        rankings: the documents ranked for each query, best first.
        grades: the grade of every judged document of each query.
        max_grade: the highest grade of the whole golden set.
        conventions: those of the evaluation.
    """
    return _counted(metric, hits_of_lists(rankings, grades, max_grade), conventions)


def _counted(metric: Metric, hits: JudgedHits, conventions: Conventions) -> FloatArray:
    values = meant(metric, conventions).compute(hits)
    return settled(metric, values, np.asarray((hits.ideal > 0).any(axis=1)), conventions)


# --- documents that a replayed log never showed ---------------------------------------------------


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
