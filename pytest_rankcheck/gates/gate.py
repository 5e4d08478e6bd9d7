"""The gate: what decides whether a metric regressed, and how one is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.gates.decision_rules import (
    NoninferiorityRule,
    SignificanceRule,
    ToleranceRule,
)
from pytest_rankcheck.gates.family_decisions import decide_family
from pytest_rankcheck.gates.gate_rule import LOST_ANSWERS, LimitedRule
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison


class Gate(LimitedRule):
    """The rule that decides whether a metric regressed, with limits for queries and slices.

    Make one with `Gate.tolerance`, `Gate.significant` or `Gate.noninferior`, or from a `GateRule`
    of your own.
    """

    __slots__ = ()

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
    ) -> Gate:
        """Regressed if the mean fell by more than the largest of these allowances.

        Args:
            abs: the allowed fall of the mean, in the metric's own unit.
            rel: the allowed fall as a share of the baseline's mean.
            noise: the allowed fall as a multiple of the standard error that replicates give the
                difference (``rankcheck_replicates``): s_r sqrt(1/R0 + 1/R1), with R0 of them in the
                baseline and R1 now.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the largest allowed gap between the slices of one attribute; None: any.
            min_queries: a slice with fewer queries is reported, not gated (30).

        Raises:
            ConfigurationError: an allowance is negative or not finite.
        """
        rule = ToleranceRule(abs=abs, rel=rel, noise=noise)
        return Gate(rule, max_query_drop, max_gap, min_queries)

    @staticmethod
    @checked_arguments
    def significant(
        alpha: float = 0.05,
        min_drop: float = 0.0,
        *,
        lost_answers: int = LOST_ANSWERS,
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int | None = None,
    ) -> Gate:
        """Regressed if the mean fell by more than ``min_drop``, and by more than chance explains.

        A paired, one-sided sign-flip test decides, corrected by Holm for all queries and slices
        together. It blocks a change without a fall with probability ``alpha`` at most. A real fall
        that is too small to detect with this many queries passes; `Gate.noninferior` calls it
        inconclusive.

        Args:
            alpha: the probability of blocking a change without a fall.
            min_drop: a smaller fall never blocks, however certain it is.
            lost_answers: it also blocks, whatever ``min_drop`` is, if at least this many queries,
                and at least 4% of those compared, had a relevant document among their first three
                and now have none in their top ten, while no query gained one in the same way; 0:
                never.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the largest allowed gap between the slices of one attribute; None: any.
            min_queries: a slice with fewer queries is reported, not gated; without it, as many as
                a significant fall takes (5 at an alpha of 5%).

        Raises:
            ConfigurationError: a value is out of its range.
        """
        rule = SignificanceRule(
            alpha=alpha,
            min_drop=min_drop,
            lost_answers=lost_answers,
        )
        return Gate(rule, max_query_drop, max_gap, min_queries)

    @staticmethod
    @checked_arguments
    def noninferior(
        margin: float,
        alpha: float = 0.05,
        *,
        lost_answers: int = LOST_ANSWERS,
        max_query_drop: float | None = None,
        max_gap: float | None = None,
        min_queries: int | None = None,
    ) -> Gate:
        """Three verdicts: passed, regressed or inconclusive.

        Passes if a fall of ``margin`` is ruled out: the one-sided lower bound of the mean
        difference is above ``-margin``. Regressed if it is not and the fall is
        significant. Otherwise inconclusive.

        Args:
            margin: the fall that would matter, in the metric's own unit.
            alpha: the probability of passing a fall of the margin, and of blocking a change without
                a fall.
            lost_answers: as in `significant`.
            max_query_drop: no single query may fall by more than this; None: any fall is allowed.
            max_gap: the largest allowed gap between the slices of one attribute; None: any.
            min_queries: a slice with fewer queries is reported, not gated; without it, as many as
                a significant fall takes (5 at an alpha of 5%).

        Raises:
            ConfigurationError: a value is out of its range.
        """
        rule = NoninferiorityRule(
            margin=margin,
            alpha=alpha,
            lost_answers=lost_answers,
        )
        return Gate(rule, max_query_drop, max_gap, min_queries)

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
