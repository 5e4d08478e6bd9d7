"""The rule of a gate: what is decided on each set of queries, and limits for single ones."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from pytest_rankcheck.argument_checks import check_whole_number, is_number
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import MIN_QUERIES
from pytest_rankcheck.evaluation.recorded_precision import EXACT, SLACK
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.metrics.metric_names import Metric

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
    is_tested: ClassVar[bool] = True
    """Whether more slices make it less strict, because p-values are corrected for all of them."""

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


INCONCLUSIVE = ("pass", "warn", "fail")
"""How an inconclusive verdict can count, the strictest last."""


@dataclass(frozen=True, slots=True)
class LimitedRule:
    """A rule that decides whether a metric regressed, with limits for queries and slices."""

    rule: GateRule
    """What decides on the means."""
    max_query_drop: float | None = None
    """No single query may fall by more than this; None: any fall is allowed."""
    max_gap: float | None = None
    """The largest allowed gap between the slices of one attribute; None: any."""
    min_queries: int | None = None
    """A slice with fewer queries is reported, not gated; None: see `smallest_slice`."""
    inconclusive: str | None = None
    """How an inconclusive verdict counts: `pass`, `warn` or `fail`; None: as configured."""

    def __post_init__(self) -> None:
        for name in ("max_query_drop", "max_gap"):
            if getattr(self, name) is not None:
                check_allowance(name, getattr(self, name))
        if self.inconclusive not in (None, *INCONCLUSIVE):
            raise ConfigurationError(
                f"inconclusive={quoted(self.inconclusive)} is invalid; give pass, warn or fail"
            )
        if self.min_queries is not None:
            check_whole_number("min_queries", self.min_queries, 0, ConfigurationError)

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The complete gate as the configuration writes it, with every limit that was given."""
        limits = {
            name: getattr(self, name) for name in ("max_query_drop", "max_gap", "min_queries")
        }
        name, _, parameters = str(self.rule).removesuffix(")").partition("(")
        given = [parameters] if parameters else []
        given += [f"{key}={number_text(v)}" for key, v in limits.items() if v is not None]
        if self.inconclusive not in (None, "warn"):  # a record that does not say has the default
            # `pass` is a keyword of Python, whose grammar gates are parsed with
            given.append(
                "inconclusive=fail" if self.inconclusive == "fail" else "inconclusive='pass'"
            )
        return f"{name}({', '.join(given)})"

    @property
    def smallest_slice(self) -> int:
        """The smallest number of queries that a gated slice has, at least 1.

        Without ``min_queries`` the rule decides: 30 for a tolerance; for a statistical gate, as
        many as a significant fall takes (5 at an alpha of 5%).
        """
        return max(1, self.rule.smallest_slice if self.min_queries is None else self.min_queries)

    def is_at_least_as_strict_as(self, other: LimitedRule) -> bool:
        """Return whether it certainly blocks whatever another gate blocks; False if in doubt.

        Slices form one family with all queries. For a statistical gate, more slices mean a larger
        correction, so both must gate the same ones.
        """
        gates_its_slices = (
            self.smallest_slice <= other.smallest_slice
            if not self.rule.is_tested
            else self.min_queries == other.min_queries
        )
        return (
            self.rule.is_at_least_as_strict_as(other.rule)
            and gates_its_slices
            and _limits_at_least(self.max_query_drop, other.max_query_drop)
            and _limits_at_least(self.max_gap, other.max_gap)
            and self._strictness >= other._strictness
        )

    @property
    def _strictness(self) -> int:
        return INCONCLUSIVE.index(self.inconclusive or "warn")

    def refuse_misfit(self, metric: Metric) -> None:
        """Refuse a metric on which the gate cannot decide, or could never fail.

        Raises:
            ConfigurationError: naming the metric, and what to give instead.
        """
        looks_at_parts = self.max_query_drop is not None or self.max_gap is not None
        metric.kind.refuse_gate(metric, self.text, looks_at_parts=looks_at_parts)
        self.rule.refuse_misfit(metric)
        if self.max_query_drop is not None:
            refuse_too_wide("max_query_drop", self.max_query_drop, metric, "no query can fall")
        if self.max_gap is not None:
            refuse_too_wide("max_gap", self.max_gap, metric, "no two slices can differ")


def _limits_at_least(limit: float | None, other: float | None) -> bool:
    """Return whether a limit allows no more than another; None allows everything."""
    return other is None or (limit is not None and limit <= other)
