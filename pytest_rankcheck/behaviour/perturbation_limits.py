"""Limits on how much the answers to perturbed queries may differ from the original answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.argument_kinds import is_number
from pytest_rankcheck.behaviour.compared_answers import (
    Compared,
    ComparedAnswer,
    ComparedAnswers,
    MeasuredAnswers,
)
from pytest_rankcheck.errors import ConfigurationError, plural, quoted, suggestion
from pytest_rankcheck.evaluation.recorded_precision import SLACK

__all__ = ["Direction", "DirectionLimits", "DirectionScope", "InvarianceLimits"]

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
        for what in ("min_rbo", "min_mean_rbo"):
            value = getattr(self, what)
            if value is None:
                continue
            if not (is_number(value) and 0 <= value <= 1):
                raise ConfigurationError(
                    f"{what}={quoted(value)} is invalid; give a number from 0 to 1"
                )
            if value <= SLACK:
                raise ConfigurationError(
                    f"{what}={value:g} can never fail; give a larger number, or None for no limit"
                )
        for what in ("max_drop", "max_mean_drop"):
            _check_not_negative(what, getattr(self, what))
        check_whole_number("allowed_queries", self.allowed_queries, 0, ConfigurationError)

    @property
    def on_metric(self) -> bool:
        """Whether the metric is limited."""
        return self.max_drop is not None or self.max_mean_drop is not None

    @property
    def on_rbo(self) -> bool:
        """Whether the similarity of rankings is limited."""
        return self.min_rbo is not None or self.min_mean_rbo is not None

    def refuse_never_failing(self, result: MeasuredAnswers[Compared]) -> None:
        """Refuse limits that the answers cannot exceed, whatever they are.

        Raises:
            ConfigurationError: naming what allows too much.
        """
        _refuse_all_allowed(self.allowed_queries, len(result.by_query))
        for what in ("max_drop", "max_mean_drop"):
            value = getattr(self, what)
            if value is not None and value + SLACK >= result.range_of_metric:
                raise ConfigurationError(
                    f"{what}={value:g} can never fail: {result.metric} cannot fall by more than "
                    f"{result.range_of_metric:g}; give a smaller number"
                )

    def is_unlike(self, trial: ComparedAnswer) -> bool:
        """Whether the two rankings are less similar than allowed."""
        if self.min_rbo is None:
            return False
        # A change far down the ranking is smaller than the slack, so compare the rankings directly.
        must_be_same = self.min_rbo >= 1 and trial.before != trial.after
        return must_be_same or trial.rbo < self.min_rbo - SLACK

    def is_drop(self, trial: ComparedAnswer) -> bool:
        """Whether the metric falls by more than allowed."""
        return self.max_drop is not None and -trial.gain > self.max_drop + SLACK

    def beyond(self, result: MeasuredAnswers[Compared]) -> Mapping[str, Sequence[Compared]]:
        """Return the queries that exceed a limit, with the trials that do.

        For random draws, the mean over a query's draws must be within the limits.
        """
        return _exceeding(
            result.counted,
            lambda trial: trial.is_wrong or self.is_unlike(trial) or self.is_drop(trial),
        )

    def mean_is_unlike(self, result: MeasuredAnswers[Compared]) -> bool:
        """Whether the mean RBO is below its limit."""
        return self.min_mean_rbo is not None and result.mean_rbo < self.min_mean_rbo - SLACK

    def mean_is_drop(self, result: MeasuredAnswers[Compared]) -> bool:
        """Whether the mean of the metric falls by more than allowed."""
        return self.max_mean_drop is not None and -result.mean_gain > self.max_mean_drop + SLACK

    def fails(self, result: MeasuredAnswers[Compared]) -> bool:
        """Whether any limit is exceeded; an error of the ranker always fails."""
        return (
            any(trial.failure for trial in result.trials)
            or len(self.beyond(result)) > self.allowed_queries
            or self.mean_is_unlike(result)
            or self.mean_is_drop(result)
        )

    def severity(self, trial: ComparedAnswer) -> float:
        """Return how bad a trial is, judged by what is limited."""
        unlike = 1 - trial.rbo if self.on_rbo else 0.0
        drop = -trial.gain if self.on_metric and not math.isnan(trial.gain) else 0.0
        return math.inf if trial.is_wrong else unlike + drop


@dataclass(frozen=True, slots=True)
class DirectionLimits:
    """The allowed direction of the answers to perturbed queries.

    Raises:
        ConfigurationError: the direction is unknown, or a number is out of range.
    """

    direction: Direction | Callable[[Any], bool]
    slack: float = 0.0
    of: DirectionScope = "query"
    allowed_queries: int = 0

    def __post_init__(self) -> None:
        if not callable(self.direction):
            _check_word("direction", self.direction, Direction)
        elif self.of == "mean":
            raise ConfigurationError(
                'of="mean" needs direction="not_better" or "not_worse"; a function is '
                "called for each query"
            )
        _check_word("of", self.of, DirectionScope)
        if self.of == "mean" and self.allowed_queries:
            raise ConfigurationError(
                'allowed_queries= is for single queries; with of="mean", leave it out'
            )
        _check_not_negative("slack", self.slack)
        check_whole_number("allowed_queries", self.allowed_queries, 0, ConfigurationError)

    def refuse_never_failing(self, result: ComparedAnswers[Compared], most: float) -> None:
        """Refuse limits that the answers cannot exceed, whatever they are.

        Args:
            result: the answers.
            most: the largest possible change for better or worse, in the unit of ``slack``.

        Raises:
            ConfigurationError: naming what allows too much.
        """
        _refuse_all_allowed(self.allowed_queries, len(result.by_query))
        if result.trials and not callable(self.direction) and self.slack + SLACK >= most:
            raise ConfigurationError(
                f"slack={self.slack:g} can never fail: nothing can become "
                f"{self.direction.removeprefix('not_')} by more than {most:g}; give a smaller "
                "number"
            )

    def is_wrong(self, gain: float) -> bool:
        """Whether a metric changes in the wrong direction; NaN does not."""
        rise = gain if self.direction == "not_better" else -gain
        return rise > self.slack + SLACK

    def beyond(self, result: ComparedAnswers[Compared]) -> Mapping[str, Sequence[Compared]]:
        """Return the queries that change in the wrong direction, with the trials that do."""
        if self.of == "mean":
            return _exceeding(result.by_query, lambda trial: trial.is_wrong)
        ask = self.direction
        if callable(ask):  # a function judges two rankings, and a mean has none
            return _exceeding(result.by_query, lambda trial: trial.is_wrong or not ask(trial))
        return _exceeding(result.counted, lambda trial: trial.is_wrong or self.is_wrong(trial.gain))

    def fails(
        self, result: ComparedAnswers[Compared], beyond: Mapping[str, Sequence[Compared]]
    ) -> bool:
        """Whether too many queries, or the mean, change in the wrong direction."""
        if any(trial.failure for trial in result.trials):
            return True
        if self.of == "mean":
            return self.is_wrong(result.mean_gain)
        return len(beyond) > self.allowed_queries

    def severity(self, trial: ComparedAnswer) -> float:
        """Return how far a trial changes in the wrong direction."""
        gain = 0.0 if math.isnan(trial.gain) else trial.gain
        return math.inf if trial.is_wrong else -gain if self.direction == "not_worse" else gain


def _exceeding(
    by_query: Mapping[str, Sequence[Compared]], is_beyond: Callable[[Compared], bool]
) -> Mapping[str, Sequence[Compared]]:
    exceeding = {
        query_id: [trial for trial in trials if is_beyond(trial)]
        for query_id, trials in by_query.items()
    }
    return {query_id: trials for query_id, trials in exceeding.items() if trials}


def _refuse_all_allowed(allowed: int, queries: int) -> None:
    if queries and allowed >= queries:
        where = plural(queries, "checked query", "checked queries")
        raise ConfigurationError(
            f"allowed_queries={allowed} can never fail on {where}; give a smaller number"
        )


def _check_not_negative(what: str, value: float | None) -> None:
    if value is not None and not (is_number(value) and math.isfinite(value) and value >= 0):
        raise ConfigurationError(f"{what}={quoted(value)} is invalid; give a number of at least 0")


def _check_word(what: str, value: str, kind: object) -> None:
    words = get_args(kind)
    if value not in words:
        raise ConfigurationError(
            f"{what}={quoted(value)} is invalid{suggestion(str(value), words)}; give "
            f"{' or '.join(words)}"
        )
