"""A check of a metric: the state of its record, and the verdict of its gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pytest_rankcheck.baselines.change import Change, is_looser, known_gate, united
from pytest_rankcheck.baselines.check import Check, compared
from pytest_rankcheck.baselines.golden_changes import lost_values
from pytest_rankcheck.baselines.record import Record, RecordedSet
from pytest_rankcheck.baselines.succession import (
    manner_changes,
    other_basis,
    reversed_direction,
)
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.comparison.measurement import recorded_values
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import EXACT
from pytest_rankcheck.gates.gate import Gate, decide_family, gated_attributes
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
    """The verdict of the gate in the record, if the gate of the code is looser."""
    wanted_runs: int = 0
    """How many runs an update needs to raise a record that averages as many; 0: it has enough."""

    @property
    def blocking(self) -> Verdict | None:
        """The verdict that blocks: that of the gate in the record, if only it does."""
        passes = self.verdict and not (self.verdict.regressed or self.verdict.inconclusive)
        return self.strict if passes and self.strict else self.verdict


def metric_checks(
    record: Record | None,
    evaluation: Evaluation,
    gates: Mapping[Metric, Gate],
    attributes: tuple[str, ...],
) -> Sequence[MetricCheck]:
    """Compare the record with the evaluation, and let the gates decide if they can.

    Args:
        record: the approved record; None without one.
        evaluation: what was measured.
        gates: the gate of each metric.
        attributes: the attributes by whose slices the test gates.
    """
    for metric, gate in gates.items():
        gate.refuse_misfit(metric)
        evaluation.values(metric)  # a metric that does not fit fails now, not when it is written
    new = {m: gate for m, gate in gates.items() if record is None or not record.fits(m)}
    _refuse_undecidable(evaluation, new)
    comparison: Comparison | None = None
    differences: tuple[Change, ...] = ()
    of_wholes: Mapping[Metric, tuple[Change, ...]] = {}
    if record is None:
        gated = (gated_attributes(attributes, gate) for gate in gates.values())
        _refuse_unrecordable(evaluation, dict.fromkeys(chain.from_iterable(gated)))
    else:
        keys = [*_differences(record, evaluation, gates)]
        comparison, differences = compared(record, evaluation, keys)
        measured_on = RecordedSet.of(evaluation.golden, gates)
        of_wholes = {
            metric: tuple(other_basis([metric], record.golden_set, measured_on))
            for metric in gates
            if record.fits(metric)
        }
    checks = [
        MetricCheck(
            subject=str(metric),
            metric=metric,
            gate=gate,
            attributes=gated_attributes(attributes, gate),
            record=record,
            comparison=comparison,
            differences=differences or of_wholes.get(metric, ()),
        )
        for metric, gate in gates.items()
    ]
    if record is None or comparison is None or differences:
        return checks
    comparable = [check.metric for check in checks if not check.differences]
    recorded = {metric: gates[metric] for metric in comparable if record.fits(metric)}
    loosened = {
        metric: known
        for metric, gate in recorded.items()
        if is_looser(record.gate(metric), gate.text)
        and (known := known_gate(record.gate(metric))) is not None
    }
    verdicts = decide_family(comparison, recorded, attributes) if recorded else {}
    strict = decide_family(comparison, loosened, attributes) if loosened else {}
    return [
        _decided(check, record, comparison, verdicts[check.metric], strict.get(check.metric))
        if check.metric in verdicts
        else check
        for check in checks
    ]


def _decided(
    check: MetricCheck,
    record: Record,
    comparison: Comparison,
    verdict: Verdict,
    strict: Verdict | None,
) -> MetricCheck:
    """Return a check with what its gates decided."""
    metric, overall = check.metric, verdict.overall
    fell = tuple(
        _fall(decision)
        for decision in (overall, *verdict.slices)
        if decision.outcome is not Outcome.NOT_GATED and decision.pairs.gain < -EXACT
    )
    if not fell and _counts_less(record, comparison, metric):
        fell = (_fall(overall),)
    leaves_open = verdict.replay is not None and verdict.replay.leaves_open
    is_gain = not fell and not leaves_open and check.gate.rule.is_better(overall.pairs)
    averaged = record.averaged(metric).count
    has_fewer = comparison.evaluation.averaged(metric).count < averaged
    is_better = is_gain and not has_fewer
    is_within_noise = not is_better and overall.pairs.gain > EXACT
    return replace(
        check,
        is_decided=True,
        verdict=verdict,
        strict=strict,
        broken=_blocked(verdict),
        fell=fell,
        loosened=tuple(_loosened(check, record, verdict, strict, fell)),
        undecided=united(map(_fall, (verdict.leading, overall))) if verdict.inconclusive else (),
        rise=replace(_fall(overall), kind="rise") if is_within_noise else None,
        unvalued=lost_values(record, comparison, metric),
        is_better=is_better,
        wanted_runs=averaged if is_gain and has_fewer else 0,
    )


def _loosened(
    check: MetricCheck,
    record: Record,
    verdict: Verdict,
    strict: Verdict | None,
    fell: Sequence[Change],
) -> Iterator[tuple[Change, Change]]:
    """Yield the falls that only the gate in the record blocks."""
    recorded = record.gate(check.metric)
    if not is_looser(recorded, check.gate.text):
        return
    looser = Change("gate-looser", str(check.metric), recorded, check.gate.text)
    if strict is None:  # a gate that is not known here may have blocked any fall
        yield from ((looser, key) for key in fell)
        return
    yield from ((looser, key) for key in _blocked(strict))
    if strict.inconclusive and not verdict.inconclusive:
        yield looser, _fall(strict.leading)


def _counts_less(record: Record, comparison: Comparison, metric: Metric) -> bool:
    """Whether the mean is lower because queries lost their value, though no other fell."""
    if not comparison.is_paired:
        return False
    evaluation, places = comparison.evaluation, comparison.places
    weights = evaluation.weights_of(metric, places)
    then = record.values(metric)[comparison.other_places]
    now = recorded_values(evaluation, metric)[places]
    return metric.gain(metric.mean(then, weights), metric.mean(now, weights)) < -EXACT


def _blocked(verdict: Verdict) -> tuple[Change, ...]:
    """Return the falls that a gate blocks; a query or a gap that it blocks counts as one."""
    if not verdict.regressed:
        return ()
    parts = [p for p in (verdict.overall, *verdict.slices) if p.outcome is Outcome.REGRESSED]
    return united(_fall(part) for part in parts or [verdict.leading])


def _fall(decision: Decision) -> Change:
    """Return the change that a decision is about."""
    pairs: ComparedValues = decision.pairs
    part = (decision.attribute, decision.value) if decision.attribute else None
    return Change.of_means("fall", str(pairs.metric), pairs.mean_before, pairs.mean_after, part)


def _refuse_undecidable(evaluation: Evaluation, gates: Mapping[Metric, Gate]) -> None:
    """Refuse gates that could not decide on what would be recorded.

    Raises:
        ConfigurationError: a gate needs what no run has measured.
    """
    for metric, gate in gates.items():
        gate.rule.allowed(compare(evaluation, evaluation).values(metric))


def _refuse_unrecordable(evaluation: Evaluation, attributes: Iterable[str]) -> None:
    """Refuse a first measurement that could never be compared.

    Raises:
        GoldenSetError: no query has an attribute to gate by.
        ConfigurationError: the ranking is that of the log that is replayed.
    """
    for attribute in attributes:
        evaluation.slices(attribute)
    if evaluation.golden.replay is not None:
        from pytest_rankcheck.gates.verdict_evidence import refuse_order_of_log

        refuse_order_of_log(evaluation.golden, [("what would be recorded", evaluation.ranking)])


def _differences(
    record: Record, evaluation: Evaluation, gates: Mapping[Metric, Gate]
) -> Iterator[Change]:
    """Yield why the values of a record cannot be compared with those of an evaluation."""
    yield from manner_changes(record, evaluation)
    then, now = record.golden_set.scale, float(evaluation.golden.scale)
    for metric, gate in gates.items():
        recorded = record.metrics.get(str(metric))
        if recorded is not None and recorded.lower_is_better == metric.higher_is_better:
            yield reversed_direction(str(metric), recorded)
        if (
            recorded is not None
            and then != now
            and evaluation.source.depends_on_scale(metric, then)
        ):
            yield Change(
                "scale",
                "",
                then,
                now,
                words=f"scale: that of the golden set was {then:g} in the baseline and is {now:g} "
                f"now, which changes {metric} of every query; give the golden set its scale, such "
                f"as scale={max(then, now):g} (rankcheck_scale), or the metric, such as "
                f"ERR(max_grade={max(then, now):g})@20",
            )
        by = gate.standardise
        if recorded is not None and by is not None and not record.slice_counts(by):
            yield Change(
                "gate-looser",
                str(metric),
                recorded.gate,
                gate.text,
                words=f"slices of '{quoted(by)}': unknown in the baseline, needed by the gate now",
            )
