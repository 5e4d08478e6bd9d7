"""Comparing a metric with its baseline: ``assert_not_regressed``."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.bound_assertions import By
from pytest_rankcheck.assertions.entered_findings import (
    EnteredGate,
    enter_gates,
    enter_question,
    fail_with,
    gate_row,
)
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.change import Approval
from pytest_rankcheck.baselines.check import OF_GATES, Block
from pytest_rankcheck.baselines.metric_check import MetricCheck
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.errors import ConfigurationError, RankcheckError
from pytest_rankcheck.evaluation.evaluation import Evaluation, attributes_of
from pytest_rankcheck.gates.family_decisions import decide_family
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.gates.verdict import Decision, Outcome, Verdict
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike, metrics_of
from pytest_rankcheck.reports.findings import GateFinding, Note, Said, Topic
from pytest_rankcheck.reports.ledger import enter, wanted

if TYPE_CHECKING:
    from pytest_rankcheck.explanation.explanation import Explanation
    from pytest_rankcheck.explanation.gate_numbers import GateNumbers
    from pytest_rankcheck.remedies import Place


@checked_arguments
def assert_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    metric: MetricLike | Sequence[MetricLike],
    *,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
    min_queries: int | None = None,
) -> None:
    """Fail if ``metric`` regressed against the baseline.

    The allowed fall of the mean is the larger of ``abs`` and ``rel`` times the baseline, as in
    ``pytest.approx``. With neither and no gate, the configured one decides (``rankcheck_gate``);
    without one, nothing may fall (beyond 1e-6). Where lower is better, rises are limited
    instead.

    Args:
        evaluation: what is measured now.
        baseline: the ``baseline`` fixture; or another evaluation to compare with directly.
        metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object; or several, as
            in ``["nDCG@10", "RR"]``. All are decided as one family (Holm), and reported together.
        abs: the allowed fall, in the metric's own unit.
        rel: the allowed fall, as a share of the baseline's mean.
        gate: the rule that decides, instead of ``abs`` and ``rel``; see ``Gate``.
        by: an attribute of the queries, or several; no slice may regress either.
        min_queries: a slice with fewer queries is reported, not gated; None: the gate decides.

    Raises:
        AssertionError: it regressed, there is no baseline, or it cannot be compared; the text
            names slices, queries and documents, and says what to do.
        BaselineError: the baseline file cannot be read.
        RunError: no ranked document is judged in any of at least 5 queries.
        ConfigurationError: a gate is given together with ``abs`` or ``rel``, or one of these is
            negative.
        MetricError: unknown metric.
        GoldenSetError: no query has the attribute ``by``.
    """
    if gate is not None and (abs is not None or rel is not None):
        raise ConfigurationError(
            "give a gate, or abs and rel, not both: Gate.tolerance(abs=..., rel=...)"
        )
    for each_side in (evaluation, baseline):
        if isinstance(each_side, Evaluation):
            each_side.refuse_unmet_ids()
    given = None
    if gate is not None or abs is not None or rel is not None:
        given = gate or Gate.tolerance(abs or 0.0, rel or 0.0)
    gates: dict[Metric, Gate] = {}
    for each in metrics_of(metric):
        configured = None
        if given is None and isinstance(baseline, Baseline):
            configured = baseline.defaults.gates.gate(evaluation.golden.name, each)
        chosen = given or configured or Gate.tolerance()
        if min_queries is not None:
            chosen = replace(chosen, min_queries=min_queries)
        gates[each] = chosen
        evaluation.refuse_no_value(each)
    attributes = attributes_of(by)
    if attributes and not any(each.kind.sliced_by(attributes) for each in gates):
        first = next(iter(gates))
        first.kind.refuse_parts(first)
    if isinstance(baseline, Baseline):
        explanation = _hold_baseline(evaluation, baseline, gates, by)
    else:
        explanation = _hold_evaluation(evaluation, baseline, gates, by)
    fail_with(explanation)


def _hold_baseline(
    evaluation: Evaluation, baseline: Baseline, gates: Mapping[Metric, Gate], by: By
) -> Explanation | None:
    """Check metrics against a baseline file. Return why they failed, or None."""
    checks = baseline.check_all(evaluation, gates, by)
    _ask(evaluation, gates, baseline.families[-1].by)
    verdicts = [check.verdict for check, _ in checks if check.verdict]
    passed = [check.verdict for check, block in checks if check.verdict and block is None]
    _enter_undecided(evaluation, verdicts, passed)
    explanation = _explained(evaluation, checks, baseline.place)
    gates_entered = [_entered(evaluation, *each, baseline.place) for each in checks]
    place = {"test": baseline.test_id, "baseline_file": str(baseline.place)}
    enter_gates(evaluation, gates_entered, explanation, **place)
    return explanation


def _entered(
    evaluation: Evaluation, check: MetricCheck, block: Block | None, place: Place
) -> EnteredGate:
    """Return what is entered for a check against a record."""
    verdict, remedy = check.verdict, None
    if block is not None:
        from pytest_rankcheck.reports.text.blocked_text import remedy_of

        verdict = check.blocking if block in OF_GATES else check.verdict
        remedy = remedy_of(check, block, place)
    approvals = (*(check.record.approvals if check.record else ()), *check.approvals)
    numbers = partial(
        _numbers, evaluation, check.metric, verdict, check.comparison, approvals=approvals
    )
    rows = _checked_rows(check, block, evaluation, verdict)
    fails = block is not None
    return EnteredGate(check.metric, rows, numbers, check.record, fails=fails, remedy=remedy)


def _explained(
    evaluation: Evaluation, checks: Sequence[tuple[MetricCheck, Block | None]], place: Place
) -> Explanation | None:
    """Return why an assertion fails against its record; None if it passes."""
    failing = [(check, block) for check, block in checks if block is not None]
    if not failing:
        return None
    from pytest_rankcheck.explanation.explained_failures import explained_state
    from pytest_rankcheck.reports.text.blocked_text import is_of_gate, record_words

    said = record_words(failing, len(checks), evaluation, place)
    fallen = [check for check, block in failing if is_of_gate(check, block)]
    verdicts = {check.metric: check.blocking for check in fallen if check.blocking}
    comparison = next((check.comparison for check in fallen if check.comparison), None)
    if comparison is None:
        return explained_state(evaluation, len(checks), **said)
    world = fallen[0].world or ()
    return _explained_falls(comparison, verdicts, len(checks), world=world, **said)


def _explained_falls(
    comparison: Comparison, verdicts: Mapping[Metric, Verdict], of: int, **said: Any
) -> Explanation:
    from pytest_rankcheck.explanation.explained_failures import explained_falls
    from pytest_rankcheck.reports.text.wording import caveats

    in_full = wanted().detail or wanted().evidence
    said["caveats"] = caveats(comparison.evaluation)
    return explained_falls(comparison, verdicts, of, in_full=in_full, **said)


def _hold_evaluation(
    evaluation: Evaluation, other: Measured, gates: Mapping[Metric, Gate], by: By
) -> Explanation | None:
    """Compare metrics with another measurement. Return why they failed, or None."""
    _ask(evaluation, gates, by)
    comparison = compare(evaluation, other)
    if not comparison.query_ids:
        raise ConfigurationError(
            f"{evaluation!r} and {other!r} have no unchanged query in common; compare "
            "measurements on the same golden set"
        )
    verdicts, strict = decide_family(comparison, gates, by), wanted().strict
    failing = {
        metric: verdict
        for metric, verdict in verdicts.items()
        if verdict.regressed or (verdict.inconclusive and strict)
    }
    passed = [verdict for metric, verdict in verdicts.items() if metric not in failing]
    _enter_undecided(evaluation, verdicts.values(), passed)
    explanation = _explained_falls(comparison, failing, len(verdicts)) if failing else None
    entered = []
    for metric, verdict in verdicts.items():
        fails = metric in failing
        if verdict.inconclusive and not fails:
            from pytest_rankcheck.reports.text.verdict_notes import inconclusive_text

            enter(Note(Topic.INCONCLUSIVE, inconclusive_text(verdict, evaluation)))
        labels = _concerned([verdict]) if fails else ()
        rows = _verdict_rows(evaluation, verdict, verdict.outcome, labels, fails=fails)
        numbers = partial(_numbers, evaluation, metric, verdict, comparison)
        entered.append(EnteredGate(metric, rows, numbers, other, fails=fails))
    enter_gates(evaluation, entered, explanation)
    return explanation


def _ask(evaluation: Evaluation, gates: Mapping[Metric, Gate], by: By) -> None:
    """Enter what the proof asks the gates at the end, if a proof is requested."""
    if wanted().proves:
        from pytest_rankcheck.proof.gate_questions import gate_question

        enter_question(gate_question(evaluation, gates, by, is_strict=wanted().strict))


def _numbers(
    evaluation: Evaluation,
    metric: Metric,
    verdict: Verdict | None,
    comparison: Comparison | None,
    approvals: Sequence[Approval] = (),
    *,
    label: str,
    in_full: bool,
) -> GateNumbers:
    """Return the numbers that a report shows for a row; without a comparison, only the mean."""
    from pytest_rankcheck.explanation.gate_numbers import new_numbers, verdict_numbers

    if verdict is None or comparison is None:
        return new_numbers(metric, evaluation)
    numbers = verdict_numbers(verdict, label=label, in_full=in_full)
    if label:
        return numbers
    unjudged = comparison.unjudged_in(verdict.overall.pairs) if in_full else None
    return replace(numbers, unjudged=unjudged, approvals=tuple(approvals))


def _enter_undecided(
    evaluation: Evaluation, verdicts: Iterable[Verdict], passed: Iterable[Verdict]
) -> None:
    """Enter what the verdicts leave undecided, and the falls that they let pass."""
    verdicts = list(verdicts)
    if all(verdict.is_settled for verdict in verdicts):
        return
    from pytest_rankcheck.reports.text.verdict_notes import passed_fall_notes, verdict_notes

    notes = (
        *verdict_notes(evaluation.golden.name, verdicts),
        *passed_fall_notes(evaluation.golden, passed),
    )
    for note in notes:
        enter(note)


def _checked_rows(
    check: MetricCheck, block: Block | None, evaluation: Evaluation, verdict: Verdict | None
) -> Iterator[GateFinding]:
    """Yield the rows of a check against a record.

    Args:
        check: the check.
        block: why it fails its test; None if it passes.
        evaluation: what was measured.
        verdict: the verdict that is shown; None without one.
    """
    said: Said | Block | None = block
    if block is None and (check.approvals or check.is_granted):
        said = Said.APPROVED if check.approvals else Said.GRANTED
    fails, approved = block is not None, check.approvals
    if verdict is None:
        said = said or (Said.NEW if check.is_new else Said.ANEW)
        decided: dict[str, Any] = {"said": said, "failed": fails, "approved": approved}
        yield gate_row(evaluation, check.metric, now=evaluation.mean(check.metric), **decided)
        return
    labels = set[str]()
    if said:
        verdicts = [each for each in (check.verdict, check.strict) if each is not None]
        labels = _concerned(verdicts) if block in (None, *OF_GATES) else labels
        labels = labels.intersection(part.label for part in verdict.gated) or {""}
    said = said or Said.PASSED
    told: dict[str, Any] = {"better": check.is_better, "approved": approved}
    yield from _verdict_rows(evaluation, verdict, said, labels, fails=fails, **told)


def _verdict_rows(
    evaluation: Evaluation,
    verdict: Verdict,
    said: Said | Block | Outcome,
    labels: Container[str],
    *,
    fails: bool,
    better: bool = False,
    approved: tuple[Approval, ...] = (),
) -> Iterator[GateFinding]:
    """Yield the rows of a verdict: all queries, and each gated slice, with its own numbers.

    Args:
        evaluation: what was measured.
        verdict: what a gate decided.
        said: what some rows say instead of their outcomes.
        labels: the labels of those rows.
        fails: whether those rows fail the test.
        better: whether an update would raise the record.
        approved: the reasons that let those rows pass.
    """
    if said == Outcome.REGRESSED and verdict.only_loses_answers:
        said = Said.LOST_ANSWERS
    for part in verdict.gated:
        decided: dict[str, Any] = {"said": _said(part, better=better)}
        if part.label in labels:
            decided = {"said": said, "failed": fails, "approved": approved}
        means = {"now": part.pairs.mean_after, "baseline": part.pairs.mean_before}
        yield gate_row(evaluation, verdict.metric, part.label, **means, **decided)


def _said(part: Decision, *, better: bool) -> Said:
    """Return the outcome of a gate that does not block."""
    said = {
        Outcome.BETTER: Said.BETTER if better else Said.PASSED,
        Outcome.LOWER: Said.LOWER if part.pairs.difference < 0 else Said.HIGHER,
        Outcome.INCONCLUSIVE: Said.INCONCLUSIVE,
        Outcome.REGRESSED: Said.APPROVED,
    }
    return said.get(part.outcome, Said.PASSED)


def _concerned(verdicts: Sequence[Verdict]) -> set[str]:
    """Return the labels of the decisions that keep the verdicts from passing.

    Limits for single queries and for gaps between slices concern all queries.
    """
    parts = [part for verdict in verdicts for part in verdict.gated]
    labels = {part.label for part in parts if part.outcome is Outcome.REGRESSED}
    if any(verdict.breaks_limits for verdict in verdicts):
        return labels | {""}
    unsure = {part.label for part in parts if part.outcome is Outcome.INCONCLUSIVE}
    return labels or unsure or {""}


# --- gates that a test did not reach -------------------------------------------------------------


def enter_unreached_gates(baseline: Baseline, evaluation: Evaluation | None) -> None:
    """Enter the gated metrics of the record that a test did not check, with the recorded means.

    Args:
        baseline: the baseline of a test that stopped: it failed, or was skipped.
        evaluation: what the test would have measured, if it made no check.
    """
    measured = baseline.evaluation or evaluation
    if measured is None:
        return
    with suppress(RankcheckError):  # a baseline that cannot be read has failed the test
        record = baseline.record
        if record is None or record.golden_set.name != measured.golden.name:
            return
        reached = {str(check.metric) for check in baseline.checks}
        names = (name for name in record.gated if name not in reached)
        gates = [_unreached(record, measured, Metric.parse(name)) for name in names]
        where = {"test": baseline.test_id, "baseline_file": str(baseline.place)}
        enter_gates(measured, gates, None, **where)


def _unreached(record: Record, evaluation: Evaluation, metric: Metric) -> EnteredGate:
    from pytest_rankcheck.explanation.gate_numbers import NOT_REACHED, Decided, GateNumbers

    before, now = record.mean(metric), evaluation.mean(metric)
    numbers = GateNumbers(
        metric=metric,
        gate=record.gate(metric) or "",
        outcome=NOT_REACHED,
        overall=Decided(
            queries=len(evaluation.query_ids),
            before=before,
            now=now,
            difference=now - before,
            outcome=NOT_REACHED,
        ),
    )
    said = Said.NOT_REACHED
    row = gate_row(evaluation, metric, now=now, baseline=before, said=said, reached=False)
    return EnteredGate(metric, [row], lambda **_: numbers, record)
