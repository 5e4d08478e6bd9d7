"""Checks of arguments: a public function refuses what its annotations do not name.

Most wrong arguments are right ones for another place: a run instead of its evaluation, a path
instead of the golden set in it, two arguments swapped. Duck typing would fail on them far from the
mistake, or give a number.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from numbers import Integral, Real
from os import PathLike
from typing import Literal, ParamSpec, TypeVar, get_args, get_origin

from pytest_rankcheck.errors import ConfigurationError, RankcheckError, quoted, suggestion

__all__ = ["check_whole_number", "checked_arguments", "library_of_frame"]

P = ParamSpec("P")
R = TypeVar("R")


def checked_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function refuse arguments that its annotations do not name, or that are out of range.

    The annotations are read as text, so this imports nothing. Those without a `_Kind`, such as
    ``object`` and callables, accept everything; a name of the function's module that stands for a
    ``Literal`` accepts its values.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = names[: code.co_argcount]

    def kind_of(annotation: str) -> _Kind | None:
        return _KINDS.get(annotation) or _kind_of_options(function.__globals__.get(annotation))

    kinds = {
        name: tuple(map(kind_of, _without_brackets(str(annotation)).split(" | ")))
        for name, annotation in function.__annotations__.items()
        if name in names
    }
    wanted: dict[str, tuple[_Kind, ...]] = {
        name: tuple(kind for kind in accepted if kind is not None)
        for name, accepted in kinds.items()
        if None not in accepted
    }

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        given = {**dict(zip(positional, args, strict=False)), **kwargs}
        for name, value in given.items():
            if name in wanted and not any(kind.accepts(value) for kind in wanted[name]):
                raise _wrong_argument(function.__name__, name, given, wanted)
            is_valid, words = _LIMITS.get(name, (None, ""))
            if is_valid and isinstance(value, Real) and not is_valid(float(value)):
                raise ConfigurationError(f"{name}={quoted(value, 60)} is invalid; give {words}")
        return function(*args, **kwargs)

    return checked


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


@dataclass(frozen=True, slots=True)
class _Kind:
    """What an annotation accepts, and how to get it."""

    words: str
    accepts: Callable[[object], bool]
    example: str
    instead: Mapping[str, str] = field(default_factory=dict)
    """What to write, by the category of what was given."""
    options: Sequence[str] = ()
    """The texts that are accepted, if these are all."""


def _is(*names: str) -> Callable[[object], bool]:
    """Return whether a value is an object of ours, of a class with one of the names."""

    def accepts(value: object) -> bool:
        return any(kind.__name__ in names and _is_ours(kind) for kind in type(value).__mro__)

    return accepts


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "pytest_rankcheck"


def _is_metric(value: object) -> bool:
    module = type(value).__module__
    return isinstance(value, str) or _is("Metric")(value) or module.startswith("ir_measures")


def _is_measured(value: object) -> bool:
    return hasattr(value, "query_fingerprints") and hasattr(value, "values")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_several(value: object) -> bool:
    return (
        isinstance(value, Iterable)
        and not isinstance(value, (str, bytes, Mapping))
        and not _is_frame(value)
        and not _is_ours(type(value))
    )


def _is_set(value: object) -> bool:
    """Whether a value has no order; the keys of a dict have one."""
    return isinstance(value, AbstractSet) and not isinstance(value, KeysView)


def _is_iterable(value: object) -> bool:
    is_text = isinstance(value, (str, bytes))
    return isinstance(value, Iterable) and not is_text and not _is_frame(value)


def _is_names(value: object) -> bool:
    if value is None or isinstance(value, str):
        return True
    return isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)


def _is_frame(value: object) -> bool:
    return library_of_frame(value) == "pandas"


_FRAMES = frozenset(
    {
        ("pandas", "DataFrame"),
        ("polars", "DataFrame"),
        ("polars", "LazyFrame"),
        ("pyarrow", "Table"),
        ("pyarrow", "RecordBatch"),
        ("pyarrow", "RecordBatchReader"),
    }
)
"""The library and the class of each kind of table in memory."""


def library_of_frame(value: object) -> str | None:
    """Return the library of a table in memory: pandas, polars or pyarrow; None if it is none."""
    for kind in type(value).__mro__:
        library = kind.__module__.partition(".")[0]
        if (library, kind.__name__) in _FRAMES:
            return library
    return None


_EVALUATION = _Kind(
    "an Evaluation",
    _is("Evaluation"),
    "evaluate(run, golden), or use the fixture evaluation",
    {
        "Run": "evaluate(run, golden)",
        "text": "evaluate(Run.load(path), golden)",
        "SessionLog": "evaluate_sessions(log)",
    },
)
_RANKED_IDS = _Kind(
    "a list of ids",
    lambda value: _is_several(value) and not _is_set(value),
    "a list of ids, best first",
    {"set": "a list of ids, best first; a set has no order"},
)
_NUMBER = re.compile(r"\s*[+-]?\d*\.?\d+([eE][+-]?\d+)?\s*")
_UNQUOTED = {"text": "the number without quotes"}
_KINDS: Mapping[str, _Kind] = {
    "Run": _Kind(
        "a Run",
        _is("Run"),
        'Run.load("new.run") or rank(ranker, golden), or use the fixture ranking_run',
        {
            "text": "Run.load(path)",
            "mapping": "Run.from_dict(rankings)",
            "frame": "Run.from_frame(frame)",
            "function": "rank(ranker, golden)",
            "Evaluation": "evaluation.run",
        },
    ),
    "GoldenSet": _Kind(
        "a GoldenSet",
        _is("GoldenSet"),
        'GoldenSet.load("golden/web.jsonl"), or use the fixture golden_set',
        {
            "text": "GoldenSet.load(path)",
            "mapping": "GoldenSet.from_dict(judgments)",
            "frame": "GoldenSet.from_frame(judgments)",
            "Evaluation": "evaluation.golden",
        },
    ),
    "Evaluation": _EVALUATION,
    "Measured": _Kind(
        "an Evaluation or a Record",
        _is_measured,
        _EVALUATION.example,
        {
            **_EVALUATION.instead,
            "text": "Record.load(path) for a baseline, or evaluate(Run.load(path), golden)",
            "Baseline": "baseline.record, or assert_not_regressed(evaluation, baseline, metric)",
        },
    ),
    "Baseline": _Kind(
        "a Baseline",
        _is("Baseline"),
        "baseline, with the fixture baseline as a parameter of the test",
        {"number": "assert_at_least(evaluation, metric, minimum) to compare with a number"},
    ),
    "Record": _Kind("a Record", _is("Record"), "Record.load(path)", {"text": "Record.load(path)"}),
    "Comparison": _Kind("a Comparison", _is("Comparison"), "compare(evaluation, other)"),
    "SessionLog": _Kind(
        "a SessionLog",
        _is("SessionLog"),
        'SessionLog.load("logs/week.jsonl"), or use the fixture session_log',
        {"text": "SessionLog.load(path)", "frame": "SessionLog.from_frame(events)"},
    ),
    "Gate": _Kind("a Gate", _is("Gate"), "gate=Gate.noninferior(margin=0.02)"),
    "GateRule": _Kind("a GateRule", _is("GateRule"), "Gate.tolerance(abs=0.01)"),
    "Conventions": _Kind("Conventions", _is("Conventions"), 'Conventions(no_relevant="exclude")'),
    "Expectation": _Kind(
        "an Expectation", _is("Expectation"), 'Expectation.in_top(3, "d1", query="q1")'
    ),
    "MetricLike": _Kind("a metric", _is_metric, 'a name such as "nDCG@10", or a Metric'),
    "By": _Kind("attributes of queries", _is_names, 'by="locale" or by=["locale", "device"]'),
    "float": _Kind("a number", _is_number, "a number such as 0.05", _UNQUOTED),
    "int": _Kind("a whole number", _is_whole, "a number such as 10", _UNQUOTED),
    "bool": _Kind("True or False", lambda value: isinstance(value, bool), "True or False"),
    "str": _Kind("a text", lambda value: isinstance(value, str), "a text, in quotes"),
    "None": _Kind("None", lambda value: value is None, "None"),
    "PathLike": _Kind(
        "a path", lambda value: isinstance(value, (str, PathLike)), 'a path such as "golden/web"'
    ),
    "pd.DataFrame": _Kind(
        "a pandas DataFrame",
        _is_frame,
        "a pandas DataFrame",
        {"text": "load(path), which reads a file", "mapping": "from_dict"},
    ),
    "Frame": _Kind(
        "a DataFrame of pandas or polars, or a table of pyarrow",
        lambda value: library_of_frame(value) is not None,
        "a pandas DataFrame",
        {"text": "load(path), which reads a file", "mapping": "from_dict"},
    ),
    "Mapping": _Kind(
        "a mapping",
        lambda value: isinstance(value, Mapping),
        "a dict",
        {"text": "load(path), which reads a file", "frame": "from_frame"},
    ),
    "Sequence": _Kind("a list", _is_several, "a list, in square brackets"),
    "RankedIds": _RANKED_IDS,
    "TiedRanking": _RANKED_IDS,
    "Collection": _Kind("a list", _is_several, "a list, in square brackets"),
    "Iterable": _Kind("a list", _is_iterable, "a list, in square brackets"),
}
"""By annotation, without its brackets."""

_LIMITS: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "k": (lambda value: value >= 1, "a whole number from 1 on, such as k=10"),
    "level": (lambda value: 0 <= value < 1, "at least 0 and less than 1, such as level=0.95"),
}
"""By the name of a parameter, the numbers that it takes in every function."""

_REMOVED: Mapping[tuple[str, str], str] = {
    ("test", "wilcoxon"): "the signed-rank test does not compare means, and blocked up to half of "
    "the changes without an effect on the mean; use sign_flip",
}
"""By the name of a parameter and an option that it once had: why it is gone, what to use."""


def _kind_of_options(alias: object) -> _Kind | None:
    """Return what the alias of a ``Literal`` accepts; None for anything else."""
    if get_origin(alias) is not Literal:
        return None
    options = get_args(alias)
    return _Kind(
        f"one of {', '.join(options)}",
        lambda value: isinstance(value, str) and value in options,
        repr(options[0]),
        options=options,
    )


def _wrong_argument(
    function: str,
    name: str,
    given: Mapping[str, object],
    wanted: Mapping[str, tuple[_Kind, ...]],
) -> ConfigurationError:
    """Return the error that an argument has the wrong type."""
    value, kinds = given[name], [kind for kind in wanted[name] if kind is not _KINDS["None"]]
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
    elif hasattr(value, "to_pandas") and kinds[0].accepts is _is_frame:
        todo = f"pass {name}.to_pandas()"
    elif _KINDS["float"] in kinds[1:] and isinstance(value, str) and _NUMBER.fullmatch(value):
        todo = f"write {name}={value.strip()}"
    elif category == "fixture":
        todo = "pytest passes a fixture's value to a test that has a parameter of its name"
    else:
        todo = "write " + next(
            (kind.instead[category] for kind in kinds if category in kind.instead),
            kinds[0].example,
        )
    return ConfigurationError(f"{name} must be {expected}, not {_described(value)}; {todo}")


def _category(value: object) -> str:
    """Return what a value is, in a word: the class of an object of ours, or a rough kind."""
    if _is_fixture(value):
        return "fixture"
    for kind in type(value).__mro__:
        if kind.__name__ in _KINDS and _is_ours(kind):
            return kind.__name__
    if isinstance(value, (str, PathLike)):
        return "text"
    if _is_frame(value):
        return "frame"
    if isinstance(value, Mapping):
        return "mapping"
    if _is_set(value):
        return "set"
    if _is_number(value):
        return "number"
    return "function" if callable(value) else "other"


def _described(value: object) -> str:
    """Return a value as a message names it: with its type, and its name if it has one."""
    kind = type(value).__name__
    if value is None:
        return "None"
    if _is_fixture(value):
        return f"the fixture function '{quoted(getattr(value, '__name__', 'fixture'))}'"
    if _is_ours(type(value)):
        name = getattr(value, "name", None)
        article = "an" if kind[0] in "AEIOU" else "a"
        return f"{article} {kind}" + (f" ('{quoted(name)}')" if isinstance(name, str) else "")
    if isinstance(value, (str, PathLike)):
        return f"'{quoted(value, 60)}' ({kind})"
    if hasattr(value, "to_pandas"):
        return f"a {type(value).__module__.partition('.')[0]} {kind}"
    if _is_frame(value) or isinstance(value, type):
        return f"the class {quoted(value)}" if isinstance(value, type) else f"a {kind}"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"the {kind} {quoted(value.__qualname__, 60)}"
    return f"{quoted(repr(value), 60)} ({kind})"


def _is_fixture(value: object) -> bool:
    """Whether a value is what the decorator ``pytest.fixture`` returns, of any version."""
    return "Fixture" in type(value).__name__ or hasattr(value, "_pytestfixturefunction")
