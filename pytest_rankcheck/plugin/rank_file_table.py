"""The table of a rank file, ``test_*.rank.toml``: read, and checked before anything runs.

``rank_file.schema.json`` beside this module says which keys there are and what they take; editors
can use it too.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion
from pytest_rankcheck.plugin.inputs import shorter
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.plugin.options import Given, option_rows

Keys = tuple[str, ...]
"""The way to a value, such as ``("test", "floor", "by")``."""
Schema = Mapping[str, Any]
_Problem = tuple[Keys, str]

_TYPES: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "string": (str, "a text"),
    "integer": (int, "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
    "object": (dict, "a table"),
}
"""The types of the schema: their Python types in TOML, and in words."""
_LEAST = {"minimum": "at least", "exclusiveMinimum": "above"}


@dataclass(frozen=True)
class RankFileTable:
    """What a rank file says."""

    path: Path
    values: Mapping[str, Any]
    lines: Mapping[Keys, int]
    """The line of each key and table."""

    @classmethod
    def read(cls, path: Path) -> RankFileTable:
        """Return the table of a file.

        Raises:
            ConfigurationError: it cannot be read, or something in it is invalid; the message names
                the line.
        """
        try:
            text = path.read_text("utf-8")
            table = cls(path, tomllib.loads(text), _lines(text))
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"\(at line (\d+)", str(error))
            place = f"{shorter(path)}:{line[1]}" if line else f"{shorter(path)}"
            raise ConfigurationError(f"{place}: not TOML: {quoted(error)}") from None
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigurationError(f"{shorter(path)}: {quoted(error, 200)}") from None
        for keys, problem in _problems(table.values, schema(), ()):
            raise table.error(keys, problem)
        return table

    def line(self, *keys: str) -> int:
        """Return the line of a key, or of the table that it is in."""
        for end in range(len(keys), 0, -1):
            inside = (line for key, line in self.lines.items() if key[:end] == keys[:end])
            if (first := next(inside, None)) is not None:
                return first
        return 1

    def error(self, keys: Keys, problem: str) -> ConfigurationError:
        """Return the error of a key."""
        return ConfigurationError(f"{shorter(self.path)}:{self.line(*keys)}: {problem}")

    def beside(self, text: str | Path) -> Path:
        """Return a path of the file, which is relative to its folder."""
        return Path(os.path.normpath(self.path.parent / text))

    def paths(self, *keys: str) -> tuple[Path, ...]:
        """Return the golden sets at a key, which exist; empty if it is not given.

        Raises:
            ConfigurationError: one does not exist.
        """
        from pytest_rankcheck.files.file_patterns import matches_any

        value: Any = self.values
        for key in keys:
            value = value.get(key, {})
        kind, folder = option_rows(Config)["golden"].kind, self.path.parent
        given = tuple(map(self.beside, kind.parse(Given("golden", texts(value or ()), folder))))
        missing = next((path for path in given if not matches_any(path)), None)
        if missing is not None:
            raise self.error(keys, f"golden set {quoted(shorter(missing), 200)} does not exist")
        return given


@cache
def schema() -> Schema:
    """Return the JSON Schema of rank files."""
    text = files(__package__).joinpath("rank_file.schema.json").read_text("utf-8")
    loaded: Schema = json.loads(text)
    return loaded


def texts(value: str | Sequence[str]) -> Sequence[str]:
    """Return a text or a list of them as a list."""
    return [value] if isinstance(value, str) else value


def named_values(value: str | Sequence[str]) -> Mapping[str, str]:
    """Return the values of lines ``name=value``, or of a name alone, read as the option reads them.

    Raises:
        ConfigurationError: two lines have the same name.
    """
    kind = option_rows(Config)["conventions"].kind
    parsed: Mapping[str, str] = kind.parse(Given("conventions", texts(value), Path()))
    return parsed


# --- where keys are ------------------------------------------------------------------------------


def _lines(text: str) -> Mapping[Keys, int]:
    """Return the line of each table and key, except keys in inline tables."""
    lines: dict[Keys, int] = {}
    table: Keys = ()
    for number, line in enumerate(text.splitlines(), 1):
        is_header = line.lstrip().startswith("[")
        with suppress(tomllib.TOMLDecodeError):  # a line of a longer value
            keys = _keys(tomllib.loads(line if is_header else f"{line.partition('=')[0]}= 0"))
            table = keys if is_header else table
            lines.setdefault(keys if is_header else (*table, *keys), number)
    return lines


def _keys(nested: Any) -> Keys:
    keys: list[str] = []
    while isinstance(nested, dict) and nested:
        key, nested = next(iter(nested.items()))
        keys.append(key)
    return tuple(keys)


# --- what the schema says ------------------------------------------------------------------------


def _problems(value: Any, rule: Schema, keys: Keys) -> Iterator[_Problem]:
    """Yield the problems of a value by a rule of the schema."""
    if "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    if "enum" in rule and value not in rule["enum"]:
        options = ", ".join(json.dumps(each) for each in rule["enum"])
        hint = suggestion(value, map(str, rule["enum"])) if isinstance(value, str) else ""
        yield keys, f"{_name(keys)} is {_shown(value)}{hint}; give {options}"
    kinds = rule.get("type", [])
    if kinds and not any(_is(value, kind) for kind in texts(kinds)):
        words = " or ".join(_TYPES[kind][1] for kind in texts(kinds))
        yield keys, f"{_name(keys)} must be {words}, not {_shown(value)}"
    elif isinstance(value, dict):
        yield from _table_problems(value, rule, keys)
    elif isinstance(value, list):
        if len(value) < rule.get("minItems", 0):
            yield keys, f"{_name(keys)} is empty"
        for item in value:
            yield from _problems(item, rule.get("items", {}), keys)
    elif isinstance(value, str) and not re.search(rule.get("pattern", ""), value):
        yield keys, f"{_shown(value)} is not a name of letters, digits and _"
    for key, words in _LEAST.items():
        least = rule.get(key)
        if least is not None and (value <= least if key == "exclusiveMinimum" else value < least):
            yield keys, f"{_name(keys)} is {_shown(value)}; give a number {words} {least}"


def _table_problems(value: Mapping[str, Any], rule: Schema, keys: Keys) -> Iterator[_Problem]:
    """Yield the problems of a table: of its keys first, then of their values."""
    known, others = rule.get("properties", {}), rule.get("additionalProperties")
    for key, inner in value.items():
        if key not in known and others is False:
            hint = suggestion(key, known) or f"; the keys are {', '.join(known)}"
            option = f"rankcheck_{key.removeprefix('rankcheck_')}"
            if not keys and option in [row.ini for row in option_rows(Config).values()]:
                hint = f"; it is for all tests: set {option} in the configuration file of pytest"
            yield (*keys, key), f"unknown key '{quoted(key)}' in {_name(keys)}{hint}"
        if not re.search(rule.get("propertyNames", {}).get("pattern", ""), key):
            yield (*keys, key), f"'{quoted(key)}' is not a name of letters, digits and _"
        yield from _problems(inner, known.get(key) or others or {}, (*keys, key))
    if len(value) < rule.get("minProperties", 0):
        yield keys, f"{_name(keys)} is empty"
    for key in rule.get("required", ()):
        if key not in value:
            yield keys, f"{_name(keys)} has no '{key}'"
    for key, needed in rule.get("dependentRequired", {}).items():
        if key in value and needed[0] not in value:
            yield (*keys, key), f"'{key}' in {_name(keys)} needs '{needed[0]}'"
    yield from _choice_problems(value, rule, keys)


def _choice_problems(value: Mapping[str, Any], rule: Schema, keys: Keys) -> Iterator[_Problem]:
    """Yield the problems of keys of which one is required."""
    for name in ("oneOf", "anyOf"):
        options = [option["required"][0] for option in rule.get(name, ())]
        given = [option for option in options if option in value]
        if options and not given:
            yield keys, f"{_name(keys)} needs one of {', '.join(options)}"
        elif name == "oneOf" and len(given) > 1:
            yield keys, f"{_name(keys)} has {' and '.join(given)}; keep one of them"


def _is(value: Any, kind: str) -> bool:
    is_kind = isinstance(value, _TYPES[kind][0])
    return is_kind and (isinstance(value, bool) == (kind == "boolean"))


def _name(keys: Keys) -> str:
    """Return the name of a value in messages: the header of a table, the name of a key."""
    if not keys:
        return "the file"
    is_table = keys[0] in ("ranker", "candidate", "test") and len(keys) <= 1 + (keys[0] != "ranker")
    return f"[{quoted('.'.join(keys))}]" if is_table else f"'{quoted(keys[-1])}'"


def _shown(value: Any) -> str:
    return quoted(json.dumps(value, default=str, ensure_ascii=False), 60)
