"""The kinds of arguments: what an annotation accepts, and how to get it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from numbers import Integral, Real
from os import PathLike
from typing import Literal, TypeGuard, get_args, get_origin

__all__ = [
    "KINDS",
    "Kind",
    "is_frame",
    "is_number",
    "is_ours",
    "is_set",
    "is_stream",
    "kind_of_options",
    "library_of_frame",
]


@dataclass(frozen=True, slots=True)
class Kind:
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
        return any(kind.__name__ in names and is_ours(kind) for kind in type(value).__mro__)

    return accepts


def is_ours(kind: type) -> bool:
    """Return whether a class is one of this package."""
    return kind.__module__.partition(".")[0] == "pytest_rankcheck"


def _is_metric(value: object) -> bool:
    module = type(value).__module__
    return isinstance(value, str) or _is("Metric")(value) or module.startswith("ir_measures")


def _is_measured(value: object) -> bool:
    return hasattr(value, "query_fingerprints") and hasattr(value, "values")


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number, numpy's included, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_several(value: object) -> bool:
    return (
        isinstance(value, Iterable)
        and not isinstance(value, (str, bytes, Mapping))
        and not is_frame(value)
        and not is_ours(type(value))
    )


def is_set(value: object) -> bool:
    """Return whether a value has no order; the keys of a dict have one."""
    return isinstance(value, AbstractSet) and not isinstance(value, KeysView)


def _is_iterable(value: object) -> bool:
    is_text = isinstance(value, (str, bytes))
    return isinstance(value, Iterable) and not is_text and not is_frame(value)


def _is_names(value: object) -> bool:
    if value is None or isinstance(value, str):
        return True
    return isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)


def _is_source(value: object) -> bool:
    is_rows = isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping))
    return isinstance(value, PathLike) or is_rows or library_of_frame(value) is not None


def is_frame(value: object) -> bool:
    """Return whether a value is a pandas DataFrame; this imports nothing."""
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
    """Return the library of a table in memory: pandas, polars or pyarrow; otherwise None."""
    for kind in type(value).__mro__:
        library = kind.__module__.partition(".")[0]
        if (library, kind.__name__) in _FRAMES:
            return library
    return None


def is_stream(value: object) -> bool:
    """Return whether a value is a table that can be read only once."""
    names = {kind.__name__ for kind in type(value).__mro__}
    return library_of_frame(value) == "pyarrow" and "RecordBatchReader" in names


_EVALUATION = Kind(
    "an Evaluation",
    _is("Evaluation"),
    "evaluate(run, golden), or use the fixture evaluation",
    {
        "Run": "evaluate(run, golden)",
        "text": "evaluate(Run.load(path), golden)",
        "SessionLog": "evaluate_sessions(log)",
    },
)
_RANKED_IDS = Kind(
    "a list of ids",
    lambda value: _is_several(value) and not is_set(value),
    "a list of ids, best first",
    {"set": "a list of ids, best first; a set has no order"},
)
_UNQUOTED = {"text": "the number without quotes"}
_RUN = Kind(
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
)
KINDS: Mapping[str, Kind] = {
    "Run": _RUN,
    "RankedQueries": _RUN,
    "GoldenSet": Kind(
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
    "Measured": Kind(
        "an Evaluation or a Record",
        _is_measured,
        _EVALUATION.example,
        {
            **_EVALUATION.instead,
            "text": "Record.load(path) for a baseline, or evaluate(Run.load(path), golden)",
            "Baseline": "baseline.record, or assert_not_regressed(evaluation, baseline, metric)",
        },
    ),
    "Baseline": Kind(
        "a Baseline",
        _is("Baseline"),
        "baseline, with the fixture baseline as a parameter of the test",
        {"number": "assert_at_least(evaluation, metric, minimum) to compare with a number"},
    ),
    "Record": Kind("a Record", _is("Record"), "Record.load(path)", {"text": "Record.load(path)"}),
    "Comparison": Kind("a Comparison", _is("Comparison"), "compare(evaluation, other)"),
    "SessionLog": Kind(
        "a SessionLog",
        _is("SessionLog"),
        'SessionLog.load("logs/week.jsonl"), or use the fixture session_log',
        {"text": "SessionLog.load(path)", "frame": "SessionLog.from_frame(events)"},
    ),
    "Gate": Kind("a Gate", _is("Gate"), "gate=Gate.noninferior(margin=0.02)"),
    "GateRule": Kind("a GateRule", _is("GateRule"), "Gate.tolerance(abs=0.01)"),
    "Conventions": Kind("Conventions", _is("Conventions"), 'Conventions(no_relevant="exclude")'),
    "Expectation": Kind(
        "an Expectation", _is("Expectation"), 'Expectation.in_top(3, "d1", query="q1")'
    ),
    "MetricLike": Kind("a metric", _is_metric, 'a name such as "nDCG@10", or a Metric'),
    "By": Kind("attributes of queries", _is_names, 'by="locale" or by=["locale", "device"]'),
    "float": Kind("a number", is_number, "a number such as 0.05", _UNQUOTED),
    "int": Kind("a whole number", _is_whole, "a number such as 10", _UNQUOTED),
    "bool": Kind("True or False", lambda value: isinstance(value, bool), "True or False"),
    "str": Kind("a text", lambda value: isinstance(value, str), "a text, in quotes"),
    "None": Kind("None", lambda value: value is None, "None"),
    "PathLike": Kind(
        "a path", lambda value: isinstance(value, (str, PathLike)), 'a path such as "golden/web"'
    ),
    "pd.DataFrame": Kind(
        "a pandas DataFrame",
        is_frame,
        "a pandas DataFrame",
        {"text": "load(path), which reads a file", "mapping": "from_dict"},
    ),
    "Frame": Kind(
        "a DataFrame of pandas or polars, or a table of pyarrow",
        lambda value: library_of_frame(value) is not None,
        "a pandas DataFrame",
        {"text": "load(path), which reads a file", "mapping": "from_dict"},
    ),
    "UbiSource": Kind(
        "paths, a DataFrame of pandas or polars, a table of pyarrow, or dicts",
        _is_source,
        '"logs/ubi_queries.jsonl"',
    ),
    "CorpusSource": Kind(
        "a path, a DataFrame or document ids",
        lambda value: (
            isinstance(value, (str, PathLike))
            or library_of_frame(value) is not None
            or _is_iterable(value)
        ),
        'corpus="corpus.jsonl"',
    ),
    "Mapping": Kind(
        "a mapping",
        lambda value: isinstance(value, Mapping),
        "a dict",
        {"text": "load(path), which reads a file", "frame": "from_frame"},
    ),
    "Sequence": Kind("a list", _is_several, "a list, in square brackets"),
    "RankedIds": _RANKED_IDS,
    "TiedRanking": _RANKED_IDS,
    "Collection": Kind("a list", _is_several, "a list, in square brackets"),
    "Iterable": Kind("a list", _is_iterable, "a list, in square brackets"),
}
"""By annotation, without its brackets."""


def kind_of_options(alias: object) -> Kind | None:
    """Return what the alias of a ``Literal`` accepts; None for anything else."""
    if get_origin(alias) is not Literal:
        return None
    options = get_args(alias)
    return Kind(
        f"one of {', '.join(options)}",
        lambda value: isinstance(value, str) and value in options,
        repr(options[0]),
        options=options,
    )
