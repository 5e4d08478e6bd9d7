"""The configuration of a test session, read from the table of options and checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion
from pytest_rankcheck.plugin.option_parsers import Given, report_path
from pytest_rankcheck.plugin.option_rows import OptionRow, option_rows
from pytest_rankcheck.plugin.option_table import Config, ReportPaths
from pytest_rankcheck.reports.report_formats import REPORT_FORMATS, report_format

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.conventions import Conventions
    from pytest_rankcheck.reports.findings import ReportedFinding

__all__ = [
    "CONFIG",
    "FOUND_IN_FIXTURES",
    "add_options",
    "all_option_rows",
    "configured_names",
    "conventions_of",
    "read_configuration",
    "refuse_idle_session",
    "set_name",
]

CONFIG = pytest.StashKey[Config]()
FOUND_IN_FIXTURES: pytest.StashKey[list[ReportedFinding]] = pytest.StashKey()
"""Findings made while fixtures were set up; the next test that ends reports them."""


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and ini name to pytest."""
    group = parser.getgroup("rankcheck", "rankcheck: ranking regression tests")
    for row in all_option_rows().values():
        row.declare(parser, group)


def all_option_rows() -> dict[str, OptionRow]:
    """Return every option by name: those of the table, and one for each report format."""
    return {**option_rows(Config), **_report_rows()}


def _report_rows() -> dict[str, OptionRow]:
    return {
        name: OptionRow(
            None,
            report.help,
            flag=f"--rankcheck-{name}",
            metavar="PATH",
            parse=report_path,
            guide="reports.md",
        )
        for name, report in REPORT_FORMATS.items()
    }


def _report_paths(config: pytest.Config) -> ReportPaths:
    """Return where reports are written.

    Raises:
        ConfigurationError: a path is a folder, or a module that a format needs is missing.
    """
    paths: dict[str, Path] = {}
    for name, row in _report_rows().items():
        path = row.value(config)
        if path is not None:
            REPORT_FORMATS[name].check(str(row.flag))
            paths[name] = path
    for name, file in option_rows(Config)["added_reports"].value(config).items():
        report_format(name).check("--rankcheck-report")
        added = report_path(Given("--rankcheck-report", file, config.invocation_params.dir))
        if added is not None:
            paths[name] = added
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    return ReportPaths(paths, Path(summary) if summary else None)


def read_configuration(config: pytest.Config) -> Config:
    """Return the options and ini values of a test session.

    Raises:
        ConfigurationError: an ini name is unknown, a value is invalid, or two sets have one name.
    """
    rows = option_rows(Config)
    _refuse_unknown_names(config, [row.ini for row in rows.values() if row.ini])
    values: dict[str, Any] = {name: row.value(config) for name, row in rows.items()}
    _refuse_equal_names("rankcheck_golden", "golden sets", values["golden"])
    _refuse_equal_names("rankcheck_sessions", "session logs", values["sessions"])
    if values["run"] is not None and values["ranker"] is not None:
        values["run"] = _run_unless_ranker(config, values["run"])
    update = getattr(config.option, "update_snapshots", False)
    if update and values["baseline_ref"] is not None:
        raise ConfigurationError(
            "--rankcheck-baseline-ref compares with what another commit has approved, and "
            "--snapshot-update changes the files of this one; give one of them"
        )
    return Config(
        **values,
        reports=_report_paths(config),
        update=update,
        new_only=getattr(config.option, "update_new_snapshots_only", False),
        inputs=tuple(
            f"{row.flag}={value}"
            for row in rows.values()
            if row.selects_input
            for value in _as_list(row.on_command_line(config))
        ),
    )


def _run_unless_ranker(config: pytest.Config, run: Path) -> Path | None:
    """Return the configured run; None if the command line gives a ranker in its place.

    Raises:
        ConfigurationError: the configuration file has both, so that one would never count.
    """
    rows = option_rows(Config)
    if rows["run"].on_command_line(config):
        return run
    if rows["ranker"].on_command_line(config):
        return None
    raise ConfigurationError(
        f"rankcheck_run = {quoted(run, 200)} and rankcheck_ranker are both set, so the ranker "
        "would never be called; remove one of them, and give it on the command line where it is "
        "needed: --rankcheck-run PATH or --rankcheck-ranker MODULE:NAME"
    )


def refuse_idle_session(config: pytest.Config) -> None:
    """Refuse to compare with a commit if an option makes pytest run no test.

    The option may come from ``addopts`` of the branch that is compared.

    Raises:
        ConfigurationError: the session would pass without a comparison.
    """
    # With --help in addopts, pytest does not parse what follows.
    arguments = map(str, config.invocation_params.args)
    if not any(argument.startswith("--rankcheck-baseline-ref") for argument in arguments):
        return
    for name, flag in _IDLE_OPTIONS.items():
        if getattr(config.option, name, None):
            raise ConfigurationError(
                f"--rankcheck-baseline-ref compares what the tests measure, and {flag} runs no "
                "test; give one of them, on the command line or in addopts"
            )


_IDLE_OPTIONS = {
    "collectonly": "--collect-only",
    "setuponly": "--setup-only",
    "setupplan": "--setup-plan",
    "help": "--help",
    "version": "--version",
    "showfixtures": "--fixtures",
    "show_fixtures_per_test": "--fixtures-per-test",
    "markers": "--markers",
    "cacheshow": "--cache-show",
}
"""The options with which pytest runs no test, by the name under which it keeps them."""


def _refuse_unknown_names(config: pytest.Config, names: list[str]) -> None:
    """Refuse an ini name of ours that does not exist: pytest itself would only warn."""
    for name in configured_names(config):
        if name.startswith("rankcheck_") and name not in config._parser._inidict:
            nearest = suggestion(name, names) or f"; the names are {', '.join(names)}"
            raise ConfigurationError(f"unknown configuration option '{quoted(name)}'{nearest}")


def configured_names(config: pytest.Config) -> list[str]:
    """Return the ini names that are set, in the configuration file or with ``-o``."""
    # pytest 9 has renamed the dict, and deprecates the old name.
    configured = getattr(config, "_inicfg", None)
    if configured is None:
        configured = config.inicfg
    # pytest 8 keeps what -o sets apart from the file.
    overridden = [text.partition("=")[0] for text in config.option.override_ini or ()]
    return [*configured, *overridden]


def set_name(path: Path) -> str:
    """Return the name of a golden set or session log that is loaded from a path."""
    from pytest_rankcheck.files.packed_files import shown_name

    return shown_name(path)


def _refuse_equal_names(ini: str, kind: str, paths: Sequence[Path]) -> None:
    """Refuse two sets of one name: a baseline belongs to a test and the name of a set."""
    by_name: dict[str, Path] = {}
    for path in paths:
        other = by_name.setdefault(set_name(path), path)
        if other is not path:
            raise ConfigurationError(
                f"{ini}: the {kind} {quoted(other, 200)} and {quoted(path, 200)} are both named "
                f"'{quoted(set_name(path))}', and a baseline belongs to one of them; rename a file"
            )


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value] if value else []


def conventions_of(config: Config) -> Conventions:
    """Return the configured conventions.

    Raises:
        ConfigurationError: a convention or its value is unknown.
    """
    from pytest_rankcheck.evaluation.conventions import Conventions

    try:
        return Conventions.from_dict(config.conventions)
    except ConfigurationError as error:
        raise ConfigurationError(f"rankcheck_conventions: {error}") from None
