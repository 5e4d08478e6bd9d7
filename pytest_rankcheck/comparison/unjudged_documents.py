"""How much of a difference unjudged documents could explain.

A better ranker finds unjudged documents, which count as not relevant. So do those that it no longer
shows. The bounds are the differences if only the new ones at the top had the highest grade, or only
those that left it (compare the residual of Moffat and Zobel, TOIS 2008, for one ranking).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, repeat
from typing import NamedTuple

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired
from pytest_rankcheck.comparison.measurement import Measured, Tops
from pytest_rankcheck.comparison.rank_changes import TOP, top_of, tried
from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.evaluation.conventions import Conventions, meant, settled
from pytest_rankcheck.evaluation.evaluation import Evaluation
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
"""None for metrics of sessions and of the whole run, which use no judgments of single documents."""


def unjudged_between(
    evaluation: Evaluation,
    other: Measured,
    values: ComparedValues,
    documents_of: Callable[[int], TopDocuments],
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
        documents_of: returns the documents at the top, given how many count as the top.
        in_full: whether to compute all bounds; otherwise only that of the new ones, if irrelevant
            documents are judged too, and the others are NaN.
    """
    if not isinstance(values, Paired) or not values.metric.kind.is_of_judgments:
        return _NOTHING
    if not in_full and not (evaluation.golden.contents.judgments.grades <= 0).any():
        return _NOTHING  # without irrelevant documents, all others are unjudged
    k = top_of(evaluation, other, values.metric)
    documents = documents_of(k)
    found = documents.counts_of(values.query_ids)
    shares = max(1, k * len(found))
    highest = max(evaluation.golden.scale, 1.0)
    is_known = can_rejudge(evaluation, values.metric) and (
        can_rejudge(other, values.metric) or _is_decided_by_first(other, values.metric)
    )

    def bound(of_new: float, of_left: float) -> float:
        is_wanted = is_known and (in_full or of_new > 0)
        return documents.difference(values, of_new, of_left) if is_wanted else math.nan

    totals = QueryTop(*found.sum(axis=0).tolist())
    return Unjudged(
        k=k,
        documents=totals.new,
        queries=int(np.count_nonzero(found[:, _NEW])),
        left=totals.left,
        judged_before=totals.judged_before / shares,
        judged_after=totals.judged_after / shares,
        if_irrelevant=bound(0.0, 0.0),
        if_relevant=bound(highest, 0.0),
        if_left_relevant=bound(0.0, highest),
        grade=highest,
    )


class QueryTop(NamedTuple):
    """The numbers of documents of each kind at the top of a query's two rankings."""

    judged_before: int
    """Documents with a negative grade do not count."""
    judged_after: int
    new: int
    """Unjudged documents that are only in the top now."""
    left: int
    """Unjudged documents that were only in the top before."""


_NEW, _LEFT = QueryTop._fields.index("new"), QueryTop._fields.index("left")


class TopDocuments:
    """The first documents of the queries of both sides, joined with their judgments once.

    In queries with unjudged documents that are new in the top or left it, these and the judged ones
    are numbered. So the rankings stay joined whatever grades the numbers get.

    Args:
        evaluation: what is measured now.
        other: what it is compared with.
        before: the first documents of each query before.
        now: the same now.
    """

    def __init__(self, evaluation: Evaluation, other: Measured, before: Tops, now: Tops) -> None:
        self._evaluation, self._other = evaluation, other
        self._numbered: dict[str, Sequence[str]] = {}
        self._joined: dict[int, JudgedHits] = {}
        counts: list[QueryTop] = []
        given: list[float] = []
        self._new: list[int] = []
        self._left: list[int] = []
        for query_id in evaluation.query_ids:
            grades = evaluation.golden.grades(query_id)
            then, top = before.get(query_id, ()), now.get(query_id, ())
            new, left = _only_in(top, then, grades), _only_in(then, top, grades)
            judged = _judged(then, grades), _judged(top, grades)
            counts.append(QueryTop(*judged, len(new), len(left)))
            if new or left:
                self._numbered[query_id] = [*grades, *new, *left]
                middle = len(given) + len(grades) + len(new)
                self._new += range(middle - len(new), middle)
                self._left += range(middle, middle + len(left))
                given += [*grades.values(), *repeat(0.0, len(new) + len(left))]
        self._given = np.array([*given, np.nan])  # for places past the end
        self._counts = np.array(counts, dtype=np.int64).reshape(-1, len(QueryTop._fields))
        self._place_of = {query_id: place for place, query_id in enumerate(self._numbered)}

    def counts_of(self, query_ids: Iterable[str]) -> IntArray:
        """Return a row for each query, with the columns of `QueryTop`."""
        return self._counts[np.array(self._evaluation.places(query_ids), dtype=np.intp)]

    def difference(self, pairs: Paired, of_new: float, of_left: float) -> float:
        """Return the difference of the means if all new ones, and all that left, had these grades.

        NaN if those that left have a grade above 0 and the values before cannot be computed.
        """
        ids = pairs.query_ids
        at = [place for place, query_id in enumerate(ids) if query_id in self._numbered]
        if not at:
            return pairs.difference
        knows_before = can_rejudge(self._other, pairs.metric)
        if not knows_before and of_left > 0 and self.counts_of(ids)[:, _LEFT].any():
            return math.nan
        grades = self._given.copy()
        grades[self._new], grades[self._left] = of_new, of_left
        among = [self._place_of[ids[place]] for place in at]

        def rejudged(side: Measured, values: FloatArray) -> FloatArray:
            changed = values.copy()
            changed[at] = self._values(pairs.metric, self._numbers(side), among, grades)
            return changed

        after = rejudged(self._evaluation, pairs.after)
        before = rejudged(self._other, pairs.before) if knows_before else pairs.before
        return replace(pairs, before=before, after=after).counted().difference

    def _numbers(self, side: Measured) -> JudgedHits:
        """Return the judged hits of one side, with the numbers of the documents as their grades."""
        if id(side) not in self._joined:
            rankings, start = side.tops(), count()
            numbers = [dict(zip(docs, start, strict=False)) for docs in self._numbered.values()]
            # A query that was added since has no earlier ranking.
            own = [rankings.get(each, ()) for each in self._numbered]
            found = hits_of_lists(own, numbers, 0.0)
            self._joined[id(side)] = found
        return self._joined[id(side)]

    def _values(
        self, metric: Metric, numbers: JudgedHits, places: Sequence[int], grades: FloatArray
    ) -> FloatArray:
        own, ideal = (
            grades[np.nan_to_num(each[places], nan=-1).astype(np.intp)]
            for each in (numbers.grades, numbers.ideal)
        )
        hits = replace(
            numbers,
            ranks=numbers.ranks[places],
            grades=own,
            retrieved=numbers.retrieved[places],
            ideal=-np.sort(-ideal, axis=1),
            max_grade=max(self._evaluation.golden.scale, float(np.nanmax(ideal))),
        )
        return _counted(metric, hits, self._evaluation.conventions)


def _judged(top: Sequence[str], grades: Mapping[str, float]) -> int:
    """Return how many documents of a top are judged."""
    return len([doc for doc in grades.keys() & top if grades[doc] >= 0])


def _only_in(top: Sequence[str], other: Sequence[str], grades: Mapping[str, float]) -> list[str]:
    """Return the unjudged documents of a top that another one lacks."""
    if top == other:
        return []
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
