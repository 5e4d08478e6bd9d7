"""What options and ini names take, how they are declared to pytest, and how their values are read.

pytest imports this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion
from pytest_rankcheck.remedies import is_placeholder


class Given(NamedTuple):
    """A value as pytest read it from the command line or the configuration file."""

    name: str
    """The option or ini name, for messages."""
    value: Any
    folder: Path
    """Paths of the command line are relative to it; those of the configuration are absolute."""


class Kind(NamedTuple):
    """What an option takes."""

    parse: Callable[[Given], Any]
    ini_type: Literal["string", "paths", "linelist", "args", "int"] = "string"
    metavar: str | None = "TEXT"
    """What the help calls it; None for a switch."""
    default: Any = None
    repeated: bool = False
    """Whether the option of the command line may be given several times."""


def _text(given: Given) -> str | None:
    """Return a text. An empty option, such as ``--rankcheck-baseline-ref=$UNSET``, stays empty."""
    is_option = given.name.startswith("--")
    return given.value if given.value or is_option else None


def _lines(given: Given) -> tuple[str, ...]:
    return tuple(given.value)


def listed_lines(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a list; one that is written as in TOML is understood in any file."""
    if lines and lines[0].startswith("["):
        import tomllib

        with suppress(tomllib.TOMLDecodeError):
            return [str(line) for line in tomllib.loads(f"lines = {' '.join(lines)}")["lines"]]
    return lines


def _path(given: Given) -> Path | None:
    values = given.value if isinstance(given.value, list) else [given.value]
    if len(values) > 1:
        raise ConfigurationError(f"{given.name} takes one path; put one with spaces in quotes")
    return given.folder / values[0] if values and values[0] else None


def _paths(given: Given) -> tuple[Path, ...]:
    return tuple(given.folder / value for value in given.value)


VARIABLE = re.compile(r"\$\{(\w+)\}")
"""An environment variable in the path of a golden set."""


def _golden_paths(given: Given) -> tuple[Path, ...]:
    """Return paths with the values of environment variables.

    If a variable is not set, or is empty like a secret that CI withholds, the path begins with its
    name.
    """
    paths = []
    for value in given.value:
        before, variable, rest = str(value).partition("${")
        meant = VARIABLE.sub(lambda each: os.environ.get(each[1]) or each[0], f"{variable}{rest}")
        is_known = not VARIABLE.search(meant)
        paths.append(given.folder / before / meant if is_known else Path(f"{variable}{rest}"))
    return tuple(paths)


def whole_number(lowest: int, default: int) -> Kind:
    """Return the kind of whole numbers from ``lowest`` on."""

    def parse(given: Given) -> int:
        with suppress(ValueError):
            if int(given.value) >= lowest:
                return int(given.value)
        raise _invalid(given, f"a whole number from {lowest} on")

    return Kind(parse, "int", "N", default)


def above_zero(meaning: str) -> Kind:
    """Return the kind of finite numbers above 0; None without a value."""

    def parse(given: Given) -> float | None:
        with suppress(ValueError):
            if not given.value or 0 < float(given.value) < float("inf"):
                return float(given.value) if given.value else None
        raise _invalid(given, meaning)

    return Kind(parse)


def _invalid(given: Given, meaning: str) -> ConfigurationError:
    text = f"{given.name} = {quoted(given.value)} is invalid; give {meaning}"
    return ConfigurationError(text)


def one_of(*words: str, default: str | None) -> Kind:
    """Return the kind of values that are one of ``words``."""

    def parse(given: Given) -> str | None:
        word = given.value or default
        if word is not None and word not in words:
            raise ConfigurationError(
                f"{given.name}: '{quoted(word)}' is not one of {', '.join(words)}"
            )
        return word

    return Kind(parse, default=default)


def pairs(example: str, *, takes_words: bool = False) -> Kind:
    """Return the kind of lines of the form ``name=value``, such as ``example``.

    With ``takes_words``, a line may be a name alone, whose value is empty.
    """

    def parse(given: Given) -> dict[str, str]:
        by_name: dict[str, str] = {}
        for line in given.value:
            key, equals, value = map(str.strip, line.partition("="))
            if line.startswith("[") or not (equals or takes_words):
                raise ConfigurationError(
                    f"{given.name}: '{quoted(line)}' is not of the form name=value, such as "
                    f"{example}"
                )
            if key in by_name:
                raise ConfigurationError(
                    f"{given.name}: two lines are for '{quoted(key)}'; keep one"
                )
            by_name[key] = value
        return by_name

    return Kind(parse, "linelist", example, {}, repeated=True)


def _parsed_grades(given: Given) -> Mapping[str, float] | float | None:
    """Return the grade of each code, or of every judgment; None if nothing is configured."""
    try:
        if len(given.value) == 1 and "=" not in given.value[0]:
            return float(given.value[0])
        grades = {code: float(grade) for code, grade in pairs("1=4").parse(given).items()}
    except ValueError:
        raise ConfigurationError(
            f"{given.name}: '{quoted(', '.join(given.value))}' is invalid; write code=grade, such "
            "as 1=4, or one number"
        ) from None
    return grades or None


def _session_reading(given: Given) -> Mapping[str, object]:
    """Return the keywords with which session logs are read, whose values the log itself checks."""
    import tomllib

    keywords: dict[str, object] = {}
    for key, text in pairs("first_rank=0").parse(given).items():
        if key not in _READING:
            hint = suggestion(key, _READING) or f"; give {', '.join(_READING)}"
            raise ConfigurationError(f"{given.name}: unknown keyword '{quoted(key)}'{hint}")
        keywords[key] = text
        with suppress(tomllib.TOMLDecodeError):  # a text without quotes, such as 30min
            keywords[key] = tomllib.loads(f"value = {text}")["value"]
    return keywords


_READING = (
    *("columns", "first_rank", "time_unit", "attributes", "selections_where", "grades"),
    *("session_gap", "duplicates", "lenient"),
)
"""The keywords for reading session logs."""


def _reason(given: Given) -> str | None:
    if given.value is None:
        return None
    # A path is the next argument, which pytest takes for a reason that was forgotten.
    path = given.folder / given.value.partition("::")[0]
    is_path = os.path.exists(path)  # noqa: PTH110 - false of a text that is too long for a path
    if is_path or not given.value.strip():
        raise ConfigurationError(
            f'{given.name} needs a reason, such as {given.name} "new tokenizer, head queries win"'
        )
    if is_placeholder(given.value):
        raise ConfigurationError(
            f"{given.name}: write your own reason in place of '{quoted(given.value)}'; reviewers "
            "read it"
        )
    return str(given.value.strip())


SWITCH = Kind(lambda given: given.value, metavar=None, default=False)
TEXT = Kind(_text)
LINES = Kind(_lines, "linelist", default=())
WORDS = Kind(_lines, "args", default=())
PATH = Kind(_path, "paths", "PATH")
GOLDEN_PATHS = Kind(_golden_paths, "paths", "PATH", (), repeated=True)
PATHS = Kind(_paths, "paths", "PATH", (), repeated=True)
FAILURES = Kind(lambda given: str(given.value or 0), default="0")
SECONDS = above_zero("a number of seconds above 0")
GRADES = Kind(_parsed_grades, "linelist")
SESSION_READING = Kind(_session_reading, "linelist", default={})
REASON = Kind(_reason, metavar="REASON")


# --- rows of the table of options ---------------------------------------------------------------


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


# --- what the user gave, before a conftest of the project can change it ---------------------------


class GivenOptions(NamedTuple):
    """The options of a test session, as they were when it started."""

    options: argparse.Namespace
    """The values of all options, including those from the project's ``addopts``."""
    words: Sequence[str]
    """The arguments that the user gave, without those of the project's ``addopts``."""

    def has(self, *flags: str) -> bool:
        """Return whether the user gave one of some options."""
        return any(word.partition("=")[0] in flags for word in self.words)


_GIVEN = pytest.StashKey[GivenOptions]()


def given_options(config: pytest.Config) -> GivenOptions:
    """Return the options that a test session was given; the first call reads them."""
    if _GIVEN not in config.stash:
        variable = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
        words = (*variable, *map(str, config.invocation_params.args))
        options = copy.copy(config.known_args_namespace)
        config.stash[_GIVEN] = GivenOptions(options, words)
    return config.stash[_GIVEN]


def command_line(config: pytest.Config) -> argparse.Namespace:
    """Return the option values and the arguments that come from the command line alone.

    Call it after conftests have declared their options; before that, their values look like
    arguments.
    """
    return config._parser.parse_known_args(given_options(config).words)
