"""A row of the table of options: what it takes, what it does, where it can be given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.plugin.given_options import given_options
from pytest_rankcheck.plugin.option_parsers import Given, Kind, listed_lines


@dataclass(repr=False, eq=False)  # each generated method costs every test session time
class OptionRow:
    """An option: on the command line, in the configuration file, or both."""

    kind: Kind
    help: str
    is_flag: bool = True
    """Whether it is an option of the command line."""
    is_setting: bool = True
    """Whether it is in the configuration file."""
    name: str = ""
    """Its name without our prefix, with underscores; by default, the name of the attribute."""
    metavar: str | None = None
    """What the help calls its value; by default, as its kind says."""
    selects_input: bool = False
    """Whether it chooses what is measured, so that a suggested command has to repeat it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    @property
    def flag(self) -> str | None:
        """The option of the command line; None if it is only in the configuration file."""
        if self.is_flag:
            return f"--rankcheck-{self.name.replace('_', '-')}"
        return None

    @property
    def ini(self) -> str | None:
        """The name in the configuration file; None if it is only an option."""
        return f"rankcheck_{self.name}" if self.is_setting else None

    @property
    def shown_value(self) -> str | None:
        """What the help calls the option's value; None for a switch."""
        return self.metavar or self.kind.metavar

    def declare(self, parser: pytest.Parser, group: pytest.OptionGroup) -> None:
        """Declare the option and the ini name to pytest."""
        if self.flag and self.shown_value is None:
            group.addoption(self.flag, action="store_true", help=self.help)
        elif self.flag:
            how: dict[str, Any] = {"default": None if self.ini else self.kind.default}
            if self.kind.repeated:
                how = {"action": "append", "default": []}
            overrides = f"; overrides {self.ini}" if self.ini else ""
            group.addoption(self.flag, metavar=self.shown_value, help=self.help + overrides, **how)
        if self.ini:
            how = {"default": self.kind.default} if self.kind.ini_type == "int" else {}
            parser.addini(self.ini, self.help, self.kind.ini_type, **how)

    def on_command_line(self, config: pytest.Config) -> Any:
        """Return the value on the command line; None, False or empty if it is not there."""
        if not self.is_flag:
            return None
        return getattr(given_options(config).options, f"rankcheck_{self.name}")

    def value(self, config: pytest.Config) -> Any:
        """Return the configured value, from the command line or else from the configuration file.

        Raises:
            ConfigurationError: it is invalid.
        """
        value = self.on_command_line(config)
        from_file = self.ini is not None and not value
        if from_file:
            try:
                value = config.getini(str(self.ini))
                value = listed_lines(value) if self.kind.ini_type == "linelist" else value
            except (TypeError, ValueError, pytest.UsageError) as error:
                if self.kind.ini_type != "int":
                    raise ConfigurationError(f"{self.ini}: {error}") from None
                value = str(error).rpartition(": ")[2].strip("'")  # the parser names the error
        name = str(self.ini if from_file else self.flag)
        return self.kind.parse(Given(name, value, config.invocation_params.dir))


def option(kind: Kind, help: str, **how: Any) -> Any:
    """Return a row of the table; in a configuration, the option's value takes its place.

    Args:
        kind: what it takes.
        help: what it does, for ``pytest --help`` and the manual.
        how: the other fields of `OptionRow`.
    """
    return OptionRow(kind, help, **how)


setting = partial(option, is_flag=False)
"""Returns a row like `option`, of an ini name without an option."""
flag = partial(option, is_setting=False)
"""Returns a row like `option`, of an option without an ini name."""


def option_rows(configuration: type) -> dict[str, OptionRow]:
    """Return the rows of a class whose attributes are made by `option`, by their names."""
    return {name: row for name, row in vars(configuration).items() if isinstance(row, OptionRow)}
