"""How much the rankings of the same queries changed; no judgments are needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.metrics.similarity.order_similarity import tau_ap
from pytest_rankcheck.metrics.similarity.rank_biased_overlap import rbo
from pytest_rankcheck.metrics.similarity.top_k_similarity import overlap, top_k_kendall

__all__ = ["RankingStability", "StabilityLimits", "TopKAgreement", "stability_of"]


@dataclass(frozen=True, slots=True)
class StabilityLimits:
    """The limits on changes of the top k; None means no limit.

    Raises:
        ConfigurationError: a limit is invalid.
    """

    min_rbo: float | None = 0.9
    """The lowest allowed rank-biased overlap of any query."""
    p: float = 0.9
    """The probability with which the user of RBO goes on to the next rank."""
    min_overlap: float | None = None
    """The lowest allowed overlap of the top k of any query."""
    max_kendall: float | None = None
    """The largest allowed normalised Kendall distance of the top k of any query (Fagin, Kumar and
    Sivakumar 2003; a pair that only one list has costs 1/2)."""
    min_tau_ap: float | None = None
    """The lowest allowed AP correlation of any query with its ranking before, over the shared
    documents."""
    max_changed_queries: float | None = None
    """How many queries may have a different top k: a whole number, or a share below 1."""
    k: int = 10
    """How many documents of each ranking count."""
    allowed_queries: int = 0
    """How many queries may exceed the limits of a query."""

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
                    f"{name}={quoted(value)} is invalid; give a number from {low} to {high:g}"
                )
        if not _is_number(self.p) or not 0 < self.p < 1:
            raise ConfigurationError(
                f"p={quoted(self.p)} is invalid; give a number between 0 and 1"
            )
        check_whole_number("k", self.k, 1, ConfigurationError)
        check_whole_number("allowed_queries", self.allowed_queries, 0, ConfigurationError)
        if all(
            getattr(self, name) is None
            for name in (
                *("min_rbo", "min_overlap", "max_kendall", "min_tau_ap"),
                "max_changed_queries",
            )
        ):
            raise ConfigurationError("no limit is set; give min_rbo or another limit")

    def broken_by(self, agreement: TopKAgreement) -> Sequence[str]:
        """Return the limits that a query exceeds, in words."""
        limits = (
            (f"RBO(p={self.p:g})", agreement.rbo, self.min_rbo, 1),
            (f"overlap@{self.k}", agreement.overlap, self.min_overlap, 1),
            (f"Kendall@{self.k}", agreement.kendall, self.max_kendall, -1),
            (f"tauAP@{self.k}", agreement.tau_ap, self.min_tau_ap, 1),
        )
        return [
            f"{name} {value:.3f}"
            for name, value, limit, sign in limits
            if limit is not None and sign * (value - limit) < -SLACK
        ]

    def allowed_changes(self, queries: int) -> float:
        """Return how many of ``queries`` queries may have a different top k."""
        limit = self.max_changed_queries
        if limit is None:
            return math.inf
        return limit * queries if 0 < limit < 1 else limit


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
        return [agreement for agreement in self.changed if self.limits.broken_by(agreement)]

    @property
    def too_many(self) -> bool:
        """Whether more queries changed than allowed."""
        return len(self.changed) > self.limits.allowed_changes(len(self.agreements)) + SLACK

    @property
    def is_broken(self) -> bool:
        """Whether more queries exceed a limit, or changed, than allowed."""
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


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
