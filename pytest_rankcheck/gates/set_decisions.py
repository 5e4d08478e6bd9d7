"""The decision on each set of queries of a family, corrected for all of them together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import plural
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate_rule import Evidence, GateRule
from pytest_rankcheck.gates.verdict import Decision, Outcome
from pytest_rankcheck.statistics.multiplicity import corrected, holm


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


def decide_sets(sets: Sequence[FamilySet]) -> tuple[Sequence[Decision], int]:
    """Return the decision on each set, and how many decisions were corrected together.

    A slice in which too few queries changed for a test to reject takes nothing from the level.

    Args:
        sets: all queries of each metric, and slices.
    """
    evidence = [part.rule.evidence(part.values) if part.is_gated else Evidence() for part in sets]
    falls = corrected(
        [each.p_fall for each in evidence],
        [each.smallest_p for each in evidence],
        [part.rule.level for part in sets],
    )
    can_fail = [
        possible or math.isnan(p)
        for possible, p in zip(falls.can_be_significant, falls.p_values, strict=True)
    ]
    margins = holm([each.p_margin for each in evidence])
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
    if not part.is_gated:
        return Decision(values, Outcome.NOT_GATED, allowed, part.attribute, part.value)
    outcome = rule.outcome(values, evidence)
    is_whole = part.attribute is None
    futility = _too_wide(values, allowed) if is_whole else ""
    is_open = not can_fail and not evidence.p_margin <= rule.level
    if is_open and not futility and (is_whole or outcome is Outcome.LOWER):
        futility = _too_few(values, rule, evidence, shares)
    return Decision(values, outcome, allowed, part.attribute, part.value, evidence.p_fall, futility)


def _too_wide(values: ComparedValues, allowed: float) -> str:
    """Return why a rule decides nothing that allows the loss of all that the baseline has."""
    low, high = values.metric.definition.range
    before = values.mean_before
    room = -min(values.metric.gain(before, low), values.metric.gain(before, high))
    if not math.isfinite(room) or allowed + SLACK < room:
        return ""
    if room <= 0:
        return "the baseline already has the worst possible value"
    return (
        f"it allows a fall of {allowed:.4f}, but the baseline is only {room:.4f} from the worst "
        "possible value"
    )


def _too_few(values: ComparedValues, rule: GateRule, evidence: Evidence, shares: int) -> str:
    """Return why a test decides nothing; empty if nothing fell, and something could have.

    There are too few units for any fall to be significant, or too few that changed.
    """
    units, changed, smallest = values.units, "", evidence.smallest_p
    if units < rule.smallest_slice:
        smallest = 2.0**-units if values.is_paired else smallest
    elif values.gain < -SLACK:
        units, changed = values.changed_units, "changed "
    else:
        return ""
    names = values.metric.kind.words if values.units == values.size else ("cluster", "clusters")
    family = f", or {min(smallest * shares, 1):.4g} for {shares} decisions" if shares > 1 else ""
    return (
        f"with {plural(units, *(changed + name for name in names))} the smallest possible p is "
        f"{smallest:.4g}{family}, above alpha {rule.level:g}"
    )


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
