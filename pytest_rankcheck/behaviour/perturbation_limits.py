"""How far the answers to perturbed queries may be from those to the queries as they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pytest_rankcheck.behaviour.perturbed_answers import PerturbationResult, PerturbedQuery
from pytest_rankcheck.comparison.compared_values import SLACK
from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion

__all__ = ["Direction", "DirectionLimits", "DirectionScope", "InvarianceLimits"]

Direction = Literal["not_better", "not_worse"]
"""Where a metric may not go when a query is perturbed."""

DirectionScope = Literal["query", "mean"]


@dataclass(frozen=True, slots=True)
class InvarianceLimits:
    """What an invariance allows; None is no limit.

    Raises:
        ConfigurationError: a limit is not possible.
    """

    min_rbo: float | None = None
    """The least RBO of any query; 1 means that no ranking may change at all."""
    min_mean_rbo: float | None = None
    max_drop: float | None = None
    """The largest fall of the metric of any query."""
    max_mean_drop: float | None = None
    allowed_queries: int = 0
    """How many queries may be beyond the limits of a single one."""

    def __post_init__(self) -> None:
        for what in ("min_rbo", "min_mean_rbo"):
            value = getattr(self, what)
            if value is not None and not (_is_number(value) and 0 <= value <= 1):
                raise ConfigurationError(f"{what}={quoted(value)}: RBO is a number from 0 to 1")
        for what in ("max_drop", "max_mean_drop"):
            _check_not_negative(what, getattr(self, what))
        _check_count("allowed_queries", self.allowed_queries)

    @property
    def on_metric(self) -> bool:
        """Whether the metric counts."""
        return self.max_drop is not None or self.max_mean_drop is not None

    @property
    def on_rbo(self) -> bool:
        """Whether the likeness of rankings counts."""
        return self.min_rbo is not None or self.min_mean_rbo is not None

    def is_unlike(self, trial: PerturbedQuery) -> bool:
        """Whether the two rankings are less alike than they may be."""
        if self.min_rbo is None:
            return False
        # Far down, a change is smaller than any slack: what must be the same is compared as such.
        must_be_same = self.min_rbo >= 1 and trial.before != trial.after
        return must_be_same or trial.rbo < self.min_rbo - SLACK

    def is_drop(self, trial: PerturbedQuery) -> bool:
        """Whether the metric falls by more than it may."""
        return self.max_drop is not None and -trial.gain > self.max_drop + SLACK

    def beyond(self, found: PerturbationResult) -> Mapping[str, Sequence[PerturbedQuery]]:
        """Return the queries that are beyond a limit, with the trials that are."""
        return _those(
            found, lambda one: bool(one.failure) or self.is_unlike(one) or self.is_drop(one)
        )

    def mean_is_unlike(self, found: PerturbationResult) -> bool:
        """Whether the mean RBO is below its limit."""
        return self.min_mean_rbo is not None and found.mean_rbo < self.min_mean_rbo - SLACK

    def mean_is_drop(self, found: PerturbationResult) -> bool:
        """Whether the mean of the metric falls by more than it may."""
        return self.max_mean_drop is not None and -found.mean_gain > self.max_mean_drop + SLACK

    def fails(self, found: PerturbationResult) -> bool:
        """Whether something is beyond its limit; an error of the ranker always is."""
        return (
            any(one.failure for one in found.trials)
            or len(self.beyond(found)) > self.allowed_queries
            or self.mean_is_unlike(found)
            or self.mean_is_drop(found)
        )

    def severity(self, trial: PerturbedQuery) -> float:
        """Return how bad a trial is, by what is limited."""
        unlike = 1 - trial.rbo if self.on_rbo else 0.0
        drop = -trial.gain if self.on_metric and not math.isnan(trial.gain) else 0.0
        return math.inf if trial.failure else unlike + drop


@dataclass(frozen=True, slots=True)
class DirectionLimits:
    """The direction in which the answers to perturbed queries may go.

    Raises:
        ConfigurationError: there is no such direction, or a number is out of its range.
    """

    direction: Direction | Callable[[PerturbedQuery], bool]
    slack: float = 0.0
    of: DirectionScope = "query"
    allowed_queries: int = 0

    def __post_init__(self) -> None:
        if not callable(self.direction):
            _check_word("direction", self.direction, Direction)
        elif self.of == "mean":
            raise ConfigurationError(
                'of="mean" goes with direction="not_better" or "not_worse"; a function is asked of '
                "each query"
            )
        _check_word("of", self.of, DirectionScope)
        _check_not_negative("slack", self.slack)
        _check_count("allowed_queries", self.allowed_queries)

    def is_wrong(self, gain: float) -> bool:
        """Whether a metric goes where it may not; NaN goes nowhere."""
        rise = gain if self.direction == "not_better" else -gain
        return rise > self.slack + SLACK

    def beyond(self, found: PerturbationResult) -> Mapping[str, Sequence[PerturbedQuery]]:
        """Return the queries that go the wrong way, with the trials that do."""
        if self.of == "mean":
            return _those(found, lambda one: bool(one.failure))
        ask = self.direction
        if callable(ask):
            return _those(found, lambda one: bool(one.failure) or not ask(one))
        return _those(found, lambda one: bool(one.failure) or self.is_wrong(one.gain))

    def fails(
        self, found: PerturbationResult, beyond: Mapping[str, Sequence[PerturbedQuery]]
    ) -> bool:
        """Whether too many queries go the wrong way, or the mean does."""
        if any(one.failure for one in found.trials):
            return True
        if self.of == "mean":
            return self.is_wrong(found.mean_gain)
        return len(beyond) > self.allowed_queries

    def severity(self, trial: PerturbedQuery) -> float:
        """Return how far a trial goes the wrong way."""
        gain = 0.0 if math.isnan(trial.gain) else trial.gain
        return math.inf if trial.failure else -gain if self.direction == "not_worse" else gain


def _those(
    found: PerturbationResult, is_beyond: Callable[[PerturbedQuery], bool]
) -> Mapping[str, Sequence[PerturbedQuery]]:
    chosen = {
        query_id: [one for one in trials if is_beyond(one)]
        for query_id, trials in found.by_query.items()
    }
    return {query_id: trials for query_id, trials in chosen.items() if trials}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_not_negative(what: str, value: float | None) -> None:
    if value is not None and not (_is_number(value) and math.isfinite(value) and value >= 0):
        raise ConfigurationError(f"{what}={quoted(value)}: it is a number of at least 0")


def _check_count(what: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigurationError(f"{what}={quoted(value)}: it is a whole number of at least 0")


def _check_word(what: str, value: str, kind: object) -> None:
    words = get_args(kind)
    if value not in words:
        raise ConfigurationError(
            f"{what}={quoted(value)} is not possible{suggestion(str(value), words)}; it takes "
            f"{' or '.join(words)}"
        )
