"""The decision on each set of queries of a family, corrected for all of them together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate_rule import Evidence, GateRule, outcome_by_mean
from pytest_rankcheck.gates.verdict import Decision, Outcome, TooFewChanges, TooWideAllowance
from pytest_rankcheck.statistics.multiplicity import corrected, holm

__all__ = ["FamilySet", "decide_sets"]


@dataclass(frozen=True, slots=True)
class FamilySet:
    """One set of queries that a family decides on: all, or those of one slice."""

    rule: GateRule
    values: ComparedValues
    attribute: str | None = None
    """The attribute of the slice; None: all queries."""
    value: str = ""
    is_gated: bool = True
    """Whether it has enough queries to be gated."""

    @property
    def evidence(self) -> Evidence:
        """What the rule's test says of these queries alone; nothing if they are too few."""
        return self.rule.evidence(self.values) if self.is_gated else Evidence()


def decide_sets(
    sets: Sequence[FamilySet], evidence: Sequence[Evidence] | None = None
) -> tuple[Sequence[Decision], int]:
    """Return the decision on each set, and how many decisions were corrected together.

    A rule with a test decides on the slices that have enough changed queries for a verdict; a slice
    that fell, but has too few, is not gated.

    Args:
        sets: all queries of each metric, and slices.
        evidence: what the test says of each set, not corrected; None: it is computed.
    """
    if evidence is None:
        evidence = [part.evidence for part in sets]
    falls = corrected(
        [each.p_fall for each in evidence],
        [each.smallest_p for each in evidence],
        [part.rule.level for part in sets],
    )
    can_fail = [
        possible or math.isnan(p)
        for possible, p in zip(falls.can_be_significant, falls.p_values, strict=True)
    ]
    margins = holm(
        [
            each.p_margin if fails or part.attribute is None else math.nan
            for part, each, fails in zip(sets, evidence, can_fail, strict=True)
        ]
    )
    decisions = [
        _decision(part, replace(each, p_fall=p_fall, p_margin=p_margin), fails, falls.shares)
        for part, each, p_fall, p_margin, fails in zip(
            sets, evidence, falls.p_values, margins, can_fail, strict=True
        )
    ]
    tested = sum(falls.can_be_significant)
    return _with_ungated_p(sets, decisions), max(1, tested)


def _decision(part: FamilySet, evidence: Evidence, can_fail: bool, shares: int) -> Decision:
    """Return the decision on a set.

    Args:
        part: all queries, or a slice.
        evidence: what the rule's test says of it, corrected.
        can_fail: whether a fall of as many queries could be significant.
        shares: how many decisions share the level.
    """
    values, rule = part.values, part.rule
    allowed = rule.allowed(values)
    futility: TooFewChanges | TooWideAllowance | None = None
    if part.attribute is None:
        outcome = rule.outcome(values, evidence)
        futility = _too_wide(values, allowed)
        rules_out_margin = evidence.p_margin <= rule.level
        if futility is None and not can_fail and not rules_out_margin:
            futility = _too_few(values, rule, evidence, shares)
    elif part.is_gated and can_fail:
        outcome = rule.outcome(values, evidence)
    elif part.is_gated and not values.gain < -SLACK:
        outcome = outcome_by_mean(values, allowed)
    else:
        outcome = Outcome.NOT_GATED
    return Decision(values, outcome, allowed, part.attribute, part.value, evidence.p_fall, futility)


def _too_wide(values: ComparedValues, allowed: float) -> TooWideAllowance | None:
    """Return why a rule decides nothing that allows the loss of all that the baseline has."""
    low, high = values.metric.definition.range
    before = values.mean_before
    room = before - low if values.metric.higher_is_better else high - before
    if math.isfinite(room) and allowed + SLACK >= room:
        return TooWideAllowance(allowed, max(0.0, room))
    return None


def _too_few(
    values: ComparedValues, rule: GateRule, evidence: Evidence, shares: int
) -> TooFewChanges | None:
    """Return why a test decides nothing; None if nothing fell, and something could have."""
    is_small = values.units < rule.smallest_slice
    if evidence.rests_on_all and (is_small or values.gain < -SLACK):
        return TooFewChanges(values.units, True, evidence.smallest_p, shares, rule.level)
    if is_small:
        smallest_p = 2.0**-values.units if values.is_paired else evidence.smallest_p
        return TooFewChanges(values.units, True, smallest_p, shares, rule.level)
    if values.gain < -SLACK:
        return TooFewChanges(values.changed_units, False, evidence.smallest_p, shares, rule.level)
    return None


def _with_ungated_p(sets: Sequence[FamilySet], decisions: Sequence[Decision]) -> Sequence[Decision]:
    """Return the decisions with a p for each slice that is not gated, by sign flips and Holm."""
    places = [n for n, part in enumerate(decisions) if part.outcome is Outcome.NOT_GATED]
    values = [sets[place].values for place in places]
    falls = corrected(
        [each.p_of_fall() for each in values],
        [each.smallest_p() for each in values],
        [sets[place].rule.level for place in places],
    )
    complete = list(decisions)
    for place, p in zip(places, falls.p_values, strict=True):
        complete[place] = replace(decisions[place], p=p)
    return complete
