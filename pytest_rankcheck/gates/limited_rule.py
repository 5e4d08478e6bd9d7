"""The rule of a gate: one for means, with limits for single queries and slices."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.gates.gate_rule import (
    GateRule,
    ToleranceRule,
    check_allowance,
    number_text,
    refuse_too_wide,
)
from pytest_rankcheck.metrics.metric_names import Metric

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
            if isinstance(self.rule, ToleranceRule)
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
