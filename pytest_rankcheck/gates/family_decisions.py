"""The family of decisions of an assertion: on all metrics and slices, corrected together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import plural
from pytest_rankcheck.evaluation.evaluation import MIN_QUERIES, attributes_of
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate_rule import Evidence, GateRule, LimitedRule
from pytest_rankcheck.gates.verdict import Decision, Outcome, Verdict, gaps_of
from pytest_rankcheck.gates.verdict_evidence import (
    refuse_order_of_log,
    tie_effects,
    with_replay_evidence,
)
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.multiplicity import corrected, holm

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison


def decide_family(
    comparison: Comparison,
    gates: Mapping[Metric, LimitedRule],
    by: str | Sequence[str] | None = None,
    *,
    is_explained: bool = True,
) -> Mapping[Metric, Verdict]:
    """Return the verdict on each metric: overall, and for every slice of ``by``.

    All decisions are one family, corrected by Holm: of all metrics and all slices, also if the
    metrics have different gates.

    Args:
        comparison: what is compared.
        gates: the gate of each metric, at least one.
        by: an attribute of the queries, or several.
        is_explained: whether the verdicts say how ties affect them.

    Raises:
        GoldenSetError: no query has the attribute ``by``.
        ConfigurationError: a gate does not fit its metric, or a replay whose positions are not
            corrected is compared with the order of its log.
    """
    for metric, gate in gates.items():
        gate.refuse_misfit(metric)
    golden = comparison.evaluation.golden
    if golden.replay is not None:
        now, then = comparison.evaluation.ranking, comparison.other.ranking
        refuse_order_of_log(golden, (("what is measured now", now), ("the baseline", then)))

    def decided(other: Comparison, metrics: Iterable[Metric]) -> dict[Metric, Verdict]:
        return _decided(other, {metric: gates[metric] for metric in metrics}, by)

    verdicts: Mapping[Metric, Verdict] = decided(comparison, gates)
    if is_explained:
        ties = tie_effects(comparison, verdicts, decided)
        verdicts = {
            metric: replace(verdict, ties=ties.get(metric)) for metric, verdict in verdicts.items()
        }
    if golden.replay is None:
        return verdicts
    rules = {metric: gate.rule for metric, gate in gates.items()}
    return with_replay_evidence(comparison, verdicts, rules)


def _decided(
    comparison: Comparison, gates: Mapping[Metric, LimitedRule], by: str | Sequence[str] | None
) -> dict[Metric, Verdict]:
    """Return the verdict on each metric, without what explains it."""
    sets = [part for metric, gate in gates.items() for part in _sets(comparison, metric, gate, by)]
    sets.sort(key=lambda part: part.attribute is not None)  # all queries come before their slices
    decisions, tested = decide_sets(sets)
    verdicts = {
        metric: _verdict(gate, [each for each in decisions if each.pairs.metric == metric], tested)
        for metric, gate in gates.items()
    }
    fewest = [each for gate in gates.values() if (each := gate.rule.fewest_lost_answers)]
    if not fewest:
        return verdicts
    from pytest_rankcheck.gates.lost_answers import lost_answers_in

    lost = lost_answers_in(comparison, min(fewest))
    return {
        metric: replace(
            verdict, lost_answers=lost if gates[metric].rule.fewest_lost_answers else None
        )
        for metric, verdict in verdicts.items()
    }


def _sets(
    comparison: Comparison, metric: Metric, gate: LimitedRule, by: str | Sequence[str] | None
) -> Iterator[FamilySet]:
    """Yield all queries, then each slice."""
    values = comparison.values(metric)
    yield FamilySet(gate.rule, values)
    for attribute in metric.kind.sliced_by(attributes_of(by)):
        for value, values in comparison.values_by(attribute, metric).items():
            is_gated = values.size >= gate.smallest_slice
            yield FamilySet(gate.rule, values, attribute, value, is_gated)


def _verdict(gate: LimitedRule, decisions: Sequence[Decision], tested: int) -> Verdict:
    """Return the verdict on a metric from its decisions: all queries first, then slices."""
    overall, slices = decisions[0], tuple(decisions[1:])
    widest = MIN_QUERIES if gate.min_queries is None else gate.min_queries
    pairs = overall.pairs
    drops: tuple[str, ...] = ()
    if gate.max_query_drop is not None:
        least = -(gate.max_query_drop + SLACK)
        worse = (place for place in pairs.worst() if pairs.gains[place] < least)
        drops = tuple(pairs.query_ids[place] for place in worse)
    return Verdict(
        metric=overall.pairs.metric,
        overall=overall,
        slices=slices,
        query_drops=drops,
        max_query_drop=gate.max_query_drop,
        gaps=tuple(gaps_of(slices, max(1, widest))),
        max_gap=gate.max_gap,
        min_queries=gate.smallest_slice,
        decisions=tested,
        gate=gate.text,
        margin=gate.rule.margin_to_rule_out,
        alpha=gate.rule.level,
    )


# --- the sets of queries of a family --------------------------------------------------------


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

    A slice in which too few queries changed for a significant fall uses up none of the level.

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
        evidence: the result of the rule's test on it, corrected.
        can_fail: whether a fall of that many queries could be significant.
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
    """Return why a rule that allows the loss of everything in the baseline decides nothing."""
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
    """Return why a test cannot decide; empty if it can, or if nothing fell.

    There are too few units for any fall to be significant, or too few that changed.
    """
    units, changed, smallest = values.units, "", evidence.smallest_p
    if units < rule.smallest_slice:
        smallest = 2.0**-units if values.is_paired else smallest
    elif values.gain < -SLACK:
        units = values.changed_units
        changed = "changed " if values.weights is None else "changed, unequally weighted "
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
