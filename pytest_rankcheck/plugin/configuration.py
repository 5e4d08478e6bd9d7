"""The configuration of a test session, or of a project without one, by the table of options."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.config import _prepareconfig

from pytest_rankcheck.errors import ConfigurationError, listed, quoted, suggestion
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.plugin.options import PATH, VARIABLE, OptionRow, given_options, option_rows
from pytest_rankcheck.reports.report_formats import REPORT_FORMATS

CONFIG = pytest.StashKey[Config]()


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
        name: OptionRow(PATH, report.help, is_setting=False, name=name)
        for name, report in REPORT_FORMATS.items()
    }


def report_paths(config: pytest.Config) -> dict[str, Path]:
    """Return where reports are written, by format."""
    given = {name: row.on_command_line(config) for name, row in _report_rows().items()}
    return {name: config.invocation_params.dir / file for name, file in given.items() if file}


def read_configuration(config: pytest.Config) -> Config:
    """Return the options and ini values of a test session.

    Raises:
        ConfigurationError: an ini name is unknown, or a value is invalid.
    """
    rows = option_rows(Config)
    _refuse_unknown_names(config, [row.ini for row in rows.values() if row.ini])
    values: dict[str, Any] = {name: row.value(config) for name, row in rows.items()}
    is_given = {name: rows[name].on_command_line(config) for name in ("run", "ranker")}
    if values["run"] and values["ranker"] and not is_given["run"]:
        if not is_given["ranker"]:
            raise ConfigurationError(
                "rankcheck_run and rankcheck_ranker are both set, so the ranker would never be "
                "called; remove one of them, and give it on the command line where it is needed"
            )
        values["run"] = None
    if bool(values["resume"]) != bool(values["resume_key"]):
        raise ConfigurationError(
            "--rankcheck-resume DIR and --rankcheck-resume-key KEY need each other; the key is a "
            "text that changes whenever the rankings may change, such as the commit and the build "
            "of the index"
        )
    for name in ("leaderboard", "prove"):
        if values[name] and getattr(config.option, "dist", "no") != "no":
            raise ConfigurationError(f"--rankcheck-{name} needs one process: add -n 0")
    # What changes baselines counts only on the command line, so that no branch can put it in CI.
    given = given_options(config)
    if not given.has("--rankcheck-approve"):
        values["approval"] = None
    if not given.has("--rankcheck-unseal"):
        values["unseal"] = False
    left_out = [path for path in values["golden"] if VARIABLE.match(str(path))]
    values["golden"] = tuple(path for path in values["golden"] if path not in left_out)
    if values["sealed"] and values["golden"] and not left_out:
        _refuse_unknown_sets(values["sealed"], values["golden"])
    reports = report_paths(config)
    for name in reports:
        REPORT_FORMATS[name].check(f"--rankcheck-{name}")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    return Config(
        **values,
        step_summary=Path(summary) if summary else None,
        reports=reports,
        update=given.has("--snapshot-update"),
        left_out=tuple(map(str, left_out)),
        inputs=(*_places(given.options), *_inputs(rows.values(), config)),
    )


def _refuse_unknown_sets(sealed: Iterable[str], golden: Iterable[Path]) -> None:
    """Refuse a name that seals nothing, such as a misspelt one."""
    from pytest_rankcheck.files.packed_files import shown_name

    known = [*map(shown_name, golden)]
    unknown = sorted({*sealed}.difference(known))
    if unknown:
        others = f"they are called {listed(known)}"
        why = f"no configured golden set is called {listed(unknown)}; {others}"
        raise ConfigurationError(f"rankcheck_sealed: {why}")


def _places(options: argparse.Namespace) -> Iterator[str]:
    """Yield the options that choose or override pytest's configuration."""
    for name, flag in (("inifilename", "--config-file"), ("rootdir", "--rootdir")):
        if getattr(options, name, None):
            yield f"{flag}={getattr(options, name)}"
    yield from (f"--override-ini={text}" for text in options.override_ini or ())


def _inputs(rows: Iterable[OptionRow], config: pytest.Config) -> Iterator[str]:
    """Yield the options that choose what is measured."""
    for row in rows:
        stated = row.on_command_line(config) if row.selects_input else None
        for value in (stated if row.kind.repeated else [stated]) if stated else ():
            yield f"{row.flag}={value}"


def refuse_idle_session(config: pytest.Config) -> None:
    """Refuse a comparison with a commit if an option makes pytest run no tests.

    The option may come from ``addopts`` in the branch that is compared.

    Raises:
        ConfigurationError: the session would pass without a comparison.
    """
    # With --help in addopts, pytest does not parse what follows.
    if not given_options(config).has("--rankcheck-baseline-ref"):
        return
    name = idle_option(config)
    if name is not None:
        raise ConfigurationError(
            f"--rankcheck-baseline-ref compares what the tests measure, and the option {name} runs "
            "no test; give one of them, on the command line or in addopts"
        )


def idle_option(config: pytest.Config) -> str | None:
    """Return the name of an option with which pytest runs no tests, if one is given."""
    options = given_options(config).options
    return next((name for name in _IDLE_OPTIONS if getattr(options, name, None)), None)


_IDLE_OPTIONS = (
    *("collectonly", "setuponly", "setupplan", "help", "version"),
    *("showfixtures", "show_fixtures_per_test", "markers", "cacheshow"),
)
"""The options with which pytest runs no tests, by the names under which it keeps them."""


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


# --- without a test session ----------------------------------------------------------------------

_ENVIRONMENT = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
"""Variables that add options and plugins."""
_ARGUMENTS = (
    "--noconftest",
    "--disable-plugin-autoload",
    "--assert=plain",
    "--capture=no",
    *("-o", "addopts="),
    *("-o", "required_plugins="),
)
"""Nothing of the project is imported, and no other plugin is loaded."""


def project_configuration(overrides: Sequence[str] = ()) -> pytest.Config:
    """Return the configuration that pytest would read if started in the working directory.

    Pytest finds and reads the file; our part is in its stash. Options in ``addopts`` do not count.

    Args:
        overrides: what replaces ini options of the file, as pytest takes it after ``-o``.

    Raises:
        ConfigurationError: the file cannot be read, an ini name is unknown or a value is invalid.
    """
    declaring = SimpleNamespace(pytest_addoption=add_options)
    with pytest.MonkeyPatch.context() as patch:
        for name in _ENVIRONMENT:
            patch.delenv(name, raising=False)
        try:
            given = [f"--override-ini={each}" for each in overrides]
            config = _prepareconfig([*_ARGUMENTS, *given], plugins=[declaring])
        except (pytest.UsageError, ValueError, OSError, RecursionError) as failure:
            why = quoted(" ".join(str(failure).split()), 300)
            text = f"pytest cannot read its configuration file: {why}"
            raise ConfigurationError(text) from None
    config._ensure_unconfigure()
    config.stash[CONFIG] = read_configuration(config)
    return config
