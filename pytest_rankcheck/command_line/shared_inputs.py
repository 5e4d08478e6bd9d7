"""What the commands share: what they measure and how files are read, exit codes, the table."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.recorded_evaluation import MeasuredRecord, is_record
from pytest_rankcheck.errors import BaselineError, ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.files.file_patterns import matches_any
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import USUAL_METRICS, Metric, usual_metrics
from pytest_rankcheck.plugin.configuration import CONFIG, configured_names
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.project_configuration import project_configuration
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

    def measured(self, path: Path, golden: GoldenSet, depth: int | None = None) -> Evaluation:
        """Return the measurement in a file: a run, cut to a depth, or a baseline.

        Raises:
            RankcheckError: the file is neither, or does not fit the golden set.
        """
        record, depth = _record_in(path), depth or self.depth
        if record is not None:
            return Evaluation(MeasuredRecord(record, golden, path.name))
        run = self.inputs.of_golden(golden.name).read_run(path)
        return self.inputs.evaluation(run if depth is None else run.top(depth), golden)

    def measured_alike(self, paths: tuple[Path, Path], golden: GoldenSet) -> Sequence[Evaluation]:
        """Return the measurements in two files that are to be compared.

        If no depth is given or configured, a run is cut to the depth of the baseline that it is
        compared with.

        Raises:
            ConfigurationError: they were measured at different depths or by different conventions.
            RankcheckError: as in `measured`.
        """
        records = map(_record_in, paths)
        depth = next((record.depth for record in records if record and record.depth), None)
        measured = [self.measured(path, golden, self.depth or depth) for path in paths]
        then, now = (
            {"depth": side.depth or "all documents"}
            | {name: repr(chosen) for name, chosen in asdict(side.conventions).items()}
            for side in measured
        )
        differences = "; ".join(
            f"{name}: {then[name]} in {quoted(paths[0])}, {now[name]} in {quoted(paths[1])}"
            for name in then
            if then[name] != now[name]
        )
        if differences:
            raise ConfigurationError(
                f"not comparable: {differences}. Measure both in the same way: rankcheck_depth "
                "says how much of a run is used, and rankcheck_conventions how it is read; a "
                "baseline keeps what it was recorded with"
            )
        return measured


def _record_in(path: Path) -> Record | None:
    """Return the record in a baseline file; None for a run.

    Raises:
        BaselineError: the baseline is invalid.
    """
    if not matches_any(path):
        raise BaselineError(f"{quoted(path)} does not exist")
    return Record.load(path) if is_record(path) else None


def add_measurement_options(command: argparse.ArgumentParser) -> None:
    """Add the options that choose the golden set, the metrics and the slices."""
    add_project_options(command)
    usual = f"those of the baseline, else {' and '.join(USUAL_METRICS)}"
    add_repeated(command, "--metric", "NAME", "a metric, such as nDCG@10", usual)
    usual = "compare: those of the baseline, else rankcheck_slices"
    add_repeated(command, "--by", "ATTRIBUTE", "also use its slices", usual)


def record_of(evaluation: Evaluation) -> Record | None:
    """Return the record that an evaluation was restored from; None if it was measured now."""
    source = evaluation.source
    return source.record if isinstance(source, MeasuredRecord) else None


def chosen_metrics(chosen: argparse.Namespace, evaluation: Evaluation) -> list[Metric]:
    """Return the metrics named on the command line, else those of a record, else the usual ones.

    Raises:
        ConfigurationError: none is named, and the record gates none.
    """
    names: Sequence[str] = chosen.metric
    if not names:
        record = record_of(evaluation)
        names = record.gated if record else usual_metrics(evaluation.depth)
    if not names:
        raise ConfigurationError(
            f"{quoted(evaluation.name)} gates no metric; name one with --metric"
        )
    return [Metric.parse(name) for name in names]


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
