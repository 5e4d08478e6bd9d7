"""The metrics that a baseline gates, and that a test did not reach before it stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.metric_check import incompatibilities
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.comparison.comparison import compare
from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.gate_detail import new_detail
from pytest_rankcheck.reports.ledger import wants_detail
from pytest_rankcheck.reports.measurement_detail import measurement_finding, rounded
from pytest_rankcheck.reports.metric_findings import GateFinding

__all__ = ["NOT_REACHED", "unreached_findings"]

NOT_REACHED = "not reached"
"""The verdict of a gate whose assertion was not reached."""


def unreached_findings(
    baseline: Baseline, evaluation: Evaluation | None
) -> Iterator[ReportedFinding]:
    """Yield the gated metrics of the record that a test has not checked, with recorded values.

    Args:
        baseline: the baseline of a test that stopped: it failed, or was skipped.
        evaluation: what the test would have measured, if it made no check.
    """
    measured = baseline.evaluation or evaluation
    if measured is None:
        return
    with suppress(RankcheckError):  # a baseline that cannot be read has failed the test
        record = baseline.record
        if record is None or record.golden_name != measured.golden.name:
            return
        reached = {str(check.metric) for check in baseline.checks}
        for name in record.gated:
            if name not in reached:
                yield from _unreached(baseline, record, measured, Metric.parse(name))


def _unreached(
    baseline: Baseline, record: Record, evaluation: Evaluation, metric: Metric
) -> Iterator[ReportedFinding]:
    """Yield the finding of one metric; if a report is written, also its measurement."""
    before, now, best = record.mean(metric), evaluation.mean(metric), None
    if not incompatibilities(record, evaluation):
        comparison = compare(evaluation, record)
        if comparison.query_ids:
            pairs = comparison.values(metric)
            before, now, best = pairs.mean_before, pairs.mean_after, record.best_for(pairs)
    detail = None
    if wants_detail():
        measurement = measurement_finding(evaluation, record, [metric])
        yield measurement
        empty = new_detail(metric, evaluation)
        detail = replace(
            empty,
            gate=record.kept[str(metric)].gate or "",
            outcome=NOT_REACHED,
            measurement=measurement.key,
            overall=replace(
                empty.overall,
                outcome=NOT_REACHED,
                before=rounded(before),
                now=rounded(now),
                difference=rounded(now - before),
            ),
        )
    yield GateFinding(
        golden_set=evaluation.golden.name,
        metric=str(metric),
        now=now,
        baseline=before,
        best=best,
        verdict=NOT_REACHED,
        reached=False,
        baseline_file=baseline.shown_path,
        test=baseline.test_id,
        detail=detail,
    )
