"""A check of a metric: the state of its record, and the verdict of its gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_rankcheck.baselines.change import Change, is_looser, known_gate, united
from pytest_rankcheck.baselines.check import Block, Check, State, compared
from pytest_rankcheck.baselines.families import Family, families_of_last
from pytest_rankcheck.baselines.golden_changes import have_moved, lost_values
from pytest_rankcheck.baselines.record import Record, RecordedSet
from pytest_rankcheck.baselines.succession import (
    manner_changes,
    other_basis,
    reversed_direction,
    shared_parts,
)
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.comparison.measurement import recorded_values
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import EXACT
from pytest_rankcheck.gates.family_decisions import decide_family
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.gates.verdict import Decision, Outcome, Verdict
from pytest_rankcheck.metrics.metric_names import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCheck(Check):
    """One metric that a test gates: the state of its record and the verdicts on it."""

    metric: Metric
    gate: Gate
    """The gate of the code."""
    attributes: tuple[str, ...] = ()
    """The attributes whose slices the test gates."""
    verdict: Verdict | None = None
    strict: Verdict | None = None
    """The verdict of the record's own family, with its gates, slices and labels, if that
    differs."""

    @property
    def blocking(self) -> Verdict | None:
        """The verdict that blocks: that of the record's own family, if only that one blocks."""
        verdict = self.verdict
        if verdict is None or verdict.regressed or self.strict is None:
            return verdict
        fails_alone = self.gate.inconclusive == "fail" or not _fails_if_open(self.strict)
        return verdict if verdict.inconclusive and fails_alone else self.strict


@dataclass(frozen=True, slots=True)
class MetricAssertion:
    """What a test asserts about metrics that are decided together."""

    gates: Mapping[Metric, Gate]
    attributes: tuple[str, ...] = ()
    """The attributes whose slices it gates."""

    def __post_init__(self) -> None:
        for gate in self.gates.values():  # a record knows it by its text
            known = known_gate(gate.text)
            if known is not None and known.rule != gate.rule:
                name = f"{type(gate.rule).__name__} prints as {gate.text}, which is another gate"
                raise ConfigurationError(f"{name}; give the class its own __str__")

    @property
    def family(self) -> Family:
        """The assertion in the form of a record."""
        return Family({str(m): gate.text for m, gate in self.gates.items()}, self.attributes)


Assertion = MetricAssertion | StabilityLimits
"""What a test asserts, about metrics or about rankings."""


def metric_checks(
    record: Record | None,
    evaluation: Evaluation,
    assertions: Sequence[MetricAssertion],
    failures: str | None = None,
    *,
    is_reference: bool = False,
) -> Sequence[MetricCheck]:
    """Compare the record with the evaluation, and let the gates decide if they can.

    An assertion is decided as in the code and, if that differs, as in the record.

    Args:
        record: the approved record; None without one.
        evaluation: what was measured.
        assertions: the assertions that the test has made so far; the last one is decided.
        failures: on how many queries the ranker may fail.
        is_reference: whether the record is that of the reference commit.
    """
    last = assertions[-1]
    _refuse_undecidable(record, evaluation, last)
    checks = [
        MetricCheck(
            subject=str(metric),
            metric=metric,
            gate=gate,
            attributes=last.attributes,
            record=record,
            states=(State(Block.NO_RECORD),),
        )
        for metric, gate in last.gates.items()
    ]
    if record is None:
        return checks
    differences = [*_differences(record, evaluation, last.gates)]
    comparison, states = compared(record, evaluation, differences, failures)
    checks = [replace(check, comparison=comparison, states=states) for check in checks]
    if comparison is None or not comparison.query_ids:
        return checks
    left = {metric: _undecidable(metric, record, comparison, states) for metric in last.gates}
    gates = {metric: gate for metric, gate in last.gates.items() if not left[metric]}
    verdicts = decide_family(comparison, gates, last.attributes) if gates else {}
    families = [each.family for each in assertions]
    strict = _as_recorded(record, comparison, families, is_reference=is_reference)
    return [
        _decided(check, record, comparison, verdicts[check.metric], strict.get(check.subject))
        if check.metric in verdicts
        else replace(check, states=left[check.metric])
        for check in checks
    ]


def _undecidable(
    metric: Metric, record: Record, comparison: Comparison, states: tuple[State, ...]
) -> tuple[State, ...]:
    """Return the states of a metric that a record does not have, or not of this golden set."""
    if not record.fits(metric):
        return (*states, State(Block.METRIC_ADDED))
    return tuple(
        State(Block.FOREIGN if each.kind == "golden-set" else Block.INCOMPARABLE, (each,))
        for each in _other_basis(metric, record, comparison)
    )


def _other_basis(metric: Metric, record: Record, comparison: Comparison) -> Iterator[Change]:
    """Yield what differs of that on which every value of a metric depends."""
    measured_on = RecordedSet.of(comparison.evaluation.golden, [metric])
    return other_basis([metric], record.golden_set, measured_on)


def _decided(
    check: MetricCheck,
    record: Record,
    comparison: Comparison,
    verdict: Verdict,
    strict: Verdict | None,
) -> MetricCheck:
    """Return a check with the verdicts of its gates."""
    metric, overall = check.metric, verdict.overall
    fell = tuple(_fall(each) for each in verdict.gated if each.pairs.gain < -EXACT)
    rose = [replace(_fall(each), kind="rise") for each in verdict.gated if each.pairs.gain > EXACT]
    if not fell and _counts_less(record, comparison, metric):
        fell = (_fall(overall),)
    leaves_open = verdict.replay is not None and verdict.replay.leaves_open
    is_gain = not fell and not leaves_open and check.gate.rule.is_better(overall.pairs)
    has_fewer = _has_fewer_runs(comparison, metric)
    is_better = is_gain and not has_fewer
    undecided = united(
        _fall(decision)
        for each in (verdict, strict)
        if each is not None and each.inconclusive
        for decision in (each.leading, each.overall)
    )
    states = [State(Block.REGRESSED, (change,)) for change in _blocked(verdict)]
    lost = lost_values(record, comparison, metric)
    states += [State(Block.UNCOUNTED, (change,)) for change in lost]
    if (verdict.inconclusive and check.gate.inconclusive == "fail") or _fails_if_open(strict):
        states.append(State(Block.INCONCLUSIVE, undecided))
    check = replace(check, verdict=verdict)
    states += _loosened(check, record, strict, fell)
    return replace(
        check,
        is_decided=True,
        strict=strict,
        fell=fell,
        undecided=undecided,
        rose=tuple(rose),
        rise=rose[0] if overall.pairs.gain > EXACT and not is_better else None,
        states=(*check.states, *states),
        is_better=is_better,
        wanted_runs=record.averaged(metric).count if is_gain and has_fewer else 0,
    )


def _as_recorded(
    record: Record, comparison: Comparison, asserted: Sequence[Family], *, is_reference: bool
) -> Mapping[str, Verdict]:
    """Return the verdicts of the record's own families, where they differ from the last assertion.

    They use its gates, slices and labels, on what is still measured. If a record has no families,
    its gates and slices are those of this assertion. Against a reference, fewer runs do not make
    the allowance for their noise larger.
    """
    own, families = asserted[-1], families_of_last(record.assertions, asserted)
    if not record.assertions:
        known = (name for name in own.metrics if name in record.metrics)
        gates = {name: record.metrics[name].gate or own.metrics[name] for name in known}
        families = [Family(gates, tuple(dict.fromkeys((*own.by, *record.slices))))]
    verdicts: dict[str, Verdict] = {}
    for family in families:
        metrics = [Metric.parse(name) for name in family.metrics if name in own.metrics]
        has_fewer_runs = is_reference and any(_has_fewer_runs(comparison, m) for m in metrics)
        if family != own or has_fewer_runs or have_moved(comparison, family.by):
            for metric, verdict in _decided_as(family, record, comparison).items():
                if str(metric) not in verdicts or verdict.regressed:
                    verdicts[str(metric)] = verdict
    return verdicts


def _has_fewer_runs(comparison: Comparison, metric: Metric) -> bool:
    then, now = comparison.other.averaged(metric), comparison.evaluation.averaged(metric)
    return now.count < then.count


def _decided_as(family: Family, record: Record, comparison: Comparison) -> Mapping[Metric, Verdict]:
    """Return the verdicts of a recorded family, on what can still be compared."""
    evaluation, gates = comparison.evaluation, {}
    for name in (each for each in family.metrics if each in record.metrics):
        metric, gate = Metric.parse(name), known_gate(family.metrics[name])
        if gate and evaluation.fits(metric) and not any(_other_basis(metric, record, comparison)):
            gates[metric] = gate
    if not gates:
        return {}
    if comparison.is_paired:
        return decide_family(comparison.by_earlier_terms(), gates, family.by, is_explained=False)
    present = [name for name in family.by if name in evaluation.golden.attributes]
    return decide_family(comparison, gates, present, is_explained=False)


def _fails_if_open(strict: Verdict | None) -> bool:
    """Whether the record's own family leaves something undecided that its gate counts as failed."""
    gate = known_gate(strict.gate) if strict is not None and strict.inconclusive else None
    return gate is not None and gate.inconclusive == "fail"


def _loosened(
    check: MetricCheck, record: Record, strict: Verdict | None, fell: Sequence[Change]
) -> Iterator[State]:
    """Yield the falls that the record blocks but the code does not, after the looser gates.

    If a gate is not known here, it may block any fall.
    """
    metric, recorded, now = check.subject, record.gate(check.metric), check.gate.text
    if recorded is not None and recorded != now and known_gate(recorded) is None:
        unknown = Change("gate-looser", metric, recorded, now)
        yield from (State(Block.LOOSENED, (unknown, fall)) for fall in fell)
    if strict is None:
        return
    is_loosened = is_looser(strict.gate, now)
    looser = [Change("gate-looser", metric, strict.gate, now)] if is_loosened else []
    for fall in _blocked(strict):
        attribute = fall.slice[0] if fall.slice else ""
        is_gone = attribute and attribute not in check.attributes
        block = Block.LOOSENED if looser else Block.AS_RECORDED
        gone = [Change("slice-gone", attribute)] if is_gone else []
        yield State(block, (*looser, *gone, fall))
    is_decided = check.verdict is not None and not check.verdict.inconclusive
    if looser and strict.inconclusive and is_decided:
        yield State(Block.LOOSENED, (*looser, _fall(strict.leading)))


def _counts_less(record: Record, comparison: Comparison, metric: Metric) -> bool:
    """Whether a mean is lower only because queries lost their value."""
    if not comparison.is_paired:
        return False
    evaluation = comparison.evaluation
    attributes = [each for each in record.slices if each in evaluation.golden.attributes]
    before, after = record.values(metric), recorded_values(evaluation, metric)
    for _, there, here in shared_parts(metric, record, comparison, attributes):
        weights = evaluation.weights_of(metric, here)
        then, now = metric.mean(before[there], weights), metric.mean(after[here], weights)
        if metric.gain(then, now) < -EXACT:
            return True
    return False


def _blocked(verdict: Verdict) -> tuple[Change, ...]:
    """Return the falls that a gate blocks; a blocked query or gap counts as a fall."""
    if not verdict.regressed:
        return ()
    parts = [p for p in (verdict.overall, *verdict.slices) if p.outcome is Outcome.REGRESSED]
    return united(_fall(part) for part in parts or [verdict.leading])


def _fall(decision: Decision) -> Change:
    """Return the change that a decision is about."""
    pairs: ComparedValues = decision.pairs
    part = (decision.attribute, decision.value) if decision.attribute else None
    return Change.fall(pairs.metric, pairs.mean_before, pairs.mean_after, part)


def _refuse_undecidable(
    record: Record | None, evaluation: Evaluation, assertion: MetricAssertion
) -> None:
    """Refuse an assertion that could never be decided, before something is written.

    Raises:
        GoldenSetError: no query has an attribute to gate by.
        ConfigurationError: a gate does not fit its metric, or cannot decide; or the ranking has the
            order of the log that is replayed.
        MetricError: a metric does not fit the evaluation.
    """
    for metric, gate in assertion.gates.items():
        gate.refuse_misfit(metric)
        evaluation.values(metric)
        if record is None or not record.fits(metric):
            gate.rule.allowed(compare(evaluation, evaluation).values(metric))
    if record is not None:
        return
    for attribute in dict.fromkeys(assertion.attributes):
        evaluation.slices(attribute)
    if evaluation.golden.replay is not None:
        from pytest_rankcheck.gates.verdict_evidence import refuse_order_of_log

        refuse_order_of_log(evaluation.golden, [("what would be recorded", evaluation.ranking)])


def _differences(
    record: Record, evaluation: Evaluation, metrics: Iterable[Metric]
) -> Iterator[Change]:
    """Yield why the values of a record cannot be compared with those of an evaluation."""
    yield from manner_changes(record, evaluation)
    then, now = record.golden_set.scale, float(evaluation.golden.scale)
    for metric in metrics:
        recorded, scale = record.metrics.get(str(metric)), max(then, now)
        if recorded is None:
            continue
        if recorded.lower_is_better == metric.higher_is_better:
            yield reversed_direction(str(metric), recorded)
        if then != now and evaluation.source.depends_on_scale(metric, then):
            words = (
                f"the scale of the golden set was {then:g} in the baseline and is {now:g} now, "
                f"which changes {metric} of every query; give the golden set its scale, such "
                f"as scale={scale:g} (rankcheck_scale), or the metric, such as "
                f"ERR(max_grade={scale:g})@20"
            )
            yield Change("scale", "", then, now, words=words)
