"""``python -m pytest_rankcheck show``: the means of a run or a baseline."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_file import FORMAT_NAME, is_record
from pytest_rankcheck.command_line.shared_inputs import (
    PASSED,
    Commands,
    ProjectInputs,
    add_measurement_options,
    chosen_metrics,
    mean_findings,
    print_summary,
)
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.text.measurement_notes import document_notes, evaluation_notes
from pytest_rankcheck.reports.text.wording import number_text


def add_show_command(commands: Commands) -> None:
    """Add the command ``show`` to the parser."""
    show = commands.add_parser("show", help="show the means of a run or a baseline")
    show.add_argument("file", type=Path, help="a run or a baseline")
    add_measurement_options(show)
    show.set_defaults(run=_show)


def _show(chosen: argparse.Namespace) -> int:
    file: Path = chosen.file
    if chosen.golden is None and file.exists() and is_record(file):
        _show_record(file)
        return PASSED
    project = ProjectInputs.of(chosen)
    evaluation = project.measured(file, project.golden_set(chosen.golden))
    means = mean_findings(evaluation, chosen_metrics(chosen, evaluation), chosen.by)
    notes = evaluation_notes(evaluation, project.inputs.lint_options())
    print_summary([*means, *notes, *document_notes(evaluation)])
    return PASSED


def _show_record(file: Path) -> None:
    """Print what a baseline records."""
    record = Record.load(file)
    golden = record.golden_set
    print(
        f"{FORMAT_NAME} of golden set '{quoted(golden.name)}': {golden.queries:,} queries, "
        f"{golden.judgments:,} judgments, fingerprint {quoted(golden.fingerprint)}"
    )
    for name, recorded in record.metrics.items():
        mean = number_text(record.mean(Metric.parse(name)))
        print(f"  {name}  {mean}{'' if recorded.gated else '  not gated'}")
    for name, unknown in record.unknown.items():
        print(f"  {quoted(name)}  {unknown.entry['mean']}  not known here")
    for limits in record.limits:
        print(f"  rankings limited by {limits}")
    for approval in record.approvals:
        print(f'  approved {approval.date[:10]}: "{quoted(approval.reason)}"')
    if record.retired is not None:
        print(f'  retired {record.retired.date[:10]}: "{quoted(record.retired.reason)}"')
