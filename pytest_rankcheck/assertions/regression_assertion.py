"""Holding a metric to its baseline: ``assert_not_regressed``."""

from __future__ import annotations

from pytest_rankcheck.assertions.bound_assertions import By
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.metric_check import Check, State
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.update_policy import Block
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.gates.verdict import Outcome, Verdict
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.finding_detail import (
    Detail,
    measurement_detail,
    new_detail,
    verdict_detail,
)
from pytest_rankcheck.reports.ledger import Entry, enter, measured, wants_detail
from pytest_rankcheck.reports.text.blocked_text import blocked_text, regression_text

__all__ = ["assert_not_regressed"]


def assert_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    metric: MetricLike,
    *,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
) -> None:
    """Fail if ``metric`` regressed against the baseline.

    The allowed fall of the mean is the larger of ``abs`` and ``rel`` times the baseline, as in
    ``pytest.approx``. With neither and no gate, the configured one decides (``rankcheck_gate``);
    without any, nothing may fall (beyond 1e-6). Where lower is better, it is rises that are
    limited.

    Args:
        evaluation: what is measured now.
        baseline: the ``baseline`` fixture; or another evaluation to compare with directly.
        metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.
        abs: the allowed fall, in the metric's own unit.
        rel: the allowed fall, as a share of the baseline's mean.
        gate: the rule that decides, instead of ``abs`` and ``rel``; see ``Gate``.
        by: an attribute of the queries, or several; no slice may regress either.

    Raises:
        AssertionError: it regressed, there is no baseline, or it cannot be compared; the text
            names slices, queries and documents, and says what to do.
        BaselineError: the baseline file cannot be read.
        ConfigurationError: a gate together with ``abs`` or ``rel``, or a negative one.
        MetricError: no such metric.
        GoldenSetError: no query has the attribute ``by``.
    """
    __tracebackhide__ = True
    _refuse_others(baseline, gate)
    if gate is not None and (abs is not None or rel is not None):
        raise ConfigurationError(
            "give a gate, or abs and rel, not both: Gate.tolerance(abs=..., rel=...)"
        )
    parsed = Metric.parse(metric)
    if gate is None and abs is None and rel is None and isinstance(baseline, Baseline):
        gate = baseline.configured_gate(evaluation.golden.name, parsed)
    chosen = gate or Gate.tolerance(abs or 0.0, rel or 0.0)
    evaluation.refuse_no_value(parsed)
    if isinstance(baseline, Baseline):
        check, block = baseline.check(evaluation, parsed, chosen, by)
        text = None
        if block is not None:
            text = blocked_text(check, block, evaluation, baseline.command, baseline.shown_path)
        _enter_check(evaluation, check, block, text, baseline)
        if text is not None:
            raise AssertionError(text)
        return
    comparison = compare(evaluation, baseline)
    if not comparison.query_ids:
        raise ConfigurationError(
            f"{evaluation!r} and {baseline!r} have no unchanged query in common; compare "
            "measurements on the same golden set"
        )
    verdict = chosen.decide(comparison, parsed, by)
    text = regression_text(verdict, comparison) if verdict.regressed else None
    _enter_verdict(evaluation, verdict, comparison, text)
    if text is not None:
        raise AssertionError(text)


def _refuse_others(baseline: object, gate: object) -> None:
    """Refuse what is neither a baseline nor a gate, before anything is asked of it.

    Raises:
        ConfigurationError: saying what to give instead.
    """
    if not isinstance(baseline, (Baseline, Evaluation, Record)):
        raise ConfigurationError(
            f"the baseline is {quoted(repr(baseline), 60)}; give the fixture baseline, another "
            "evaluation or a record. To hold a metric to a number: assert_at_least"
        )
    if gate is not None and not isinstance(gate, Gate):
        raise ConfigurationError(
            f"gate={quoted(repr(gate), 60)} is no gate; write it in Python, such as "
            "gate=Gate.noninferior(margin=0.02)"
        )


def _enter_check(
    evaluation: Evaluation, check: Check, block: Block | None, text: str | None, baseline: Baseline
) -> None:
    """Enter a check against a baseline file into the ledger."""
    if block is not None:
        verdict = str(block)
    elif check.is_granted:
        verdict = "passed, as recorded on this branch"
    elif check.state is State.COMPARABLE or check.state is State.STALE:
        verdict = _passed_word(check.verdict)
    else:
        verdict = "new" if check.state in (State.NO_RECORD, State.METRIC_ADDED) else "recorded anew"
    pairs = check.verdict.overall.pairs if check.verdict else None
    entry = _entry(evaluation, check.metric, pairs, verdict, failed=block is not None)
    entry["best"] = check.best
    if wants_detail():
        entry["detail"] = _check_detail(check, evaluation)
        entry["detail"] |= {"test": baseline.test_id, "baseline_file": baseline.shown_path}
        _enter_detailed(entry, evaluation, check.record, text)
    enter(entry)


def _check_detail(check: Check, evaluation: Evaluation) -> Detail:
    if check.verdict is None or check.comparison is None:
        return new_detail(check.metric, evaluation)
    return verdict_detail(
        check.verdict,
        check.comparison,
        approvals=check.record.approvals if check.record else (),
        suspicions=check.suspicions,
        best=check.best,
    )


def _enter_verdict(
    evaluation: Evaluation, verdict: Verdict, comparison: Comparison, text: str | None
) -> None:
    """Enter a verdict on two evaluations into the ledger."""
    word = str(Outcome.REGRESSED) if verdict.regressed else _passed_word(verdict)
    entry = _entry(
        evaluation, verdict.metric, verdict.overall.pairs, word, failed=verdict.regressed
    )
    if wants_detail():
        entry["detail"] = verdict_detail(verdict, comparison)
        _enter_detailed(entry, evaluation, comparison.other, text)
    enter(entry)


def _enter_detailed(
    entry: Entry, evaluation: Evaluation, other: Measured | None, text: str | None
) -> None:
    """Add to the detail of an entry what all have, and enter the queries that it is about."""
    metric = Metric.parse(entry["metric"])
    measurement = measurement_detail(evaluation, other, [metric])
    measured(measurement)
    entry["detail"] |= {"measurement": measurement["key"], "text": text}


def _passed_word(verdict: Verdict | None) -> str:
    outcome = verdict.outcome if verdict else Outcome.EQUAL
    return {
        Outcome.BETTER: "passed, better",
        Outcome.LOWER: "passed, lower",
        Outcome.INCONCLUSIVE: "inconclusive",
        Outcome.REGRESSED: "approved",
    }.get(outcome, "passed")


def _entry(
    evaluation: Evaluation,
    metric: Metric,
    pairs: ComparedValues | None,
    verdict: str,
    *,
    failed: bool,
) -> Entry:
    return Entry(
        golden=evaluation.golden.name,
        queries=len(evaluation.query_ids),
        metric=str(metric),
        baseline=pairs.mean_before if pairs else None,
        now=pairs.mean_after if pairs else evaluation.mean(metric),
        verdict=verdict,
        failed=failed,
    )
