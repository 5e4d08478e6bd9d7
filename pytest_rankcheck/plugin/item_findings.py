"""Findings at the end of a test besides those of its assertions, and the fate of its baseline.

pytest imports this at every start: what is heavy is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rankcheck.plugin.baseline_settings import baseline_settings
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.fixtures import BASELINE
from pytest_rankcheck.plugin.item_identity import run_label

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.metrics.metric_names import Metric
    from pytest_rankcheck.plugin.inputs import Inputs
    from pytest_rankcheck.reports.findings import ReportedFinding
    from pytest_rankcheck.reports.ledger import Ledger


SHOWN = pytest.StashKey[dict[int, tuple["Evaluation", "Inputs"]]]()
"""The evaluations that are already in a ledger, by id, with what they were made from."""


def name_run(item: pytest.Item) -> None:
    """Name the run that a test measures by the parameters that chose it, if any did."""
    arguments: dict[str, Any] = getattr(item, "funcargs", {})
    for name in ("ranking_run", "evaluation"):
        measured: Any = arguments.get(name)
        if not _is_ours(measured):
            continue
        golden = getattr(measured, "golden", arguments.get("golden_set"))
        label = run_label(item, getattr(golden, "name", "")) or measured.name
        if label == measured.name:
            continue
        if name == "evaluation":
            measured.name = label
        else:
            arguments[name] = measured.with_facts(name=label)


def without_false_claims(
    item: pytest.Item, ledger: Ledger, *, passed: bool
) -> Iterator[ReportedFinding]:
    """Yield the findings without claims of a rise or a record that are not true.

    A metric is better only if its record would be raised; a test that failed writes nothing.
    """
    if not ledger:
        return
    from pytest_rankcheck.reports.findings import GateFinding, Remark, Said

    baseline = item.stash.get(BASELINE, None)
    raises = passed and baseline is not None and baseline.raised_record
    is_refused = not passed and baseline is not None and baseline.mode.update
    written = (Said.APPROVED, Said.NEW, Said.ANEW)
    for each in ledger:
        if isinstance(each, GateFinding) and each.said is Said.BETTER and not raises:
            yield replace(each, said=Said.PASSED)
        elif isinstance(each, GateFinding) and is_refused and each.said in written:
            yield replace(each, remarks=(*each.remarks, Remark.UNWRITTEN))
        else:
            yield each


def caught(ledger: Ledger) -> Iterator[ReportedFinding]:
    """Yield the findings of a test that passed: it caught the failures of its gates itself."""
    from pytest_rankcheck.reports.findings import GateFinding, Remark

    for each in ledger:
        if isinstance(each, GateFinding) and each.failed:
            remarks = (*each.remarks, Remark.CAUGHT)
            yield replace(each, failed=False, remarks=remarks, remedy=None, failure=None)
        elif not each.failed:
            yield each


def refuse_dropped_gates(baseline: Baseline) -> None:
    """Fail a test whose assertions all passed, but which no longer gates what it used to.

    Raises:
        AssertionError: the reference gates more, and no reason allows the difference.
    """
    dropped = baseline.unapproved_drops()
    if dropped is not None:
        from pytest_rankcheck.assertions.entered_findings import conclude
        from pytest_rankcheck.reports.findings import Topic
        from pytest_rankcheck.reports.text.blocked_text import dropped_gates

        explanation = dropped_gates(dropped, baseline.place)
        conclude(Topic.NO_LONGER_GATED, dropped, explanation)


def settled(item: pytest.Item) -> Ledger:
    """Write or keep the baseline of a test that has passed; return what became of it.

    Raises:
        BaselineError: the file cannot be written, or another test session wrote a record that this
            test falls below.
    """
    from pytest_rankcheck.reports.findings import RecordFinding
    from pytest_rankcheck.reports.text.baseline_notes import baseline_notes

    baseline = item.stash[BASELINE]
    settlement = baseline.write_or_keep()
    if settlement is None:
        return []
    ledger: Ledger = list(baseline_notes(baseline, settlement))
    gated = dict.fromkeys(str(check.metric) for check in baseline.checks)
    file = baseline_settings(item.config).shown(baseline.path)
    caught = "its gate failed, and its test went on" if baseline.was_blocked else None
    ledger.append(RecordFinding(file, baseline.golden_name, tuple(gated), caught))
    return ledger


def findings_beside(
    item: pytest.Item, ledger: Sequence[ReportedFinding], *, stopped: bool
) -> Iterator[ReportedFinding]:
    """Yield what the summary and the reports show besides the findings of assertions.

    Args:
        item: the test, which has ended.
        ledger: what its assertions found.
        stopped: whether it raised before its last line, so that some assertions may not have run.
    """
    if BASELINE in item.stash:
        yield from _of_baseline(item, stopped=stopped)
    for evaluation in _evaluations(item):
        from pytest_rankcheck.plugin.inputs import inputs_for

        metrics = [each for each in inputs_for(item).metrics if evaluation.fits(each)]
        yield from _of_evaluation(item, evaluation, metrics, ledger)
        if item.config.stash[CONFIG].writes_reports:
            yield from _for_reports(item, evaluation, metrics, ledger)


def _evaluations(item: pytest.Item) -> Iterator[Evaluation]:
    """Yield the evaluations that the fixtures gave a test."""
    arguments: dict[str, Any] = getattr(item, "funcargs", {})
    for name in ("evaluation", "session_evaluation"):
        if _is_ours(arguments.get(name)):
            yield arguments[name]


def _is_ours(value: Any) -> bool:
    """Return whether a value is of this package, without importing what it needs."""
    return type(value).__module__.partition(".")[0] == "pytest_rankcheck"


def _of_baseline(item: pytest.Item, *, stopped: bool) -> Iterator[ReportedFinding]:
    """Yield the gates that were not reached, the metrics without a gate, and a requested plan."""
    from pytest_rankcheck.reports.text.baseline_notes import watched_findings

    baseline = item.stash[BASELINE]
    if stopped:
        from pytest_rankcheck.assertions.regression_assertion import enter_unreached_gates

        enter_unreached_gates(baseline, next(_evaluations(item), None))
    yield from watched_findings(baseline)
    if item.config.stash[CONFIG].plan:
        from pytest_rankcheck.reports.text.baseline_notes import plan_notes

        yield from plan_notes(baseline)


def _of_evaluation(
    item: pytest.Item,
    evaluation: Evaluation,
    metrics: Sequence[Metric],
    ledger: Sequence[ReportedFinding],
) -> Iterator[ReportedFinding]:
    """Yield the configured metrics and what a reader must know, once for each evaluation.

    How much a metric varies from run to run is yielded for every metric that a test measured.
    """
    from pytest_rankcheck.plugin.inputs import inputs_for
    from pytest_rankcheck.reports.findings import MetricFinding
    from pytest_rankcheck.reports.text import measurement_notes

    inputs, shown = inputs_for(item), item.config.stash[SHOWN]
    measured = [finding.metric for finding in ledger if isinstance(finding, MetricFinding)]
    yield from measurement_notes.noise_notes(
        evaluation, dict.fromkeys([*measured, *inputs.config.metrics])
    )
    yield from measurement_notes.document_notes(evaluation)
    if id(evaluation) in shown:
        return
    shown[id(evaluation)] = (evaluation, inputs)
    for metric in metrics:
        mean = evaluation.mean(metric)
        yield MetricFinding(
            golden_set=evaluation.golden.name, ranker=evaluation.name, metric=str(metric), now=mean
        )
    yield from measurement_notes.evaluation_notes(evaluation, inputs.lint_options())


def _for_reports(
    item: pytest.Item,
    evaluation: Evaluation,
    metrics: Sequence[Metric],
    ledger: Sequence[ReportedFinding],
) -> Iterator[ReportedFinding]:
    """Yield what reports show besides the gates of a test: configured metrics, what to judge."""
    from pytest_rankcheck.explanation.documents_to_judge import to_judge
    from pytest_rankcheck.metrics.metric_names import Metric
    from pytest_rankcheck.reports.findings import GateFinding, JudgingFinding
    from pytest_rankcheck.reports.ledger import wanted
    from pytest_rankcheck.reports.measurement_findings import measurement_finding

    baseline = item.stash.get(BASELINE, None)
    if metrics and wanted().queries:
        checks = baseline.checks if baseline else ()
        other = next((check.record for check in checks if check.is_decided), None)
        yield measurement_finding(evaluation, other, metrics)
    if "unjudged" in item.config.stash[CONFIG].reports and evaluation.kind.recur:
        gated = [
            Metric.parse(finding.metric)
            for finding in ledger
            if isinstance(finding, GateFinding) and finding.reached
        ]
        ranked = [metric for metric in (*gated, *metrics) if metric.kind.is_of_judgments]
        of_queries = list(dict.fromkeys(ranked)) or [Metric.parse("nDCG@10")]
        top = item.config.stash[CONFIG].unjudged_depth
        yield JudgingFinding(tuple(to_judge(evaluation, of_queries, top)))
