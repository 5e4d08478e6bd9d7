"""A family of decisions: several metrics and their slices, decided and corrected together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.evaluation.metric_values import MIN_QUERIES, attributes_of
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate_rule import Evidence, GateRule
from pytest_rankcheck.gates.mean_effects import mix_effects, tie_effects
from pytest_rankcheck.gates.set_decisions import FamilySet, decide_sets
from pytest_rankcheck.gates.verdict import Decision, QueryDrop, Verdict, gaps_of
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison

__all__ = ["DecidingGate", "decide_family", "gated_attributes"]


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
    def standardise(self) -> str | None:
        """The attribute at whose mix in the baseline means are compared."""

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
        ConfigurationError: a gate does not fit its metric, or a replay whose positions are not
            corrected is compared with the order of its log.
    """
    for metric, gate in gates.items():
        gate.refuse_misfit(metric)
    replay = comparison.evaluation.golden.replay
    if replay is not None:
        from pytest_rankcheck.gates.log_order import refuse_order_of_log

        refuse_order_of_log(
            comparison.evaluation.golden,
            (
                ("what is measured now", comparison.evaluation.ranking),
                ("the baseline", comparison.other.ranking),
            ),
        )
    family = _Family.of(comparison, gates, by)
    verdicts = family.explained_verdicts()
    if replay is None:
        return verdicts
    from pytest_rankcheck.gates.replayed_verdicts import with_replay_evidence

    return with_replay_evidence(
        comparison,
        verdicts,
        family.reweighted_verdicts,
        lambda values: gates[values.metric].rule.ruling(values),
    )


@dataclass(frozen=True, slots=True)
class _Family:
    """All decisions of an assertion."""

    comparison: Comparison
    gates: Mapping[Metric, DecidingGate]
    by: str | Sequence[str] | None
    sets: Sequence[FamilySet]
    evidence: Sequence[Evidence]
    """What the test says of each set, not yet corrected."""

    @classmethod
    def of(
        cls,
        comparison: Comparison,
        gates: Mapping[Metric, DecidingGate],
        by: str | Sequence[str] | None,
    ) -> _Family:
        sets = [
            part for metric, gate in gates.items() for part in _sets(comparison, metric, gate, by)
        ]
        # All queries count before their slices.
        sets.sort(key=lambda part: part.attribute is not None)
        return cls(comparison, gates, by, sets, [part.evidence for part in sets])

    def verdicts(self) -> dict[Metric, Verdict]:
        """Return the verdict on each metric, without explanations."""
        decisions, tested = decide_sets(self.sets, self.evidence)
        return {
            metric: _verdict(
                metric, gate, [d for d in decisions if d.pairs.metric == metric], tested
            )
            for metric, gate in self.gates.items()
        }

    def explained_verdicts(self) -> dict[Metric, Verdict]:
        """Return the verdict on each metric, with explanations."""
        comparison, verdicts = self.comparison, self.verdicts()
        ties = tie_effects(comparison, verdicts, self._verdicts_on)
        return {
            metric: replace(
                self._explained(verdict),
                ties=ties.get(metric),
                mixes=mix_effects(
                    comparison, metric, gated_attributes(self.by, self.gates[metric])
                ),
            )
            for metric, verdict in verdicts.items()
        }

    def _verdicts_on(
        self, comparison: Comparison, metrics: Iterable[Metric]
    ) -> Mapping[Metric, Verdict]:
        """Return the verdicts on some metrics in another comparison."""
        gates = {metric: self.gates[metric] for metric in metrics}
        return _Family.of(comparison, gates, self.by).verdicts()

    def _explained(self, verdict: Verdict) -> Verdict:
        """Return a verdict with the queries it depends on, and the decisions of other gates."""
        if verdict.ruling == "passed":
            return verdict
        from pytest_rankcheck.gates.fragility import fragility_of
        from pytest_rankcheck.gates.other_rules import allows_no_fall, other_rulings

        metric = verdict.metric

        def ruling_without(query_ids: Collection[str]) -> str:
            return self.without(metric, query_ids).ruling

        golden = self.comparison.evaluation.golden
        verdict = replace(verdict, fragility=fragility_of(verdict, golden, ruling_without))
        gate = self.gates[metric]
        by_mean = not verdict.query_drops and not verdict.wide_gaps
        if by_mean and verdict.regressed and allows_no_fall(gate.rule):
            own = [part for part in self.sets if part.values.metric == metric]
            verdict = replace(verdict, other_rulings=other_rulings(own, gate.min_queries))
        return verdict

    def reweighted_verdicts(self, factors: Mapping[str, float]) -> dict[Metric, Verdict]:
        """Return the verdict on each metric if the weights were multiplied, by query id."""
        sets = [replace(part, values=_reweighted(part.values, factors)) for part in self.sets]
        other = replace(self, sets=sets, evidence=[part.evidence for part in sets])
        return other.verdicts()

    def without(self, metric: Metric, query_ids: Collection[str]) -> Verdict:
        """Return the verdict on a metric without some queries; those of other metrics stay."""
        sets, evidence = [], []
        for part, known in zip(self.sets, self.evidence, strict=True):
            changed = _without(part, query_ids) if part.values.metric == metric else part
            if changed is not None:
                sets.append(changed)
                evidence.append(known if changed is part else changed.evidence)
        decisions, tested = decide_sets(sets, evidence)
        own = [decision for decision in decisions if decision.pairs.metric == metric]
        return _verdict(metric, self.gates[metric], own, tested)


def _reweighted(values: ComparedValues, factors: Mapping[str, float]) -> Paired:
    """Return values with weights that are multiplied by these factors."""
    assert isinstance(values, Paired)
    assert values.weights is not None
    chosen = [factors[query_id] for query_id in values.query_ids]
    return replace(values, weights=values.weights * np.array(chosen, dtype=np.float64))


def _without(part: FamilySet, query_ids: Collection[str]) -> FamilySet | None:
    """Return a set without some queries; None if it is a slice of no other queries.

    A slice that becomes smaller is gated as before.
    """
    values = part.values
    assert isinstance(values, Paired)
    kept = [place for place, each in enumerate(values.query_ids) if each not in query_ids]
    if len(kept) == len(values.query_ids):
        return part
    if not kept and part.attribute is not None:
        return None
    return replace(part, values=values.at(kept))


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
        guaranteed_range=gate.rule.guaranteed_range(metric),
        standardised_by=gate.standardise,
    )


def _query_drops(pairs: ComparedValues, limit: float | None) -> Iterator[QueryDrop]:
    """Yield the queries that fell by more than the limit, the largest fall first."""
    if limit is None:
        return
    for place in pairs.worst():
        if pairs.gains[place] < -(limit + SLACK):
            before, after = float(pairs.before[place]), float(pairs.after[place])
            yield QueryDrop(pairs.query_ids[place], before, after)


def gated_attributes(by: str | Sequence[str] | None, gate: DecidingGate) -> tuple[str, ...]:
    """Return the attributes by whose slices a gate decides: ``by``, and what it standardises by."""
    own = () if gate.standardise is None else (gate.standardise,)
    return tuple(dict.fromkeys((*attributes_of(by), *own)))


def _sets(
    comparison: Comparison, metric: Metric, gate: DecidingGate, by: str | Sequence[str] | None
) -> Iterator[FamilySet]:
    """Yield all queries, then each slice."""
    values = comparison.values(metric)
    if gate.standardise is not None:
        from pytest_rankcheck.comparison.standardised_values import refuse_outcomes, standardised

        refuse_outcomes(comparison, metric, gate.standardise)
        at_mix = standardised(comparison, metric, gate.standardise)
        at_mix.refuse_missing(gate.standardise)
        values = at_mix.values
    yield FamilySet(gate.rule, values)
    for attribute in gated_attributes(by, gate):
        for value, values in comparison.values_by(attribute, metric).items():
            is_gated = values.size >= gate.smallest_slice
            yield FamilySet(gate.rule, values, attribute, value, is_gated)
