"""The gates that can be chosen."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.comparison import Comparison
from pytest_rankcheck.evaluation.paired import SLACK, Paired
from pytest_rankcheck.gates.verdict import Decision, Outcome, QueryDrop, Verdict
from pytest_rankcheck.metrics.names import Metric, MetricLike

__all__ = ["MIN_QUERIES", "Gate", "ToleranceGate", "attributes_of"]

MIN_QUERIES = 30
"""A slice with fewer queries is reported, not gated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(ABC):
    """The rule that decides whether a metric regressed. Make one with `Gate.tolerance`."""

    max_query_drop: float | None = None
    min_queries: int = MIN_QUERIES

    def __post_init__(self) -> None:
        if self.max_query_drop is not None:
            _check_allowance("max_query_drop", self.max_query_drop)
        if not _is_at_least_zero(self.min_queries, Integral):
            raise ConfigurationError(
                f"min_queries={quoted(self.min_queries)}: a whole number from 0 on"
            )

    @staticmethod
    def tolerance(
        abs: float = 0.0,
        rel: float = 0.0,
        *,
        max_query_drop: float | None = None,
        min_queries: int = MIN_QUERIES,
    ) -> ToleranceGate:
        """Regressed if the mean fell by more than the larger of ``abs`` and ``rel`` x baseline.

        Args:
            abs: the allowed fall of the mean, in the metric's own unit.
            rel: the allowed fall as a share of the baseline's mean.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            min_queries: a slice with fewer queries is reported, not gated.

        Raises:
            ConfigurationError: an allowance is negative or not finite.
        """
        return ToleranceGate(
            abs=abs, rel=rel, max_query_drop=max_query_drop, min_queries=min_queries
        )

    def decide(
        self, comparison: Comparison, metric: MetricLike, by: str | Sequence[str] | None = None
    ) -> Verdict:
        """Return the verdict on ``metric``: overall, and for every slice of ``by``.

        Raises:
            MetricError: no such metric.
            GoldenSetError: no query has the attribute ``by``.
        """
        parsed = Metric.parse(metric)
        overall = self._decision(comparison.paired(parsed), None, "")
        slices = tuple(
            self._decision(pairs, attribute, value)
            for attribute in attributes_of(by)
            for value, pairs in comparison.slices(attribute, parsed).items()
        )
        return Verdict(
            metric=parsed,
            overall=overall,
            slices=slices,
            query_drops=tuple(self._query_drops(overall.pairs)),
            max_query_drop=self.max_query_drop,
            min_queries=self.min_queries,
        )

    @abstractmethod
    def allowed(self, pairs: Paired) -> float:
        """Return how far the mean of these queries may fall."""

    def _decision(self, pairs: Paired, attribute: str | None, value: str) -> Decision:
        allowed, gain = self.allowed(pairs), pairs.gain
        if attribute is not None and len(pairs.query_ids) < max(1, self.min_queries):
            outcome = Outcome.NOT_GATED
        elif gain < -(allowed + SLACK):
            outcome = Outcome.REGRESSED
        elif gain < -SLACK:
            outcome = Outcome.LOWER
        else:
            outcome = Outcome.BETTER if gain > SLACK else Outcome.EQUAL
        return Decision(pairs, outcome, allowed, attribute, value)

    def _query_drops(self, pairs: Paired) -> Iterable[QueryDrop]:
        if self.max_query_drop is None:
            return
        for place in pairs.worst():
            if pairs.gains[place] < -(self.max_query_drop + SLACK):
                before, after = float(pairs.before[place]), float(pairs.after[place])
                yield QueryDrop(pairs.query_ids[place], before, after)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToleranceGate(Gate):
    """A fixed allowance: see `Gate.tolerance`."""

    abs: float = 0.0
    rel: float = 0.0

    def __post_init__(self) -> None:
        Gate.__post_init__(self)
        _check_allowance("abs", self.abs)
        _check_allowance("rel", self.rel)

    def allowed(self, pairs: Paired) -> float:
        """Return the larger of ``abs`` and ``rel`` times the mean before."""
        before = pairs.mean_before
        return max(self.abs, self.rel * math.fabs(before)) if math.isfinite(before) else self.abs


def attributes_of(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the attributes that ``by`` names: none, one or several."""
    if by is None:
        return ()
    return (by,) if isinstance(by, str) else tuple(by)


def _check_allowance(name: str, value: object) -> None:
    if not _is_at_least_zero(value, Real):
        raise ConfigurationError(
            f"{name}={quoted(value)} is not possible; it is how far a metric may fall: a number "
            "from 0 on"
        )


def _is_at_least_zero(value: object, kind: type[Real] | type[Integral]) -> bool:
    """Whether a value is a finite number of a kind, numpy's included, and not negative."""
    return isinstance(value, kind) and not isinstance(value, bool) and 0 <= float(value) < math.inf
