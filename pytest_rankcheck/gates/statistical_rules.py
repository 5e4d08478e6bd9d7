"""Rules that take noise into account: a fall blocks if it is more than chance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import get_args

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.ordered_bets import checked_range, refuse_infinite
from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate_rule import (
    RAISE_ALPHA,
    Evidence,
    GateRule,
    check_allowance,
    number_text,
    outcome_by_mean,
    refuse_too_wide,
)
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.betting import SAFE_SHARE
from pytest_rankcheck.statistics.named_tests import FallTest

__all__ = ["NoninferiorityRule", "SignificanceRule"]

_NOT_MEANS = {
    "geometric": ("geometric mean", "AP"),
    "median": ("median over the sessions", "SessionDuration"),
    "sum": ("sum over the queries", "a mean such as NumRelRet"),
}
"""Metrics whose difference is not the mean of differences, and what to gate instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _StatisticalRule(GateRule):
    """What both rules share: a level, a test, and one family of decisions."""

    alpha: float = 0.05
    test: FallTest = "sign_flip"
    range: tuple[float, float] | None = None
    raise_alpha: float = RAISE_ALPHA

    def __post_init__(self) -> None:
        for name in ("alpha", "raise_alpha"):
            level = getattr(self, name)
            is_number = isinstance(level, Real) and not isinstance(level, bool)
            if not is_number or not 0 < level < 0.5:
                raise ConfigurationError(
                    f"{name}={quoted(level)} is invalid; it must be a number between 0 and 0.5"
                )
        tests = get_args(FallTest)
        if self.test not in tests:
            raise ConfigurationError(
                f"test={quoted(self.test)} is invalid{suggestion(str(self.test), tests)}; it must "
                f"be one of {', '.join(tests)}"
            )
        if self.range is not None:
            object.__setattr__(self, "range", checked_range(self.range, self.test))

    @property
    def level(self) -> float:
        """The alpha at which a difference counts as real."""
        return self.alpha

    def is_better(self, values: ComparedValues) -> bool:
        """Return whether the gain is significant at ``raise_alpha``.

        A baseline that rises on any gain climbs through noise, until innocent changes are blocked.
        """
        return values.gain > 0 and self._ranged(values).p_of_rise(self.test) <= self.raise_alpha

    def passing_fall(self, error: float, shares: int = 1, unseen: float = 0.0) -> float:
        """Return the largest fall that is not significant; with a guarantee it is not known."""
        if self.test == "guaranteed":
            return math.inf
        from scipy.special import ndtri

        return unseen - float(ndtri(self.alpha / shares)) * error

    def _described(self, name: str, **parameters: float) -> str:
        """Return the rule as the configuration writes it, without the usual test and level."""
        texts = [f"{key}={number_text(value)}" for key, value in parameters.items()]
        if self.test != "sign_flip":
            texts.append(f"test={self.test}")
        if self.range is not None:
            low, high = self.range
            texts.append(f"range=({number_text(low)}, {number_text(high)})")
        if self.raise_alpha != RAISE_ALPHA:
            texts.append(f"raise_alpha={number_text(self.raise_alpha)}")
        return f"{name}({', '.join(texts)})"

    def evidence(self, values: ComparedValues) -> Evidence:
        """Return the p of a fall, and the smallest p that it could have."""
        # A set that did not fall has p >= 1/2 in every test and moves no other p of its family.
        values = self._ranged(values)
        p_fall = values.p_of_fall(self.test) if values.gain < 0 else 1.0
        return Evidence(
            p_fall,
            smallest_p=values.smallest_p(self.test),
            rests_on_all=self.test == "guaranteed",
        )

    def guaranteed_range(self, metric: Metric) -> tuple[float, float] | None:
        """Return the declared range, else that of the metric; None with another test."""
        return (self.range or metric.definition.range) if self.test == "guaranteed" else None

    def _ranged(self, values: ComparedValues) -> ComparedValues:
        """Return the values with the range that the rule declares, if it does."""
        return values if self.range is None else replace(values, declared_range=self.range)

    @property
    def smallest_slice(self) -> int:
        """The number of queries from which on a fall of all of them is significant."""
        base = 1 + SAFE_SHARE if self.test == "guaranteed" else 2
        return math.ceil(-math.log(self.alpha, base))

    def refuse_misfit(self, metric: Metric) -> None:
        """Refuse a metric whose difference is not the mean of differences.

        Raises:
            ConfigurationError: the metric does not fit; the message names a gate that does.
        """
        if not metric.definition.is_mean_of_values:
            kind, other = _NOT_MEANS[metric.definition.aggregate]
            raise ConfigurationError(
                f"{metric} has a {kind}, but {self} compares means of differences; gate it with a "
                f"tolerance, or gate {other} instead"
            )
        limits = self.guaranteed_range(metric)
        if limits is not None:
            refuse_infinite(metric, limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignificanceRule(_StatisticalRule):
    """See `Gate.significant`."""

    min_drop: float = 0.0

    def __post_init__(self) -> None:
        _StatisticalRule.__post_init__(self)
        check_allowance("min_drop", self.min_drop)

    def __str__(self) -> str:
        return self._described("significant", alpha=self.alpha, min_drop=self.min_drop)

    def is_at_least_as_strict_as(self, other: GateRule) -> bool:
        """Return whether it is the same test, with at least its level and at most its drop."""
        return (
            isinstance(other, SignificanceRule)
            and (self.test, self.range) == (other.test, other.range)
            and self.alpha >= other.alpha
            and self.min_drop <= other.min_drop
        )

    def refuse_misfit(self, metric: Metric) -> None:
        """Refuse a metric whose difference is no mean, and a ``min_drop`` of its whole range.

        Raises:
            ConfigurationError: the metric does not fit.
        """
        _StatisticalRule.refuse_misfit(self, metric)
        refuse_too_wide("min_drop", self.min_drop, metric, "no mean can fall", self.range)

    def allowed(self, pairs: ComparedValues) -> float:
        """Return ``min_drop``: a smaller fall never blocks."""
        return self.min_drop

    def passing_fall(self, error: float, shares: int = 1, unseen: float = 0.0) -> float:
        """Return the largest fall that is not significant, or ``min_drop`` if that is larger."""
        return max(self.min_drop, _StatisticalRule.passing_fall(self, error, shares, unseen))

    def outcome(self, values: ComparedValues, evidence: Evidence) -> Outcome:
        """Return regressed if the mean fell by more than ``min_drop`` and by more than chance."""
        is_chance = evidence.p_fall > self.alpha
        return outcome_by_mean(values, self.min_drop, may_fall_further=is_chance)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoninferiorityRule(_StatisticalRule):
    """See `Gate.noninferior`."""

    margin: float

    def __post_init__(self) -> None:
        _StatisticalRule.__post_init__(self)
        check_allowance("margin", self.margin)
        if self.margin == 0:
            raise ConfigurationError(
                "margin=0 is invalid: no number of queries can rule out a fall of 0; give the fall "
                "that would matter"
            )

    def __str__(self) -> str:
        return self._described("noninferior", margin=self.margin, alpha=self.alpha)

    def is_at_least_as_strict_as(self, other: GateRule) -> bool:
        """Return whether it is the same test at the same level, with at most the other's margin.

        A higher level shows more falls, but also rules out more of them, so it is not stricter.
        """
        return (
            isinstance(other, NoninferiorityRule)
            and (self.test, self.range) == (other.test, other.range)
            and self.alpha == other.alpha
            and self.margin <= other.margin
        )

    def refuse_misfit(self, metric: Metric) -> None:
        """Refuse a metric whose difference is no mean, and a ``margin`` of its whole range.

        Raises:
            ConfigurationError: the metric does not fit.
        """
        _StatisticalRule.refuse_misfit(self, metric)
        refuse_too_wide("margin", self.margin, metric, "no mean can fall", self.range)

    @property
    def margin_to_rule_out(self) -> float | None:
        """The margin."""
        return self.margin

    def allowed(self, pairs: ComparedValues) -> float:
        """Return the margin."""
        return self.margin

    def evidence(self, values: ComparedValues) -> Evidence:
        """Return the p of a fall, and the p of a fall by the margin."""
        p_margin = self._ranged(values).p_of_margin(self.margin, self.test)
        return replace(_StatisticalRule.evidence(self, values), p_margin=p_margin)

    def passing_fall(self, error: float, shares: int = 1, unseen: float = 0.0) -> float:
        """Return the largest fall that is not significant, or of which the margin is ruled out."""
        chance = _StatisticalRule.passing_fall(self, error, shares, unseen)
        return max(chance, self.margin - chance)

    def outcome(self, values: ComparedValues, evidence: Evidence) -> Outcome:
        """Return passed if the margin is ruled out; else regressed if the fall is significant."""
        if evidence.p_margin <= self.alpha:
            return outcome_by_mean(values, self.margin, may_fall_further=True)
        if evidence.p_fall <= self.alpha and values.gain < -SLACK:
            return Outcome.REGRESSED
        return Outcome.INCONCLUSIVE
