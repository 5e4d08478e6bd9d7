"""How much the rankings of the same queries differ from those of before: no judgments needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real

from pytest_rankcheck.comparison.compared_values import SLACK
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.metrics.similarity.order_similarity import tau_ap
from pytest_rankcheck.metrics.similarity.rank_biased_overlap import rbo
from pytest_rankcheck.metrics.similarity.top_k_similarity import overlap, top_k_kendall

__all__ = ["RankingStability", "StabilityLimits", "TopKAgreement", "stability_of"]

Ranking = Sequence[str]


@dataclass(frozen=True, slots=True)
class StabilityLimits:
    """How much the top k of each query, and how many queries, may change; None is no limit.

    Raises:
        ConfigurationError: a limit is not possible.
    """

    min_rbo: float | None = 0.9
    """The least rank-biased overlap of any query."""
    p: float = 0.9
    """The patience of RBO."""
    min_overlap: float | None = None
    """The least share of the top k that any query keeps."""
    max_kendall: float | None = None
    """The largest Kendall distance of two top k, of any query, as a share of the largest there is
    (Fagin, Kumar and Sivakumar 2003; pairs that only one list has cost 1/2)."""
    min_tau_ap: float | None = None
    """The least AP correlation with the ranking before, of any query, over the shared documents."""
    max_changed_queries: float | None = None
    """How many queries may have another top k: a whole number, or a share below 1."""
    k: int = 10
    """How much of each ranking counts."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("min_rbo", 0, 1),
            ("min_overlap", 0, 1),
            ("max_kendall", 0, 1),
            ("min_tau_ap", -1, 1),
            ("max_changed_queries", 0, math.inf),
        ):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and low <= value <= high):
                raise ConfigurationError(
                    f"{name}={quoted(value)} is not possible; it is a number from {low} to {high:g}"
                )
        if not _is_number(self.p) or not 0 < self.p < 1:
            raise ConfigurationError(f"p={quoted(self.p)}: p is a number between 0 and 1")
        if not isinstance(self.k, Integral) or isinstance(self.k, bool) or self.k < 1:
            raise ConfigurationError(f"k={quoted(self.k)}: k is a whole number of at least 1")
        if all(
            getattr(self, name) is None
            for name in (
                *("min_rbo", "min_overlap", "max_kendall", "min_tau_ap"),
                "max_changed_queries",
            )
        ):
            raise ConfigurationError("nothing is limited: give min_rbo or another limit")

    def broken_by(self, one: TopKAgreement) -> Sequence[str]:
        """Return which limits a query is beyond, in words; none where it is within all."""
        asked = (
            (f"RBO(p={self.p:g})", one.rbo, self.min_rbo, 1),
            (f"overlap@{self.k}", one.overlap, self.min_overlap, 1),
            (f"Kendall@{self.k}", one.kendall, self.max_kendall, -1),
            (f"tauAP@{self.k}", one.tau_ap, self.min_tau_ap, 1),
        )
        return [
            f"{name} {value:.3f}"
            for name, value, limit, sign in asked
            if limit is not None and sign * (value - limit) < -SLACK
        ]

    def allowed_changes(self, queries: int) -> float:
        """Return how many of some queries may have another top k."""
        limit = self.max_changed_queries
        if limit is None:
            return math.inf
        return limit * queries if 0 < limit < 1 else limit


@dataclass(frozen=True)
class TopKAgreement:
    """The top k of one query, before and now; its similarities are computed when asked for."""

    query_id: str
    before: Ranking
    now: Ranking
    p: float
    k: int

    @property
    def is_changed(self) -> bool:
        """Whether they differ at all."""
        return tuple(self.before) != tuple(self.now)

    @cached_property
    def rbo(self) -> float:
        """The rank-biased overlap, extrapolated; 1 where both are the same."""
        return rbo(self.before, self.now, p=self.p) if self.is_changed else 1.0

    @cached_property
    def overlap(self) -> float:
        """The share of the top k that both have."""
        return overlap(self.before, self.now, k=self.k) if self.is_changed else 1.0

    @cached_property
    def kendall(self) -> float:
        """The Kendall distance of the two, as a share of the largest; 0 where they are the same."""
        if not self.is_changed:
            return 0.0
        return top_k_kendall(self.before, self.now, k=self.k, penalty=0.5, normalised=True)

    @cached_property
    def tau_ap(self) -> float:
        """The AP correlation of the ranking now with that before; 1 where they are the same.

        Where they share fewer than two documents there is no order: 0.
        """
        found = tau_ap(self.now, self.before, k=self.k) if self.is_changed else 1.0
        return 0.0 if math.isnan(found) else found


@dataclass(frozen=True)
class RankingStability:
    """How the rankings of all queries stand to those of before, and which limits that breaks."""

    agreements: Sequence[TopKAgreement]
    limits: StabilityLimits

    @cached_property
    def changed(self) -> Sequence[TopKAgreement]:
        """The queries with another top k, the least alike first."""
        found = [one for one in self.agreements if one.is_changed]
        return sorted(found, key=lambda one: (one.rbo, one.query_id))

    @cached_property
    def beyond(self) -> Sequence[TopKAgreement]:
        """The queries that are beyond a limit, the least alike first."""
        return [one for one in self.changed if self.limits.broken_by(one)]

    @property
    def too_many(self) -> bool:
        """Whether more queries changed than may."""
        return len(self.changed) > self.limits.allowed_changes(len(self.agreements)) + SLACK

    @property
    def is_broken(self) -> bool:
        """Whether a limit is broken."""
        return bool(self.beyond) or self.too_many

    @property
    def mean_rbo(self) -> float:
        """The mean RBO over the queries; NaN without any."""
        return _mean(one.rbo for one in self.agreements)

    @property
    def least_rbo(self) -> float:
        """The least RBO of a query; NaN without any."""
        return min((one.rbo for one in self.agreements), default=math.nan)


def stability_of(comparison: Comparison, limits: StabilityLimits) -> RankingStability:
    """Return how the rankings of a comparison's queries stand to those of before.

    What of them is known on both sides counts, down to k.
    """
    evaluation, other = comparison.evaluation, comparison.other
    depths = (limits.k, evaluation.known_depth, other.known_depth)
    k = min(depth for depth in depths if depth is not None)
    return RankingStability(
        [
            TopKAgreement(
                query_id,
                tuple(other.ranking(query_id)[:k]),
                tuple(evaluation.ranking(query_id)[:k]),
                limits.p,
                limits.k,
            )
            for query_id in comparison.query_ids
        ],
        limits,
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found) if found else math.nan


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
