"""A family of decisions: several metrics and their slices, decided and corrected together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.evaluation.metric_values import MIN_QUERIES, attributes_of
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate_rule import Evidence, GateRule, outcome_by_mean
from pytest_rankcheck.gates.verdict import (
    Decision,
    Outcome,
    QueryDrop,
    TieEffect,
    TooFewChanges,
    TooWideAllowance,
    Verdict,
    gaps_of,
)
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.paired_tests import corrected, holm

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison

__all__ = ["DecidingGate", "FamilySet", "decide_family", "decide_sets"]


class DecidingGate(Protocol):
    """What a family needs of a gate: its rule and its limits."""

    @property
    def rule(self) -> GateRule:
        """What decides on the means."""

    @property
    def max_query_drop(self) -> float | None:
        """No single query may fall by more; None: any fall is allowed."""

    @property
    def max_gap(self) -> float | None:
        """The largest allowed gap between two slices; None: any."""

    @property
    def min_queries(self) -> int | None:
        """The smallest slice that is gated, if the user gave one."""

    @property
    def smallest_slice(self) -> int:
        """The smallest slice that is gated."""

    @property
    def text(self) -> str:
        """The gate as the configuration writes it."""

    def refuse_misfit(self, metric: Metric) -> None:
        """Refuse a metric on which the gate cannot decide, or could never fail."""


def decide_family(
    comparison: Comparison,
    gates: Mapping[Metric, DecidingGate],
    by: str | Sequence[str] | None = None,
) -> Mapping[Metric, Verdict]:
    """Return the verdict on each metric: overall, and for every slice of ``by``.

    All decisions are one family, corrected by Holm: of all metrics and all slices, also if the
    metrics have different gates.

    Args:
        comparison: what is compared.
        gates: the gate of each metric, at least one.
        by: an attribute of the queries, or several.

    Raises:
        GoldenSetError: no query has the attribute ``by``.
        ConfigurationError: a gate does not fit its metric.
    """
    for metric, gate in gates.items():
        gate.refuse_misfit(metric)
    verdicts = _decided(comparison, gates, by)
    evaluation = comparison.evaluation
    if not evaluation.has_ties_at_hand:  # the summary says that ties were not looked for
        return verdicts
    # Another library breaks ties in its own way.
    ours = {metric: gate for metric, gate in gates.items() if not metric.definition.ir_measures}
    tied = {metric: queries for metric in ours if (queries := evaluation.tied(metric.cutoff))}
    if not tied:
        return verdicts
    from pytest_rankcheck.comparison.comparison import compare

    orders = [
        _decided(compare(evaluation.with_ties(order), comparison.other), ours, by)
        for order in ("best", "worst")
    ]
    for metric, queries in tied.items():
        alternatives = [verdicts[metric], *(verdicts_of[metric] for verdicts_of in orders)]
        effect = _tie_effect(len(queries), alternatives)
        verdicts[metric] = replace(verdicts[metric], ties=effect)
    return verdicts


def _tie_effect(queries: int, verdicts: Sequence[Verdict]) -> TieEffect | None:
    """Return how the order of tied documents affects the mean; None if it does not."""
    means = [verdict.overall.pairs.mean_after for verdict in verdicts]
    if max(means) - min(means) <= SLACK:
        return None
    rulings = {verdict.ruling for verdict in verdicts}
    return TieEffect(queries, min(means), max(means), len(rulings) > 1)


def _decided(
    comparison: Comparison,
    gates: Mapping[Metric, DecidingGate],
    by: str | Sequence[str] | None,
) -> dict[Metric, Verdict]:
    """Return the verdict on each metric, without the effect of tied documents."""
    sets = [part for metric, gate in gates.items() for part in _sets(comparison, metric, gate, by)]
    # All queries count before their slices.
    sets.sort(key=lambda part: part.attribute is not None)
    decisions, tested = decide_sets(sets)
    return {
        metric: _verdict(metric, gate, [d for d in decisions if d.pairs.metric == metric], tested)
        for metric, gate in gates.items()
    }


def _verdict(
    metric: Metric, gate: DecidingGate, decisions: Sequence[Decision], tested: int
) -> Verdict:
    """Return the verdict on a metric from its decisions: all queries first, then slices."""
    overall, slices = decisions[0], tuple(decisions[1:])
    widest = MIN_QUERIES if gate.min_queries is None else gate.min_queries
    return Verdict(
        metric=metric,
        overall=overall,
        slices=slices,
        query_drops=tuple(_query_drops(overall.pairs, gate.max_query_drop)),
        max_query_drop=gate.max_query_drop,
        gaps=tuple(gaps_of(slices, max(1, widest))),
        max_gap=gate.max_gap,
        min_queries=gate.smallest_slice,
        decisions=tested,
        gate=gate.text,
        margin=gate.rule.margin_to_rule_out,
        alpha=gate.rule.level,
    )


def _query_drops(pairs: ComparedValues, limit: float | None) -> Iterator[QueryDrop]:
    """Yield the queries that fell by more than the limit, the largest fall first."""
    if limit is None:
        return
    for place in pairs.worst():
        if pairs.gains[place] < -(limit + SLACK):
            before, after = float(pairs.before[place]), float(pairs.after[place])
            yield QueryDrop(pairs.query_ids[place], before, after)


# --- the decisions ---------------------------------------------------------------------------


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


def _sets(
    comparison: Comparison, metric: Metric, gate: DecidingGate, by: str | Sequence[str] | None
) -> Iterator[FamilySet]:
    """Yield all queries, then each slice."""
    yield FamilySet(gate.rule, comparison.values(metric))
    for attribute in attributes_of(by):
        for value, values in comparison.values_by(attribute, metric).items():
            is_gated = values.size >= gate.smallest_slice
            yield FamilySet(gate.rule, values, attribute, value, is_gated)


def decide_sets(sets: Sequence[FamilySet]) -> tuple[Sequence[Decision], int]:
    """Return the decision on each set, and how many decisions were corrected together.

    A rule with a test decides on the slices that have enough changed queries for a verdict; a slice
    that fell, but has too few, is not gated.
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
        if futility is None and not can_fail:
            futility = _too_few(values, rule, evidence.smallest_p, shares)
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
    values: ComparedValues, rule: GateRule, smallest_p: float, shares: int
) -> TooFewChanges | None:
    """Return why a test decides nothing; None if nothing fell, and something could have."""
    if values.units < rule.smallest_slice:
        return TooFewChanges(values.units, True, 2.0**-values.units, shares, rule.level)
    if values.gain < -SLACK:
        return TooFewChanges(values.changed_units, False, smallest_p, shares, rule.level)
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
