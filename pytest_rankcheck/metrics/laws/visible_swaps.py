"""Visible swaps: which swaps of two neighbouring documents change a metric's value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.visible_falls import (
    Falls,
    last_visible_rank,
    packed,
    rows_of,
    tolerance_of,
    worsening,
)
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["SwapsSeen", "adjacent_swaps", "swaps_seen"]


@dataclass(frozen=True, slots=True)
class SwapsSeen:
    """How many swaps of two neighbours change a metric's value, for each of Q queries."""

    seen: FloatArray
    """``[Q]`` the number of swaps that change the metric's value."""
    possible: FloatArray
    """``[Q]`` the number of all swaps: one less than the number of ranked documents."""
    telling: FloatArray
    """``[Q]`` the number of swaps of documents with different grades (unjudged or negative: 0)."""
    smallest: FloatArray
    """``[Q]`` the smallest change of the value by a visible swap; NaN without one."""
    largest: FloatArray
    """``[Q]`` the largest change of the value by a swap; 0 without a visible one."""
    seen_telling: FloatArray
    """``[Q]`` the number of visible swaps of documents with different grades."""
    squares: FloatArray
    """``[Q]`` the sum of the squared changes over all swaps, including those below the depth."""
    disorder: Falls
    """The cost of having the lower grade above, for each two neighbours with different grades: the
    fall caused by the swap, or the gain if the lower grade is above already."""

    @property
    def share(self) -> float:
        """The visible share of all swaps; NaN without any swap."""
        return _total_share(self.seen, self.possible)

    @property
    def share_of_telling(self) -> float:
        """The visible share of the swaps of documents with different grades."""
        return _total_share(self.seen_telling, self.telling)


def swaps_seen(metric: Metric, hits: JudgedHits, depth: int | None = None) -> SwapsSeen:
    """Return which single swaps of neighbours change the metric's value, for each query.

    A swap of two unjudged documents counts as possible but is never visible, so nothing is computed
    for it. The cost is linear in the judged documents: each column takes two computations of the
    metric, on the queries with a swap there. Swaps below the cutoff are not computed for a metric
    that declares to ignore documents there (`cutoff_local`).

    Args:
        metric: a metric that is computed from judged hits.
        hits: a block of rankings.
        depth: count only swaps at ranks 1 to ``depth`` (each with the rank below it); by default,
            all of them.

    Raises:
        MetricError: the metric does not accept the grades.
    """
    hits = packed(hits)
    before = metric.compute(hits)
    tolerance = tolerance_of(before)
    sign = 1.0 if metric.higher_is_better else -1.0
    possible = np.maximum(hits.retrieved - 1, 0.0)
    if depth is not None:
        possible = np.minimum(possible, depth)
    seen, telling, seen_telling, largest, squares = (np.zeros_like(before) for _ in range(5))
    disorder = Falls.of_no_ranking(len(before))
    smallest = np.full_like(before, np.inf)
    last_visible = last_visible_rank(metric)
    for swapped, place, lost_worth in adjacent_swaps(hits):
        counted = (place >= 1) & (place <= possible)
        differs = lost_worth != 0
        telling += counted & differs
        worse_by = np.zeros_like(before)
        rows = np.flatnonzero((place >= 1) & (place < hits.retrieved) & (place <= last_visible))
        if rows.size:
            after = metric.compute(rows_of(swapped, rows))
            worse_by[rows] = worsening(sign, before[rows], after)
        squares += np.where(np.isfinite(worse_by), worse_by, 0.0) ** 2
        rows = np.flatnonzero(counted & differs)
        disorder.add(rows, worse_by[rows] * np.sign(lost_worth[rows]), tolerance)
        change = np.abs(worse_by)  # an infinite change: the query enters or leaves the mean
        changed = counted & (change > tolerance)
        seen += changed
        seen_telling += changed & differs
        finite = changed & np.isfinite(change)
        smallest[finite] = np.minimum(smallest[finite], change[finite])
        largest[finite] = np.maximum(largest[finite], change[finite])
    smallest[np.isinf(smallest)] = np.nan
    return SwapsSeen(seen, possible, telling, smallest, largest, seen_telling, squares, disorder)


def adjacent_swaps(
    hits: JudgedHits,
) -> Iterator[tuple[JudgedHits, FloatArray, FloatArray]]:
    """Yield each swap of neighbours with at least one judged document, for all queries at once.

    Yields the hits after the swap, the rank of the upper document ``[Q]`` (0 if the query has no
    such swap), and how much higher its grade was than the lower one's ``[Q]`` (unjudged documents
    and negative grades count as 0). All padding must be at the right of the matrices.
    """
    worth = np.where(hits.grades > 0, hits.grades, 0.0)
    nothing = np.zeros(len(hits.ranks))
    for column in range(hits.ranks.shape[1]):
        rank = np.nan_to_num(hits.ranks[:, column], nan=0.0)
        above = hits.ranks[:, column - 1] if column else np.full_like(rank, np.nan)
        is_next = above == rank - 1
        ranks, grades = hits.ranks.copy(), hits.grades.copy()
        if column:
            pair = np.array([column - 1, column])
            grades[np.ix_(is_next, pair)] = grades[np.ix_(is_next, pair[::-1])]
        alone = (rank > 1) & ~is_next
        ranks[alone, column] -= 1
        upper_worth = np.where(is_next, worth[:, column - 1], 0.0) if column else nothing
        place = np.where((rank > 1), rank - 1, 0.0)
        yield replace(hits, ranks=ranks, grades=grades), place, upper_worth - worth[:, column]
        # If the document below is judged too, the next column swaps the two.
        last = column + 1 == hits.ranks.shape[1]
        below = np.full_like(rank, np.nan) if last else hits.ranks[:, column + 1]
        free = (rank > 0) & (rank < hits.retrieved) & ~(below == rank + 1)
        if free.any():
            ranks = hits.ranks.copy()
            ranks[free, column] += 1
            yield replace(hits, ranks=ranks), np.where(free, rank, 0.0), worth[:, column]


def _total_share(part: FloatArray, whole: FloatArray) -> float:
    total = float(whole.sum())
    return float(part.sum()) / total if total else float("nan")
