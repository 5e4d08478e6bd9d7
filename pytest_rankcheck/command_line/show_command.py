"""``python -m pytest_rankcheck show``: the means of a run, a log, a baseline or a report."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_rankcheck.baselines.data_file import leftover_data
from pytest_rankcheck.baselines.recorded_evaluation import record_in, recorded
from pytest_rankcheck.command_line.measurement_options import (
    PASSED,
    Commands,
    add_measurement_options,
    chosen_metrics,
    print_summary,
)
from pytest_rankcheck.command_line.project_inputs import ProjectInputs
from pytest_rankcheck.command_line.session_inputs import SessionInputs, add_log_options
from pytest_rankcheck.errors import ConfigurationError, plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.session_evaluation import evaluate_sessions
from pytest_rankcheck.files.file_patterns import matches_any
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.metric_findings import MetricFinding
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.measurement_notes import tie_notes, unmet_id_notes
from pytest_rankcheck.reports.text.resolution_text import resolution_findings
from pytest_rankcheck.reports.text.wording import number_text

__all__ = ["add_show_command"]

_OF_LOGS = ("SuccessRate", "SuccessRate@1", "SessionRR(abandoned=zero)", "EventsPerSession")
"""The metrics of a session log that are shown if none are named."""


def add_show_command(commands: Commands) -> None:
    """Add the command ``show`` to the parser."""
    show = commands.add_parser(
        "show", help="show the means of a run, a session log, a baseline or a report"
    )
    show.add_argument("file", type=Path, help="a run, a session log, a baseline, or a JSON report")
    add_measurement_options(show)
    add_log_options(show)
    show.set_defaults(run=_show)


def _show(chosen: argparse.Namespace) -> int:
    if not matches_any(chosen.file):
        raise ConfigurationError(f"{quoted(chosen.file)} does not exist")
    kind = recorded(chosen.file) if chosen.file.exists() else None
    if chosen.golden is not None:
        return _show_measured(chosen)
    if kind is None:
        logs = SessionInputs.of(chosen)
        if logs.is_log(chosen.file):
            return _show_log(chosen, logs)
        raise ConfigurationError(f"{quoted(chosen.file)}: to measure a run, give its --golden set")
    return _show_record(chosen.file, kind)


def _show_measured(chosen: argparse.Namespace) -> int:
    """Print how good a file is on a golden set."""
    inputs = ProjectInputs.of(chosen)
    golden = inputs.golden_set(chosen.golden)
    evaluation = inputs.measured(chosen.file, golden)
    metrics = chosen_metrics(chosen, evaluation)
    means = _means(evaluation, metrics, chosen.by)
    unmet = list(unmet_id_notes(evaluation))
    # Without a judged document there is nothing to see, and nothing to judge.
    seen = [] if unmet else resolution_findings(evaluation, metrics)
    print_summary([*means, *unmet, *tie_notes(evaluation), *seen])
    return PASSED


def _show_record(file: Path, kind: str) -> int:
    """Print what a baseline or a report records."""
    record = record_in(file)
    assert record is not None
    print(
        f"{kind} of golden set '{quoted(record.golden_name)}': {record.golden_queries:,} queries, "
        f"{record.golden_judgments:,} judgments, fingerprint {quoted(record.golden_fingerprint)}"
    )
    for name, kept in record.kept.items():
        mean = number_text(record.mean(Metric.parse(name)))
        print(
            f"  {name}  {mean}  best {number_text(kept.best)}{'' if kept.gated else '  not gated'}"
        )
    for limits in record.stability:
        print(f"  rankings limited by {limits}")
    for approval in record.approvals:
        print(f'  approved {approval.date[:10]}: "{quoted(approval.reason)}"')
    if record.is_merged:
        print("  merged from two branches, and not updated since")
    if record.retired is not None:
        print(f'  retired {record.retired.date[:10]}: "{quoted(record.retired.reason)}"')
    for leftover in leftover_data(file):
        print(f"  not used: {quoted(leftover.name, 300)}; the next update removes it")
    return PASSED


def _show_log(chosen: argparse.Namespace, logs: SessionInputs) -> int:
    """Print the means of a session log."""
    log = logs.log(chosen.file)
    evaluation = evaluate_sessions(log)
    print(
        f"session log '{quoted(log.name)}': {plural(len(log), 'session')}, "
        f"{plural(log.event_count, 'event')}"
    )
    metrics = [Metric.parse(name) for name in chosen.metric or _OF_LOGS]
    heading = f"session log '{quoted(log.name)}'"
    notes = [Note(Topic.MEASURED, note, heading) for note in evaluation.notes]
    print_summary([*_means(evaluation, metrics, chosen.by), *notes])
    return PASSED


def _means(
    evaluation: Evaluation, metrics: Sequence[Metric], by: Sequence[str]
) -> Iterator[ReportedFinding]:
    """Yield the mean of each metric, and a note for each slice."""
    for metric in metrics:
        yield MetricFinding(
            golden_set=evaluation.golden.name, metric=str(metric), now=evaluation.mean(metric)
        )
        for attribute in by:
            for value, query_ids in evaluation.slices(attribute).items():
                mean = number_text(evaluation.mean_at(metric, evaluation.places(query_ids)))
                yield Note(
                    Topic.SLICE_MEANS,
                    f"{quoted(value)}  {mean} ({len(query_ids):,})",
                    f"{metric} by {quoted(attribute)}",
                )
