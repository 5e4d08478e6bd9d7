"""The gate: a rule for means, limits for single queries and slices, and the verdict they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from keyword import iskeyword
from numbers import Integral
from typing import TYPE_CHECKING

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.gates.decision_family import decide_family
from pytest_rankcheck.gates.gate_rule import (
    RAISE_ALPHA,
    GateRule,
    ToleranceRule,
    check_allowance,
    is_at_least_zero,
    number_text,
    refuse_too_wide,
)
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.statistics.named_tests import FallTest

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison

__all__ = ["Gate"]


@dataclass(frozen=True, slots=True)
class Gate:
    """The rule that decides whether a metric regressed, with limits for queries and slices.

    Make one with `Gate.tolerance`, `Gate.significant` or `Gate.noninferior`, or from a `GateRule`
    of your own.
    """

    rule: GateRule
    """What decides on the means."""
    max_query_drop: float | None = None
    """No single query may fall by more than this; None: any fall is allowed."""
    max_gap: float | None = None
    """The largest allowed gap between the slices of one attribute; None: any."""
    min_queries: int | None = None
    """A slice with fewer queries is reported, not gated; None: see `smallest_slice`."""
    standardise: str | None = None
    """The attribute at whose mix in the baseline means are compared; None: they are as they are."""

    def __post_init__(self) -> None:
        for name in ("max_query_drop", "max_gap"):
            if getattr(self, name) is not None:
                check_allowance(name, getattr(self, name))
        if self.min_queries is not None and not is_at_least_zero(self.min_queries, Integral):
            raise ConfigurationError(
                f"min_queries={quoted(self.min_queries)} is invalid; it must be a whole number of "
                "at least 0"
            )

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The complete gate as the configuration writes it, with every limit that was given."""
        limits = {
            "max_query_drop": self.max_query_drop,
            "max_gap": self.max_gap,
            "min_queries": self.min_queries,
        }
        name, _, parameters = str(self.rule).removesuffix(")").partition("(")
        given = [parameters] if parameters else []
        given += [f"{key}={number_text(v)}" for key, v in limits.items() if v is not None]
        if self.standardise is not None:
            is_word = self.standardise.isidentifier() and not iskeyword(self.standardise)
            given.append(f"standardise={self.standardise if is_word else repr(self.standardise)}")
        return f"{name}({', '.join(given)})"

    @property
    def smallest_slice(self) -> int:
        """The number of queries from which on a slice is gated, at least 1.

        Without ``min_queries`` the rule decides: 30 for a tolerance; for a statistical gate, as
        many as a significant fall takes (5 at an alpha of 5%).
        """
        return max(1, self.rule.smallest_slice if self.min_queries is None else self.min_queries)

    @staticmethod
    @checked_arguments
    def tolerance(
        abs: float = 0.0,
        rel: float = 0.0,
        noise: float = 0.0,
        *,
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int | None = None,
        standardise: str | None = None,
    ) -> Gate:
        """Regressed if the mean fell by more than the largest of these allowances.

        Args:
            abs: the allowed fall of the mean, in the metric's own unit.
            rel: the allowed fall as a share of the baseline's mean.
            noise: the allowed fall in standard deviations of the mean from run to run, as
                ``--rankcheck-repeat`` measures them and the baseline keeps them.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the largest allowed gap between the slices of one attribute; None: any.
            min_queries: a slice with fewer queries is reported, not gated (30).
            standardise: an attribute whose slices count as much as in the baseline, such as
                ``"device"``: a change of its mix does not count as a fall. Its slices are gated
                too.

        Raises:
            ConfigurationError: an allowance is negative or not finite.
        """
        return Gate(
            ToleranceRule(abs=abs, rel=rel, noise=noise),
            max_query_drop=max_query_drop,
            max_gap=max_gap,
            min_queries=min_queries,
            standardise=standardise,
        )

    @staticmethod
    @checked_arguments
    def significant(
        alpha: float = 0.05,
        min_drop: float = 0.0,
        *,
        test: FallTest = "sign_flip",
        range: tuple[float, float] | None = None,
        raise_alpha: float = RAISE_ALPHA,
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int | None = None,
        standardise: str | None = None,
    ) -> Gate:
        """Regressed if the mean fell by more than ``min_drop``, and by more than chance.

        Blocks a change without a fall with probability ``alpha`` at most. A real fall that is too
        small to detect with this many queries passes; `Gate.noninferior` calls it inconclusive.

        Args:
            alpha: the probability of blocking a change without a fall.
            min_drop: a smaller fall never blocks, however certain it is.
            test: ``"sign_flip"``, ``"t"``, ``"bootstrap"`` or ``"guaranteed"``, paired by query
                and one-sided; corrected by Holm for all queries and slices together.
                ``"guaranteed"`` holds ``alpha`` for any values of independent queries, but rarely
                decides with fewer than 200.
            range: with ``"guaranteed"``, the lowest and the highest possible value of a metric
                whose own range is not finite.
            raise_alpha: an update raises the baseline if the gain is significant at this level.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the largest allowed gap between the slices of one attribute; None: any.
            min_queries: a slice with fewer queries is reported, not gated; without it, every
                slice is gated that has enough changed queries for a verdict.
            standardise: as in `tolerance`.

        Raises:
            ConfigurationError: a value is out of its range.
        """
        from pytest_rankcheck.gates.statistical_rules import SignificanceRule

        return Gate(
            SignificanceRule(
                alpha=alpha, min_drop=min_drop, test=test, range=range, raise_alpha=raise_alpha
            ),
            max_query_drop=max_query_drop,
            max_gap=max_gap,
            min_queries=min_queries,
            standardise=standardise,
        )

    @staticmethod
    @checked_arguments
    def noninferior(
        margin: float,
        alpha: float = 0.05,
        *,
        test: FallTest = "sign_flip",
        range: tuple[float, float] | None = None,
        raise_alpha: float = RAISE_ALPHA,
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int | None = None,
        standardise: str | None = None,
    ) -> Gate:
        """Three verdicts: passed, regressed or inconclusive.

        Passes if a fall of ``margin`` is ruled out: the one-sided lower bound of the mean
        difference is above ``-margin``. Regressed if it is not and the fall is
        significant. Otherwise inconclusive.

        Args:
            margin: the fall that would matter, in the metric's own unit.
            alpha: the probability of passing a fall of the margin, and of blocking a change without
                a fall.
            test: as in `significant`; with ``"guaranteed"`` the lower bound is one by betting.
            range: as in `significant`.
            raise_alpha: as in `significant`.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the largest allowed gap between the slices of one attribute; None: any.
            min_queries: a slice with fewer queries is reported, not gated; without it, every
                slice is gated that has enough changed queries for a verdict.
            standardise: as in `tolerance`.

        Raises:
            ConfigurationError: a value is out of its range.
        """
        from pytest_rankcheck.gates.statistical_rules import NoninferiorityRule

        return Gate(
            NoninferiorityRule(
                margin=margin, alpha=alpha, test=test, range=range, raise_alpha=raise_alpha
            ),
            max_query_drop=max_query_drop,
            max_gap=max_gap,
            min_queries=min_queries,
            standardise=standardise,
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
        return decide_family(comparison, {parsed: self}, by)[parsed]

    def ruling(self, pairs: ComparedValues) -> str:
        """Return the verdict on these queries alone: passed, regressed or inconclusive."""
        return self.rule.ruling(pairs)

    def is_better(self, values: ComparedValues) -> bool:
        """Return whether the values after are better by the rule, so that an update may raise them.

        Under a tolerance, any gain is; under a statistical gate, a significant one.
        """
        return self.rule.is_better(values)

    def is_at_least_as_strict_as(self, other: Gate) -> bool:
        """Return whether it certainly blocks whatever another gate blocks; False if in doubt.

        Slices are one family with all queries: of a statistical gate, more of them are a larger
        correction, so it must gate the same ones.
        """
        gates_its_slices = (
            self.smallest_slice <= other.smallest_slice
            if isinstance(self.rule, ToleranceRule)
            else self.min_queries == other.min_queries
        )
        return (
            self.rule.is_at_least_as_strict_as(other.rule)
            and gates_its_slices
            and _limits_at_least(self.max_query_drop, other.max_query_drop)
            and _limits_at_least(self.max_gap, other.max_gap)
            and self.standardise == other.standardise
        )

    def refuse_misfit(self, metric: Metric) -> None:
        """Refuse a metric on which the gate cannot decide, or could never fail.

        Raises:
            ConfigurationError: naming the metric, and what to give instead.
        """
        self.rule.refuse_misfit(metric)
        if self.max_query_drop is not None:
            refuse_too_wide("max_query_drop", self.max_query_drop, metric, "no query can fall")
        if self.max_gap is not None:
            refuse_too_wide("max_gap", self.max_gap, metric, "no two slices can differ")


def _limits_at_least(limit: float | None, other: float | None) -> bool:
    """Return whether a limit allows at most what another allows; None allows everything."""
    return other is None or (limit is not None and limit <= other)
