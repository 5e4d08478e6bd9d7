"""What gates that know the noise would have decided where the gate allows no fall at all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.gates.explanations import OtherRuling
from pytest_rankcheck.gates.gate_rule import GateRule, ToleranceRule
from pytest_rankcheck.gates.set_decisions import FamilySet, decide_sets
from pytest_rankcheck.gates.statistical_rules import NoninferiorityRule, SignificanceRule
from pytest_rankcheck.gates.verdict import worst_outcome

__all__ = ["allows_no_fall", "other_rulings", "usual_margin"]

_SHARE = 0.02
"""The usual margin, as a share of the range, or of the mean of a metric without a range."""


def allows_no_fall(rule: GateRule) -> bool:
    """Return whether a rule is the default tolerance, under which any fall is a regression."""
    return rule == ToleranceRule()


def usual_margin(values: ComparedValues) -> float:
    """Return a margin to start with: 0.02 for a metric from 0 to 1.

    It is 2% of the range of the metric; of the mean before, if the range is not finite, rounded to
    one digit. NaN if that mean is 0.
    """
    low, high = values.metric.definition.range
    if math.isfinite(high - low):
        return _SHARE * (high - low)
    size = _SHARE * abs(values.mean_before)
    if not 0 < size < math.inf:
        return math.nan
    return round(size, -math.floor(math.log10(size)))


def other_rulings(
    sets: Sequence[FamilySet], min_queries: int | None = None
) -> tuple[OtherRuling, ...]:
    """Return what ``Gate.significant()`` and ``Gate.noninferior(margin)`` decide on a metric.

    Args:
        sets: all queries and the slices of one metric; their own rules are not used.
        min_queries: the smallest slice that is gated, if the user gave one.
    """
    values = sets[0].values
    if not values.metric.definition.is_mean_of_values:
        return ()
    margin = usual_margin(values)
    rules: list[tuple[str, GateRule]] = [("significant()", SignificanceRule())]
    if not math.isnan(margin):
        rules.append((f"noninferior(margin={margin:g})", NoninferiorityRule(margin=margin)))
    return tuple(OtherRuling(text, _ruling(sets, rule, min_queries)) for text, rule in rules)


def _ruling(sets: Sequence[FamilySet], rule: GateRule, min_queries: int | None) -> str:
    smallest = rule.smallest_slice if min_queries is None else min_queries
    decisions, _ = decide_sets(
        [
            replace(
                part,
                rule=rule,
                is_gated=part.attribute is None or part.values.size >= max(1, smallest),
            )
            for part in sets
        ]
    )
    return worst_outcome([decision.outcome for decision in decisions]).ruling
