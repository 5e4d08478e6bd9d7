"""Comparing a metric with its baseline: ``assert_not_regressed``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.bound_assertions import By
from pytest_rankcheck.assertions.entered_findings import enter_gate, fail
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.metric_check import MetricCheck
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.gate import Gate, decide_family
from pytest_rankcheck.gates.verdict import Outcome, Verdict
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.findings import Note, Topic
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
    __tracebackhide__ = True
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
    if isinstance(baseline, Baseline):
        texts = _hold_baseline(evaluation, baseline, gates, by)
    else:
        texts = _hold_evaluation(evaluation, baseline, gates, by)
    fail(joined_failures(texts))


def metrics_of(metric: MetricLike | Sequence[MetricLike]) -> Sequence[Metric]:
    """Return the metrics that an assertion is about, each once.

    Raises:
        ConfigurationError: no metric is given.
        MetricError: unknown metric.
    """
    several = metric if isinstance(metric, Sequence) and not isinstance(metric, str) else [metric]
    if not several:
        raise ConfigurationError('no metrics are given; name at least one, such as "nDCG@10"')
    return tuple(dict.fromkeys(map(Metric.parse, several)))


def _hold_baseline(
    evaluation: Evaluation, baseline: Baseline, gates: Mapping[Metric, Gate], by: By
) -> Mapping[str, str | None]:
    """Check metrics against a baseline file. Return by metric why it failed, or None."""
    checks = baseline.check_all(evaluation, gates, by)
    _enter_undecided(evaluation, [check.verdict for check, _ in checks if check.verdict])
    texts: dict[str, str | None] = {}
    for check, block in checks:
        text = None
        if block is not None:
            from pytest_rankcheck.reports.text.blocked_text import blocked_text

            text = blocked_text(check, block, evaluation, baseline.place)
        recorded = check.record.approvals if check.record else ()
        _enter_verdict(
            evaluation,
            check.metric,
            check.verdict,
            check.comparison,
            text,
            verdict=_check_word(check) if block is None else str(block),
            other=check.record,
            approvals=(*recorded, *check.approvals),
            test=baseline.test_id,
            approved=check.approvals,
            baseline_file=str(baseline.place),
        )
        texts[check.subject] = text
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
    _enter_undecided(evaluation, verdicts.values())
    texts: dict[str, str | None] = {}
    for metric, verdict in verdicts.items():
        text = None
        if verdict.regressed or verdict.inconclusive:
            from pytest_rankcheck.reports.text.blocked_text import regression_text

            text = regression_text(verdict, comparison)
        fails = verdict.regressed or (verdict.inconclusive and fails_if_inconclusive())
        if text is not None and not fails:
            first_lines = map(str.strip, text.splitlines()[:_SHOWN])
            enter(Note(Topic.INCONCLUSIVE, "; ".join(first_lines)))
            text = None
        word = str(Outcome.REGRESSED) if verdict.regressed else _passed_word(verdict)
        _enter_verdict(
            evaluation, metric, verdict, comparison, text, verdict=word, other=comparison.other
        )
        texts[str(metric)] = text
    return texts


def _enter_verdict(
    evaluation: Evaluation,
    metric: Metric,
    decided: Verdict | None,
    comparison: Comparison | None,
    text: str | None,
    *,
    other: Measured | None,
    approvals: Sequence[Approval] = (),
    **finding: Any,
) -> None:
    """Enter what was decided on a metric; without a verdict it could not be compared."""

    def detail() -> Mapping[str, Any]:
        from pytest_rankcheck.reports.gate_detail import new_detail, verdict_detail

        if decided is None or comparison is None:
            return new_detail(metric, evaluation)
        return verdict_detail(decided, comparison, approvals)

    finding["now"] = evaluation.mean(metric)
    if decided is not None:
        pairs = decided.overall.pairs
        finding |= {"now": pairs.mean_after, "baseline": pairs.mean_before}
    enter_gate(evaluation, metric, detail, other=other, text=text, **finding)


def _enter_undecided(evaluation: Evaluation, verdicts: Iterable[Verdict]) -> None:
    """Enter what the verdicts leave undecided."""
    verdicts = list(verdicts)
    if all(verdict.is_settled for verdict in verdicts):
        return
    from pytest_rankcheck.reports.text.verdict_notes import verdict_notes

    for note in verdict_notes(evaluation.golden.name, verdicts):
        enter(note)


def _check_word(check: MetricCheck) -> str:
    """Return what a check that passed decided, in a word or two."""
    if check.approvals:
        return "; ".join(approval.text for approval in check.approvals)
    if check.is_granted:
        return "passed, as recorded on this branch"
    if check.is_decided:
        return _passed_word(check.verdict)
    return "new" if check.is_new else "recorded anew"


def _passed_word(verdict: Verdict | None) -> str:
    """Return what a gate decided that did not block, and what it left undecided."""
    if verdict is None:
        return "passed"
    word = {
        Outcome.BETTER: "passed, better",
        Outcome.LOWER: "passed, lower",
        Outcome.INCONCLUSIVE: "inconclusive",
        Outcome.REGRESSED: "approved",
    }.get(verdict.outcome, "passed")
    if verdict.ungated_falls:
        word += ", but a slice that is not gated fell"
    elif verdict.overall.futility:
        word += ", decides nothing"
    if verdict.standardised_by is not None:
        word += f", at the mix of {quoted(verdict.standardised_by, 40)}"
    return word
