"""The rules: a fixed allowance, or a test, so that a fall blocks if chance does not explain it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate_rule import (
    LOST_ANSWERS,
    Evidence,
    GateRule,
    check_allowance,
    number_text,
    outcome_by_mean,
    refuse_too_wide,
)
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.remedies import measure_noise
from pytest_rankcheck.statistics.run_noise import RunNoise

_NOT_MEANS = {
    "geometric": ("geometric mean", "AP"),
    "quantile": ("quantile over the queries", "a mean"),
    "median": ("median over the sessions", "SessionDuration"),
    "sum": ("sum over the queries", "a mean such as NumRelRet"),
}
"""Aggregates whose difference is not the mean of differences, and what to gate instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToleranceRule(GateRule):
    """A fixed allowance: see `Gate.tolerance`."""

    can_be_inconclusive = False
    is_tested = False

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _StatisticalRule(GateRule):
    """What both rules share: a level, a test, and one family of decisions."""

    alpha: float = 0.05
    lost_answers: int = LOST_ANSWERS
    raise_alpha: ClassVar[float] = 0.002
    """The level at which a gain is significant, so that an update raises the baseline.

    After 50 innocent pull requests on one golden set, ``significant`` blocks 8% of them at this
    level, 11% at 0.5% and 13% at 1% (benchmarks/ratchet.py).
    """
    ALLOWANCE: ClassVar[str]
    """The parameter that says how far the mean may fall."""

    def __post_init__(self) -> None:
        check_allowance(self.ALLOWANCE, getattr(self, self.ALLOWANCE))
        if not 0 < self.alpha < 0.5:
            raise ConfigurationError(
                f"alpha={quoted(self.alpha)} is invalid; it must be a number between 0 and 0.5"
            )
        check_whole_number("lost_answers", self.lost_answers, 0, ConfigurationError)

    @property
    def level(self) -> float:
        """The alpha at which a difference counts as real."""
        return self.alpha

    @property
    def fewest_lost_answers(self) -> int:
        """The number that was given."""
        return self.lost_answers

    @property
    def smallest_slice(self) -> int:
        """The smallest number of queries at which a fall of all of them is significant."""
        return math.ceil(-math.log2(self.alpha))

    def is_better(self, values: ComparedValues) -> bool:
        """Return whether the gain is significant at ``raise_alpha``.

        A baseline that rose on any gain would climb with the noise until innocent changes are
        blocked.
        """
        return values.gain > 0 and values.p_of_rise() <= self.raise_alpha

    def allowed(self, values: ComparedValues) -> float:
        """Return ``min_drop``, or the margin: a smaller fall never blocks."""
        allowance: float = getattr(self, self.ALLOWANCE)
        return allowance

    def evidence(self, values: ComparedValues) -> Evidence:
        """Return the p of a fall, and the smallest p that it could have."""
        # A set that did not fall has p >= 1/2 in every test and moves no other p of its family.
        p_fall = values.p_of_fall() if values.gain < 0 else 1.0
        return Evidence(p_fall, smallest_p=values.smallest_p())

    def refuse_misfit(self, metric: Metric) -> None:
        """Refuse a metric whose difference is not a mean, and an allowance of its whole range.

        Raises:
            ConfigurationError: the metric does not fit; the message names a gate that does.
        """
        if not metric.definition.is_mean_of_values:
            metric.kind.refuse_test(metric, self)
            kind, other = _NOT_MEANS[metric.definition.aggregate]
            raise ConfigurationError(
                f"{metric} is a {kind}, but {self} compares means of differences; gate it with a "
                f"tolerance, or gate {other} instead"
            )
        refuse_too_wide(self.ALLOWANCE, getattr(self, self.ALLOWANCE), metric, "no mean can fall")

    def _is_stricter_test(self, other: GateRule) -> bool:
        """Return whether a rule is of the same kind and allows at least as much as this one."""
        if not isinstance(other, type(self)):
            return False
        if other.lost_answers and not 0 < self.lost_answers <= other.lost_answers:
            return False
        own, most = (float(getattr(rule, self.ALLOWANCE)) for rule in (self, other))
        return own <= most

    def _described(self, name: str, **parameters: float) -> str:
        """Return the rule as the configuration writes it, without what is usual."""
        texts = [f"{key}={number_text(value)}" for key, value in parameters.items()]
        if self.lost_answers != LOST_ANSWERS:
            texts.append(f"lost_answers={self.lost_answers}")
        return f"{name}({', '.join(texts)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignificanceRule(_StatisticalRule):
    """See `Gate.significant`."""

    min_drop: float = 0.0
    ALLOWANCE = "min_drop"
    can_be_inconclusive = False

    def __str__(self) -> str:
        return self._described("significant", alpha=self.alpha, min_drop=self.min_drop)

    def is_at_least_as_strict_as(self, other: GateRule) -> bool:
        """Return whether it is the same test, with at least its level and at most its drop."""
        return self._is_stricter_test(other) and self.alpha >= other.level

    def outcome(self, values: ComparedValues, evidence: Evidence) -> Outcome:
        """Return regressed if the mean fell by more than ``min_drop`` and than chance explains."""
        is_chance = evidence.p_fall > self.alpha
        return outcome_by_mean(values, self.min_drop, may_fall_further=is_chance)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoninferiorityRule(_StatisticalRule):
    """See `Gate.noninferior`."""

    margin: float
    ALLOWANCE = "margin"

    def __post_init__(self) -> None:
        _StatisticalRule.__post_init__(self)
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
        return self._is_stricter_test(other) and self.alpha == other.level

    @property
    def margin_to_rule_out(self) -> float | None:
        """The margin."""
        return self.margin

    def evidence(self, values: ComparedValues) -> Evidence:
        """Return the p of a fall, and the p of a fall by the margin."""
        p_margin = values.differences.noninferiority_p(self.margin)
        return replace(_StatisticalRule.evidence(self, values), p_margin=p_margin)

    def outcome(self, values: ComparedValues, evidence: Evidence) -> Outcome:
        """Return passed if the margin is ruled out; else regressed if the fall is significant."""
        if evidence.p_margin <= self.alpha:
            return outcome_by_mean(values, self.margin, may_fall_further=True)
        if evidence.p_fall <= self.alpha and values.gain < -SLACK:
            return Outcome.REGRESSED
        return Outcome.INCONCLUSIVE
