"""Findings at the end of a test, besides those of its assertions, and what its baseline becomes.

pytest imports this at every start: what is heavy is imported where it is used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.plugin.configuration import CONFIG, FOUND_IN_FIXTURES
from pytest_rankcheck.plugin.fixtures import BASELINE

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.reports.findings import ReportedFinding
    from pytest_rankcheck.reports.ledger import Ledger

__all__ = ["SHOWN", "findings_beside", "refuse_update", "settled"]

SHOWN = pytest.StashKey[dict[int, object]]()
"""The evaluations that are in a ledger already, kept so that their ids stay theirs."""

_LOOKED_AT = pytest.StashKey[dict[int, set[str]]]()
"""The metrics whose resolution is in a ledger already, by the id of the evaluation."""


def refuse_update(baseline: Baseline, ledger: Ledger) -> None:
    """Fail a test whose assertions have all passed, but whose update needs a reason.

    Args:
        baseline: the baseline of the test.
        ledger: what its assertions found; its gates are marked as refused.

    Raises:
        AssertionError: the update is refused.
    """
    __tracebackhide__ = True
    from pytest_rankcheck.baselines.update_actions import Action

    settlement = baseline.decide()
    if settlement is not None and settlement.action is Action.REFUSE:
        from pytest_rankcheck.reports.text.blocked_text import refused_text

        is_update = baseline.mode.update
        if is_update:
            ledger[:] = [_refused(finding) for finding in ledger]
        if baseline.loosened_rankings is not None and baseline.evaluation is not None:
            from pytest_rankcheck.baselines.blocks import Block
            from pytest_rankcheck.reports.text.stability_text import stability_text

            text = stability_text(
                baseline.loosened_rankings,
                Block.LOOSENED,
                baseline.evaluation,
                baseline.command,
                baseline.shown_path,
            )
            ledger[:] = [_unstable(finding, text) for finding in ledger]
            raise AssertionError(text)
        raise AssertionError(
            refused_text(settlement, baseline.command, baseline.shown_path, is_update=is_update)
        )


def _unstable(finding: ReportedFinding, text: str) -> ReportedFinding:
    """Return a finding of compared rankings marked as failed; any other finding unchanged."""
    from pytest_rankcheck.reports.notes import Note, Topic

    if not isinstance(finding, Note) or finding.topic is not Topic.STABILITY:
        return finding
    return replace(finding, failure=text)


def _refused(finding: ReportedFinding) -> ReportedFinding:
    """Return the finding of a gate with its update refused; any other finding as it is."""
    from pytest_rankcheck.reports.metric_findings import GateFinding

    if not isinstance(finding, GateFinding) or finding.baseline_file is None:
        return finding
    return replace(finding, verdict=f"{finding.verdict}; update refused", failed=True)


def settled(item: pytest.Item) -> Ledger:
    """Write or keep the baseline of a test that has passed; return what became of it.

    Raises:
        BaselineError: the file cannot be written, or another test session wrote a record that this
            test falls below.
    """
    __tracebackhide__ = True
    from pytest_rankcheck.reports.baseline_findings import RecordFinding
    from pytest_rankcheck.reports.text.baseline_notes import baseline_findings

    baseline = item.stash[BASELINE]
    settlement = baseline.write_or_keep()
    if settlement is None:
        return []
    ledger: Ledger = list(baseline_findings(baseline, settlement))
    if not baseline.was_blocked:
        file = Path(os.path.relpath(baseline.path, item.config.rootpath)).as_posix()
        gated = dict.fromkeys(str(check.metric) for check in baseline.checks)
        ledger.append(RecordFinding(file, baseline.golden_name, tuple(gated)))
    return ledger


def findings_beside(
    item: pytest.Item, ledger: Sequence[ReportedFinding], *, stopped: bool
) -> Iterator[ReportedFinding]:
    """Yield what the summary and the reports show besides the findings of assertions.

    Args:
        item: the test, which has ended.
        ledger: what its assertions found.
        stopped: whether it raised before its last line, so that assertions may not be reached.
    """
    if stopped and BASELINE in item.stash:
        yield from _unreached(item)
    yield from _of_baseline(item)
    yield from item.config.stash.setdefault(FOUND_IN_FIXTURES, [])
    item.config.stash[FOUND_IN_FIXTURES].clear()
    for name in ("evaluation", "session_evaluation"):
        evaluation: Any = getattr(item, "funcargs", {}).get(name)
        # Another plugin's fixture of this name is not read, which would import numpy.
        if type(evaluation).__module__.partition(".")[0] != "pytest_rankcheck":
            continue
        yield from _of_evaluation(item, evaluation, ledger)
        if item.config.stash[CONFIG].resolution:
            yield from _resolution(item, evaluation)
        if item.config.stash[CONFIG].reports.wanted:
            yield from _for_reports(item, evaluation, ledger)


def _unreached(item: pytest.Item) -> Iterator[ReportedFinding]:
    """Yield the gated metrics whose assertions the test has not reached."""
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.reports.unreached_gates import unreached_findings

    arguments = getattr(item, "funcargs", {})
    measured = (arguments.get(name) for name in ("evaluation", "session_evaluation"))
    evaluation = next((each for each in measured if isinstance(each, Evaluation)), None)
    yield from unreached_findings(item.stash[BASELINE], evaluation)


def _of_baseline(item: pytest.Item) -> Iterator[ReportedFinding]:
    """Yield the recorded metrics that are not gated, and the plan if it is requested."""
    if BASELINE not in item.stash:
        return
    from pytest_rankcheck.reports.text.baseline_notes import watched_findings

    yield from watched_findings(item.stash[BASELINE])
    if item.config.stash[CONFIG].plan:
        from pytest_rankcheck.reports.text.plan_text import plan_notes

        yield from plan_notes(item.stash[BASELINE])


def _of_evaluation(
    item: pytest.Item, evaluation: Evaluation, ledger: Sequence[ReportedFinding]
) -> Iterator[ReportedFinding]:
    """Yield the configured metrics and what a reader must know, once for each evaluation.

    How much a metric varies from run to run is yielded for every metric that a test measured.
    """
    shown = item.config.stash[SHOWN]
    if evaluation.repeats:
        from pytest_rankcheck.reports.metric_findings import MetricFinding
        from pytest_rankcheck.reports.text.measurement_notes import noise_notes

        measured = dict.fromkeys(
            finding.metric for finding in ledger if isinstance(finding, MetricFinding)
        )
        yield from noise_notes(evaluation, [*measured, *item.config.stash[CONFIG].metrics])
    if id(evaluation) in shown:
        return
    shown[id(evaluation)] = evaluation
    from pytest_rankcheck.metrics.metric_names import Metric
    from pytest_rankcheck.reports.metric_findings import MetricFinding
    from pytest_rankcheck.reports.notes import Note, Topic
    from pytest_rankcheck.reports.text.measurement_notes import evaluation_notes, timing_notes

    for metric in map(Metric.parse, item.config.stash[CONFIG].metrics):
        if evaluation.fits(metric):
            mean = evaluation.mean(metric)
            yield MetricFinding(golden_set=evaluation.golden.name, metric=str(metric), now=mean)
    chosen = item.config.stash[CONFIG]
    if chosen.run is not None and evaluation.unit == "query":
        text = (
            f"golden set '{quoted(evaluation.golden.name)}': the rankings were read from "
            f"{quoted(chosen.run.name)}; the ranker was not called"
        )
        yield Note(Topic.MEASURED, text)
    yield from evaluation_notes(evaluation)
    yield from timing_notes(evaluation)


def _resolution(item: pytest.Item, evaluation: Evaluation) -> Iterator[ReportedFinding]:
    """Yield what the metrics of this and earlier tests can see, if there are new metrics.

    The reports and the summary use the last one, which has all metrics.
    """
    from pytest_rankcheck.reports.text.resolution_text import resolution_findings

    metrics = (*item.config.stash[CONFIG].metrics, *evaluation.computed)
    looked_at = item.config.stash.setdefault(_LOOKED_AT, {})
    before, now = looked_at.get(id(evaluation), set()), {str(metric) for metric in metrics}
    if not now <= before:
        looked_at[id(evaluation)] = before | now
        yield from resolution_findings(evaluation, metrics)


def _for_reports(
    item: pytest.Item, evaluation: Evaluation, ledger: Sequence[ReportedFinding]
) -> Iterator[ReportedFinding]:
    """Yield what reports show besides the gates of a test: configured metrics, what to judge."""
    from pytest_rankcheck.metrics.metric_names import Metric
    from pytest_rankcheck.reports.judging_list import to_judge
    from pytest_rankcheck.reports.measurement_detail import measurement_finding
    from pytest_rankcheck.reports.measurement_findings import JudgingFinding
    from pytest_rankcheck.reports.metric_findings import GateFinding

    chosen = item.config.stash[CONFIG]
    metrics = [metric for metric in map(Metric.parse, chosen.metrics) if evaluation.fits(metric)]
    baseline = item.stash.get(BASELINE, None)
    other = baseline.comparable_record if baseline else None
    if metrics:
        yield measurement_finding(evaluation, other, metrics)
    if "unjudged" in chosen.reports.by_format and evaluation.unit == "query":
        gated = [
            Metric.parse(finding.metric)
            for finding in ledger
            if isinstance(finding, GateFinding) and finding.reached
        ]
        ranked = [metric for metric in (*gated, *metrics) if metric.unit == "query"]
        of_queries = list(dict.fromkeys(ranked)) or [Metric.parse("nDCG@10")]
        yield JudgingFinding(tuple(to_judge(evaluation, of_queries)))
