"""How the values of options and ini names are checked and converted.

A parser takes a `Given` value and returns the configured one, or raises a `ConfigurationError`
that names the option.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pytest_rankcheck.errors import ConfigurationError, quoted

__all__ = [
    "Given",
    "SlideChoice",
    "changes",
    "exact",
    "grades",
    "lines",
    "number_from",
    "pairs",
    "path",
    "paths",
    "reason",
    "report_path",
    "seconds",
    "session_reading",
    "slide",
    "text",
    "whole_number",
    "word_from",
]


class Given(NamedTuple):
    """A value as pytest read it from the command line or the configuration file."""

    name: str
    """The option or ini name, for messages."""
    value: Any
    folder: Path
    """Paths of the command line are relative to it; those of the configuration are absolute."""


class SlideChoice(NamedTuple):
    """What the guard against the slide does."""

    action: str = "warn"
    """``"off"``, ``"warn"`` or ``"fail"``."""
    level: float | None = None
    """The share of innocent sequences of changes that it stops; None: the usual one."""


def exact(given: Given) -> Any:
    """Return the value as it is."""
    return given.value


def text(given: Given) -> str | None:
    """Return a text; None where it is empty."""
    return given.value or None


def lines(given: Given) -> tuple[str, ...]:
    """Return the lines or words of a list."""
    return tuple(given.value)


def path(given: Given) -> Path | None:
    """Return a path; None if the option is not given.

    Raises:
        ConfigurationError: there are several.
    """
    values = given.value if isinstance(given.value, list) else [given.value]
    if len(values) > 1:
        raise ConfigurationError(
            f"{given.name} takes one path, not {len(values)}: {', '.join(map(quoted, values))}; "
            "put a path with spaces in quotes"
        )
    return given.folder / values[0] if values and values[0] else None


def paths(given: Given) -> tuple[Path, ...]:
    """Return several paths."""
    return tuple(given.folder / value for value in given.value)


def report_path(given: Given) -> Path | None:
    """Return the path of a report to write.

    Raises:
        ConfigurationError: it is a folder.
    """
    target = path(given)
    if target is not None and target.is_dir():
        raise ConfigurationError(f"{given.name} {target} is a folder; give the name of a file")
    return target


def whole_number(lowest: int) -> Callable[[Given], int]:
    """Return a parser of whole numbers from ``lowest`` on."""

    def parse(given: Given) -> int:
        try:
            value = int(given.value)
        except ValueError:
            value = lowest - 1
        if value < lowest:
            raise _invalid_number(given, f"a whole number from {lowest} on")
        return value

    return parse


def changes(given: Given) -> int | None:
    """Return a number of changes, at least 1; None if the option is not given."""
    return whole_number(1)(given) if given.value else None


def number_from(lowest: float, meaning: str) -> Callable[[Given], float | None]:
    """Return a parser of finite numbers from ``lowest`` on; it returns None without a value."""

    def parse(given: Given) -> float | None:
        if not given.value:
            return None
        value = _number(given.value)
        if value is None or not lowest <= value < float("inf"):
            raise _invalid_number(given, meaning)
        return value

    return parse


def seconds(given: Given) -> float | None:
    """Return a number of seconds above 0; None if the option is not given."""
    if not given.value:
        return None
    value = _number(given.value)
    if value is None or not value > 0:
        raise _invalid_number(given, "a number of seconds above 0")
    return value


def _invalid_number(given: Given, meaning: str) -> ConfigurationError:
    return ConfigurationError(f"{given.name} = {quoted(given.value)} is invalid; give {meaning}")


def word_from(words: Collection[str], default: str) -> Callable[[Given], str]:
    """Return a parser of one of ``words``."""

    def parse(given: Given) -> str:
        word = given.value or default
        if word not in words:
            raise ConfigurationError(
                f"{given.name}: '{quoted(word)}' is not one of {', '.join(words)}"
            )
        return str(word)

    return parse


def pairs(example: str) -> Callable[[Given], dict[str, str]]:
    """Return a parser of lines of the form ``name=value``, such as ``example``."""

    def parse(given: Given) -> dict[str, str]:
        return dict(_pair(line, given.name, example) for line in given.value)

    return parse


def grades(given: Given) -> Mapping[str, float] | float | None:
    """Return the grade of each code, or of every judgment; None if nothing is configured.

    Raises:
        ConfigurationError: a grade is not a number.
    """
    constant = _number(given.value[0]) if len(given.value) == 1 else None
    if constant is not None:
        return constant
    grades_by_code: dict[str, float] = {}
    for code, grade in pairs("1=4")(given).items():
        value = _number(grade)
        if value is None:
            raise ConfigurationError(
                f"{given.name}: the grade '{quoted(grade)}' of code '{quoted(code)}' is not a "
                "number"
            )
        grades_by_code[code] = value
    return grades_by_code or None


def session_reading(given: Given) -> Mapping[str, object]:
    """Return the keywords with which session logs are read.

    Raises:
        ConfigurationError: a keyword or its value is unknown.
    """
    keywords: dict[str, object] = {}
    for key, value in pairs("first_rank=0")(given).items():
        read = _READING.get(key, (None, ""))[0]
        found = None if read is None else read(value)
        if found is None:
            known = ", ".join(example for _, example in _READING.values())
            raise ConfigurationError(
                f"{given.name}: '{quoted(key)}={quoted(value)}' is invalid; write {known}"
            )
        keywords[key] = found
    return keywords


def _one_of(*words: str) -> Callable[[str], str | None]:
    return lambda text: text if text in words else None


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() and int(text) > 0 else None


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _values_by_name(text: str) -> dict[str, list[str]] | None:
    """Return ``{column: values}`` of ``column:value|value,column:value``."""
    by_name = [part.partition(":") for part in _names(text)]
    if not by_name or any(not name or not values for name, _, values in by_name):
        return None
    return {name.strip(): values.split("|") for name, _, values in by_name}


def _selections_where(text: str) -> dict[str, list[str]] | str | None:
    return text if text == "all" else _values_by_name(text)


def _grades(text: str) -> dict[str, float] | None:
    """Return ``{value: grade}`` of ``value:grade,value:grade``."""
    grades = {
        name: _number(values[0]) if len(values) == 1 else None
        for name, values in (_values_by_name(text) or {}).items()
    }
    known = {name: grade for name, grade in grades.items() if grade is not None}
    return known if known and len(known) == len(grades) else None


_READING: Mapping[str, tuple[Callable[[str], object], str]] = {
    "first_rank": ({"0": 0, "1": 1}.get, "first_rank=0 or 1"),
    "time_unit": (_one_of("s", "ms", "us", "ns"), "time_unit=s, ms, us or ns"),
    "attributes": (_names, "attributes=group,locale"),
    "selections_where": (
        _selections_where,
        "selections_where=action_name:click|tap or selections_where=all",
    ),
    "grades": (_grades, "grades=add_to_cart:2,purchase:3"),
    "session_gap": (str, "session_gap=30min"),
    "duplicates": (_one_of("error", "drop", "keep"), "duplicates=error, drop or keep"),
    "drop_sessions_over": (_count, "drop_sessions_over=500"),
    "lenient": ({"true": True, "false": False}.get, "lenient=true or false"),
}
"""How each keyword for reading session logs is read from a line, and an example; None: invalid."""


def slide(given: Given) -> SlideChoice:
    """Return what the guard against the slide does, such as ``fail(alpha=0.2)``.

    Raises:
        ConfigurationError: it is not an action, or the level is not a number between 0 and 0.5.
    """
    action, bracket, rest = (given.value or "warn").replace(" ", "").partition("(")
    if action not in ("off", "warn", "fail") or (bracket and action == "off"):
        raise ConfigurationError(
            f"{given.name}: '{quoted(given.value)}' is invalid; give off, warn, fail, or warn or "
            "fail with a level, such as fail(alpha=0.2)"
        )
    if not bracket:
        return SlideChoice(action)
    name, equals, number = rest.removesuffix(")").partition("=")
    level = _number(number)
    if name != "alpha" or not equals or not rest.endswith(")") or level is None:
        level = 0.0
    if not 0 < level <= 0.5:
        raise ConfigurationError(
            f"{given.name}: '{quoted(given.value)}' is invalid; alpha is the share of innocent "
            f"sequences of changes that are stopped, above 0 and at most 0.5: {action}(alpha=0.1)"
        )
    return SlideChoice(action, level)


def reason(given: Given) -> str | None:
    """Return the reason of an approval; None if the option is not given.

    Raises:
        ConfigurationError: it is blank.
    """
    if given.value is None:
        return None
    if not given.value.strip():
        raise ConfigurationError(
            f'{given.name} needs a reason, such as {given.name} "new tokenizer, head queries win"'
        )
    return str(given.value.strip())


def _pair(line: str, name: str, example: str) -> tuple[str, str]:
    key, equals, value = line.partition("=")
    if not equals:
        raise ConfigurationError(
            f"{name}: '{quoted(line)}' is not of the form name=value, such as {example}"
        )
    return key.strip(), value.strip()


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
