"""Simulated logs, and replays of them, with known true values: what `replay_tables` counts.

Each search has one good document among ten. The ranker of the log has it at rank 1 in half of the
searches, and anywhere in the others. A user looks at rank r with the probability r ** -eta and
selects the good document if they look at it; with trust, another one that they look at with the
probability trust / r. The new ranker has the ranking of the log in half of the searches. In the
others it ranks the good document as the old one does, but drawn anew, and the others at random, so
it is equal. A worse one also moves the good document to any rank in some searches, so that the mean
RR truly falls by a given amount.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_rankcheck import Metric
from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.sessions.replays.propensity import (
    CLIP,
    Propensity,
    chances_of,
    propensity_weights,
)
from pytest_rankcheck.statistics.intervention_harvesting import Impressions
from pytest_rankcheck.statistics.unseen_values import UNSEEN_ESTIMATED_GAIN, UNSEEN_WEIGHTED_GAIN

SHOWN = 10
METRIC = Metric.parse("RR")
RANKS = np.arange(1, SHOWN + 1)


def mean_rr() -> float:
    """Return the true mean RR of the ranker of the log: half 1, half the mean of 1 / rank."""
    return float(0.5 + 0.5 * np.mean(1 / RANKS))


@dataclass(frozen=True)
class Searches:
    """N searches: where the documents of the log are now, and which were selected."""

    good: IntArray
    """``[N]`` the rank of the good document in the log."""
    now: IntArray
    """``[N, 10]`` by the rank in the log: the rank of the document now."""
    selected: BoolArray
    """``[N, 10]`` by the rank in the log."""


def searches(
    random: np.random.Generator, count: int, *, eta: float, trust: float = 0.0, fall: float = 0.0
) -> Searches:
    """Return searches, and the rankings of a new ranker that is worse by ``fall``.

    If ``fall`` is negative, it is better: it moves the good document to the top in some searches.
    """

    def anywhere() -> IntArray:
        return random.integers(1, SHOWN + 1, count)

    def drawn() -> IntArray:
        return np.where(random.random(count) < 0.5, 1, anywhere())

    good = drawn()
    is_same = random.random(count) < 0.5
    new = np.where(is_same, good, drawn())
    worse, better = fall / (mean_rr() - float(np.mean(1 / RANKS))), -fall / (1 - mean_rr())
    new = np.where(random.random(count) < worse, anywhere(), new)
    new = np.where(random.random(count) < better, 1, new)
    is_good = good[:, np.newaxis] == RANKS
    looked = random.random((count, SHOWN)) < RANKS**-eta
    trusted = random.random((count, SHOWN)) < trust / RANKS
    order = np.where(is_same[:, np.newaxis], RANKS / SHOWN, random.random((count, SHOWN)))
    order[is_good] = np.inf  # the good document comes last, and is then put at its rank
    others = order.argsort(axis=1).argsort(axis=1) + 1
    others = others + (others >= new[:, np.newaxis])
    now = np.where(is_good, new[:, np.newaxis], others)
    return Searches(good, now, looked & (is_good | trusted))


def weighted(seen: Searches, propensity: Propensity | None, clip: float = CLIP) -> Paired:
    """Return RR in the log and now, as ``to_golden_set("all", propensity=...)`` measures it.

    Without a propensity the best selected document of a search counts; otherwise each selection.
    """
    if propensity is None:
        has_any = seen.selected.any(axis=1)
        before, after = (
            np.where(seen.selected, 1 / ranks, 0.0).max(axis=1)[has_any]
            for ranks in (np.broadcast_to(RANKS, seen.now.shape), seen.now)
        )
        return Paired(METRIC, _ids(len(before)), before, after)
    search, place = np.nonzero(seen.selected)
    return Paired(
        METRIC,
        _ids(len(search)),
        1 / RANKS[place],
        1 / seen.now[search, place],
        weights=propensity_weights(RANKS[place], propensity, clip),
        clusters=search,
        drawn_share=UNSEEN_WEIGHTED_GAIN,
    )


def estimated(
    seen: Searches, propensity: Propensity, clip: float = CLIP, model: FloatArray | None = None
) -> Paired:
    """Return RR with estimates of relevance, as ``to_golden_set("all", ...)`` makes them.

    Args:
        seen: the searches.
        propensity: alpha and beta of each rank.
        clip: a smaller alpha counts as this.
        model: ``[N, 10]`` how likely each document is relevant; None: affine estimates.
    """
    alpha, beta = chances_of(RANKS, propensity)
    expected = np.zeros(seen.now.shape) if model is None else model
    estimates = expected + (seen.selected - beta - alpha * expected) / np.maximum(alpha, clip)
    estimates /= estimates.sum() / len(estimates)
    before, after = (estimates @ (1 / RANKS), (estimates / seen.now).sum(axis=1))
    return Paired(METRIC, _ids(len(before)), before, after, drawn_share=UNSEEN_ESTIMATED_GAIN)


def two_rankers(
    random: np.random.Generator, sessions: int, *, eta: float, queries: int = 500
) -> Impressions:
    """Return what the sessions of two rankers of similar quality saw and selected.

    Each query has ten documents of some relevance, which each ranker orders by it with some noise.
    Chance decides which query and which ranker a session has.
    """
    relevance = random.random((queries, SHOWN))
    orders = np.stack(
        [np.argsort(-(relevance + random.normal(0, 0.2, relevance.shape)), axis=1) for _ in "AB"]
    )
    query, ranker = random.integers(queries, size=sessions), random.integers(2, size=sessions)
    shown = orders[ranker, query]
    chances = RANKS**-eta * relevance[query[:, np.newaxis], shown]
    return Impressions(
        unit=(query[:, np.newaxis] * SHOWN + shown).ravel(),
        rank=np.tile(RANKS, sessions),
        selected=(random.random(chances.shape) < chances).ravel(),
        session=np.repeat(np.arange(sessions), SHOWN),
    )


def good_model(seen: Searches) -> FloatArray:
    """Return a model that knows the good document: 0.9, and 0.01 for the others."""
    return np.where(seen.good[:, np.newaxis] == RANKS, 0.9, 0.01)


def bad_model(seen: Searches) -> FloatArray:
    """Return a model that takes the last document for good."""
    return np.broadcast_to(np.where(RANKS == SHOWN, 0.9, 0.1), seen.now.shape)


def trusting(trust: float, eta: float) -> dict[int, tuple[float, float]]:
    """Return the true (alpha, beta) of each rank: theta (1 - trust / r) and theta trust / r."""
    return {
        rank: (rank**-eta * (1 - trust / rank), rank**-eta * trust / rank)
        for rank in RANKS.tolist()
    }


def _ids(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))
