"""How much the rankings of the same queries changed; no judgments are needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_rankcheck.behaviour.stability_limits import StabilityLimits
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.metrics.similarity.order_similarity import tau_ap
from pytest_rankcheck.metrics.similarity.rank_biased_overlap import rbo
from pytest_rankcheck.metrics.similarity.top_k_similarity import overlap, top_k_kendall

__all__ = ["RankingStability", "TopKAgreement", "stability_of"]


@dataclass(frozen=True)
class TopKAgreement:
    """The top k of one query, before and now; similarities are computed on first use."""

    query_id: str
    before: Sequence[str]
    now: Sequence[str]
    p: float
    k: int

    @property
    def is_changed(self) -> bool:
        """Whether they differ at all."""
        return tuple(self.before) != tuple(self.now)

    @cached_property
    def rbo(self) -> float:
        """The extrapolated rank-biased overlap; 1 if both are equal."""
        return rbo(*self._distinct, p=self.p) if self.is_changed else 1.0

    @cached_property
    def overlap(self) -> float:
        """The share of the top k that both have in common."""
        return overlap(*self._distinct, k=self.k) if self.is_changed else 1.0

    @cached_property
    def kendall(self) -> float:
        """The normalised Kendall distance of the two; 0 if they are equal."""
        if not self.is_changed:
            return 0.0
        return top_k_kendall(*self._distinct, k=self.k, penalty=0.5, normalised=True)

    @cached_property
    def tau_ap(self) -> float:
        """The AP correlation of the ranking now with that before; 1 if they are equal.

        It is 0 if they share fewer than two documents.
        """
        before, now = self._distinct
        correlation = tau_ap(now, before, k=self.k) if self.is_changed else 1.0
        return 0.0 if math.isnan(correlation) else correlation

    def exceeded(self, limits: StabilityLimits) -> Sequence[str]:
        """Return the limits that the query exceeds, as text."""
        values = (
            (f"RBO(p={limits.p:g})", self.rbo, limits.min_rbo, 1),
            (f"overlap@{limits.k}", self.overlap, limits.min_overlap, 1),
            (f"Kendall@{limits.k}", self.kendall, limits.max_kendall, -1),
            (f"tauAP@{limits.k}", self.tau_ap, limits.min_tau_ap, 1),
        )
        return [
            f"{name} {value:.3f}"
            for name, value, limit, sign in values
            if limit is not None and sign * (value - limit) < -SLACK
        ]

    @property
    def _distinct(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The documents before and now, without the later places of duplicate documents."""
        return tuple(dict.fromkeys(self.before)), tuple(dict.fromkeys(self.now))


@dataclass(frozen=True)
class RankingStability:
    """How the rankings of all queries compare with those before, and which limits they exceed."""

    agreements: Sequence[TopKAgreement]
    limits: StabilityLimits

    @cached_property
    def changed(self) -> Sequence[TopKAgreement]:
        """The queries with a different top k, the least similar first."""
        changed = [agreement for agreement in self.agreements if agreement.is_changed]
        return sorted(changed, key=lambda agreement: (agreement.rbo, agreement.query_id))

    @cached_property
    def beyond(self) -> Sequence[TopKAgreement]:
        """The queries that exceed a limit, the least similar first."""
        return [agreement for agreement in self.changed if agreement.exceeded(self.limits)]

    @property
    def too_many(self) -> bool:
        """Whether more queries changed than allowed."""
        return len(self.changed) > self.limits.allowed_changes(len(self.agreements)) + SLACK

    @property
    def is_broken(self) -> bool:
        """Whether more queries than allowed exceed a limit or changed."""
        return len(self.beyond) > self.limits.allowed_queries or self.too_many

    @property
    def mean_rbo(self) -> float:
        """The mean RBO over the queries; NaN without any query."""
        return _mean(agreement.rbo for agreement in self.agreements)

    @property
    def least_rbo(self) -> float:
        """The lowest RBO of a query; NaN without any query."""
        return min((agreement.rbo for agreement in self.agreements), default=math.nan)


def stability_of(comparison: Comparison, limits: StabilityLimits) -> RankingStability:
    """Return how the rankings of a comparison's queries compare with those before.

    Rankings are compared down to k, or to the depth that is known on both sides.
    """
    evaluation, other = comparison.evaluation, comparison.other
    for side in (evaluation, other):
        side.read_rankings(limits.k)
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
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan
