"""What the commands share: what they measure and how files are read, exit codes, the table."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pytest_rankcheck.baselines.record_file import is_record
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.files.file_patterns import matches_any
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import USUAL_METRICS, Metric, usual_metrics
from pytest_rankcheck.plugin.configuration import CONFIG, configured_names, project_configuration
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.reports.findings import MetricFinding, Note, ReportedFinding, Topic
from pytest_rankcheck.reports.text.summary_table import summary_lines
from pytest_rankcheck.reports.text.wording import number_text

PASSED, BLOCKED, INVALID = 0, 1, 2
"""The exit codes: the gate passed; it blocks; nothing was decided, or the input is invalid."""

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_repeated(
    command: argparse.ArgumentParser, flag: str, value: str, what: str, default: str
) -> None:
    """Add an option that may be given several times; without it, its value is empty.

    Args:
        command: the command.
        flag: the option.
        value: what is given, as the help names it.
        what: what the value means.
        default: what applies without it.
    """
    text = f"{what} (may be given several times; default: {default})"
    command.add_argument(flag, action="append", default=[], metavar=value, help=text)


def add_override(command: argparse.ArgumentParser) -> None:
    """Add the option ``-o``, which overrides the project's configuration as that of pytest does."""
    what = "override an option of the project's configuration, such as rankcheck_depth=100"
    add_repeated(command, "-o", "NAME=VALUE", what, "what the project configures")


def add_project_options(command: argparse.ArgumentParser) -> None:
    """Add the options that `ProjectInputs` and its golden set need."""
    command.add_argument("--golden", type=Path, help="the golden set (default: rankcheck_golden)")
    add_override(command)


@dataclass(frozen=True, slots=True)
class ProjectInputs:
    """The configuration of the project, with what the command line overrides."""

    inputs: Inputs
    depth: int | None = None
    """How many documents of each ranking count; None: the project does not say."""

    @classmethod
    def of(cls, chosen: argparse.Namespace) -> ProjectInputs:
        """Return the inputs for the arguments of a command that has `add_override`.

        Raises:
            ConfigurationError: the configuration file or an override is invalid.
        """
        project = project_configuration(chosen.o)
        config = project.stash[CONFIG]
        is_deep = "rankcheck_depth" in configured_names(project)
        return cls(Inputs(config), config.depth if is_deep else None)

    def golden_set(self, path: Path | None) -> GoldenSet:
        """Return the golden set in a file, or else the only set that the project configures.

        Raises:
            ConfigurationError: no path is given, and no set or more than one is configured.
            GoldenSetError: the set cannot be read.
        """
        if path is None:
            configured = self.inputs.config.golden
            if len(configured) != 1:
                why = f"configures {len(configured)} of them" if configured else "configures none"
                raise ConfigurationError(
                    f"no golden set: give it with --golden; rankcheck_golden {why}"
                )
            path = configured[0]
        return self.inputs.golden_set(path)

    def measured(self, path: Path, golden: GoldenSet) -> Evaluation:
        """Return the measurement of the run in a file, cut to the configured depth.

        Raises:
            RankcheckError: the file is not a run, or does not fit the golden set.
        """
        if not matches_any(path):
            raise ConfigurationError(f"{quoted(path)} does not exist")
        if is_record(path):
            what = "a baseline, which a test session compares with"
            raise ConfigurationError(f"{quoted(path)} is {what}; give a run")
        run = self.inputs.of_golden(golden.name).read_run(path)
        return self.inputs.evaluation(run if self.depth is None else run.top(self.depth), golden)


def add_measurement_options(command: argparse.ArgumentParser) -> None:
    """Add the options that choose the golden set, the metrics and the slices."""
    add_project_options(command)
    usual = " and ".join(USUAL_METRICS)
    add_repeated(command, "--metric", "NAME", "a metric, such as nDCG@10", usual)
    usual = "compare: rankcheck_slices"
    add_repeated(command, "--by", "ATTRIBUTE", "also use its slices", usual)


def chosen_metrics(chosen: argparse.Namespace, evaluation: Evaluation) -> list[Metric]:
    """Return the metrics named on the command line, or else the usual ones."""
    return [*map(Metric.parse, chosen.metric or usual_metrics(evaluation.depth))]


def mean_findings(
    evaluation: Evaluation, metrics: Sequence[Metric], by: Sequence[str]
) -> Iterator[ReportedFinding]:
    """Yield the mean of each metric, and a note for each slice."""
    for metric in metrics:
        yield MetricFinding(
            golden_set=evaluation.golden.name,
            ranker=evaluation.name,
            metric=str(metric),
            now=evaluation.mean(metric),
        )
        for attribute in by:
            for value, query_ids in evaluation.slices(attribute).items():
                mean = number_text(evaluation.mean_at(metric, evaluation.places(query_ids)))
                yield Note(
                    Topic.SLICE_MEANS,
                    f"{quoted(value)}  {mean} ({len(query_ids):,})",
                    f"{metric} by {quoted(attribute)}",
                )


def print_summary(findings: Sequence[ReportedFinding]) -> None:
    """Print the summary table: fitted to a terminal, at full width in a pipe or a file."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in summary_lines(findings, width):
        print(line.text)
