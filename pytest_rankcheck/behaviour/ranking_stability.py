"""How much the rankings of the same queries changed, and how much may; no judgments are needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.argument_checks import check_limits, check_whole_number
from pytest_rankcheck.errors import ConfigurationError, plural
from pytest_rankcheck.evaluation.recorded_precision import SLACK

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison

_OF_QUERIES = ("min_rbo", "min_overlap", "max_kendall", "min_tau_ap")
"""The limits on a single query."""

_COUNTS = ("max_changed_queries", "allowed_queries")
"""The limits on how many queries may differ."""


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
    """The lowest allowed AP correlation of any query's ranking with the approved one, over the
    shared documents."""
    max_changed_queries: float | None = None
    """How many queries may have a different top k: a whole number, or a share below 1."""
    k: int = 10
    """How many documents of each ranking count."""
    allowed_queries: int = 0
    """How many queries may exceed the limits on a single query."""

    def __post_init__(self) -> None:
        check_limits(self)
        check_whole_number("k", self.k, 1, ConfigurationError)
        if not self._limits_queries and self.max_changed_queries is None:
            raise ConfigurationError("no limit is set; give min_rbo or another limit")

    @property
    def _limits_queries(self) -> bool:
        """Whether there is a limit on single queries."""
        return any(getattr(self, name) is not None for name in _OF_QUERIES)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> StabilityLimits:
        """Return the limits that `to_dict` wrote; a missing limit is None.

        Raises:
            ConfigurationError: a limit is invalid.
            TypeError: an unknown name.
        """
        return cls(**{"min_rbo": None, **entry})

    def to_dict(self) -> dict[str, float]:
        """Return the limits that are set, in the form of the record's file."""
        entry: dict[str, float] = {
            name: _plain(getattr(self, name))
            for name in (*_OF_QUERIES, "max_changed_queries")
            if getattr(self, name) is not None
        }
        if self.min_rbo is not None:
            entry["p"] = _plain(self.p)
        entry["k"] = int(self.k)
        if self._limits_queries and self.allowed_queries:
            entry["allowed_queries"] = int(self.allowed_queries)
        return entry

    def __str__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())

    def refuse_never_failing(self, queries: int) -> None:
        """Refuse limits that this many queries cannot exceed, whatever their rankings are.

        Raises:
            ConfigurationError: naming what allows too much.
        """
        if not queries or (self._limits_queries and self.allowed_queries < queries):
            return
        if self.allowed_changes(queries) + SLACK < queries:
            return
        given = {name: value for name, value in self.to_dict().items() if name in _COUNTS}
        names = " and ".join(f"{name}={value!r}" for name, value in given.items())
        where = plural(queries, "query", "queries")
        raise ConfigurationError(f"{names} can never fail on {where}; give a smaller number")

    def is_at_least_as_strict_as(self, other: StabilityLimits) -> bool:
        """Return whether these limits fail everything that the others fail; False if in doubt.

        Another ``k``, or another ``p`` of a limited RBO, makes rankings look more or less alike.
        """
        if self.k != other.k:
            return False
        mine, theirs = self.max_changed_queries, other.max_changed_queries
        if mine == 0:
            return True  # whatever exceeds a limit has changed
        # How many queries a share allows depends on the golden set.
        if theirs is not None and (mine is None or mine > theirs or (mine < 1) != (theirs < 1)):
            return False
        if other._limits_queries and self.allowed_queries > other.allowed_queries:
            return False
        if other.min_rbo is not None and self.p != other.p:
            return False
        for name in _OF_QUERIES:
            mine, theirs = getattr(self, name), getattr(other, name)
            if theirs is None:
                continue
            if mine is None or (mine < theirs if name.startswith("min") else mine > theirs):
                return False
        return True

    def allowed_changes(self, queries: int) -> float:
        """Return how many of ``queries`` queries may have a different top k."""
        limit = self.max_changed_queries
        if limit is None:
            return math.inf
        return limit * queries if 0 < limit < 1 else limit


@dataclass(frozen=True)
class TopKAgreement:
    """The top k of one query, before and now."""

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
    def distinct(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The documents before and now, without the later places of duplicate documents."""
        return tuple(dict.fromkeys(self.before)), tuple(dict.fromkeys(self.now))

    @cached_property
    def rbo(self) -> float:
        """The extrapolated rank-biased overlap; 1 if both are equal."""
        from pytest_rankcheck.metrics.ranking_similarity import rbo

        return rbo(*self.distinct, p=self.p) if self.is_changed else 1.0

    def exceeded(self, limits: StabilityLimits) -> Mapping[str, float]:
        """Return the values that exceed their limits, by measure; none if nothing changed."""
        if not self.is_changed:
            return {}
        from pytest_rankcheck.metrics.ranking_similarity import overlap, tau_ap, top_k_kendall

        before, now = self.distinct
        values: list[tuple[str, float, float, int]] = []
        if limits.min_rbo is not None:
            values.append((f"RBO(p={limits.p:g})", self.rbo, limits.min_rbo, 1))
        if limits.min_overlap is not None:
            shared = overlap(before, now, k=self.k)
            values.append((f"overlap@{self.k}", shared, limits.min_overlap, 1))
        if limits.max_kendall is not None:
            distance = top_k_kendall(before, now, k=self.k, penalty=0.5, normalised=True)
            values.append((f"Kendall@{self.k}", distance, limits.max_kendall, -1))
        if limits.min_tau_ap is not None:
            correlation = tau_ap(now, before, k=self.k)
            known = 0.0 if math.isnan(correlation) else correlation  # fewer than two in both
            values.append((f"tauAP@{self.k}", known, limits.min_tau_ap, 1))
        return {
            name: value for name, value, limit, sign in values if sign * (value - limit) < -SLACK
        }


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
        values = [agreement.rbo for agreement in self.agreements]
        return fmean(values) if values else math.nan

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
    before, now = other.tops(k), evaluation.tops(k)
    return RankingStability(
        [
            TopKAgreement(
                query_id,
                tuple(before[query_id]),
                tuple(now[query_id]),
                limits.p,
                limits.k,
            )
            for query_id in comparison.query_ids
        ],
        limits,
    )


def _plain(value: float) -> float:
    """Return a number of any type in JSON's form, and whole numbers without a decimal point."""
    return int(value) if float(value).is_integer() else float(value)
