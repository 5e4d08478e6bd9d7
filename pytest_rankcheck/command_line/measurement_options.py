"""What the commands share: the options that choose a measurement, exit codes, the summary table."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.recorded_evaluation import RecordedEvaluation
from pytest_rankcheck.command_line.project_inputs import add_reading_options
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import USUAL_METRICS, Metric, usual_metrics
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.text.summary_table import summary_lines

__all__ = [
    "BLOCKED",
    "INVALID",
    "PASSED",
    "Commands",
    "add_measurement_options",
    "chosen_metrics",
    "print_summary",
    "record_of",
]

PASSED, BLOCKED, INVALID = 0, 1, 2
"""The exit codes: the gate passed, the gate blocks, or the usage or the input is invalid."""

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_measurement_options(command: argparse.ArgumentParser) -> None:
    """Add the options that choose the golden set, the metrics and the slices, and how to read."""
    command.add_argument(
        "--golden", type=Path, help="the golden set (compare: default: rankcheck_golden)"
    )
    command.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="a metric, such as nDCG@10 (may be given several times; default: those of the "
        f"baseline, else {' and '.join(USUAL_METRICS)})",
    )
    command.add_argument(
        "--metrics",
        action="extend",
        nargs="+",
        dest="metric",
        metavar="NAME",
        help="several metrics, such as nDCG@10 RR; the same as --metric for each",
    )
    command.add_argument(
        "--by", action="append", default=[], metavar="ATTRIBUTE", help="also use its slices"
    )
    add_reading_options(command)


def record_of(evaluation: Evaluation) -> Record | None:
    """Return the record that an evaluation was restored from; None if it was measured now."""
    return evaluation.record if isinstance(evaluation, RecordedEvaluation) else None


def chosen_metrics(chosen: argparse.Namespace, evaluation: Evaluation) -> list[Metric]:
    """Return the metrics named on the command line, else those of a record, else the usual ones."""
    names: Sequence[str] = chosen.metric or ()
    if not names:
        record = record_of(evaluation)
        names = record.gated if record else usual_metrics(evaluation.depth)
    return [Metric.parse(name) for name in names]


def print_summary(findings: Sequence[ReportedFinding]) -> None:
    """Print the summary table: fitted to a terminal, at full width in a pipe or a file."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in summary_lines(findings, width):
        print(line.text)
