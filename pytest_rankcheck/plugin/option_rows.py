"""A row of the table of options: where an option is given, its default, its parser and its help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.plugin.option_parsers import Given, exact

__all__ = ["OptionRow", "option", "option_rows"]


@dataclass(repr=False, eq=False)  # each generated method costs every test session time
class OptionRow:
    """An option: on the command line, in the configuration file, or both."""

    default: Any
    help: str
    flag: str | None = None
    """The option of the command line; None if it is only in the configuration file."""
    metavar: str | None = None
    """What the option takes; None for a switch."""
    repeated: bool = False
    """Whether the option may be given several times."""
    choices: tuple[str, ...] | None = None
    """The words that the option takes; None for any."""
    ini: str | None = None
    """The name in the configuration file; None if it is only an option."""
    ini_type: Literal["string", "paths", "linelist", "args", "int"] = "string"
    parse: Callable[[Given], Any] = exact
    selects_input: bool = False
    """Whether it chooses what is measured, so that a suggested command has to repeat it."""
    guide: str = ""
    """Where the manual explains it: a file in docs/ and its heading."""

    def declare(self, parser: pytest.Parser, group: pytest.OptionGroup) -> None:
        """Declare the option and the ini name to pytest."""
        if self.flag and self.metavar is None:
            group.addoption(self.flag, action="store_true", help=self.help)
        elif self.flag:
            how: dict[str, Any] = {"default": None if self.ini else self.default}
            if self.repeated:
                how = {"action": "append", "default": []}
            if self.choices:
                how["choices"] = list(self.choices)
            overrides = f"; overrides {self.ini}" if self.ini else ""
            group.addoption(self.flag, metavar=self.metavar, help=self.help + overrides, **how)
        if self.ini:
            how = {"default": self.default} if self.ini_type == "int" else {}
            parser.addini(self.ini, self.help, self.ini_type, **how)

    def on_command_line(self, config: pytest.Config) -> Any:
        """Return the value on the command line; None, False or empty if it is not given there."""
        return getattr(config.option, self.flag.strip("-").replace("-", "_")) if self.flag else None

    def value(self, config: pytest.Config) -> Any:
        """Return the configured value: of the command line, else of the configuration file.

        Raises:
            ConfigurationError: it is invalid.
        """
        value = self.on_command_line(config)
        from_file = self.ini is not None and not value
        if from_file:
            try:
                value = config.getini(str(self.ini))
            except (TypeError, ValueError, pytest.UsageError) as error:
                if self.ini_type != "int":
                    raise ConfigurationError(f"{self.ini}: {error}") from None
                value = str(error).rpartition(": ")[2].strip("'")  # the parser names the error
        name = str(self.ini if from_file else self.flag)
        return self.parse(Given(name, value, config.invocation_params.dir))


def option(default: Any, help: str, **how: Any) -> Any:
    """Return a row of the table; the configuration holds the option's value in its place.

    Args:
        default: the value where the option is given nowhere.
        help: what it does, for ``pytest --help`` and the manual.
        how: the other fields of `OptionRow`.
    """
    return OptionRow(default, help, **how)


def option_rows(configuration: type) -> dict[str, OptionRow]:
    """Return the rows of a class whose attributes are made by `option`, by their names."""
    return {name: row for name, row in vars(configuration).items() if isinstance(row, OptionRow)}
