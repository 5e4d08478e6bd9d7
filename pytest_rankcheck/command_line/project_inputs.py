"""What a command measures: the files on the command line, read as the project configures."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.recorded_evaluation import RecordedEvaluation, record_in
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.plugin.configured_golden import loaded_golden
from pytest_rankcheck.plugin.configured_inputs import evaluated
from pytest_rankcheck.plugin.option_parsers import Given, grades, pairs, whole_number
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.plugin.project_configuration import project_configuration
from pytest_rankcheck.plugin.ranking_runs import read_run

__all__ = ["ProjectInputs", "add_reading_options"]


def add_reading_options(command: argparse.ArgumentParser) -> None:
    """Add the options that say how golden sets and runs are read, which override the project's."""
    command.add_argument(
        "--grades",
        action="append",
        metavar="CODE=GRADE",
        help="what a code of the golden set means, such as 1=4 (may be given several times; "
        "default: rankcheck_grades)",
    )
    command.add_argument(
        "--columns",
        action="append",
        metavar="MEANING=NAME",
        help="a column of a golden set that is a table, such as query_id=keyword (may be given "
        "several times; default: rankcheck_columns)",
    )
    command.add_argument(
        "--golden-format",
        metavar="FORMAT",
        help="the format of the golden set, such as trec or quepid (default: the content decides)",
    )
    command.add_argument(
        "--depth",
        metavar="N",
        help="use the first N documents of each ranking (default: rankcheck_depth, if it is set; "
        "else the depth of the baseline that a run is compared with; else all)",
    )


@dataclass(frozen=True, slots=True)
class ProjectInputs:
    """The configuration of the project, with what the command line overrides."""

    config: Config
    golden_format: str | None = None
    depth: int | None = None
    """How many documents of each ranking count; None: neither the command line nor the project
    says."""

    @classmethod
    def of(cls, chosen: argparse.Namespace) -> ProjectInputs:
        """Return the inputs for the arguments of a command that has `add_reading_options`.

        Raises:
            ConfigurationError: the configuration file or an option is invalid.
        """
        project, here = project_configuration(), Path.cwd()
        config = project.config
        values = vars(config)
        if chosen.grades:
            values = {**values, "grades": grades(Given("--grades", chosen.grades, here))}
        if chosen.columns:
            columns = pairs("query_id=keyword")(Given("--columns", chosen.columns, here))
            values = {**values, "columns": columns}
        depth = config.depth if "rankcheck_depth" in project.names else None
        if chosen.depth is not None:
            depth = whole_number(1)(Given("--depth", chosen.depth, here))
        return cls(Config(**values), chosen.golden_format, depth)

    def golden_path(self, path: Path | None) -> Path:
        """Return the given path of a golden set, or else that of the only configured set.

        Raises:
            ConfigurationError: no path is given, and no set or more than one is configured.
        """
        if path is None:
            configured = self.config.golden
            if len(configured) != 1:
                why = f"configures {len(configured)} of them" if configured else "configures none"
                raise ConfigurationError(
                    f"no golden set: give it with --golden; rankcheck_golden {why}"
                )
            path = configured[0]
        return path

    def golden_set(self, path: Path | None, *, contradictions: str | None = None) -> GoldenSet:
        """Return the golden set in a file, or else the only set that the project configures.

        Args:
            path: the file or folder.
            contradictions: overrides the configured treatment of documents that are judged twice.

        Raises:
            ConfigurationError: as in `golden_path`.
            GoldenSetError: the set cannot be read.
        """
        return loaded_golden(
            self.config, self.golden_path(path), contradictions, self.golden_format
        )

    def measured(self, path: Path, golden: GoldenSet) -> Evaluation:
        """Return the measurement in a file: a run, a baseline or a JSON report.

        Raises:
            RankcheckError: the file is something else, or does not fit the golden set.
        """
        return self._measured(path, record_in(path, golden.name), golden, self.depth)

    def _measured(
        self, path: Path, record: Record | None, golden: GoldenSet, depth: int | None
    ) -> Evaluation:
        if record is not None:
            return RecordedEvaluation(record, golden, path.name)
        run = read_run(self.config, path)
        return evaluated(self.config, run if depth is None else run.top(depth), golden)

    def measured_pair(
        self, old: Path, new: Path, golden: GoldenSet
    ) -> tuple[Evaluation, Evaluation]:
        """Return the measurements in two files that are to be compared.

        Where no depth is given or configured, a run is cut to that of the baseline or report that
        it is compared with.

        Raises:
            ConfigurationError: they were measured at different depths or by different conventions.
            RankcheckError: as in `measured`.
        """
        records = [record_in(path, golden.name) for path in (old, new)]
        depths = (self.depth, *(record.depth for record in records if record))
        depth = next((each for each in depths if each is not None), None)
        before, after = (
            self._measured(path, record, golden, depth)
            for path, record in zip((old, new), records, strict=True)
        )
        then: dict[str, str | int | None] = {"depth": before.depth, **before.conventions.to_dict()}
        now: dict[str, str | int | None] = {"depth": after.depth, **after.conventions.to_dict()}
        differences = "; ".join(
            f"{name}: {_shown(then.get(name))} in {quoted(old)}, "
            f"{_shown(now.get(name))} in {quoted(new)}"
            for name in {**then, **now}
            if then.get(name) != now.get(name)
        )
        if differences:
            raise ConfigurationError(
                f"not comparable: {differences}. Measure both in the same way: --depth says how "
                "much of a run is used, and rankcheck_conventions how it is read; a baseline "
                "keeps what it was recorded with"
            )
        return before, after


def _shown(value: str | int | None) -> str:
    """Return a convention or a depth as a message names it."""
    if isinstance(value, str):
        return f"'{quoted(value)}'"
    return "all documents" if value is None else str(value)
