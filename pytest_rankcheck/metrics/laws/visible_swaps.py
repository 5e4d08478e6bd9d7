"""Which swaps of neighbours a metric sees: the share of a ranking's small changes it notices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.law_cases import PRECISION
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.metric_registry import JUDGED_ONLY
from pytest_rankcheck.statistics.array_types import BoolArray, FloatArray

__all__ = ["SwapsSeen", "adjacent_swaps", "swaps_seen"]


@dataclass(frozen=True, slots=True)
class SwapsSeen:
    """Of each query's ranking, how many swaps of two neighbours a metric sees."""

    seen: FloatArray
    """``[Q]`` the swaps that change the metric's value."""
    possible: FloatArray
    """``[Q]`` all swaps: one less than the documents that were ranked."""
    telling: FloatArray
    """``[Q]`` the swaps of documents with different grades (unjudged and negative: 0)."""
    smallest: FloatArray
    """``[Q]`` the smallest change of the value by a swap that is seen; NaN if none is."""
    largest: FloatArray
    """``[Q]`` the largest change of the value by a swap; 0 if none is seen."""
    seen_telling: FloatArray
    """``[Q]`` the swaps that are seen and are of documents with different grades."""

    @property
    def share(self) -> float:
        """The share of all swaps that is seen; NaN if there are none."""
        return _share(self.seen, self.possible)

    @property
    def share_of_telling(self) -> float:
        """The share that is seen of the swaps of documents with different grades."""
        return _share(self.seen_telling, self.telling)


def swaps_seen(metric: Metric, hits: JudgedHits, depth: int | None = None) -> SwapsSeen:
    """Return which single swaps of neighbours change the metric's value, for each query.

    A swap of two unjudged documents is possible and never seen, so that nothing is computed for
    it: this is linear in the judged documents, twice the metric on the block for each column, of
    the queries that have a swap there. What stands below the cutoff of a metric that is declared
    not to look there (`cutoff_local`) is not tried either.

    Args:
        metric: a metric over judged hits.
        hits: a block of rankings.
        depth: how many ranks count: swaps at rank 1 to ``depth`` (with the rank below it);
            without it, all.

    Raises:
        MetricError: the metric does not fit the grades.
    """
    hits = _packed(hits)
    before = metric.compute(hits)
    known = np.abs(before[np.isfinite(before)])
    tolerance = PRECISION * float(known.max(initial=0.0))
    possible = np.maximum(hits.retrieved - 1, 0.0)
    if depth is not None:
        possible = np.minimum(possible, depth)
    seen, telling, seen_telling, largest = (np.zeros_like(before) for _ in range(4))
    smallest = np.full_like(before, np.inf)
    sight = _sight(metric)
    for swapped, place, differs in adjacent_swaps(hits):
        done = (place >= 1) & (place <= possible)
        telling += done & differs
        rows = np.flatnonzero(done & (place <= sight))
        if not rows.size:
            continue
        after = metric.compute(_of_rows(swapped, rows))
        change = np.abs(after - before[rows])
        change[np.isnan(after) != np.isnan(before[rows])] = np.inf  # in the mean, or not
        changed = change > tolerance
        seen[rows] += changed
        seen_telling[rows] += changed & differs[rows]
        finite = changed & np.isfinite(change)
        at, by = rows[finite], change[finite]
        smallest[at] = np.minimum(smallest[at], by)
        largest[at] = np.maximum(largest[at], by)
    smallest[np.isinf(smallest)] = np.nan
    return SwapsSeen(seen, possible, telling, smallest, largest, seen_telling)


def adjacent_swaps(hits: JudgedHits) -> Iterator[tuple[JudgedHits, FloatArray, BoolArray]]:
    """Yield each swap of neighbours of which at least one is judged, for all queries at once.

    With it come the rank ``[Q]`` of the upper of the two (0 where the query has no such swap) and
    whether their grades differ ``[Q]``. Documents must be packed to the left of the matrices.
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
        yield replace(hits, ranks=ranks, grades=grades), place, worth[:, column] != upper_worth
        # The document below, where that is not a judged one: the turn of the next column then.
        last = column + 1 == hits.ranks.shape[1]
        below = np.full_like(rank, np.nan) if last else hits.ranks[:, column + 1]
        free = (rank > 0) & (rank < hits.retrieved) & ~(below == rank + 1)
        if free.any():
            ranks = hits.ranks.copy()
            ranks[free, column] += 1
            yield replace(hits, ranks=ranks), np.where(free, rank, 0.0), worth[:, column] > 0


def _sight(metric: Metric) -> float:
    """Return the lowest rank whose swap with the next a metric may see."""
    is_local = metric.cutoff is not None and metric.declared("cutoff_local") is True
    # With documents left out, those below the cutoff of what is left may stand further down.
    if not is_local or dict(metric.parameters).get(JUDGED_ONLY.name):
        return np.inf
    return float(metric.cutoff or np.inf)


def _of_rows(hits: JudgedHits, rows: NDArray[np.intp]) -> JudgedHits:
    """Return the hits of some queries."""
    return replace(
        hits,
        ranks=hits.ranks[rows],
        grades=hits.grades[rows],
        retrieved=hits.retrieved[rows],
        ideal=hits.ideal[rows],
    )


def _packed(hits: JudgedHits) -> JudgedHits:
    """Return the hits with the documents of each row to the left, and NaN after them."""
    order = np.argsort(hits.ranks, axis=1, kind="stable")
    return replace(
        hits,
        ranks=np.take_along_axis(hits.ranks, order, axis=1),
        grades=np.take_along_axis(hits.grades, order, axis=1),
    )


def _share(part: FloatArray, whole: FloatArray) -> float:
    total = float(whole.sum())
    return float(part.sum()) / total if total else float("nan")
