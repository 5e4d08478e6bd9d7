"""The configuration of a test session, read from the table of options and checked."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion
from pytest_rankcheck.plugin.option_rows import option_rows
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.conventions import Conventions

__all__ = ["CONFIG", "add_options", "conventions_of", "read_configuration"]

CONFIG = pytest.StashKey[Config]()


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and ini name to pytest."""
    group = parser.getgroup("rankcheck", "rankcheck: ranking regression tests")
    for row in option_rows(Config).values():
        row.declare(parser, group)


def read_configuration(config: pytest.Config) -> Config:
    """Return the options and ini values of a test session.

    Raises:
        ConfigurationError: an ini name is unknown, or a value is invalid.
    """
    rows = option_rows(Config)
    _refuse_unknown_names(config, [row.ini for row in rows.values() if row.ini])
    values: dict[str, Any] = {name: row.value(config) for name, row in rows.items()}
    update = getattr(config.option, "update_snapshots", False)
    if update and values["baseline_ref"] is not None:
        raise ConfigurationError(
            "--rankcheck-baseline-ref compares with what another commit has approved, and "
            "--snapshot-update changes the files of this one; give one of them"
        )
    absent = [
        name
        for name in ("jinja2", "altair", "vl_convert")
        if values["html"] and not _is_installed(name)
    ]
    if absent:
        raise ConfigurationError(
            f"--rankcheck-html needs {', '.join(absent)}, which is not installed: "
            "pip install 'pytest-rankcheck[report]'"
        )
    return Config(
        **values,
        update=update,
        new_only=getattr(config.option, "update_new_snapshots_only", False),
        inputs=tuple(
            f"{row.flag}={value}"
            for row in rows.values()
            if row.selects_input
            for value in _as_list(row.on_command_line(config))
        ),
    )


def _refuse_unknown_names(config: pytest.Config, names: list[str]) -> None:
    """Refuse an ini name of ours that does not exist: pytest itself would only warn."""
    # pytest 9 has renamed the dict, and deprecates the old name.
    configured = getattr(config, "_inicfg", None)
    if configured is None:
        configured = config.inicfg
    for name in configured:
        if name.startswith("rankcheck_") and name not in config._parser._inidict:
            nearest = suggestion(name, names) or f"; the names are {', '.join(names)}"
            raise ConfigurationError(f"unknown configuration option '{quoted(name)}'{nearest}")


def _is_installed(module: str) -> bool:
    return find_spec(module) is not None


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
