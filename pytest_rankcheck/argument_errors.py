"""The error of an argument of the wrong type: what it is, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike

from pytest_rankcheck.argument_kinds import KINDS, Kind, is_frame, is_number, is_ours, is_set
from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion

__all__ = ["wrong_argument"]

_NUMBER = re.compile(r"\s*[+-]?\d*\.?\d+([eE][+-]?\d+)?\s*")
"""A number that was written as text."""
_REMOVED: Mapping[tuple[str, str], str] = {
    ("test", "wilcoxon"): "the signed-rank test does not compare means, and blocked up to half of "
    "the changes without an effect on the mean; use sign_flip",
}
"""By the name of a parameter and an option that it once had: why it is gone, what to use."""


def wrong_argument(
    function: str,
    name: str,
    given: Mapping[str, object],
    wanted: Mapping[str, tuple[Kind, ...]],
) -> ConfigurationError:
    """Return the error that an argument has the wrong type."""
    value, kinds = given[name], [kind for kind in wanted[name] if kind is not KINDS["None"]]
    options = [option for kind in kinds for option in kind.options]
    if options and isinstance(value, str):
        if (name, value) in _REMOVED:
            return ConfigurationError(
                f"{name}={value} is no longer offered: {_REMOVED[name, value]}"
            )
        return ConfigurationError(
            f"{name}={quoted(value, 60)} is invalid{suggestion(value, options)}; give one of "
            f"{', '.join(options)}"
        )
    words = [kind.words for kind in kinds]
    if words[1:]:
        words = [each.replace(", or ", ", ") for each in words]
    expected = " or ".join([", ".join(words[:-1]), words[-1]] if words[:-1] else words)
    swapped = [
        other
        for other, other_value in given.items()
        if other != name
        and (other not in wanted or any(kind.accepts(value) for kind in wanted[other]))
        and any(kind.accepts(other_value) for kind in kinds)
    ]
    category = _category(value)
    if swapped:
        todo = f"{name} and {swapped[0]} are swapped: write {function}({', '.join(given)})"
    elif hasattr(value, "to_pandas") and kinds[0] in (KINDS["pd.DataFrame"], KINDS["Frame"]):
        todo = f"pass {name}.to_pandas()"
    elif KINDS["float"] in kinds[1:] and isinstance(value, str) and _NUMBER.fullmatch(value):
        todo = f"write {name}={value.strip()}"
    elif category == "fixture":
        todo = "pytest passes a fixture's value to a test that has a parameter of its name"
    else:
        todo = "write " + next(
            (
                kind.instead[category]
                for kind in sorted(kinds, key=lambda kind: kind is not KINDS["Run"])
                if category in kind.instead
            ),
            (KINDS["PathLike"] if KINDS["PathLike"] in kinds else kinds[0]).example,
        )
    return ConfigurationError(f"{name} must be {expected}, not {_described(value)}; {todo}")


def _category(value: object) -> str:
    """Return what a value is, in a word: the class of an object of ours, or a rough kind."""
    if _is_fixture(value):
        return "fixture"
    for kind in type(value).__mro__:
        if kind.__name__ in KINDS and is_ours(kind):
            return kind.__name__
    if isinstance(value, (str, PathLike)):
        return "text"
    if is_frame(value):
        return "frame"
    if isinstance(value, Mapping):
        return "mapping"
    if is_set(value):
        return "set"
    if is_number(value):
        return "number"
    return "function" if callable(value) else "other"


def _described(value: object) -> str:
    """Return a value as a message names it: with its type, and its name if it has one."""
    kind = type(value).__name__
    if value is None:
        return "None"
    if _is_fixture(value):
        return f"the fixture function '{quoted(getattr(value, '__name__', 'fixture'))}'"
    if is_ours(type(value)):
        name = getattr(value, "name", None)
        article = "an" if kind[0] in "AEIOU" else "a"
        return f"{article} {kind}" + (f" ('{quoted(name)}')" if isinstance(name, str) else "")
    if isinstance(value, (str, PathLike)):
        return f"'{quoted(value, 60)}' ({kind})"
    if hasattr(value, "to_pandas"):
        return f"a {type(value).__module__.partition('.')[0]} {kind}"
    if is_frame(value) or isinstance(value, type):
        return f"the class {quoted(value)}" if isinstance(value, type) else f"a {kind}"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"the {kind} {quoted(value.__qualname__, 60)}"
    return f"{quoted(repr(value), 60)} ({kind})"


def _is_fixture(value: object) -> bool:
    """Whether a value is what the decorator ``pytest.fixture`` returns, of any version."""
    return "Fixture" in type(value).__name__ or hasattr(value, "_pytestfixturefunction")
