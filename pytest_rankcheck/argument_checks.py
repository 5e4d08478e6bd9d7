"""Checks of arguments: a public function refuses what its annotations do not name.

Most wrong arguments are right ones for another place: a run instead of its evaluation, a path
instead of the golden set in it, two arguments swapped. Duck typing would fail on them far from the
mistake, or give a number.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import ParamSpec, TypeVar

from pytest_rankcheck.argument_kinds import KINDS, Kind, kind_of_options
from pytest_rankcheck.errors import ConfigurationError, RankcheckError, quoted

__all__ = ["check_whole_number", "checked_arguments"]

P = ParamSpec("P")
R = TypeVar("R")


def checked_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function refuse arguments that its annotations do not name, or that are out of range.

    The annotations are read as text, so this imports nothing. Those without a `Kind`, such as
    ``object`` and callables, accept everything; a name of the function's module that stands for a
    ``Literal`` accepts its values.
    """
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        wanted = _wanted(function)
        given = {**dict(zip(positional, args, strict=False)), **kwargs}
        for name, value in given.items():
            if name in wanted and not any(kind.accepts(value) for kind in wanted[name]):
                from pytest_rankcheck.argument_errors import wrong_argument

                raise wrong_argument(function.__name__, name, given, wanted)
            is_valid, words = _LIMITS.get(name, (None, ""))
            if is_valid and isinstance(value, Real) and not is_valid(float(value)):
                raise ConfigurationError(f"{name}={quoted(value, 60)} is invalid; give {words}")
        return function(*args, **kwargs)

    return checked


@functools.cache
def _wanted(function: Callable[..., object]) -> Mapping[str, tuple[Kind, ...]]:
    """Return what each checked parameter of a function accepts, by its name."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    def kind_of(annotation: str) -> Kind | None:
        return KINDS.get(annotation) or kind_of_options(function.__globals__.get(annotation))

    kinds = {
        name: tuple(map(kind_of, _without_brackets(str(annotation)).split(" | ")))
        for name, annotation in function.__annotations__.items()
        if name in names
    }
    return {
        name: tuple(kind for kind in accepted if kind is not None)
        for name, accepted in kinds.items()
        if None not in accepted
    }


def check_whole_number(name: str, value: object, least: int, error: type[RankcheckError]) -> None:
    """Check that an argument is a whole number from ``least`` on.

    Raises:
        error: it is something else; the message names the argument.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise error(f"{name}={quoted(value)} is invalid; give a whole number from {least} on")


def _without_brackets(annotation: str) -> str:
    while (shorter := re.sub(r"\[[^\[\]]*\]", "", annotation)) != annotation:
        annotation = shorter
    return annotation


_LIMITS: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "k": (lambda value: value >= 1, "a whole number from 1 on, such as k=10"),
    "level": (lambda value: 0 <= value < 1, "at least 0 and less than 1, such as level=0.95"),
}
"""By the name of a parameter, the numbers that it takes in every function."""
