"""Falls of known kinds, planted into rankings that also change innocently.

A ranking is the grades at its ranks. An innocent change adds normal noise to the logarithm of each
document's rank and sorts again, so documents move by about a share of their rank, as they do if a
model is trained again: the top moves little, the tail much. A fall is planted on top of such a
change. Of six kinds, three lose documents and three spoil their order.

All draws and all queries are changed at once: D draws, Q queries, R ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck import Evaluation, Metric
from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits

INNOCENT = 0.25
"""The standard deviation of the innocent noise in log rank. On Cranfield, nDCG@10 of a query then
differs by 0.08 (one standard deviation) between two rankings, as between the BM25 of real pairs."""
BELOW = 20
"""Relevant documents that a run lacks are at ranks up to so many times its depth."""


@dataclass(frozen=True)
class GradedRankings:
    """The rankings of a run as grades by rank, with room below for documents that may rise."""

    grades: FloatArray
    """``[Q, R]`` the grade at each rank; NaN: unjudged, or the ranking has ended."""
    ranked: BoolArray
    """``[Q, R]`` where a document is."""
    ideal: FloatArray
    """``[Q, I]`` all judged grades, best first, padded with NaN."""
    depth: int
    """Rankings are cut here."""

    @classmethod
    def of(cls, evaluation: Evaluation, depth: int, *, is_complete: bool = False) -> GradedRankings:
        """Return the rankings of a run, cut at a depth.

        Args:
            evaluation: the evaluation of the run.
            depth: where rankings are cut.
            is_complete: whether the run ranks all documents, so that none can rise from below.
                Otherwise relevant documents that it lacks are placed at random below its depth,
                evenly on the scale of the logarithm, down to `BELOW` depths.
        """
        random = np.random.default_rng(19)
        length = depth if is_complete else 2 * depth
        grades, ranked, ideals = [], [], []
        for hits in evaluation.hits or ():
            for ranks, found, count, ideal in zip(
                hits.ranks, hits.grades, hits.retrieved, hits.ideal, strict=True
            ):
                row = np.full(length, np.nan)
                is_kept = ranks <= depth
                row[ranks[is_kept].astype(int) - 1] = found[is_kept]
                judged = ideal[~np.isnan(ideal)]
                if not is_complete:
                    lacking = int((judged > 0).sum() - (found[is_kept] > 0).sum())
                    below = np.exp(random.uniform(np.log(depth), np.log(BELOW * depth), lacking))
                    places = below[below < length].astype(int)
                    row[places] = judged[: len(places)]
                grades.append(row)
                ranked.append(np.arange(length) < (count if is_complete else length))
                ideals.append(judged)
        width = max(map(len, ideals))
        padded = [np.pad(row, (0, width - len(row)), constant_values=np.nan) for row in ideals]
        return cls(np.array(grades), np.array(ranked), np.array(padded), depth)

    def values(self, metrics: Sequence[Metric], changed: ChangedRankings, draws: int) -> FloatArray:
        """Return the values of metrics on changed rankings, ``[metrics, D, Q]``."""
        hits = changed.hits(np.tile(self.ideal, (draws, 1)))
        # Six decimals, as in records.
        return np.round([metric.compute(hits).reshape(draws, -1) for metric in metrics], 6)


@dataclass
class ChangedRankings:
    """Changed rankings of D draws."""

    grades: FloatArray
    """``[D, Q, R]`` the grade at each rank."""
    counts: FloatArray
    """``[D, Q]`` the number of ranked documents."""

    def hits(self, ideal: FloatArray) -> JudgedHits:
        """Return the judged hits, the queries of all draws one below the other."""
        length = self.grades.shape[2]
        is_ranked = np.arange(length) < self.counts[..., np.newaxis]
        grades = np.where(is_ranked, self.grades, np.nan).reshape(-1, length)
        is_judged = ~np.isnan(grades)
        width = max(1, int(is_judged.sum(axis=1).max()))
        order = np.argsort(~is_judged, axis=1, kind="stable")[:, :width]
        found = np.take_along_axis(grades, order, axis=1)
        ranks = np.where(np.isnan(found), np.nan, order + 1.0)
        return JudgedHits(ranks, found, self.counts.ravel(), ideal, float(np.nanmax(ideal)))


Lose = Callable[[GradedRankings, FloatArray], BoolArray]
Spoil = Callable[[ChangedRankings, BoolArray, np.random.Generator], None]


@dataclass(frozen=True)
class FallKind:
    """A kind of fall."""

    name: str
    what: str
    """What happens, with ``{size:.1%}`` or the like, for the manual."""
    size: float
    """The probability that a query, or a document of it, is hit; or the additional noise."""
    lose: Lose | None = None
    """Which documents are lost before the ranking is cut, ``[D, Q, R]``; draws are below 1 where a
    document is hit."""
    spoil: Spoil | None = None
    """Spoils the rankings of the queries that are hit, ``[D, Q]``, after they are cut."""
    is_loss: bool = False
    """Whether documents are lost; otherwise their order is spoilt."""

    @property
    def is_noise(self) -> bool:
        """Whether noise is added to the log rank of every document."""
        return self.lose is None and self.spoil is None


def changed(
    rankings: GradedRankings, kind: FallKind, is_hit: BoolArray, random: np.random.Generator
) -> ChangedRankings:
    """Return rankings after an innocent change, and a fall where queries can be hit, ``[D, Q]``."""
    draws, (queries, length) = len(is_hit), rankings.grades.shape
    shape, hit = (draws, queries, length), is_hit[..., np.newaxis]
    keys = np.log(np.arange(1, length + 1)) + INNOCENT * random.standard_normal(shape)
    if kind.is_noise:
        keys += kind.size * hit * random.standard_normal(shape)
    is_gone = np.broadcast_to(~rankings.ranked, shape)
    if kind.lose is not None:
        is_gone = is_gone | (hit & kind.lose(rankings, random.random(shape) / kind.size))
    keys[is_gone] = np.inf
    order = np.argsort(keys, axis=2, kind="stable")
    grades = np.take_along_axis(np.broadcast_to(rankings.grades, shape), order, axis=2)
    counts = np.minimum((~is_gone).sum(axis=2), rankings.depth).astype(np.float64)
    made = ChangedRankings(grades, counts)
    if kind.spoil is not None:
        kind.spoil(made, is_hit & (random.random(is_hit.shape) < kind.size), random)
    return made


def _relevant_lost(rankings: GradedRankings, draw: FloatArray) -> BoolArray:
    return (draw < 1) & (rankings.grades > 0)


def _any_lost(_: GradedRankings, draw: FloatArray) -> BoolArray:
    return draw < 1


def _end_early(made: ChangedRankings, is_hit: BoolArray, _: np.random.Generator) -> None:
    made.counts = np.where(is_hit, np.minimum(20, np.ceil(made.counts / 2)), made.counts)


def _lower_first(made: ChangedRankings, is_hit: BoolArray, _: np.random.Generator) -> None:
    is_relevant = made.grades[:, :, :5] > 0
    is_swapped = is_hit & is_relevant.any(axis=2) & (made.counts >= 7)
    draw, query = np.nonzero(is_swapped)
    rank = is_relevant.argmax(axis=2)[is_swapped]
    fallen = made.grades[draw, query, rank].copy()
    for place in (rank, rank + 1):
        made.grades[draw, query, place] = made.grades[draw, query, place + 1]
    made.grades[draw, query, rank + 2] = fallen


def _shuffle_top(made: ChangedRankings, is_hit: BoolArray, random: np.random.Generator) -> None:
    """Put the first 50 documents of the queries that are hit in random order."""
    length = made.grades.shape[2]
    last = np.minimum(made.counts, 50)[..., np.newaxis]
    keys = np.broadcast_to(np.arange(length, dtype=np.float64), made.grades.shape).copy()
    places = is_hit[..., np.newaxis] & (keys < last)
    keys[places] = random.uniform(-1, 0, int(places.sum()))
    order = np.argsort(keys, axis=2, kind="stable")
    made.grades = np.take_along_axis(made.grades, order, axis=2)


FALLS = (
    FallKind(
        "documents lost",
        "each relevant document is lost with a probability of {size:.1%}",
        size=0.021,
        lose=_relevant_lost,
        is_loss=True,
    ),
    FallKind(
        "tail lost",
        "in {size:.1%} of the queries the ranking ends at rank 20, or halfway if it is shorter",
        size=0.12,
        spoil=_end_early,
        is_loss=True,
    ),
    FallKind(
        "shard lost",
        "each document, relevant or not, is lost with a probability of {size:.1%}",
        size=0.037,
        lose=_any_lost,
        is_loss=True,
    ),
    FallKind(
        "swaps at the top",
        "in {size:.1%} of the queries the first relevant document of the top five falls by two "
        "ranks",
        size=0.122,
        spoil=_lower_first,
    ),
    FallKind(
        "noise in scores",
        "the log rank of every document has additional noise, of a standard deviation of {size}",
        size=0.335,
    ),
    FallKind(
        "a slice collapses",
        "in {size:.1%} of the queries the first 50 documents are in random order",
        size=0.065,
        spoil=_shuffle_top,
    ),
)
