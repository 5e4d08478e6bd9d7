"""Checks for arguments that would give a wrong number: a text as list, a set as ranking, True.

Any other wrong argument fails where it is used, with Python's own error.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields
from numbers import Integral, Real
from typing import (
    TYPE_CHECKING,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeGuard,
    TypeVar,
    get_args,
    get_origin,
)

from pytest_rankcheck.errors import ConfigurationError, RankcheckError, quoted, suggestion

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


P = ParamSpec("P")
R = TypeVar("R")


class Kind(NamedTuple):
    """What an annotation accepts."""

    words: str
    accepts: Callable[[object], bool]
    options: tuple[str, ...] = ()
    """The accepted texts, if only certain texts are accepted."""


def checked_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function refuse numbers, flags, lists and options that its annotations exclude.

    Numbers must also be in the range of their names. Annotations without a `Kind`, such as our
    classes, accept everything; the alias of a ``Literal`` accepts its values.
    """
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        wanted = _wanted(function)
        given = {**dict(zip(positional, args, strict=False)), **kwargs}
        for name, value in given.items():
            if name in wanted and not any(kind.accepts(value) for kind in wanted[name]):
                raise ConfigurationError(_refusal(name, value, wanted[name]))
            if isinstance(value, Real):
                _check_limit(name, value)
        return function(*args, **kwargs)

    return checked


def check_limits(limits: DataclassInstance) -> None:
    """Check the fields of a dataclass whose names are those of parameters with limits.

    Raises:
        ConfigurationError: naming the field, and what it takes.
    """
    for name in (field.name for field in fields(limits)):
        if getattr(limits, name) is not None:
            _check_limit(name, getattr(limits, name))


def _check_limit(name: str, value: object) -> None:
    is_valid, words = _LIMITS.get(name, (None, ""))
    if is_valid and not (is_number(value) and is_valid(float(value))):
        raise ConfigurationError(f"{name}={quoted(value, 60)} is invalid; give {words}")


def check_whole_number(name: str, value: object, least: int, error: type[RankcheckError]) -> None:
    """Check that an argument is a whole number from ``least`` on.

    Raises:
        error: it is something else; the message names the argument.
    """
    if not _is_whole(value) or value < least:  # type: ignore[operator]
        raise error(f"{name}={quoted(value)} is invalid; give a whole number from {least} on")


@functools.cache
def _wanted(function: Callable[..., object]) -> Mapping[str, tuple[Kind, ...]]:
    """Return what each checked parameter of a function accepts, by its name."""
    kinds: dict[str, tuple[Kind, ...]] = {}
    for name, annotation in function.__annotations__.items():
        texts = _without_brackets(str(annotation)).split(" | ")
        found = [_KINDS.get(text) or _options(function.__globals__.get(text)) for text in texts]
        accepted = tuple(kind for kind in found if kind is not None)
        if name != "return" and len(accepted) == len(texts):
            kinds[name] = accepted
    return kinds


def _without_brackets(annotation: str) -> str:
    while (shorter := re.sub(r"\[[^\[\]]*\]", "", annotation)) != annotation:
        annotation = shorter
    return annotation


def _options(alias: object) -> Kind | None:
    """Return what the alias of a ``Literal`` accepts; None for anything else."""
    if get_origin(alias) is not Literal:
        return None
    options = get_args(alias)
    return Kind("", lambda value: isinstance(value, str) and value in options, options)


def _refusal(name: str, value: object, kinds: Sequence[Kind]) -> str:
    """Return what is wrong with an argument, and what to write instead."""
    options = next((kind.options for kind in kinds if kind.options), ())
    if options:
        return (
            f"{name}={quoted(value, 60)} is invalid{suggestion(str(value), options)}; give one of "
            f"{', '.join(options)}"
        )
    expected = " or ".join(kind.words for kind in kinds if kind is not _KINDS["None"])
    return f"{name} must be {expected}, not {quoted(repr(value), 60)} ({type(value).__name__})"


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number, including numpy's, and not a boolean."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_iterable(value: object) -> bool:
    is_text = isinstance(value, (str, bytes))
    return isinstance(value, Iterable) and not is_text and library_of_frame(value) is None


def _is_list(value: object) -> bool:
    return _is_iterable(value) and not isinstance(value, Mapping)


def _is_ordered(value: object) -> bool:
    return _is_list(value) and not isinstance(value, AbstractSet)


_FRAMES = {
    "pandas": {"DataFrame"},
    "polars": {"DataFrame", "LazyFrame"},
    "pyarrow": {"Table", "RecordBatch", "RecordBatchReader"},
}
"""The tables in memory of each library."""


def library_of_frame(value: object) -> str | None:
    """Return the library of a table in memory: pandas, polars or pyarrow; otherwise None."""
    for kind in type(value).__mro__:
        library = kind.__module__.partition(".")[0]
        if kind.__name__ in _FRAMES.get(library, ()):
            return library
    return None


_KINDS = {
    "float": Kind("a number", is_number),
    "int": Kind("a whole number", _is_whole),
    "bool": Kind("True or False", lambda value: isinstance(value, bool)),
    "str": Kind("a text", lambda value: isinstance(value, str)),
    "None": Kind("None", lambda value: value is None),
    "Mapping": Kind("a dict", lambda value: isinstance(value, Mapping)),
    "Sequence": Kind("a list", _is_list),
    "Collection": Kind("a list", _is_list),
    "Iterable": Kind("a list", _is_iterable),
    "RankedIds": Kind("a list of ids, best first; a set has no order", _is_ordered),
}
_KINDS["TiedRanking"] = _KINDS["RankedIds"]
"""The kinds by annotation, without brackets."""

_NOT_NEGATIVE = (lambda value: 0 <= value < math.inf, "a number of at least 0")
_SIMILARITY = (lambda value: 1e-6 < value <= 1, "a number above 0 and at most 1, or None")
_LIMITS: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "k": (lambda value: value >= 1, "a whole number from 1 on, such as k=10"),
    "level": (lambda value: 0 <= value < 1, "at least 0 and less than 1, such as level=0.95"),
    "confidence": (lambda value: 0.5 <= value < 1, "at least 0.5 and less than 1"),
    "p": (lambda value: 0 < value < 1, "a number between 0 and 1"),
    "min_rbo": _SIMILARITY,
    "min_mean_rbo": _SIMILARITY,
    "min_overlap": _SIMILARITY,
    "min_tau_ap": (lambda value: -1 < value <= 1, "a number above -1 and at most 1, or None"),
    "max_kendall": (lambda value: 0 <= value < 1, "a number from 0 on and below 1, or None"),
    "max_drop": _NOT_NEGATIVE,
    "max_mean_drop": _NOT_NEGATIVE,
    "max_changed_queries": _NOT_NEGATIVE,
    "clip": (lambda value: 0 < value <= 1, "the smallest propensity, above 0 and at most 1"),
    "max_unseen": (
        lambda value: 0 <= value <= 1,
        "the largest share of the top that may never have been shown, from 0 to 1",
    ),
    "allowed_queries": (
        lambda value: value >= 0 and value.is_integer(),
        "a whole number from 0 on",
    ),
}
"""The numbers that a parameter or limit of this name takes everywhere."""
