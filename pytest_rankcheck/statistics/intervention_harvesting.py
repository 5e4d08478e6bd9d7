"""Position bias from rankers that put the same documents at different ranks.

A document that one ranker shows at rank 1 and another at rank 3 is as good at both, so its
selections differ only by how often users look there. This is intervention harvesting with all pairs
of ranks (Agarwal, Zaitsev, Wang, Li, Najork and Joachims, Estimating position bias without
intrusive interventions, WSDM 2019). At rank k, n impressions of a document u have n p_k r_u
selections on average. Given how often u was selected at all, r_u drops out, and its selections are
spread over the ranks as n_uk p_k: the conditional likelihood for fixed effects (Hausman, Hall and
Griliches, Econometric models for count data, Econometrica 52, 1984), which needs no more than
these means to be right, so selections may depend on each other within a session (Wooldridge,
Distribution-free estimation of some nonlinear panel data models, J. Econometrics 90, 1999).

If users also select documents that are not good, with a known probability beta_k, the selections
beyond those, c - beta_k for each impression, have means n p_k r_u. The score of the likelihood is
linear in them, so it still is 0 on average at the true p_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray

__all__ = ["Harvest", "Impressions", "harvested"]

_ROUNDS = 100
_CONVERGED = 1e-9


@dataclass(frozen=True, slots=True)
class Impressions:
    """Documents that were shown, ``[N]``; unit and rank give which document, and where."""

    unit: IntArray
    """The number of the document of a query, from 0."""
    rank: IntArray
    """Its rank, from 1."""
    selected: BoolArray
    """Whether it was selected."""
    session: IntArray
    """The number of the session, from 0; sessions are independent."""
    beta: FloatArray | None = None
    """How often a document that is not good would have been selected there; None: never."""

    @property
    def gains(self) -> FloatArray:
        """The selections beyond those of documents that are not good."""
        gains: FloatArray = self.selected.astype(np.float64)
        return gains if self.beta is None else gains - self.beta

    def at(self, rows: BoolArray) -> Impressions:
        """Return some of the impressions."""
        beta = None if self.beta is None else self.beta[rows]
        return Impressions(
            self.unit[rows], self.rank[rows], self.selected[rows], self.session[rows], beta
        )


@dataclass(frozen=True, slots=True)
class Harvest:
    """The propensities of K ranks, relative to the highest of them."""

    ranks: IntArray
    """``[K]`` ascending."""
    chances: FloatArray
    """``[K]`` in (0, 1]; the highest is 1."""
    errors: FloatArray
    """``[K]`` the standard errors of their logarithms; 0 for the highest."""
    units: int
    """How many documents were shown at several of these ranks and selected."""
    impressions: int
    selections: int


def harvested(seen: Impressions) -> Harvest | None:
    """Return the propensities of the ranks that can be compared; None if no two can be.

    Ranks can be compared if documents connect them that were shown at both and selected. Of several
    groups of ranks that are not connected, the one with the most selections counts.
    """
    seen = _informative(seen)
    if not seen.unit.size:
        return None
    counts = _Counts.of(seen)
    logs, information, shares = _fitted(counts)
    ranks, highest = counts.ranks, int(np.argmax(logs))
    others = np.delete(np.arange(len(ranks)), highest)
    scores = _scores(seen, counts, logs, shares)[:, others]
    inverse = np.linalg.inv(information[np.ix_(others, others)])
    errors = np.zeros(len(ranks))
    errors[others] = np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse))
    return Harvest(
        ranks,
        np.exp(logs - logs[highest]),
        errors,
        units=len(counts.shown),
        impressions=len(seen.unit),
        selections=int(seen.selected.sum()),
    )


def _informative(seen: Impressions) -> Impressions:
    """Return the impressions of documents at several ranks that are connected by selections."""
    while seen.unit.size:
        # With a beta, documents without a selection count as well: they lack those of beta.
        picked = np.bincount(seen.unit, weights=seen.selected)[seen.unit] > 0
        picked |= seen.beta is not None
        lowest = np.full(seen.unit.max() + 1, np.iinfo(np.int64).max)
        highest = np.zeros_like(lowest)
        np.minimum.at(lowest, seen.unit, seen.rank)
        np.maximum.at(highest, seen.unit, seen.rank)
        at_several = lowest[seen.unit] < highest[seen.unit]
        # A rank without a selection has no propensity above 0.
        is_picked = np.bincount(seen.rank, weights=seen.gains)[seen.rank] > 0
        kept = picked & at_several & is_picked & _connected(seen)
        if kept.all():
            break
        seen = seen.at(kept)
    return seen


def _connected(seen: Impressions) -> BoolArray:
    """Return whether the rank of each impression is connected to those with most selections."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = int(seen.rank.max()) + 1
    nodes = size + int(seen.unit.max()) + 1  # documents are connected to their ranks
    edges = coo_array((np.ones(len(seen.unit)), (seen.rank, size + seen.unit)), (nodes, nodes))
    _, labels = connected_components(edges, directed=False)
    weight = np.bincount(labels[seen.rank], weights=seen.selected)
    return np.asarray(labels[seen.rank] == int(np.argmax(weight)))


@dataclass(frozen=True, slots=True)
class _Counts:
    """The impressions and selections of U documents at K ranks."""

    ranks: IntArray
    """``[K]``"""
    shown: FloatArray
    """``[U, K]`` the impressions."""
    picked: FloatArray
    """``[U, K]`` the selections."""
    unit: IntArray
    """``[N]`` the document of each impression, as a row."""
    place: IntArray
    """``[N]`` its rank, as a column."""

    @classmethod
    def of(cls, seen: Impressions) -> _Counts:
        codes, unit = np.unique(seen.unit, return_inverse=True)
        ranks, place = np.unique(seen.rank, return_inverse=True)
        shape = (len(codes), len(ranks))

        def counted(each: FloatArray) -> FloatArray:
            sums = np.bincount(unit * len(ranks) + place, each, shape[0] * shape[1])
            return np.asarray(sums.reshape(shape), dtype=np.float64)

        shown = counted(np.ones(len(unit)))
        return cls(ranks, shown, counted(seen.gains), unit, place)


def _fitted(counts: _Counts) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the logarithms of the propensities, their information, and the shares at each rank.

    Newton's method; the conditional likelihood is concave in the logarithms, the first of which is
    0.

    Returns:
        ``[K]``, ``[K, K]`` and ``[U, K]``: the expected shares of a document's selections.
    """
    shown, picked = counts.shown, counts.picked
    totals = picked.sum(axis=1)
    logs = np.zeros(shown.shape[1])
    for _ in range(_ROUNDS):
        shares, information = _expected(shown, totals, logs)
        gradient = (picked - totals[:, np.newaxis] * shares).sum(axis=0)
        step = np.zeros_like(logs)
        step[1:] = np.linalg.solve(information[1:, 1:], gradient[1:])
        largest = float(np.abs(step).max())
        logs = logs + step * min(1.0, 1.0 / max(largest, 1e-300))  # no step beyond a factor of e
        if largest < _CONVERGED:
            break
    shares, information = _expected(shown, totals, logs)
    return logs, information, shares


def _expected(
    shown: FloatArray, totals: FloatArray, logs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the expected shares of each document's selections, and the information matrix."""
    expected = shown * np.exp(logs)
    shares: FloatArray = expected / expected.sum(axis=1, keepdims=True)
    weighted = totals[:, np.newaxis] * shares
    return shares, np.diag(weighted.sum(axis=0)) - shares.T @ weighted


def _scores(seen: Impressions, counts: _Counts, logs: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the score of each session, ``[S, K]``: what it adds to the gradient.

    Each impression adds (c - m) (e_k - shares) with the expected number m of its selections.
    """
    chances = np.exp(logs)
    relevance = counts.picked.sum(axis=1) / (counts.shown * chances).sum(axis=1)
    residuals = seen.gains - relevance[counts.unit] * chances[counts.place]
    sessions = np.unique(seen.session, return_inverse=True)[1]
    columns = [
        np.bincount(sessions, weights=residuals * ((counts.place == k) - shares[counts.unit, k]))
        for k in range(len(counts.ranks))
    ]
    return np.stack(columns, axis=1)
