"""How much of a difference unjudged documents could explain.

A better ranker finds unjudged documents, and they count as not relevant. So do those that it no
longer shows. The bounds are the differences if only the new ones at the top had the highest grade,
or only those that left it (compare the residual of Moffat and Zobel, TOIS 2008, for one ranking).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.evaluation.conventions import Conventions, meant, settled
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.run_golden_join import hits_of_lists
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric

TOP = 10
"""The number of documents that count as the top, if the metric has no cutoff."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The unjudged documents that are new in the top of the compared queries, or left it.

    Differences are those of the means, after minus before.
    """

    k: int
    """The number of documents that count as the top."""
    documents: int
    """How many documents are new and unjudged, over all queries."""
    queries: int
    """In how many queries there are new ones."""
    left: int
    """How many unjudged documents left the top, over all queries."""
    judged_before: float
    """Judged@k before: the mean share of the top that was judged."""
    judged_after: float
    """Judged@k now."""
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


_NOTHING = Unjudged(TOP, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""For metrics of sessions and of the whole run, which use no judgments of single documents."""


def unjudged_between(evaluation: Evaluation, other: Measured, values: ComparedValues) -> Unjudged:
    """Return how much unjudged documents could change a difference.

    The values before are computed again if the rankings are known far enough down (a baseline
    record has ten documents per query), because a document that becomes relevant changes the ideal
    ranking of both sides. Otherwise they stay as they are, and so does the difference of a metric
    of ir_measures.

    Args:
        evaluation: what is measured now.
        other: what it is compared with.
        values: the values of a metric on both sides, for all queries or for a slice.
    """
    if not isinstance(values, Paired) or values.metric.kind.takes is not JudgedHits:
        return _NOTHING
    k = top_of(evaluation, other, values.metric)
    new: list[_Document] = []
    left: list[_Document] = []
    judged_before = judged_after = 0
    for place, query_id in enumerate(values.query_ids):
        grades = evaluation.golden.grades(query_id)
        then = dict.fromkeys(other.ranking(query_id)[:k])
        now = dict.fromkeys(evaluation.ranking(query_id)[:k])
        # A document with a negative grade counts as unjudged in Judged@k.
        judged_before += sum(grades.get(doc_id, -1) >= 0 for doc_id in then)
        judged_after += sum(grades.get(doc_id, -1) >= 0 for doc_id in now)
        new += [(place, doc) for doc in now if doc not in grades and doc not in then]
        left += [(place, doc) for doc in then if doc not in grades and doc not in now]
    tops = _Tops(evaluation, other, values, new, left)
    shares = max(1, k * len(values.query_ids))
    highest = max(evaluation.golden.scale, 1.0)
    return Unjudged(
        k=k,
        documents=len(new),
        queries=len({place for place, _ in new}),
        left=len(left),
        judged_before=judged_before / shares,
        judged_after=judged_after / shares,
        if_irrelevant=tops.difference(0.0, 0.0),
        if_relevant=tops.difference(highest, 0.0),
        if_left_relevant=tops.difference(0.0, highest),
        grade=highest,
    )


def top_of(evaluation: Evaluation, other: Measured, metric: Metric) -> int:
    """Return how many documents count as the top, as far as both sides know their rankings."""
    wanted = (metric.cutoff or TOP, evaluation.depth)
    depths = (*wanted, evaluation.known_depth, other.known_depth)
    return min(depth for depth in depths if depth is not None)


_Document = tuple[int, str]
"""The place of a query, and an unjudged document at its top."""


@dataclass(frozen=True, slots=True)
class _Tops:
    """The unjudged documents in the tops of both rankings of all compared queries."""

    evaluation: Evaluation
    other: Measured
    pairs: Paired
    new: Sequence[_Document]
    """Those that are only in the top now."""
    left: Sequence[_Document]
    """Those that were only in the top before."""

    def difference(self, of_new: float, of_left: float) -> float:
        """Return the difference of the means if all new ones, and all that left, had these grades.

        NaN if those that left have a grade above 0 and the values before cannot be computed.
        """
        golden, pairs = self.evaluation.golden, self.pairs
        if not (self.new or self.left) or not can_rejudge(self.evaluation, pairs.metric):
            return pairs.difference
        knows_before = can_rejudge(self.other, pairs.metric)
        if self.left and not knows_before and of_left > 0:
            return math.nan
        places = sorted({place for place, _ in (*self.new, *self.left)})
        grades = {place: dict(golden.grades(pairs.query_ids[place])) for place in places}
        for docs, grade in ((self.new, of_new), (self.left, of_left)):
            for place, doc_id in docs:
                grades[place][doc_id] = grade
        highest = max(golden.scale, *(max(own.values()) for own in grades.values()))

        def rejudged(side: Measured, values: FloatArray) -> FloatArray:
            changed = values.copy()
            changed[list(grades)] = values_under(
                pairs.metric,
                [side.ranking(pairs.query_ids[place]) for place in grades],
                list(grades.values()),
                max_grade=highest,
                conventions=self.evaluation.conventions,
            )
            return changed

        after = rejudged(self.evaluation, pairs.after)
        before = rejudged(self.other, pairs.before) if knows_before else pairs.before
        return replace(pairs, before=before, after=after).counted().difference


def can_rejudge(side: Measured, metric: Metric) -> bool:
    """Return whether the rankings of a side are known far enough down to compute a metric.

    The values of several runs are means, and only the rankings of the first are kept. Weights by
    judged documents would change with the judgments.
    """
    is_mean = side.averaged(metric).count > 1 or metric.definition.aggregate == "by_judged"
    if is_mean or metric.definition.ir_measures or metric.kind.takes is not JudgedHits:
        return False
    if side.known_depth is None:
        return True
    counts_deeper = bool(dict(metric.parameters)["judged_only"])
    is_shallow = metric.cutoff is not None and metric.cutoff <= side.known_depth
    return is_shallow and not counts_deeper


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
    hits = hits_of_lists(rankings, grades, max_grade)
    values = meant(metric, conventions).compute(hits)
    return settled(metric, values, np.asarray((hits.ideal > 0).any(axis=1)), conventions)
