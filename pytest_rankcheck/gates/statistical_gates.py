"""Gates that know the noise: a fall blocks when it is more than chance."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import get_args

from pytest_rankcheck.comparison.compared_values import SLACK, ComparedValues
from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion
from pytest_rankcheck.gates.gate import Gate, Judged, check_allowance
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.paired_tests import PairedTest, holm

__all__ = ["NoninferiorGate", "SignificantGate"]


_NOT_MEANS = {
    "geometric": ("geometric mean", "AP"),
    "median": ("median over the sessions", "SessionDuration"),
}
"""Metrics whose difference is not the mean of differences, and what to gate in their place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _StatisticalGate(Gate):
    """What both gates share: a level, a test, and one family of decisions."""

    alpha: float = 0.05
    test: PairedTest = "sign_flip"

    def __post_init__(self) -> None:
        Gate.__post_init__(self)
        is_number = isinstance(self.alpha, Real) and not isinstance(self.alpha, bool)
        if not is_number or not 0 < self.alpha < 0.5:
            raise ConfigurationError(
                f"alpha={quoted(self.alpha)} is not possible; it is a number between 0 and 0.5"
            )
        tests = get_args(PairedTest)
        if self.test not in tests:
            raise ConfigurationError(
                f"test={quoted(self.test)} is not possible{suggestion(str(self.test), tests)}; it "
                f"is {', '.join(tests)}"
            )

    @property
    def level(self) -> float:
        """The alpha at which something is called real."""
        return self.alpha

    def _judge(self, sets: Sequence[ComparedValues]) -> Sequence[Judged]:
        """Return what is decided on each set, corrected by Holm for all of them."""
        self.refuse_misfit(sets[0].metric)
        # What did not fall has p of at least 1/2 in every test, and moves no other p of its family.
        falls = holm([pairs.p_of_fall(self.test) if pairs.gain < 0 else 1.0 for pairs in sets])
        return [
            Judged(outcome, self.allowed(pairs), p)
            for pairs, p, outcome in zip(sets, falls, self._outcomes(sets, falls), strict=True)
        ]

    def refuse_misfit(self, metric: Metric) -> None:
        """Refuse a metric whose difference is not the mean of differences.

        Raises:
            ConfigurationError: saying which gate to take.
        """
        if not metric.definition.is_mean_of_values:
            kind, other = _NOT_MEANS[metric.definition.aggregate]
            raise ConfigurationError(
                f"{metric} has a {kind}, and {self} compares means of differences; gate it with a "
                f"tolerance, or gate {other}"
            )

    @abstractmethod
    def _outcomes(
        self, sets: Sequence[ComparedValues], falls: Sequence[float]
    ) -> Sequence[Outcome]:
        """Return the outcome of each set, given the corrected p of its fall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignificantGate(_StatisticalGate):
    """See `Gate.significant`."""

    min_drop: float = 0.0

    def __post_init__(self) -> None:
        _StatisticalGate.__post_init__(self)
        check_allowance("min_drop", self.min_drop)

    def __str__(self) -> str:
        return f"significant(alpha={self.alpha:g}, min_drop={self.min_drop:g})"

    def allowed(self, pairs: ComparedValues) -> float:
        """Return ``min_drop``: a smaller fall never blocks."""
        return self.min_drop

    def _outcomes(
        self, sets: Sequence[ComparedValues], falls: Sequence[float]
    ) -> Sequence[Outcome]:
        return [
            self._outcome(pairs, may_fall_further=p > self.alpha)
            for pairs, p in zip(sets, falls, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoninferiorGate(_StatisticalGate):
    """See `Gate.noninferior`."""

    margin: float

    def __post_init__(self) -> None:
        _StatisticalGate.__post_init__(self)
        check_allowance("margin", self.margin)
        if self.margin == 0:
            raise ConfigurationError(
                "margin=0 is not possible: no number of queries rules out a fall of 0; give the "
                "fall that would matter"
            )

    def __str__(self) -> str:
        return f"noninferior(margin={self.margin:g}, alpha={self.alpha:g})"

    @property
    def margin_to_rule_out(self) -> float | None:
        """The margin."""
        return self.margin

    def allowed(self, pairs: ComparedValues) -> float:
        """Return the margin."""
        return self.margin

    def _outcomes(
        self, sets: Sequence[ComparedValues], falls: Sequence[float]
    ) -> Sequence[Outcome]:
        inside = holm([pairs.differences.noninferiority_p(self.margin) for pairs in sets])
        return [
            self._told_apart(pairs, p_inside, p_fall)
            for pairs, p_inside, p_fall in zip(sets, inside, falls, strict=True)
        ]

    def _told_apart(self, pairs: ComparedValues, p_inside: float, p_fall: float) -> Outcome:
        if pairs.is_same or (not math.isnan(p_inside) and p_inside <= self.alpha):
            return self._outcome(pairs, may_fall_further=True)
        if p_fall <= self.alpha and pairs.gain < -SLACK:
            return Outcome.REGRESSED
        return Outcome.INCONCLUSIVE
