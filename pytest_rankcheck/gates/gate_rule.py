"""The rule inside a gate: how far a mean may fall, and what is decided on each set of queries."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from pytest_rankcheck.argument_checks import is_number
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import MIN_QUERIES
from pytest_rankcheck.evaluation.recorded_precision import EXACT, SLACK
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.remedies import measure_noise
from pytest_rankcheck.statistics.run_noise import RunNoise

RAISE_ALPHA = 0.002
"""The usual level at which a gain is significant, so that an update raises the baseline.

After 50 innocent pull requests on one golden set, ``significant`` blocks 8% of them at this level,
11% at 0.5% and 13% at 1% (benchmarks/ratchet.py).
"""

LOST_ANSWERS = 3
"""How many queries must lose their answers to block, unless a gate gives another number."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The result of a rule's test on one set of queries: all, or those of one slice."""

    p_fall: float = math.nan
    """One-sided p of a fall: small if the mean fell by more than chance explains; NaN without a
    test."""
    p_margin: float = math.nan
    """One-sided p of a fall by the margin: small if it is ruled out; NaN without a margin."""
    smallest_p: float = 0.0
    """The smallest p that a fall could have with this many changed queries."""


class GateRule(ABC):
    """The rule that decides whether the mean of a metric regressed.

    To write a gate of your own, subclass it and wrap it: ``Gate(MyRule())``. ``str(rule)`` is how
    the gate is written in the configuration.
    """

    can_be_inconclusive: ClassVar[bool] = True
    """Whether it can be inconclusive; on the replay of a log, any rule can."""

    @abstractmethod
    def allowed(self, values: ComparedValues) -> float:
        """Return how far the mean of these queries may fall, at least 0."""

    def evidence(self, values: ComparedValues) -> Evidence:
        """Return the result of the rule's test on these queries; by default, there is no test.

        The p-values of all queries and slices are corrected together before `outcome` sees them.
        """
        return Evidence()

    def outcome(self, values: ComparedValues, evidence: Evidence) -> Outcome:
        """Return what is decided on these queries; by default, their mean alone decides.

        Args:
            values: the values before and after.
            evidence: the result of the rule's test, corrected for all decisions of the assertion.
        """
        return outcome_by_mean(values, self.allowed(values))

    def is_better(self, values: ComparedValues) -> bool:
        """Return whether the values after are better, so that an update may raise the baseline.

        Any gain of the mean counts, however small, unless a rule overrides this.
        """
        return values.gain > EXACT

    def is_at_least_as_strict_as(self, other: GateRule) -> bool:
        """Return whether it certainly blocks whatever another rule blocks; False if in doubt."""
        return self == other

    def refuse_misfit(self, metric: Metric) -> None:  # noqa: B027 - most rules fit all metrics
        """Refuse a metric that the rule cannot decide on, before there is anything to compare.

        Raises:
            ConfigurationError: the metric does not fit; the message names a gate that does.
        """

    @property
    def smallest_slice(self) -> int:
        """The smallest number of queries that a gated slice has, unless the gate gives another."""
        return MIN_QUERIES

    @property
    def fewest_lost_answers(self) -> int:
        """How many queries must lose their answers to block, whatever the mean; 0: none do."""
        return 0

    @property
    def margin_to_rule_out(self) -> float | None:
        """The fall that must be ruled out for the gate to pass; None if there is no such fall."""
        return None

    @property
    def level(self) -> float:
        """The alpha at which a difference counts as real."""
        return 0.05


def outcome_by_mean(
    values: ComparedValues, allowed: float, *, may_fall_further: bool = False
) -> Outcome:
    """Return the outcome of these queries by their mean alone.

    Args:
        values: the values before and after.
        allowed: how far the mean may fall, at least 0.
        may_fall_further: whether a larger fall is not a regression either.
    """
    if values.gain < -(allowed + SLACK) and not may_fall_further:
        return Outcome.REGRESSED
    if values.gain < -SLACK:
        return Outcome.LOWER
    return Outcome.BETTER if values.gain > SLACK else Outcome.EQUAL


@dataclass(frozen=True, slots=True, kw_only=True)
class ToleranceRule(GateRule):
    """A fixed allowance: see `Gate.tolerance`."""

    can_be_inconclusive = False

    abs: float = 0.0
    rel: float = 0.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        for name in ("abs", "rel", "noise"):
            check_allowance(name, getattr(self, name))

    def __str__(self) -> str:
        noise = f", noise={number_text(self.noise)}" if self.noise else ""
        return f"tolerance(abs={number_text(self.abs)}, rel={number_text(self.rel)}{noise})"

    def refuse_misfit(self, metric: Metric) -> None:
        """Refuse an allowance of the metric's whole range.

        Raises:
            ConfigurationError: naming the parameter, and what it means.
        """
        refuse_too_wide("abs", self.abs, metric, "no mean can fall")
        if self.rel >= 1 and metric.higher_is_better:
            raise ConfigurationError(
                f"rel={number_text(self.rel)} lets {metric} fall by {self.rel:.0%} of its "
                "baseline, so the gate can never fail. rel is the tolerance: the allowed fall as a "
                f"share of the baseline's mean, such as rel=0.02. The lowest relevant grade is "
                "rel= of the metric, or rel_level= of a named assertion"
            )

    def is_at_least_as_strict_as(self, other: GateRule) -> bool:
        """Return whether no allowance is larger than the other tolerance's."""
        return (
            isinstance(other, ToleranceRule)
            and self.abs <= other.abs
            and self.rel <= other.rel
            and self.noise <= other.noise
        )

    def allowed(self, values: ComparedValues) -> float:
        """Return the largest of ``abs``, ``rel`` x the mean before, and ``noise`` x the noise.

        Raises:
            ConfigurationError: ``noise`` is set, but neither side averages several runs.
        """
        if self.noise and values.noise is None:
            raise ConfigurationError(
                f"{values.metric}: the gate {self} {RunNoise.unknown}\n  {measure_noise()}"
            )
        before = values.mean_before
        share = self.rel * math.fabs(before) if math.isfinite(before) else 0.0
        error = values.noise.error if values.noise is not None else 0.0
        return max(self.abs, share, self.noise * error)


def check_allowance(name: str, value: object) -> None:
    """Refuse an allowed fall that is not a number of at least 0.

    Raises:
        ConfigurationError: naming the parameter and its value.
    """
    try:
        is_valid = is_number(value) and 0 <= float(value) < math.inf
    except OverflowError:  # a whole number of 400 digits
        is_valid = False
    if not is_valid:
        raise ConfigurationError(
            f"{name}={quoted(value)} is invalid; it is how far a metric may fall: a finite number "
            "of at least 0"
        )


def refuse_too_wide(name: str, allowance: float, metric: Metric, limit: str) -> None:
    """Refuse an allowance that is as wide as the finite range of a metric.

    Args:
        name: the parameter.
        allowance: its value, at least 0.
        metric: the metric that is gated.
        limit: what can never be larger than the range, such as "no mean can fall".

    Raises:
        ConfigurationError: naming the parameter, the metric and its range.
    """
    low, high = metric.definition.range
    if allowance + SLACK >= high - low:
        raise ConfigurationError(
            f"{name}={number_text(allowance)} is as wide as the range of {metric}, {low:g} to "
            f"{high:g}: {limit} by more, so the gate can never fail. Give a smaller {name}"
        )


def number_text(value: float) -> str:
    """Return a number as the configuration writes it: short, but without loss."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))
