"""How much of a difference documents without a judgment could be.

A better ranker brings up documents that nobody has judged, and they count as not relevant. The
bounds are what the difference would be if those that are new at the top were all irrelevant, or
all of the highest grade (compare the residual of Moffat and Zobel, TOIS 2008, for one ranking).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.comparison.rejudged_values import can_rejudge, values_under
from pytest_rankcheck.statistics.array_types import FloatArray

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison

__all__ = ["Unjudged", "unjudged_in"]

_TOP = 10
"""How many documents are the top, where the metric has no cutoff."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The documents without a judgment that are new in the top of a comparison's queries."""

    k: int
    """How many documents are the top."""
    documents: int
    """How many are new and unjudged, over all queries."""
    queries: int
    """In how many queries."""
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
"""Of sessions and of the whole run: no judgment of a document is a part of their values."""


def unjudged_in(comparison: Comparison, pairs: Paired) -> Unjudged:
    """Return what unjudged documents could change of a difference.

    The values before are computed anew where the rankings are known far enough down (a baseline
    record knows ten documents): a document that turns relevant changes the ideal ranking of both
    sides. Elsewhere they stay as they are, and so does the difference of a metric of ir_measures.

    Args:
        comparison: what is compared.
        pairs: the values of a metric, of all queries or of a slice.
    """
    evaluation, other = comparison.evaluation, comparison.other
    if pairs.metric.unit != "query":
        return _NOTHING
    depths = (pairs.metric.cutoff or _TOP, evaluation.known_depth, other.known_depth)
    k = min(depth for depth in depths if depth is not None)
    golden = evaluation.golden
    new: dict[int, Sequence[str]] = {}
    judged_before = judged_after = 0
    for place, query_id in enumerate(pairs.query_ids):
        grades = golden.grades(query_id)
        then, now = other.ranking(query_id)[:k], evaluation.ranking(query_id)[:k]
        judged_before += sum(grades.get(doc_id, -1) >= 0 for doc_id in then)
        judged_after += sum(grades.get(doc_id, -1) >= 0 for doc_id in now)
        entered = [doc_id for doc_id in now if doc_id not in grades and doc_id not in then]
        if entered:
            new[place] = entered
    shares = k * max(1, len(pairs.query_ids))
    highest = max(golden.max_grade, 1.0)
    return Unjudged(
        k=k,
        documents=sum(map(len, new.values())),
        queries=len(new),
        judged_before=judged_before / shares,
        judged_after=judged_after / shares,
        if_irrelevant=_difference(comparison, pairs, new, 0.0),
        if_relevant=_difference(comparison, pairs, new, highest),
        grade=highest,
    )


def _difference(
    comparison: Comparison, pairs: Paired, new: Mapping[int, Sequence[str]], grade: float
) -> float:
    """Return the difference of the means if the new documents all had this grade."""
    if not new:
        return pairs.difference
    evaluation, other, metric = comparison.evaluation, comparison.other, pairs.metric
    query_ids = [pairs.query_ids[place] for place in new]
    known = (evaluation.golden.grades(query_id) for query_id in query_ids)
    grades = [
        {**judged, **dict.fromkeys(docs, grade)}
        for judged, docs in zip(known, new.values(), strict=True)
    ]
    exclude = evaluation.conventions.no_relevant == "exclude"

    def rejudged(values: FloatArray, rankings: Sequence[Sequence[str]]) -> FloatArray:
        changed = values.copy()
        changed[list(new)] = values_under(
            metric,
            rankings,
            grades,
            max_grade=max(grade, evaluation.golden.max_grade),
            exclude=exclude,
        )
        return changed

    before, after = pairs.before, pairs.after
    if can_rejudge(evaluation, metric):
        after = rejudged(after, [evaluation.ranking(query_id) for query_id in query_ids])
        if can_rejudge(other, metric):
            before = rejudged(before, [other.ranking(query_id) for query_id in query_ids])
    both = ~(np.isnan(before) | np.isnan(after))
    weights = None if pairs.weights is None else pairs.weights[both]
    return metric.mean(after[both], weights) - metric.mean(before[both], weights)
