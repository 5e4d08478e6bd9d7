"""How much of a difference unjudged documents could explain.

A better ranker finds unjudged documents, and they count as not relevant. So do those that it no
longer shows. The bounds are the differences if only the new ones at the top had the highest grade,
or only those that left it (compare the residual of Moffat and Zobel, TOIS 2008, for one ranking).

With few judgments the bounds are almost always wide. So it is also asked how many of the new ones
would have to be relevant for a fall to vanish, if those that left were relevant as often as the
judged documents at the top. That is worth knowing if it is no larger a share than among the judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.comparison.rejudged_values import can_rejudge, values_under
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.relevance import is_relevant

__all__ = ["Unjudged", "unjudged_between"]

_TOP = 10
"""The number of documents that count as the top, if the metric has no cutoff."""
_CHOICES = 20
"""The largest number of random choices of relevant documents."""
_REJUDGED = 1000
"""The largest number of queries that are measured again for a choice, or for all choices."""


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
    relevant_share: float
    """The share of the judged documents in both tops that are relevant; NaN if none is judged."""
    needed: int | None = None
    """How many of the new ones, chosen at random, would have to be relevant for a fall to vanish.

    They have the median grade of the relevant documents in both tops; of those that left, as large
    a share is relevant as of the judged ones. None: there is no fall, not even all would be enough,
    or the rankings before are not known far enough down.
    """

    @property
    def needed_share(self) -> float:
        """``needed`` as a share of the new documents; NaN if it is None."""
        return math.nan if self.needed is None else self.needed / self.documents

    @property
    def could_explain_fall(self) -> bool:
        """Whether no larger a share of the new ones would have to be relevant than of the judged.

        Only then is it likely enough that the fall comes from missing judgments.
        """
        return self.needed is not None and self.needed_share <= self.relevant_share


_NOTHING = Unjudged(_TOP, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, math.nan)
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
    has_judgments = values.metric.unit == "query" and not evaluation.golden.has_estimates
    if not isinstance(values, Paired) or not has_judgments:
        return _NOTHING
    wanted = (values.metric.cutoff or _TOP, evaluation.depth)
    depths = (*wanted, evaluation.known_depth, other.known_depth)
    k = min(depth for depth in depths if depth is not None)
    tops = _Tops(evaluation, other, values)
    tops.read(k)
    shares = k * max(1, len(values.query_ids))
    highest = max(evaluation.golden.scale, 1.0)
    relevant = tops.relevant_grades(values.metric)
    found = Unjudged(
        k=k,
        documents=sum(map(len, tops.new.values())),
        queries=len(tops.new),
        left=sum(map(len, tops.left.values())),
        judged_before=tops.judged_before / shares,
        judged_after=tops.judged_after / shares,
        if_irrelevant=tops.difference(0.0, 0.0),
        if_relevant=tops.difference(highest, 0.0),
        if_left_relevant=tops.difference(0.0, highest),
        grade=highest,
        relevant_share=len(relevant) / len(tops.grades) if tops.grades else math.nan,
    )
    if not found.documents or values.gain >= -SLACK or not relevant:
        return found
    usual = relevant[len(relevant) // 2]
    return replace(found, needed=_needed(found, tops, usual))


@dataclass(slots=True)
class _Tops:
    """The tops of both rankings of all compared queries."""

    evaluation: Evaluation
    other: Measured
    pairs: Paired
    new: dict[int, Sequence[str]] = field(default_factory=dict)
    """By the place of the query: the unjudged documents that are only in the top now."""
    left: dict[int, Sequence[str]] = field(default_factory=dict)
    """By the place of the query: those that were only in the top before."""
    judged_before: int = 0
    judged_after: int = 0
    grades: list[float] = field(default_factory=list)
    """The grade of every judged document that is in one of a query's two tops."""

    def at(self, places: Sequence[int]) -> _Tops:
        """Return only the unjudged documents of these queries."""
        new, left = (
            {place: docs[place] for place in places if place in docs}
            for docs in (self.new, self.left)
        )
        return replace(self, new=new, left=left)

    def read(self, k: int) -> None:
        """Find the documents in the top k of both rankings."""
        for place, query_id in enumerate(self.pairs.query_ids):
            grades = self.evaluation.golden.grades(query_id)
            then = dict.fromkeys(self.other.ranking(query_id)[:k])
            now = dict.fromkeys(self.evaluation.ranking(query_id)[:k])
            # A document with a negative grade counts as unjudged in Judged@k.
            self.judged_before += sum(grades.get(doc_id, -1) >= 0 for doc_id in then)
            self.judged_after += sum(grades.get(doc_id, -1) >= 0 for doc_id in now)
            self.grades += [grades[doc_id] for doc_id in {**then, **now} if doc_id in grades]
            for found, one, two in ((self.new, now, then), (self.left, then, now)):
                only = [doc_id for doc_id in one if doc_id not in grades and doc_id not in two]
                if only:
                    found[place] = only

    def relevant_grades(self, metric: Metric) -> Sequence[float]:
        """Return the grades that a metric counts as relevant, sorted."""
        grades = np.array(sorted(self.grades))
        relevant = grades[is_relevant(grades, dict(metric.parameters).get("rel"))]
        return [float(grade) for grade in relevant]

    def difference(self, of_new: float | FloatArray, of_left: float | FloatArray) -> float:
        """Return the difference of the means if these documents had these grades.

        NaN if one that left has a grade above 0 and the values before cannot be computed.

        Args:
            of_new: the grade of all new ones, or of each, by query.
            of_left: the grade of all that left, or of each, by query.
        """
        metric = self.pairs.metric
        if not (self.new or self.left) or not can_rejudge(self.evaluation, metric):
            return self.pairs.difference
        can_rejudge_other = can_rejudge(self.other, metric)
        if np.any(np.asarray(of_left) > 0) and self.left and not can_rejudge_other:
            return math.nan
        grades = self._grades(of_new, of_left)
        after = self._rejudged(self.evaluation, self.pairs.after, grades)
        before = self.pairs.before
        if can_rejudge_other:
            before = self._rejudged(self.other, before, grades)
        return replace(self.pairs, before=before, after=after).counted().difference

    def _grades(
        self, of_new: float | FloatArray, of_left: float | FloatArray
    ) -> Mapping[int, Mapping[str, float]]:
        """Return all grades of each query with unjudged documents, by its place."""
        golden = self.evaluation.golden
        grades = {
            place: dict(golden.grades(self.pairs.query_ids[place]))
            for place in sorted({*self.new, *self.left})
        }
        for found, given in ((self.new, of_new), (self.left, of_left)):
            docs = [(place, doc_id) for place, ids in found.items() for doc_id in ids]
            each = np.broadcast_to(given, len(docs)).tolist()
            for (place, doc_id), grade in zip(docs, each, strict=True):
                grades[place][doc_id] = grade
        return grades

    def _rejudged(
        self, side: Measured, values: FloatArray, grades: Mapping[int, Mapping[str, float]]
    ) -> FloatArray:
        """Return the values of one side, ``[n]``, with these grades."""
        highest = max(max(each.values()) for each in grades.values())
        changed = values.copy()
        changed[list(grades)] = values_under(
            self.pairs.metric,
            [side.ranking(self.pairs.query_ids[place]) for place in grades],
            list(grades.values()),
            max_grade=max(highest, self.evaluation.golden.scale),
            exclude=self.evaluation.conventions.no_relevant == "exclude",
        )
        return changed


def _needed(found: Unjudged, tops: _Tops, usual: float) -> int | None:
    """Return how many new documents would have to be relevant for the fall to vanish.

    The gain is computed with none, half and all of them, each the mean of some random choices that
    are always the same, and interpolated by a parabola: a share of them counts more if the others
    are not relevant. Of many queries, a random part stands for all.

    Args:
        found: how many there are.
        tops: the documents.
        usual: the grade of a relevant one.
    """
    sign = 1 if tops.pairs.metric.higher_is_better else -1
    draw = np.random.default_rng(0)
    places = sorted({*tops.new, *tops.left})
    part = tops.at(draw.permutation(places)[:_REJUDGED].tolist())
    share = min(1.0, _REJUDGED / len(places))
    none = part.difference(0.0, 0.0)

    def gain(share_of_new: float) -> float:
        """Return the gain if this share of the new ones is relevant."""
        differences = [
            part.difference(
                usual * _chosen(part.new, share_of_new, draw),
                usual * _chosen(part.left, found.relevant_share, draw),
            )
            for _ in range(max(1, min(_CHOICES, _REJUDGED // len(places))))
        ]
        return sign * (found.if_irrelevant + (float(np.mean(differences)) - none) / share)

    at_none, at_half, at_all = gain(0.0), gain(0.5), gain(1.0)
    if math.isnan(at_none) or at_all < -SLACK:
        return None
    # Newton's form of the parabola through the three; its value at 0 is below 0, at 1 it is not.
    shares = np.linspace(0, 1, found.documents + 1)
    slope, bend = 2 * (at_half - at_none), 2 * (at_all - 2 * at_half + at_none)
    enough = at_none + slope * shares + bend * shares * (shares - 0.5) >= -SLACK
    enough[-1] = True  # where rounding errors say otherwise
    return max(1, int(np.argmax(enough)))


def _chosen(
    docs: Mapping[int, Sequence[str]], share: float, draw: np.random.Generator
) -> FloatArray:
    """Return 1 for a random share of the documents, and 0 for the others."""
    count = sum(map(len, docs.values()))
    return np.asarray(draw.permutation(count) < round(share * count), dtype=np.float64)
