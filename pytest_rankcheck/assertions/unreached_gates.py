"""The gates of a test that stopped before it reached them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from pytest_rankcheck.assertions.entered_findings import gate_row
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.succession import manner_changes
from pytest_rankcheck.comparison.comparison import compare
from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.explanation.gate_numbers import NOT_REACHED, Decided, GateNumbers
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import ReportedFinding, Said
from pytest_rankcheck.reports.ledger import wants_detail, wants_queries
from pytest_rankcheck.reports.measurement_findings import measurement_finding


def unreached_findings(
    baseline: Baseline, evaluation: Evaluation | None
) -> Iterator[ReportedFinding]:
    """Yield the gated metrics of the record that a test did not check, with their recorded values.

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
        for name in record.gated:
            if name not in reached:
                yield from _unreached(baseline, record, measured, Metric.parse(name))


def _unreached(
    baseline: Baseline, record: Record, evaluation: Evaluation, metric: Metric
) -> Iterator[ReportedFinding]:
    """Yield the finding of one metric; if a report is written, also its measurement."""
    before, now = record.mean(metric), evaluation.mean(metric)
    if not [*manner_changes(record, evaluation)]:
        comparison = compare(evaluation, record)
        if comparison.query_ids:
            pairs = comparison.values(metric)
            before, now = pairs.mean_before, pairs.mean_after
    numbers = None
    if wants_detail():
        chosen = None if wants_queries() else ()
        measurement = measurement_finding(evaluation, record, [metric], chosen)
        yield measurement
        overall = Decided(
            queries=len(evaluation.query_ids),
            before=before,
            now=now,
            difference=now - before,
            outcome=NOT_REACHED,
        )
        numbers = GateNumbers(
            metric=metric,
            gate=record.gate(metric) or "",
            outcome=NOT_REACHED,
            overall=overall,
            measurement=measurement.data["key"],
        )
    yield gate_row(
        evaluation,
        metric,
        now=now,
        baseline=before,
        said=Said.NOT_REACHED,
        reached=False,
        baseline_file=str(baseline.place),
        test=baseline.test_id,
        numbers=numbers,
    )
