"""The registry of metrics: what is said once beside a metric's function and read everywhere."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from pytest_rankcheck.errors import MetricError, quoted, suggestion
from pytest_rankcheck.metrics.hits import FloatArray, JudgedHits
from pytest_rankcheck.metrics.parameters import Parameter, Value, flag

__all__ = ["JUDGED_ONLY", "Compute", "Definition", "definition", "definitions", "metric"]

Compute = Callable[..., FloatArray]
"""``compute(hits, cutoff, **parameters)`` returns the value of each query, ``[Q]``."""

Synonyms = Mapping[str, Mapping[str, Mapping[str, object]]]
"""Another library's parameter -> its value -> our parameters and their values."""

JUDGED_ONLY = Parameter(
    "judged_only",
    default=False,
    check=flag,
    allowed="true or false",
    description="leave unjudged documents out of the ranking before anything is counted",
)
"""Every metric over judged hits has it; it is applied before the metric's function is called."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A metric as it is registered: its function and all that is declared of it."""

    name: str
    compute: Compute = field(repr=False, compare=False)
    summary: str
    reference: str
    aliases: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict, compare=False)
    synonyms: Synonyms = field(default_factory=dict, compare=False)
    renamed: Mapping[str, str] = field(default_factory=dict, compare=False)
    higher_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)

    def __call__(
        self, hits: JudgedHits, cutoff: int | None, parameters: Mapping[str, Value]
    ) -> FloatArray:
        """Return the value of each query of ``hits``, ``[Q]``."""
        chosen = dict(parameters)
        if chosen.pop(JUDGED_ONLY.name):
            hits = hits.judged_only()
        return self.compute(hits, cutoff, **chosen)


_DEFINITIONS: dict[str, Definition] = {}
_NAMES: dict[str, Definition] = {}


def metric(
    name: str,
    *,
    reference: str,
    aliases: tuple[str, ...] = (),
    parameters: tuple[Parameter, ...] = (),
    synonyms: Synonyms | None = None,
    renamed: Mapping[str, str] | None = None,
    higher_is_better: bool = True,
    range: tuple[float, float] = (0.0, 1.0),
) -> Callable[[Compute], Compute]:
    """Register the decorated function as the metric ``name``.

    The function takes the judged hits, the cutoff (None: the whole ranking) and each parameter
    by keyword, and returns one float64 per query. Its docstring's first line is the metric's
    summary.

    Args:
        name: the canonical name, as it is printed.
        reference: the source of the formula: paper and equation.
        aliases: other names; names and aliases ignore case.
        parameters: what may stand between the brackets, in canonical order.
        synonyms: other libraries' parameters, value by value in our terms, such as
            ``{"dcg": {"exp-log2": {"gain": "exponential"}}}``.
        renamed: other libraries' parameters that only have another name, such as
            ``{"gains": "gain"}``.
        higher_is_better: whether a larger value is a better ranking.
        range: the least and the greatest value.

    Raises:
        MetricError: the name or an alias is taken.
    """

    def register(compute: Compute) -> Compute:
        declared = {parameter.name: parameter for parameter in (*parameters, JUDGED_ONLY)}
        entry = Definition(
            name=name,
            compute=compute,
            summary=(compute.__doc__ or "").strip().partition("\n")[0],
            reference=reference,
            aliases=aliases,
            parameters=declared,
            synonyms=synonyms or {},
            renamed=renamed or {},
            higher_is_better=higher_is_better,
            range=range,
        )
        spellings = {word.casefold() for word in (name, *aliases)}
        for spelling in spellings:
            if spelling in _NAMES:
                raise MetricError(
                    f"the metric name {spelling!r} is taken by {_NAMES[spelling].name}"
                )
        _DEFINITIONS[name] = entry
        _NAMES.update(dict.fromkeys(spellings, entry))
        return compute

    return register


def definitions() -> Mapping[str, Definition]:
    """Return every registered metric by its canonical name."""
    _load_families()
    return _DEFINITIONS


def definition(name: str) -> Definition:
    """Return the metric that ``name`` or an alias of it names; case does not matter.

    Raises:
        MetricError: there is no such metric; the nearest one is named.
    """
    _load_families()
    found = _NAMES.get(name.casefold())
    if found is None:
        words = [word for entry in _DEFINITIONS.values() for word in (entry.name, *entry.aliases)]
        hint = suggestion(name, words) or f"; known metrics: {', '.join(_DEFINITIONS)}"
        raise MetricError(f"unknown metric '{quoted(name)}'{hint}")
    return found


@cache
def _load_families() -> None:
    """Import every module of ``families``, so that a new family is one new file."""
    from pytest_rankcheck.metrics import families

    for module in sorted(module.name for module in pkgutil.iter_modules(families.__path__)):
        importlib.import_module(f"{families.__name__}.{module}")
