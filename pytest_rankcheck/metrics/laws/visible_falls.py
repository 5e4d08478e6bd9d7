"""Visible falls: how much a metric falls for worse rankings, such as one with a document lost."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.law_trials import PRECISION
from pytest_rankcheck.metrics.metric_definition import JUDGED_ONLY
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.relevance import count_of

__all__ = [
    "MOST_LOSSES",
    "Falls",
    "last_visible_rank",
    "losses_seen",
    "packed",
    "rows_of",
    "tolerance_of",
    "worsening",
]

MOST_LOSSES = 32
"""The most losses to try for each query, spread evenly over its relevant documents."""


@dataclass(frozen=True, slots=True)
class Falls:
    """How a metric responds to one kind of worse rankings, for each of Q queries.

    A fall is positive when the value gets worse, also for metrics where lower is better. A value
    that appears or disappears is a visible fall, but its size is unknown and counts as 0.
    """

    tried: FloatArray
    """``[Q]`` the number of worse rankings."""
    seen: FloatArray
    """``[Q]`` how many of them change the value by more than rounding."""
    total: FloatArray
    """``[Q]`` the sum of the falls."""
    squares: FloatArray
    """``[Q]`` the sum of the squared falls."""

    @classmethod
    def of_no_ranking(cls, queries: int) -> Falls:
        """Return empty counts, to which `add` adds."""
        return cls(*(np.zeros(queries) for _ in range(4)))

    def add(self, rows: IntArray, worse_by: FloatArray, tolerance: float) -> None:
        """Add one worse ranking for some queries.

        Args:
            rows: ``[R]`` the queries.
            worse_by: ``[R]`` how much worse the value is; NaN or infinite if unknown.
            tolerance: changes up to this size are rounding.
        """
        known = np.where(np.isfinite(worse_by), worse_by, 0.0)
        is_seen = (np.abs(known) > tolerance) | np.isinf(worse_by)
        self.tried[rows] += 1
        self.seen[rows] += is_seen
        self.total[rows] += np.where(is_seen, known, 0.0)
        self.squares[rows] += np.where(is_seen, known**2, 0.0)


def losses_seen(metric: Metric, hits: JudgedHits) -> Falls:
    """Return how much a metric falls if a relevant document is lost, for each query.

    A loss takes one retrieved document with a grade above 0 out of the ranking, and those below it
    move up. At most `MOST_LOSSES` documents of a query are tried, so the cost is linear.

    Args:
        metric: a metric that is computed from judged hits.
        hits: a block of rankings.

    Raises:
        MetricError: the metric does not accept the grades.
    """
    hits = packed(hits)
    before = metric.compute(hits)
    tolerance = tolerance_of(before)
    sign = 1.0 if metric.higher_is_better else -1.0
    falls = Falls.of_no_ranking(len(before))
    relevant = hits.grades > 0
    counts = count_of(relevant).astype(np.intp)
    tried = np.minimum(counts, MOST_LOSSES)
    # The columns of relevant documents come first, in their order.
    columns = np.argsort(~relevant, axis=1, kind="stable")
    last_visible = last_visible_rank(metric)
    for number in range(int(tried.max(initial=0))):
        rows = np.flatnonzero(number < tried)
        lost = columns[rows, number * counts[rows] // tried[rows]]
        worse_by = np.zeros(len(rows))
        visible = hits.ranks[rows, lost] <= last_visible
        if visible.any():
            chosen = rows[visible]
            after = metric.compute(_without(rows_of(hits, chosen), lost[visible]))
            worse_by[visible] = worsening(sign, before[chosen], after)
        falls.add(rows, worse_by, tolerance)
    return falls


def worsening(sign: float, before: FloatArray, after: FloatArray) -> FloatArray:
    """Return how much worse the values are, ``[R]``; infinite if one appears or disappears."""
    came_or_went = np.isnan(before) != np.isnan(after)
    return np.where(came_or_went, np.inf, np.nan_to_num(sign * (before - after)))


def tolerance_of(values: FloatArray) -> float:
    """Return the largest change that still counts as rounding."""
    return PRECISION * float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def last_visible_rank(metric: Metric) -> float:
    """Return the last rank at which a document can matter to the metric."""
    is_local = metric.cutoff is not None and metric.declared("cutoff_local") is True
    # If unjudged documents are removed, the cutoff can lie further down in the original ranking.
    if not is_local or dict(metric.parameters).get(JUDGED_ONLY.name):
        return np.inf
    return float(metric.cutoff or np.inf)


def rows_of(hits: JudgedHits, rows: IntArray) -> JudgedHits:
    """Return the hits of some queries."""
    return replace(
        hits,
        ranks=hits.ranks[rows],
        grades=hits.grades[rows],
        retrieved=hits.retrieved[rows],
        ideal=hits.ideal[rows],
    )


def packed(hits: JudgedHits) -> JudgedHits:
    """Return the hits with all padding moved to the right end of each row."""
    order = np.argsort(hits.ranks, axis=1, kind="stable")
    return replace(
        hits,
        ranks=np.take_along_axis(hits.ranks, order, axis=1),
        grades=np.take_along_axis(hits.grades, order, axis=1),
    )


def _without(hits: JudgedHits, columns: IntArray) -> JudgedHits:
    """Return the hits without one document of each query.

    Args:
        hits: the rankings of R queries.
        columns: ``[R]`` the column of the document.
    """
    places = np.arange(hits.ranks.shape[1] - 1)
    is_below = places >= columns[:, np.newaxis]
    kept = places + is_below
    return replace(
        hits,
        ranks=np.take_along_axis(hits.ranks, kept, axis=1) - is_below,
        grades=np.take_along_axis(hits.grades, kept, axis=1),
        retrieved=hits.retrieved - 1,
    )
