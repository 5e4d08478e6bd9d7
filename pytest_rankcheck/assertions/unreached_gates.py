"""The gates of a test that stopped before it reached them."""

from __future__ import annotations

from contextlib import suppress

from pytest_rankcheck.assertions.entered_findings import EnteredGate, enter_gates, gate_row
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.explanation.gate_numbers import NOT_REACHED, Decided, GateNumbers
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import Said


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
