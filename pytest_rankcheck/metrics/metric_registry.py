"""The registry of metrics: one decorated function declares everything about a metric."""

from __future__ import annotations

import importlib
import inspect
import keyword
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypedDict, Unpack

from pytest_rankcheck.errors import MetricError, quoted, suggestion
from pytest_rankcheck.metrics.averages import Aggregate
from pytest_rankcheck.metrics.metric_definition import (
    JUDGED_ONLY,
    KINDS,
    At,
    Definition,
    MetricFunction,
    Spelling,
    Synonyms,
    Unit,
)
from pytest_rankcheck.metrics.metric_parameters import Parameter
from pytest_rankcheck.metrics.name_grammar import refusal_of

_FAMILIES = "pytest_rankcheck.metrics.families."
"""The package of the functions of our own metrics."""
_MOST_USED = ("gain", "relevant_documents", "average_precision")
"""The families that are searched first for a name: those of nDCG, RR, P, R and AP."""

_DEFINITIONS: dict[str, Definition] = {}
_NAMES: dict[str, Definition] = {}
_GENERATIONS = [0]


class Declared(TypedDict, total=False):
    """What a metric may declare beside its name and parameters; see `metric`."""

    aliases: tuple[str, ...]
    synonyms: Synonyms
    renamed: Mapping[str, str]
    spellings: Mapping[str, Spelling]
    higher_is_better: bool
    ideal: float
    range: tuple[float, float]
    at: At
    unjudged: str
    trec_eval: tuple[str, ...]
    aggregate: Aggregate
    unit: Unit


def metric(
    name: str, *, parameters: tuple[Parameter, ...] = (), **declared: Unpack[Declared]
) -> Callable[[MetricFunction], MetricFunction]:
    """Register the decorated function as the metric ``name``.

    The function takes the judged hits, the cutoff (None for the whole ranking) and each parameter
    by keyword, and returns one float64 per query. The first line of its docstring is the metric's
    summary. The metric's card also shows the paragraphs that begin with ``Formula:`` (plain text),
    ``Use:`` (when to use it, in one sentence), ``Source:`` (paper, equation; without it, the
    function), or the name of a parameter without a description.

    Args:
        name: the canonical name, as it is printed.
        parameters: the parameters that the name may have in brackets, in canonical order.
        **declared: any of these:
            aliases: other names; names and aliases ignore case.
            synonyms: other libraries' parameters, translated value by value, such as
            ``{"dcg": {"exp-log2": {"gain": "exponential"}}}``.
            renamed: other libraries' parameters that differ only in name, such as
            ``{"gains": "gain"}``.
            spellings: other tools' names for the metric with certain parameters, such as
            ``{"rbp": {"p": 0.9}}``; or with a function that translates the given parameters.
            higher_is_better: whether a higher value means a better ranking; by default, it does.
            ideal: the best value, if it is neither the highest nor the lowest; nearer is better.
            range: the lowest and the highest possible value; by default, 0 to 1.
            at: what the number after @ means: the cutoff, the parameter ``recall``, or None if no
            number is allowed.
            unjudged: how an unjudged document counts, for the manual.
            trec_eval: trec_eval's names for the metric that a number follows, such as ``ndcg_cut``
            in ``ndcg_cut_10``.
            aggregate: how the values of the queries are averaged.
            unit: ``"query"``; ``"session"`` for a metric of the sessions of a log, whose function
            takes the trails of sessions instead of judged hits; ``"run"`` for a metric whose
            function takes all rankings at once; or ``"time"`` for one whose function takes the
            timings of the queries.

    Returns:
        A decorator that registers a function and returns it unchanged.

    Raises:
        MetricError: a name is invalid or taken, or the range is invalid.
    """
    names = (name, *declared.get("aliases", ()), *declared.get("spellings", ()))
    _check_declaration(names, parameters, declared.get("range", (0.0, 1.0)))

    def register(compute: MetricFunction) -> MetricFunction:
        is_judged = KINDS[declared.get("unit", "query")].is_of_judgments
        every = (*parameters, JUDGED_ONLY) if is_judged else parameters
        summary, *others = re.split(r"\n\s*\n", (compute.__doc__ or "").strip())
        labelled = (" ".join(each.split()).partition(": ") for each in others)
        said = {label: text for label, _, text in labelled}
        _add(
            Definition(
                name=name,
                compute=compute,
                summary=summary.partition("\n")[0],
                reference=said.get("Source", f"the function {_place(compute)}"),
                formula=said.get("Formula", ""),
                use=said.get("Use", ""),
                parameters={each.name: _explained(each, said) for each in every},
                **declared,
            )
        )
        return compute

    return register


def _explained(parameter: Parameter, said: Mapping[str, str]) -> Parameter:
    """Return a parameter with its description from a docstring, unless it has one."""
    if parameter.description:
        return parameter
    return replace(parameter, description=said.get(parameter.name, ""))


def _add(entry: Definition) -> None:
    """Add a metric to the registry; a new definition of the same function replaces the old one."""
    if not entry.compute.__module__.startswith(_FAMILIES):
        _load_families()  # so that our own names count as taken
    words = {word.casefold(): word for word in (entry.name, *entry.aliases, *entry.spellings)}
    holders = {word: _NAMES[folded] for folded, word in words.items() if folded in _NAMES}
    for word, holder in holders.items():
        if _origin(entry.compute) != _origin(holder.compute):
            ours = holder.compute.__module__.startswith(_FAMILIES)
            whose = "of pytest-rankcheck" if ours else f"({_place(holder.compute)})"
            raise MetricError(
                f"the metric name '{word}' is already taken by {holder.name} {whose}; "
                f"give another name to the metric of {_place(entry.compute)}"
            )
    replaced = list(holders.values())
    for old in replaced:
        _DEFINITIONS.pop(old.name, None)
    for folded in [folded for folded, held in _NAMES.items() if held in replaced]:
        del _NAMES[folded]
    _DEFINITIONS[entry.name] = entry
    _NAMES.update(dict.fromkeys(words, entry))
    _GENERATIONS[0] += 1


def generation() -> int:
    """Return a number that changes with every registration, as a key for caches."""
    return _GENERATIONS[0]


def definitions() -> Mapping[str, Definition]:
    """Return every registered metric by its canonical name."""
    _load_families()
    return _DEFINITIONS


def judged_definitions() -> Mapping[str, Definition]:
    """Return the metrics that are computed from judged hits."""
    return {name: entry for name, entry in definitions().items() if entry.kind.is_of_judgments}


def registered(name: str) -> Definition | None:
    """Return the metric with this name or alias, or None; case does not matter.

    The families are imported one after another, the most used first, until one has the name. Names
    are unique, so no other family can have it.
    """
    word = name.casefold()
    for family in _families():
        if word in _NAMES:
            break
        importlib.import_module(family)
    return _NAMES.get(word)


def definition(name: str) -> Definition:
    """Return the metric with this name or alias; case does not matter.

    Raises:
        MetricError: the metric is unknown; the message suggests the most similar name.
    """
    entry = registered(name)
    if entry is None:
        if refusal := refusal_of(name):
            raise refusal
        words = [word for each in _DEFINITIONS.values() for word in (each.name, *each.aliases)]
        hint = suggestion(name, words) or (
            f"; known metrics: {', '.join(_DEFINITIONS)}; @metric registers one of your own"
        )
        raise MetricError(f"unknown metric '{quoted(name)}'{hint}")
    return entry


def trec_eval_definition(stem: str) -> Definition | None:
    """Return the metric that trec_eval calls ``stem``, as in ``ndcg_cut_10``, or None."""
    _load_families()
    return next((entry for entry in _DEFINITIONS.values() if stem in entry.trec_eval), None)


@cache
def _families() -> Sequence[str]:
    """Return every module of ``families``, the most used first: a new one needs only a new file."""
    from pytest_rankcheck.metrics import families

    found = sorted(_FAMILIES + module.name for module in pkgutil.iter_modules(families.__path__))
    first = [_FAMILIES + name for name in _MOST_USED]
    return [*first, *(name for name in found if name not in first)]


@cache
def _load_families() -> None:
    """Import all families.

    Metrics are then listed in the order of the modules, whichever was imported first.
    """
    for family in _families():
        importlib.import_module(family)
    in_order = sorted(_DEFINITIONS.items(), key=lambda item: item[1].compute.__module__)
    _DEFINITIONS.clear()
    _DEFINITIONS.update(in_order)


_EVERY_METRIC_HAS = ("cutoff", "hits", "judged_only")


def _origin(function: Callable[..., object]) -> tuple[str, str]:
    """Return the name of a function, or of the one that it wraps, and the file that defines it.

    A function of the same origin is a new definition of the same function: a conftest may be
    imported twice, even under another module name. A notebook's cell may be run again, and each
    time counts as another file, so its module stands for it.
    """
    inner = inspect.unwrap(function)
    code = None if inner.__module__ == "__main__" else getattr(inner, "__code__", None)
    name = getattr(inner, "__qualname__", type(inner).__qualname__)
    return name, code.co_filename if code else inner.__module__


def _place(function: Callable[..., object]) -> str:
    """Return where a function is defined, in words."""
    name, file = _origin(function)
    return f"{quoted(name)} in {quoted(file, 300)}"


def _check_declaration(
    names: tuple[str, ...], parameters: tuple[Parameter, ...], range: tuple[float, float]
) -> None:
    """Check the names, the parameters and the range of a metric.

    Raises:
        MetricError: a name is invalid, a parameter has a reserved name, or the range is invalid.
    """
    for name in names:
        if not isinstance(name, str):
            raise MetricError('the name of the metric is missing; write @metric("Revenue")')
        is_identifier = name.isidentifier() and not keyword.iskeyword(name)
        if not is_identifier or name in ("true", "false"):
            raise MetricError(
                f"'{quoted(name)}' is not a valid metric name; use letters, digits and _, as in "
                "Revenue"
            )
    for parameter in parameters:
        if parameter.name in _EVERY_METRIC_HAS:
            raise MetricError(
                f"{names[0]}: the parameter name {parameter.name} is reserved; use another name"
            )
    if not range[0] < range[1]:
        raise MetricError(f"{names[0]}: range={quoted(range)} is invalid; give (lowest, highest)")
