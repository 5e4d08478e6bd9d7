"""What options and ini names take: how their values are checked and converted.

A parser takes a `Given` value and returns the configured one, or raises a `ConfigurationError`
that names the option.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.remedies import is_placeholder

N = TypeVar("N", int, float)


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
        raise ConfigurationError(
            f"{given.name} takes one path, not {len(values)}: {', '.join(map(quoted, values))}; "
            "put a path with spaces in quotes"
        )
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
        meaning = f"a whole number from {lowest} on"
        return _number(given, int, lambda value: value >= lowest, meaning)

    return Kind(parse, "int", "N", default)


def above_zero(meaning: str) -> Kind:
    """Return the kind of finite numbers above 0; None without a value."""

    def parse(given: Given) -> float | None:
        if not given.value:
            return None
        return _number(given, float, lambda value: 0 < value < float("inf"), meaning)

    return Kind(parse)


def _number(
    given: Given, convert: Callable[[str], N], is_valid: Callable[[N], bool], meaning: str
) -> N:
    """Return a value as a valid number."""
    with suppress(ValueError):
        number = convert(given.value)
        if is_valid(number):
            return number
    raise ConfigurationError(f"{given.name} = {quoted(given.value)} is invalid; give {meaning}")


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


def _candidates(given: Given) -> Mapping[str, str]:
    """Return rankers by name, from lines of the form ``name = package.module:name``."""
    example = "name = package.module:name"
    by_name: Mapping[str, str] = pairs(example).parse(given)
    for name, ranker in by_name.items():
        if not name or ":" not in ranker:
            line = quoted(f"{name} = {ranker}")
            raise ConfigurationError(f"{given.name}: '{line}' is not of the form {example}")
    return by_name


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
    keywords: dict[str, object] = {}
    for key, value in pairs("first_rank=0").parse(given).items():
        try:
            keywords[key] = _READING[key][0](value)
        except (KeyError, ValueError):
            known = ", ".join(example for _, example in _READING.values())
            raise ConfigurationError(
                f"{given.name}: '{quoted(key)}={quoted(value)}' is invalid; write {known}"
            ) from None
    return keywords


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _by_name(text: str) -> dict[str, str]:
    """Return the parts of a text such as ``add_to_cart:2,purchase:3`` by their names."""
    by_name = {}
    for part in _names(text):
        name, value = part.split(":", 1)
        by_name[name.strip()] = value.strip()
    return by_name


def _selections_where(text: str) -> Mapping[str, Sequence[str]] | str:
    if text == "all":
        return text
    return {column: values.split("|") for column, values in _by_name(text).items()}


_READING: Mapping[str, tuple[Callable[[str], object], str]] = {
    "first_rank": (int, "first_rank=0 or 1"),
    "time_unit": (str, "time_unit=s, ms, us or ns"),
    "attributes": (_names, "attributes=group,locale"),
    "selections_where": (
        _selections_where,
        "selections_where=action_name:click|tap or selections_where=all",
    ),
    "grades": (
        lambda text: {name: float(grade) for name, grade in _by_name(text).items()},
        "grades=add_to_cart:2,purchase:3",
    ),
    "session_gap": (str, "session_gap=30min"),
    "duplicates": (str, "duplicates=error, drop or keep"),
    "drop_sessions_over": (int, "drop_sessions_over=500"),
    "lenient": ({"true": True, "false": False}.__getitem__, "lenient=true or false"),
}
"""How each keyword for reading session logs is read from a line, and an example."""


def _failures(given: Given) -> str:
    if not given.value:
        return "0"
    from pytest_rankcheck.rankers.allowed_failures import most_failures

    most_failures(given.value, 1, given.name)
    return str(given.value)


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
FAILURES = Kind(_failures, default="0")
SECONDS = above_zero("a number of seconds above 0")
GRADES = Kind(_parsed_grades, "linelist")
CANDIDATES = Kind(_candidates, "linelist", default={})
SESSION_READING = Kind(_session_reading, "linelist", default={})
REASON = Kind(_reason, metavar="REASON")
