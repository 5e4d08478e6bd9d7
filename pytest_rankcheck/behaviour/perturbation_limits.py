"""Limits on how much the answers to perturbed queries may differ from the original answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from pytest_rankcheck.argument_checks import check_limits
from pytest_rankcheck.behaviour.perturbed_answers import (
    ByQuery,
    PerturbationResult,
    PerturbedQuery,
)
from pytest_rankcheck.errors import ConfigurationError, plural, quoted, suggestion
from pytest_rankcheck.evaluation.recorded_precision import SLACK

Direction = Literal["not_better", "not_worse"]
"""The direction in which a metric may not change when a query is perturbed."""

DirectionScope = Literal["query", "mean"]


@dataclass(frozen=True, slots=True)
class InvarianceLimits:
    """The limits of an invariance check; None means no limit.

    Raises:
        ConfigurationError: a limit is invalid.
    """

    min_rbo: float | None = None
    """The lowest allowed RBO of any query; 1 means that no ranking may change."""
    min_mean_rbo: float | None = None
    max_drop: float | None = None
    """The largest allowed fall of the metric of any query."""
    max_mean_drop: float | None = None
    allowed_queries: int = 0
    """How many queries may exceed the limits for single queries."""

    def __post_init__(self) -> None:
        check_limits(self)

    @property
    def on_metric(self) -> bool:
        """Whether the metric is limited."""
        return self.max_drop is not None or self.max_mean_drop is not None

    def refuse_never_failing(self, result: PerturbationResult) -> None:
        """Refuse limits that the answers cannot exceed, whatever they are.

        Raises:
            ConfigurationError: naming what allows too much.
        """
        drops = {"max_drop": self.max_drop, "max_mean_drop": self.max_mean_drop}
        _refuse_never_failing(result, self.allowed_queries, drops)

    def is_unlike(self, trial: PerturbedQuery) -> bool:
        """Whether the two rankings are less similar than allowed."""
        if self.min_rbo is None:
            return False
        # A change far down the ranking is smaller than the slack, so compare the rankings directly.
        must_be_same = self.min_rbo >= 1 and trial.before != trial.after
        return must_be_same or trial.rbo < self.min_rbo - SLACK

    def is_drop(self, trial: PerturbedQuery) -> bool:
        """Whether the metric falls by more than allowed."""
        return self.max_drop is not None and -trial.gain > self.max_drop + SLACK

    def beyond(self, result: PerturbationResult) -> ByQuery:
        """Return the queries that exceed a limit, with the trials that do."""

        def is_beyond(trial: PerturbedQuery) -> bool:
            return self.is_unlike(trial) or self.is_drop(trial)

        return _exceeding(result.by_query, is_beyond)

    def mean_is_unlike(self, result: PerturbationResult) -> bool:
        """Whether the mean RBO is below its limit."""
        if self.min_mean_rbo is None:
            return False
        return result.mean_rbo < self.min_mean_rbo - SLACK

    def mean_is_drop(self, result: PerturbationResult) -> bool:
        """Whether the mean of the metric falls by more than allowed."""
        if self.max_mean_drop is None:
            return False
        return -result.mean_gain > self.max_mean_drop + SLACK

    def fails(self, result: PerturbationResult) -> bool:
        """Whether any limit is exceeded; an error of the ranker always fails."""
        return (
            any(trial.failure for trial in result.trials)
            or len(self.beyond(result)) > self.allowed_queries
            or self.mean_is_unlike(result)
            or self.mean_is_drop(result)
        )

    def severity(self, trial: PerturbedQuery) -> float:
        """Return how bad a trial is, judged by what is limited."""
        if trial.failure is not None:
            return math.inf
        severity = 0.0
        if self.min_rbo is not None or self.min_mean_rbo is not None:
            severity += 1 - trial.rbo
        if self.on_metric and not math.isnan(trial.gain):
            severity -= trial.gain
        return severity


@dataclass(frozen=True, slots=True)
class DirectionLimits:
    """The allowed direction of the answers to perturbed queries.

    Raises:
        ConfigurationError: the direction is unknown, or a number is out of range.
    """

    direction: Direction
    slack: float = 0.0
    of: DirectionScope = "query"
    allowed_queries: int = 0

    def __post_init__(self) -> None:
        words = get_args(Direction)
        if self.direction not in words:
            raise ConfigurationError(
                f"direction={quoted(self.direction)} is invalid"
                f"{suggestion(str(self.direction), words)}; give {' or '.join(words)}"
            )
        if self.of == "mean" and self.allowed_queries:
            raise ConfigurationError(
                'allowed_queries= is for single queries; with of="mean", leave it out'
            )
        check_limits(self)

    def refuse_never_failing(self, result: PerturbationResult) -> None:
        """Refuse limits that the answers cannot exceed, whatever they are.

        Raises:
            ConfigurationError: naming what allows too much.
        """
        _refuse_never_failing(result, self.allowed_queries, {"slack": self.slack})

    def is_wrong(self, gain: float) -> bool:
        """Whether a metric changes in the wrong direction; NaN does not."""
        rise = gain if self.direction == "not_better" else -gain
        return rise > self.slack + SLACK

    def beyond(self, result: PerturbationResult) -> ByQuery:
        """Return the queries that change in the wrong direction, with the trials that do."""
        if self.of == "mean":
            return _exceeding(result.by_query, lambda trial: False)
        return _exceeding(result.by_query, lambda trial: self.is_wrong(trial.gain))

    def fails(self, result: PerturbationResult, beyond: ByQuery) -> bool:
        """Whether too many queries, or the mean, change in the wrong direction."""
        if any(trial.failure for trial in result.trials):
            return True
        if self.of == "mean":
            return self.is_wrong(result.mean_gain)
        return len(beyond) > self.allowed_queries

    def severity(self, trial: PerturbedQuery) -> float:
        """Return how far a trial changes in the wrong direction."""
        gain = 0.0 if math.isnan(trial.gain) else trial.gain
        if trial.failure is not None:
            return math.inf
        return -gain if self.direction == "not_worse" else gain


def _exceeding(by_query: ByQuery, is_beyond: Callable[[PerturbedQuery], bool]) -> ByQuery:
    """Return the queries with trials on which the ranker fails, or that are beyond a limit."""
    exceeding: dict[str, list[PerturbedQuery]] = {}
    for query_id, trials in by_query.items():
        for trial in trials:
            if trial.failure is not None or is_beyond(trial):
                exceeding.setdefault(query_id, []).append(trial)
    return exceeding


def _refuse_never_failing(
    result: PerturbationResult, allowed: int, changes: Mapping[str, float | None]
) -> None:
    """Refuse allowed queries, and allowed changes of the metric, that nothing can exceed."""
    queries = len(result.by_query)
    low, high = result.metric.definition.range
    if queries and allowed >= queries:
        where = plural(queries, "checked query", "checked queries")
        raise ConfigurationError(
            f"allowed_queries={allowed} can never fail on {where}; give a smaller number"
        )
    for name, change in changes.items():
        if change is not None and change + SLACK >= high - low:
            raise ConfigurationError(
                f"{name}={change:g} can never fail: {result.metric} cannot change by more than "
                f"{high - low:g}; give a smaller number"
            )
