"""A check: one metric that a test gates, the state of its record, and the gate's verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.query_losses import (
    Replaced,
    Uncounted,
    replaced_queries,
    uncounted_queries,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.slide_guard import GuardedSlide, SlideGuard
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import EXACT, as_recorded
from pytest_rankcheck.gates.decision_family import decide_family, gated_attributes
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.gates.verdict import Decision, Outcome, Verdict
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.world import WorldComparison

__all__ = ["Check", "State", "checks_of", "incompatibilities"]


class State(StrEnum):
    """How a record relates to what is measured now."""

    NO_RECORD = "no record"
    METRIC_ADDED = "metric added"
    INCOMPARABLE = "not comparable"
    """Measured with another convention or depth."""
    FOREIGN = "another golden set"
    """No query is unchanged since it was recorded."""
    STALE = "golden set changed"
    """Some queries are unchanged."""
    COMPARABLE = "comparable"


@dataclass(frozen=True, slots=True)
class Check:
    """One metric that a test gates: the state of its record and the gate's verdict."""

    metric: Metric
    state: State
    record: Record | None
    comparison: Comparison | None = None
    verdict: Verdict | None = None
    differences: tuple[str, ...] = ()
    """Why the two are not comparable, as text."""
    attributes: tuple[str, ...] = ()
    """The attributes whose slices the test gates."""
    is_granted: bool = False
    """Whether it fails at the reference commit, but what this branch recorded lets it pass."""
    approvals: tuple[Approval, ...] = ()
    """The reasons on this branch that let it pass, if it needs one."""
    world: WorldComparison | None = None
    """What has changed of the declared world, if it fails and its record has one."""
    problems: tuple[str, ...] = ()
    """The promises of the approved record that the record of this branch breaks."""
    suspicions: tuple[str, ...] = ()
    """Why an improvement looks like a leak of judgments, as sentences."""
    gate: Gate | None = None
    """The gate that decided."""
    replaced: Replaced | None = None
    """The queries that left the golden set or were edited."""
    uncounted: Uncounted | None = None
    """The queries that lost their value."""
    slide: GuardedSlide | None = None
    """What the guard against the slide says; None if the mean is not lower, or the guard is off."""

    @property
    def fell(self) -> tuple[Decision, ...]:
        """The decisions whose mean is lower than in the record, even slightly.

        They are about all queries, or about a gated slice.
        """
        if self.verdict is None:
            return ()
        gated = (self.verdict.overall, *self.verdict.slices)
        fell = tuple(
            decision
            for decision in gated
            if decision.outcome is not Outcome.NOT_GATED and decision.pairs.gain < -EXACT
        )
        return fell or ((self.verdict.overall,) if self._counts_less else ())

    @property
    def _counts_less(self) -> bool:
        """Whether the mean is lower because queries lost their value, though no other fell."""
        if self.comparison is None or not self.comparison.is_paired or self.record is None:
            return False
        evaluation, places = self.comparison.evaluation, self.comparison.places
        weights = None if evaluation.weights is None else evaluation.weights[places]
        then = self.record.values(self.metric)[self.comparison.other_places]
        now = as_recorded(evaluation.values(self.metric)[places])
        change = self.metric.mean(now, weights) - self.metric.mean(then, weights)
        return bool((change if self.metric.higher_is_better else -change) < -EXACT)

    @property
    def is_better(self) -> bool:
        """Whether it is better by the gate's rule, so that an update raises the record."""
        return (
            self.gate is not None
            and self.verdict is not None
            and not self.fell
            and not self._is_lower_as_it_is
            and not (self.verdict.replay is not None and self.verdict.replay.leaves_open)
            and (self.gate.is_better(self.verdict.overall.pairs))
        )

    @property
    def _is_lower_as_it_is(self) -> bool:
        """Whether the mean is lower, though it may be better at the mix of the baseline."""
        if self.gate is None or self.gate.standardise is None or self.comparison is None:
            return False
        return self.comparison.values(self.metric).gain < -EXACT

    @property
    def is_better_within_noise(self) -> bool:
        """Whether the mean is higher, but not by enough for the gate's rule."""
        pairs = self.verdict.overall.pairs if self.verdict else None
        return pairs is not None and pairs.gain > EXACT and not self.is_better

    @property
    def below_best(self) -> float:
        """How far the mean now is below the best that was ever approved, at least 0."""
        if self.verdict is None or self.best is None:
            return 0.0
        below = self.best - self.verdict.overall.pairs.mean_after
        return max(0.0, below if self.metric.higher_is_better else -below)

    @property
    def best(self) -> float | None:
        """The best mean that was ever approved, on the queries that are compared."""
        if self.verdict is None or self.record is None:
            return None
        return self.record.best_for(self.verdict.overall.pairs)

    @property
    def slides(self) -> bool:
        """Whether the mean has fallen since the best was approved by more than noise explains."""
        return self.slide is not None and self.slide.exceeds

    @property
    def blocked_by_gate(self) -> bool:
        """Whether the gate found a regression."""
        return self.verdict is not None and self.verdict.regressed


def checks_of(
    record: Record | None,
    evaluation: Evaluation,
    gates: Mapping[Metric, Gate],
    attributes: tuple[str, ...],
    guard: SlideGuard | None = None,
) -> Sequence[Check]:
    """Compare the record with the evaluation, and let the gates decide if they can.

    Args:
        record: the approved record; None without one.
        evaluation: what was measured.
        gates: the gate of each metric.
        attributes: the attributes by whose slices the test gates.
        guard: the guard against the slide; None: it is off.
    """
    for metric, gate in gates.items():
        gate.refuse_misfit(metric)
        evaluation.values(metric)  # a metric that does not fit fails now, not when it is written
    checks = [
        Check(
            metric,
            State.NO_RECORD,
            record,
            attributes=gated_attributes(attributes, gate),
            gate=gate,
        )
        for metric, gate in gates.items()
    ]
    if record is None:
        _refuse_unrecordable(checks, evaluation)
        return checks
    differences = tuple(_differences(record, evaluation, gates))
    if differences:
        return [replace(c, state=State.INCOMPARABLE, differences=differences) for c in checks]
    comparison = compare(evaluation, record)
    if comparison.is_paired:
        replaced = replaced_queries(record, evaluation.query_fingerprints)
        checks = [replace(check, replaced=replaced) for check in checks]
    if not comparison.query_ids:
        foreign = (_foreign(record, evaluation),)
        return [
            replace(check, state=State.FOREIGN, comparison=comparison, differences=foreign)
            for check in checks
        ]
    recorded = {metric: gate for metric, gate in gates.items() if str(metric) in record.metrics}
    verdicts = decide_family(comparison, recorded, attributes) if recorded else {}
    return [
        _decided(check, comparison, record, verdicts.get(check.metric), guard) for check in checks
    ]


def _refuse_unrecordable(checks: Sequence[Check], evaluation: Evaluation) -> None:
    """Refuse a first measurement that could never be compared.

    Raises:
        GoldenSetError: no query has an attribute to gate by.
        ConfigurationError: the ranking is that of the log that is replayed.
    """
    for attribute in dict.fromkeys(each for check in checks for each in check.attributes):
        evaluation.slices(attribute)
    if evaluation.golden.replay is not None:
        from pytest_rankcheck.gates.log_order import refuse_order_of_log

        refuse_order_of_log(evaluation.golden, [("what would be recorded", evaluation.ranking)])


def _differences(
    record: Record, evaluation: Evaluation, gates: Mapping[Metric, Gate]
) -> Iterator[str]:
    """Yield why the values of a record cannot be compared with those of an evaluation."""
    yield from incompatibilities(record, evaluation)
    yield from _direction_differences(record, gates)
    yield from _scale_differences(record, evaluation, gates)
    yield from _unknown_mixes(record, gates)


def _foreign(record: Record, evaluation: Evaluation) -> str:
    """Return that a record and an evaluation share no unchanged query."""
    return (
        f"golden set: '{quoted(record.golden_name)}' ({quoted(record.golden_fingerprint)}) in "
        f"the baseline, '{quoted(evaluation.golden.name)}' ({evaluation.golden.fingerprint}) "
        "now, without an unchanged query in common"
    )


def _decided(
    check: Check,
    comparison: Comparison,
    record: Record,
    verdict: Verdict | None,
    guard: SlideGuard | None,
) -> Check:
    """Return a check with the verdict of its gate, if the record has the metric."""
    if verdict is None:
        return replace(check, state=State.METRIC_ADDED, comparison=comparison)
    evaluation = comparison.evaluation
    # The next log has other sessions; that does not change what is measured on.
    same = not comparison.is_paired or (record.golden_fingerprint == evaluation.golden.fingerprint)
    return replace(
        check,
        state=State.COMPARABLE if same else State.STALE,
        comparison=comparison,
        verdict=verdict,
        suspicions=_suspicions(comparison, verdict),
        uncounted=uncounted_queries(record, comparison, check.metric),
        slide=guard.judged(record, verdict, check.gate) if guard and check.gate else None,
    )


def _suspicions(comparison: Comparison, verdict: Verdict) -> tuple[str, ...]:
    """Return why an improvement looks like a leak of judgments, as sentences."""
    if not verdict.overall.pairs.gain > 0:
        return ()
    from pytest_rankcheck.comparison.leak_signs import suspicions

    return suspicions(comparison, verdict.overall.pairs)


def _direction_differences(record: Record, metrics: Iterable[Metric]) -> Iterator[str]:
    """Yield the metrics whose direction the project has reversed."""
    words = {True: "lower", False: "higher"}
    for metric in metrics:
        kept = record.kept.get(str(metric))
        if kept is not None and kept.lower_is_better == metric.higher_is_better:
            yield (
                f"direction of {metric}: {words[kept.lower_is_better]} is better in the baseline, "
                f"{words[not kept.lower_is_better]} is better now"
            )


def _unknown_mixes(record: Record, gates: Mapping[Metric, Gate]) -> Iterator[str]:
    """Yield the attributes at whose mix a gate compares, but which the record does not know."""
    for attribute in dict.fromkeys(gate.standardise for gate in gates.values()):
        if attribute is not None and not record.slice_counts(attribute):
            name = quoted(attribute)
            yield f"slices of '{name}': unknown in the baseline, needed by the gate now"


def _scale_differences(
    record: Record, evaluation: Evaluation, metrics: Iterable[Metric]
) -> Iterator[str]:
    """Yield the metrics whose values depend on the golden set's highest grade, if that differs."""
    then, now = record.golden_scale, float(evaluation.golden.scale)
    if then == now:
        return
    for metric in metrics:
        if str(metric) in record.metrics and evaluation.depends_on_scale(metric, then):
            yield (
                f"scale: that of the golden set was {then:g} in the baseline and is {now:g} now, "
                f"which changes {metric} of every query; give the golden set its scale, such as "
                f"scale={max(then, now):g} (rankcheck_scale), or the metric, such as "
                f"ERR(max_grade={max(then, now):g})@20"
            )


def incompatibilities(record: Record, evaluation: Evaluation) -> tuple[str, ...]:
    """Return which conventions differ, and the depth if it does, as text."""
    then, now = record.conventions.to_dict(), evaluation.conventions.to_dict()
    differences = [
        f"{name}: '{quoted(then.get(name, 'none'))}' in the baseline, "
        f"'{quoted(now.get(name, 'none'))}' now"
        for name in {**now, **then}
        if then.get(name) != now.get(name)
    ]
    if record.depth != evaluation.depth:
        differences.append(f"depth: {record.depth} in the baseline, {evaluation.depth} now")
    units_then = record.clusters_kept.by if record.clusters_kept else None
    units_now = evaluation.golden.cluster_by
    if units_then != units_now:
        then_text, now_text = (
            "none" if by is None else f"'{quoted(by)}'" for by in (units_then, units_now)
        )
        differences.append(f"clusters: {then_text} in the baseline, {now_text} now")
    return tuple(differences)
