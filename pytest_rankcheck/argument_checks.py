"""Checks of arguments: a public function refuses what its annotations do not name.

Most wrong arguments are right ones for another place: a run instead of its evaluation, a path
instead of the golden set in it, two arguments swapped. Duck typing would fail on them far from the
mistake, or give a wrong number.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, KeysView, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields
from numbers import Integral, Real
from os import PathLike
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
    """What an annotation accepts, and how to get it."""

    words: str
    accepts: Callable[[object], bool]
    example: str
    options: tuple[str, ...] = ()
    """The texts that are accepted, if these are all."""


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
        wanted = _wanted(function)
        given = {**dict(zip(positional, args, strict=False)), **kwargs}
        for name, value in given.items():
            if name in wanted and not any(kind.accepts(value) for kind in wanted[name]):
                raise ConfigurationError(_refusal(function.__name__, name, given, wanted))
            if isinstance(value, Real):
                _check_limit(name, value)
        return function(*args, **kwargs)

    return checked


def check_limits(limits: DataclassInstance) -> None:
    """Check the fields of a dataclass that are named like parameters with limits.

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
    return Kind("", lambda value: isinstance(value, str) and value in options, "", options)


def _refusal(
    function: str,
    name: str,
    given: Mapping[str, object],
    wanted: Mapping[str, tuple[Kind, ...]],
) -> str:
    """Return what is wrong with an argument, and what to write instead."""
    value, kinds = given[name], [kind for kind in wanted[name] if kind is not _KINDS["None"]]
    options = next((kind.options for kind in kinds if kind.options), ())
    if options:
        return (
            f"{name}={quoted(value, 60)} is invalid{suggestion(str(value), options)}; give one of "
            f"{', '.join(options)}"
        )
    swapped = [
        other
        for other in given
        if other not in (name, "self")
        and any(kind.accepts(given[other]) for kind in kinds)
        and (other not in wanted or any(kind.accepts(value) for kind in wanted[other]))
    ]
    if swapped:
        todo = f"{name} and {swapped[0]} are swapped: write {function}({', '.join(given)})"
    else:
        path = _KINDS["PathLike"]
        todo = f"write {(path if path in kinds else kinds[0]).example}"
    *first, last = (kind.words for kind in kinds)
    expected = f"{', '.join(first)} or {last}" if first else last
    return f"{name} must be {expected}, not {_described(value)}; {todo}"


def _described(value: object) -> str:
    """Return a value as a message names it: with its type, and its name if it has one."""
    kind, name = type(value).__name__, getattr(value, "name", None)
    if value is None:
        return "None"
    if _is_ours(type(value)):
        return _a(kind) + (f" ('{quoted(name)}')" if isinstance(name, str) else "")
    if library_of_frame(value) is not None:
        return f"a {kind} of {library_of_frame(value)}"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"the {'class' if kind == 'type' else kind} {quoted(value.__qualname__, 60)}"
    return f"{quoted(repr(value), 60)} ({kind})"


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOU' else 'a'} {noun}"


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "pytest_rankcheck"


def _instance(name: str) -> Callable[[object], bool]:
    """Return whether a value is an object of our class of this name, or of a subclass."""
    return lambda value: any(
        kind.__name__ == name and _is_ours(kind) for kind in type(value).__mro__
    )


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number, numpy's included, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_metric(value: object) -> bool:
    is_known = isinstance(value, str) or _instance("Metric")(value)
    return is_known or type(value).__module__.startswith("ir_measures")


def _is_iterable(value: object) -> bool:
    is_text = isinstance(value, (str, bytes))
    return isinstance(value, Iterable) and not is_text and library_of_frame(value) is None


def _is_list(value: object) -> bool:
    return _is_iterable(value) and not isinstance(value, Mapping) and not _is_ours(type(value))


def _is_ordered(value: object) -> bool:
    return _is_list(value) and (not isinstance(value, AbstractSet) or isinstance(value, KeysView))


def _are_names(value: object) -> bool:
    names = value if isinstance(value, (list, tuple)) else [value]
    return value is None or all(isinstance(name, str) for name in names)


def _is_path(value: object) -> bool:
    return isinstance(value, (str, PathLike))


def _is_measured(value: object) -> bool:
    return hasattr(value, "query_fingerprints") and hasattr(value, "values")


_TABLE = "DataFrame of pandas or polars, or a table of pyarrow"
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


def _is_table(value: object) -> bool:
    return library_of_frame(value) is not None


def _is_source(value: object) -> bool:
    return _is_path(value) or _is_table(value) or _is_list(value)


_EVALUATION = "evaluate(run, golden), or use the fixture evaluation"
_CLASSES = {
    "Run": "Run.load(path), .from_dict(rankings), rank(ranker, golden) or evaluation.run, or use "
    "the fixture ranking_run",
    "GoldenSet": "GoldenSet.load(path), .from_dict(judgments) or .from_frame(frame), or use the "
    "fixture golden_set",
    "Evaluation": _EVALUATION,
    "Baseline": "assert_at_least(evaluation, metric, minimum) to compare with a number, or use the "
    "fixture baseline",
    "Record": "Record.load(path)",
    "Comparison": "compare(evaluation, other)",
    "SessionLog": "SessionLog.load(path) or .from_frame(events), or use the fixture session_log",
    "Gate": "gate=Gate.noninferior(margin=0.02)",
    "GateRule": "Gate.tolerance(abs=0.01)",
    "Conventions": 'Conventions(no_relevant="exclude")',
    "Expectation": 'Expectation.in_top(3, "d1", query="q1")',
}
"""How to get an object of each of our classes."""

_ROWS: Mapping[str, tuple[str, Callable[[object], bool], str]] = {
    "Measured": ("an Evaluation or a Record", _is_measured, _EVALUATION),
    "MetricLike": ("a metric", _is_metric, 'a name such as "nDCG@10", or a Metric'),
    "By": ("attributes of queries", _are_names, 'by="locale" or by=["locale", "device"]'),
    "float": ("a number", is_number, "a number such as 0.05, without quotes"),
    "int": ("a whole number", _is_whole, "a number such as 10, without quotes"),
    "bool": ("True or False", lambda value: isinstance(value, bool), "True or False"),
    "str": ("a text", lambda value: isinstance(value, str), "a text, in quotes"),
    "None": ("None", lambda value: value is None, "None"),
    "PathLike": ("a path", _is_path, 'a path such as "golden/web"'),
    "Frame": (f"a {_TABLE}", _is_table, "load(path) to read a file, or from_dict to read a dict"),
    "Source": ("a path, a table or a list", _is_source, "a path, in quotes"),
    "Mapping": ("a mapping", lambda value: isinstance(value, Mapping), "a dict"),
    "Sequence": ("a list", _is_list, "a list, in square brackets"),
    "Collection": ("a list", _is_list, "a list, in square brackets"),
    "Iterable": ("a list", _is_iterable, "a list, in square brackets"),
    "RankedIds": ("a list of ids", _is_ordered, "a list of ids, best first; a set has no order"),
}
_KINDS = {
    **{name: Kind(_a(name), _instance(name), example) for name, example in _CLASSES.items()},
    **{name: Kind(*row) for name, row in _ROWS.items()},
}
_KINDS |= {
    "RankedQueries": _KINDS["Run"],
    "TiedRanking": _KINDS["RankedIds"],
    "CorpusSource": _KINDS["Source"],
    "UbiSource": _KINDS["Source"],
}
"""By annotation, without its brackets."""

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
    "slack": _NOT_NEGATIVE,
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
"""By the name of a parameter or limit, the numbers that it takes everywhere."""
