"""The gates that can be chosen."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING

from pytest_rankcheck.comparison.compared_values import SLACK, ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.gates.verdict import (
    Decision,
    Outcome,
    QueryDrop,
    TieEffect,
    Verdict,
    gaps_of,
)
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike

if TYPE_CHECKING:
    from pytest_rankcheck.gates.statistical_gates import NoninferiorGate, SignificantGate
    from pytest_rankcheck.statistics.paired_tests import PairedTest

__all__ = [
    "MIN_QUERIES",
    "Gate",
    "Judged",
    "ToleranceGate",
    "attributes_of",
    "check_allowance",
]

MIN_QUERIES = 30
"""A slice with fewer queries is reported, not gated."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a gate decided on one set of queries."""

    outcome: Outcome
    allowed: float
    p: float = math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(ABC):
    """The rule that decides whether a metric regressed.

    Make one with `Gate.tolerance`, `Gate.significant` or `Gate.noninferior`.
    """

    max_query_drop: float | None = None
    max_gap: float | None = None
    min_queries: int = MIN_QUERIES

    def __post_init__(self) -> None:
        for name in ("max_query_drop", "max_gap"):
            if getattr(self, name) is not None:
                check_allowance(name, getattr(self, name))
        if not _is_at_least_zero(self.min_queries, Integral):
            raise ConfigurationError(
                f"min_queries={quoted(self.min_queries)}: a whole number from 0 on"
            )

    @staticmethod
    def tolerance(
        abs: float = 0.0,
        rel: float = 0.0,
        noise: float = 0.0,
        *,
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int = MIN_QUERIES,
    ) -> ToleranceGate:
        """Regressed if the mean fell by more than the largest of what is given.

        Args:
            abs: the allowed fall of the mean, in the metric's own unit.
            rel: the allowed fall as a share of the baseline's mean.
            noise: the allowed fall in standard deviations of the mean from run to run, as
                ``--rankcheck-repeat`` measures them and the baseline keeps them.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the slices of one attribute may not be further apart than this.
            min_queries: a slice with fewer queries is reported, not gated.

        Raises:
            ConfigurationError: an allowance is negative or not finite.
        """
        return ToleranceGate(
            abs=abs,
            rel=rel,
            noise=noise,
            max_query_drop=max_query_drop,
            max_gap=max_gap,
            min_queries=min_queries,
        )

    @staticmethod
    def significant(
        alpha: float = 0.05,
        min_drop: float = 0.0,
        *,
        test: PairedTest = "sign_flip",
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int = MIN_QUERIES,
    ) -> SignificantGate:
        """Regressed if the mean fell by more than ``min_drop``, and by more than chance.

        Blocks an innocent change with probability ``alpha`` at most. A real fall that so few
        queries cannot show passes: `Gate.noninferior` says so instead.

        Args:
            alpha: how often an innocent change may be blocked.
            min_drop: a smaller fall never blocks, however sure it is.
            test: ``"sign_flip"``, ``"t"``, ``"wilcoxon"`` or ``"bootstrap"``, paired by query and
                one-sided; corrected by Holm for all queries and slices together.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the slices of one attribute may not be further apart than this.
            min_queries: a slice with fewer queries is reported, not gated.

        Raises:
            ConfigurationError: a value is out of its range.
        """
        from pytest_rankcheck.gates.statistical_gates import SignificantGate

        return SignificantGate(
            alpha=alpha,
            min_drop=min_drop,
            test=test,
            max_query_drop=max_query_drop,
            max_gap=max_gap,
            min_queries=min_queries,
        )

    @staticmethod
    def noninferior(
        margin: float,
        alpha: float = 0.05,
        *,
        test: PairedTest = "sign_flip",
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int = MIN_QUERIES,
    ) -> NoninferiorGate:
        """Three verdicts: passed, regressed, or this golden set cannot tell.

        Passes if a fall of ``margin`` is ruled out: the one-sided lower bound of the mean
        difference (Student's t) is above ``-margin``. Regressed if it is not and the fall is
        significant. Otherwise inconclusive.

        Args:
            margin: the fall that would matter, in the metric's own unit.
            alpha: how often a fall of the margin may pass, and an innocent change be blocked.
            test: as in `significant`, and so are ``max_query_drop`` and ``min_queries``.
            max_query_drop: no single query may fall by more than this.
            max_gap: the slices of one attribute may not be further apart than this.
            min_queries: a slice with fewer queries is reported, not gated.

        Raises:
            ConfigurationError: a value is out of its range.
        """
        from pytest_rankcheck.gates.statistical_gates import NoninferiorGate

        return NoninferiorGate(
            margin=margin,
            alpha=alpha,
            test=test,
            max_query_drop=max_query_drop,
            max_gap=max_gap,
            min_queries=min_queries,
        )

    def decide(
        self, comparison: Comparison, metric: MetricLike, by: str | Sequence[str] | None = None
    ) -> Verdict:
        """Return the verdict on ``metric``: overall, and for every slice of ``by``.

        Raises:
            MetricError: no such metric.
            GoldenSetError: no query has the attribute ``by``.
            ConfigurationError: the gate does not fit the metric.
        """
        parsed = Metric.parse(metric)
        verdict = self._decided(comparison, parsed, by)
        effect = self._tie_effect(comparison, verdict, by)
        return replace(verdict, ties=effect) if effect else verdict

    def _tie_effect(
        self, comparison: Comparison, verdict: Verdict, by: str | Sequence[str] | None
    ) -> TieEffect | None:
        """Return what the order of tied documents decides; None where it decides nothing."""
        evaluation, metric = comparison.evaluation, verdict.metric
        tied = evaluation.tied(metric.cutoff)
        if not tied or metric.definition.foreign:
            return None
        verdicts = [
            self._decided(compare(evaluation.with_ties(order), comparison.other), metric, by)
            for order in ("best", "worst")
        ]
        means = [one.overall.pairs.mean_after for one in (verdict, *verdicts)]
        if max(means) - min(means) <= SLACK:
            return None
        rulings = {one.ruling for one in (verdict, *verdicts)}
        return TieEffect(len(tied), min(means), max(means), len(rulings) > 1)

    def _decided(
        self, comparison: Comparison, parsed: Metric, by: str | Sequence[str] | None
    ) -> Verdict:
        sets: list[tuple[str | None, str, ComparedValues]] = [(None, "", comparison.values(parsed))]
        sets += [
            (attribute, value, pairs)
            for attribute in attributes_of(by)
            for value, pairs in comparison.values_by(attribute, parsed).items()
        ]
        gated = [
            pairs
            for attribute, _, pairs in sets
            if attribute is None or pairs.size >= max(1, self.min_queries)
        ]
        judged = dict(zip(map(id, gated), self._judge(gated), strict=True))
        decisions = [
            Decision(pairs, found.outcome, found.allowed, attribute, value, found.p)
            for attribute, value, pairs in sets
            for found in [judged.get(id(pairs), Judged(Outcome.NOT_GATED, self.allowed(pairs)))]
        ]
        return Verdict(
            metric=parsed,
            overall=decisions[0],
            slices=tuple(decisions[1:]),
            query_drops=tuple(self._query_drops(decisions[0].pairs)),
            max_query_drop=self.max_query_drop,
            gaps=tuple(gaps_of(decisions[1:])),
            max_gap=self.max_gap,
            min_queries=self.min_queries,
            gate=str(self),
            margin=self.margin_to_rule_out,
            alpha=self.level,
        )

    def ruling(self, pairs: ComparedValues) -> str:
        """Return what is decided on these queries alone: passed, regressed or inconclusive."""
        return self._judge([pairs])[0].outcome.ruling

    def refuse_misfit(self, metric: Metric) -> None:  # noqa: B027 - most gates fit all metrics
        """Refuse a metric that the gate cannot decide on, before there is anything to compare.

        Raises:
            ConfigurationError: saying which gate to take.
        """

    @abstractmethod
    def allowed(self, pairs: ComparedValues) -> float:
        """Return how far the mean of these queries may fall."""

    @property
    def margin_to_rule_out(self) -> float | None:
        """The fall that has to be ruled out; None where the gate does not ask for that."""
        return None

    @property
    def level(self) -> float:
        """The alpha at which something is called real."""
        return 0.05

    def _judge(self, sets: Sequence[ComparedValues]) -> Sequence[Judged]:
        """Return what is decided on all queries and on each gated slice, as one family."""
        return [Judged(self._outcome(pairs), self.allowed(pairs)) for pairs in sets]

    def _outcome(self, pairs: ComparedValues, *, may_fall_further: bool = False) -> Outcome:
        """Return how these queries came out by their mean alone."""
        if pairs.gain < -(self.allowed(pairs) + SLACK) and not may_fall_further:
            return Outcome.REGRESSED
        if pairs.gain < -SLACK:
            return Outcome.LOWER
        return Outcome.BETTER if pairs.gain > SLACK else Outcome.EQUAL

    def _query_drops(self, pairs: ComparedValues) -> Iterable[QueryDrop]:
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
    noise: float = 0.0

    def __post_init__(self) -> None:
        Gate.__post_init__(self)
        for name in ("abs", "rel", "noise"):
            check_allowance(name, getattr(self, name))

    def __str__(self) -> str:
        noise = f", noise={self.noise:g}" if self.noise else ""
        return f"tolerance(abs={self.abs:g}, rel={self.rel:g}{noise})"

    def allowed(self, pairs: ComparedValues) -> float:
        """Return the largest of ``abs``, ``rel`` x the mean before, and ``noise`` x the noise.

        Raises:
            ConfigurationError: the noise is asked for and was never measured.
        """
        if self.noise and math.isnan(pairs.noise):
            raise ConfigurationError(
                f"{pairs.metric}: the gate {self} needs to know how much the metric varies from "
                "run to run; measure it into the baseline: pytest --snapshot-update "
                "--rankcheck-repeat 5"
            )
        before = pairs.mean_before
        share = self.rel * math.fabs(before) if math.isfinite(before) else 0.0
        return max(self.abs, share, self.noise * pairs.noise if self.noise else 0.0)


def attributes_of(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the attributes that ``by`` names: none, one or several."""
    if by is None:
        return ()
    return (by,) if isinstance(by, str) else tuple(by)


def check_allowance(name: str, value: object) -> None:
    """Refuse how far something may fall if that is no number from 0 on.

    Raises:
        ConfigurationError: naming it.
    """
    if not _is_at_least_zero(value, Real):
        raise ConfigurationError(
            f"{name}={quoted(value)} is not possible; it is how far a metric may fall: a number "
            "from 0 on"
        )


def _is_at_least_zero(value: object, kind: type[Real] | type[Integral]) -> bool:
    """Whether a value is a finite number of a kind, numpy's included, and not negative."""
    return isinstance(value, kind) and not isinstance(value, bool) and 0 <= float(value) < math.inf
