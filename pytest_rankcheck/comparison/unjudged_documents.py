"""How much of a difference unjudged documents could explain.

A better ranker finds unjudged documents, and they count as not relevant. The bounds are the
differences if all unjudged documents that are new at the top were irrelevant, or all had the
highest grade (compare the residual of Moffat and Zobel, TOIS 2008, for one ranking).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.rejudged_values import can_rejudge, values_under
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["Unjudged", "unjudged_between"]

_TOP = 10
"""The number of documents that count as the top, if the metric has no cutoff."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The unjudged documents that are new in the top of the compared queries."""

    k: int
    """The number of documents that count as the top."""
    documents: int
    """How many documents are new and unjudged, over all queries."""
    queries: int
    """In how many queries there are such documents."""
    judged_before: float
    """Judged@k before: the mean share of the top that was judged."""
    judged_after: float
    """Judged@k now."""
    if_irrelevant: float
    """The difference of the means, after minus before, if all of them were irrelevant."""
    if_relevant: float
    """The difference if all of them had the highest grade of the golden set."""
    grade: float
    """That grade."""


_NOTHING = Unjudged(_TOP, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
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
    if not isinstance(values, Paired) or values.metric.unit != "query":
        return _NOTHING
    wanted = (values.metric.cutoff or _TOP, evaluation.depth)
    depths = (*wanted, evaluation.known_depth, other.known_depth)
    k = min(depth for depth in depths if depth is not None)
    golden = evaluation.golden
    new: dict[int, Sequence[str]] = {}
    judged_before = judged_after = 0
    for place, query_id in enumerate(values.query_ids):
        grades = golden.grades(query_id)
        then = dict.fromkeys(other.ranking(query_id)[:k])
        now = dict.fromkeys(evaluation.ranking(query_id)[:k])
        judged_before += sum(grades.get(doc_id, -1) >= 0 for doc_id in then)
        judged_after += sum(grades.get(doc_id, -1) >= 0 for doc_id in now)
        entered = [doc_id for doc_id in now if doc_id not in grades and doc_id not in then]
        if entered:
            new[place] = entered
    shares = k * max(1, len(values.query_ids))
    highest = max(golden.scale, 1.0)
    return Unjudged(
        k=k,
        documents=sum(map(len, new.values())),
        queries=len(new),
        judged_before=judged_before / shares,
        judged_after=judged_after / shares,
        if_irrelevant=_difference(evaluation, other, values, new, 0.0),
        if_relevant=_difference(evaluation, other, values, new, highest),
        grade=highest,
    )


def _difference(
    evaluation: Evaluation,
    other: Measured,
    pairs: Paired,
    new: Mapping[int, Sequence[str]],
    grade: float,
) -> float:
    """Return the difference of the means if the new documents all had this grade."""
    if not new:
        return pairs.difference
    golden, metric = evaluation.golden, pairs.metric
    query_ids = [pairs.query_ids[place] for place in new]
    grades = [
        {**golden.grades(query_id), **dict.fromkeys(docs, grade)}
        for query_id, docs in zip(query_ids, new.values(), strict=True)
    ]

    def rejudged(side: Measured, values: FloatArray) -> FloatArray:
        rankings = [side.ranking(query_id) for query_id in query_ids]
        changed = values.copy()
        changed[list(new)] = values_under(
            metric,
            rankings,
            grades,
            max_grade=max(grade, golden.scale),
            exclude=evaluation.conventions.no_relevant == "exclude",
        )
        return changed

    before, after = pairs.before, pairs.after
    if can_rejudge(evaluation, metric):
        after = rejudged(evaluation, after)
        if can_rejudge(other, metric):
            before = rejudged(other, before)
    return replace(pairs, before=before, after=after).counted().difference
