"""Comparing a metric with its baseline: ``assert_not_regressed``."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.bound_assertions import By
from pytest_rankcheck.assertions.entered_findings import GateRow, enter_gate, fail
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.check import OF_GATES, Block
from pytest_rankcheck.baselines.metric_check import MetricCheck
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.gate import Gate, decide_family
from pytest_rankcheck.gates.verdict import Decision, Outcome, Verdict
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike, metrics_of
from pytest_rankcheck.reports.findings import BETTER, Note, Topic
from pytest_rankcheck.reports.ledger import enter, fails_if_inconclusive
from pytest_rankcheck.reports.text.wording import joined_failures

_SHOWN = 4
"""How many lines of the text of an inconclusive verdict are in its note."""


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
    standardise: str | None = None,
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
        standardise: an attribute whose slices count as much as in the baseline, such as
            ``"device"``, so that a change of its mix does not count as a fall; its slices are gated
            too.

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
        gates[each] = chosen if standardise is None else replace(chosen, standardise=standardise)
        evaluation.refuse_no_value(each)
    if by is not None and not any(each.kind.sliced_by(by) for each in gates):
        first = next(iter(gates))
        first.kind.refuse_parts(first)
    if isinstance(baseline, Baseline):
        texts = _hold_baseline(evaluation, baseline, gates, by)
    else:
        texts = _hold_evaluation(evaluation, baseline, gates, by)
    fail(joined_failures(texts))


def _hold_baseline(
    evaluation: Evaluation, baseline: Baseline, gates: Mapping[Metric, Gate], by: By
) -> Mapping[str, str | None]:
    """Check metrics against a baseline file. Return by metric why it failed, or None."""
    checks = baseline.check_all(evaluation, gates, by)
    verdicts = [check.verdict for check, _ in checks if check.verdict]
    passed = [check.verdict for check, block in checks if check.verdict and block is None]
    _enter_undecided(evaluation, verdicts, passed)
    texts: dict[str, str | None] = {}
    for check, block in checks:
        failure = None
        verdict = check.blocking if block in OF_GATES else check.verdict
        if block is not None:
            from pytest_rankcheck.reports.text.blocked_text import blocked_failure

            failure = blocked_failure(check, block, evaluation, baseline.place)
        approvals = (*(check.record.approvals if check.record else ()), *check.approvals)
        detail = partial(
            _detail, evaluation, check.metric, verdict, check.comparison, approvals=approvals
        )
        enter_gate(
            evaluation,
            check.metric,
            _checked_rows(check, block, evaluation, verdict),
            detail,
            other=check.record,
            failure=failure,
            test=baseline.test_id,
            baseline_file=str(baseline.place),
        )
        texts[check.subject] = failure.text if failure else None
    return texts


def _hold_evaluation(
    evaluation: Evaluation, other: Measured, gates: Mapping[Metric, Gate], by: By
) -> Mapping[str, str | None]:
    """Compare metrics with another measurement. Return by metric why it failed, or None."""
    comparison = compare(evaluation, other)
    if not comparison.query_ids:
        raise ConfigurationError(
            f"{evaluation!r} and {other!r} have no unchanged query in common; compare "
            "measurements on the same golden set"
        )
    return verdict_texts(evaluation, decide_family(comparison, gates, by), comparison)


def verdict_texts(
    evaluation: Evaluation, verdicts: Mapping[Metric, Verdict], comparison: Comparison
) -> Mapping[str, str | None]:
    """Enter verdicts on two measurements. Return by metric why it failed, or None."""
    open_fails = fails_if_inconclusive()
    passed = [each for each in verdicts.values() if not (each.inconclusive and open_fails)]
    _enter_undecided(evaluation, verdicts.values(), passed)
    texts: dict[str, str | None] = {}
    for metric, verdict in verdicts.items():
        failure = None
        if verdict.regressed or verdict.inconclusive:
            from pytest_rankcheck.reports.text import regression_text

            lines = [*regression_text.regression_lines(verdict, comparison)]
            failure = regression_text.regression_failure(verdict, lines)
        fails = verdict.regressed or (verdict.inconclusive and open_fails)
        if failure is not None and not fails:
            first_lines = map(str.strip, failure.lines[:_SHOWN])
            enter(Note(Topic.INCONCLUSIVE, "; ".join(first_lines)))
            failure = None
        labels = _concerned([verdict]) if fails else ()
        rows = _verdict_rows(verdict, str(verdict.outcome), labels, fails=fails)
        detail = partial(_detail, evaluation, metric, verdict, comparison)
        enter_gate(evaluation, metric, rows, detail, other=comparison.other, failure=failure)
        texts[str(metric)] = failure.text if failure else None
    return texts


def _detail(
    evaluation: Evaluation,
    metric: Metric,
    verdict: Verdict | None,
    comparison: Comparison | None,
    label: str,
    *,
    in_full: bool,
    approvals: Sequence[Approval] = (),
) -> Mapping[str, Any]:
    """Return what a report shows of a row; of a metric that could not be compared, its mean."""
    from pytest_rankcheck.reports.gate_detail import new_detail, slice_detail, verdict_detail

    if verdict is None or comparison is None:
        return new_detail(metric, evaluation)
    if label:
        return slice_detail(verdict, label, in_full=in_full)
    return verdict_detail(verdict, comparison, approvals, in_full=in_full)


def _enter_undecided(
    evaluation: Evaluation, verdicts: Iterable[Verdict], passed: Iterable[Verdict]
) -> None:
    """Enter what the verdicts leave undecided, and the falls of those that do not fail."""
    verdicts = list(verdicts)
    if all(verdict.is_settled for verdict in verdicts):
        return
    from pytest_rankcheck.reports.text.verdict_notes import passed_falls, verdict_notes

    notes = (
        *verdict_notes(evaluation.golden.name, verdicts),
        *passed_falls(evaluation.golden, passed),
    )
    for note in notes:
        enter(note)


def _checked_rows(
    check: MetricCheck, block: Block | None, evaluation: Evaluation, verdict: Verdict | None
) -> Iterator[GateRow]:
    """Yield the rows of a check against a record.

    Args:
        check: the check.
        block: why it fails its test; None if it passes.
        evaluation: what was measured.
        verdict: the verdict that is shown; None without one.
    """
    word = str(block or "; ".join(approval.text for approval in check.approvals))
    if check.is_granted and not word:
        word = "passed, as recorded on this branch"
    failed, approved = block is not None, check.approvals
    if verdict is None:
        word = word or ("new" if check.is_new else "recorded anew")
        yield GateRow("", evaluation.mean(check.metric), None, word, failed, approved)
        return
    verdicts = [each for each in (check.verdict, check.strict) if each is not None]
    labels = _concerned(verdicts) if block in (None, *OF_GATES) else {""}
    labels = labels if word else set()
    if labels.isdisjoint(part.label for part in _gated(verdict)):
        labels = {""} if labels else labels
    for row in _verdict_rows(verdict, word, labels, fails=failed, better=check.is_better):
        yield row._replace(approved=approved) if row.label in labels else row


def _verdict_rows(
    verdict: Verdict, word: str, labels: Container[str], *, fails: bool, better: bool = False
) -> Iterator[GateRow]:
    """Yield the rows of a verdict: all queries, and each gated slice, with its own numbers.

    Args:
        verdict: what a gate decided.
        word: what is said instead of the outcomes of some rows.
        labels: the labels of these.
        fails: whether these fail their test.
        better: whether an update would raise the record.
    """
    for part in _gated(verdict):
        before, now = part.pairs.mean_before, part.pairs.mean_after
        shown = word if part.label in labels else _word(part, verdict, better=better)
        yield GateRow(part.label, now, before, shown, failed=fails and part.label in labels)


def _word(part: Decision, verdict: Verdict, *, better: bool) -> str:
    """Return what a gate decided that does not block, and what it left undecided."""
    words = {
        Outcome.BETTER: f"passed{BETTER}" if better else "passed",
        Outcome.LOWER: f"passed, {'lower' if part.pairs.difference < 0 else 'higher'}",
        Outcome.INCONCLUSIVE: "inconclusive",
        Outcome.REGRESSED: "approved",
    }
    word = words.get(part.outcome, "passed")
    if verdict.ungated_falls and not part.label:
        word += ", but a slice that is not gated fell"
    elif part.futility:
        word += ", untested" if part.label else ", decides nothing"
    if verdict.standardised_by is not None and not part.label:
        word += f", at the mix of {quoted(verdict.standardised_by, 40)}"
    return word


def _concerned(verdicts: Sequence[Verdict]) -> set[str]:
    """Return the labels of the decisions for which verdicts do not pass.

    Limits for single queries and for gaps between slices are about all queries.
    """
    parts = [part for verdict in verdicts for part in _gated(verdict)]
    labels = {part.label for part in parts if part.outcome is Outcome.REGRESSED}
    if any(verdict.breaks_limits for verdict in verdicts):
        return labels | {""}
    unsure = {part.label for part in parts if part.outcome is Outcome.INCONCLUSIVE}
    return labels or unsure or {""}


def _gated(verdict: Verdict) -> Sequence[Decision]:
    """Return what the gate decided on: all queries first, then slices."""
    slices = (part for part in verdict.slices if part.outcome is not Outcome.NOT_GATED)
    return [verdict.overall, *slices]
