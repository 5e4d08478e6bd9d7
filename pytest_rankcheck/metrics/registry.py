"""The registry of metrics: what is said once beside a metric's function and read everywhere."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import numpy as np

from pytest_rankcheck.errors import MetricError, quoted, suggestion
from pytest_rankcheck.metrics.hits import FloatArray, JudgedHits
from pytest_rankcheck.metrics.parameters import Parameter, Value, flag
from pytest_rankcheck.metrics.trails import Trails

__all__ = [
    "JUDGED_ONLY",
    "Compute",
    "Definition",
    "Unit",
    "definition",
    "definitions",
    "judged_definitions",
    "known",
    "median_of",
    "metric",
    "trec_eval_definition",
]

Compute = Callable[..., FloatArray]
"""``compute(hits, cutoff, **parameters)`` returns the value of each query, ``[Q]``."""

Synonyms = Mapping[str, Mapping[str, Mapping[str, object]]]
"""Another library's parameter -> its value -> our parameters and their values."""

At = Literal["cutoff", "recall"] | None
"""What the number after @ is: the cutoff, the recall level, or nothing: there is none."""

Aggregate = Literal["arithmetic", "geometric", "median"]
"""Which mean over the queries is the metric's."""

Unit = Literal["query", "session"]
"""What has a value of the metric: each query, or each session of a log."""

Property = bool | Callable[[Mapping[str, Value]], bool]
"""What holds of a metric: always, or under some of its parameters."""

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
    at: At = "cutoff"
    unjudged: str = "not relevant"
    """What an unjudged document counts as, in words."""
    trec_eval: tuple[str, ...] = ()
    aggregate: Aggregate = "arithmetic"
    unit: Unit = "query"
    graded: Property = field(default=False, compare=False)
    monotone: Property = field(default=False, compare=False)
    foreign: str | None = None
    """What ir_measures calls the metric, where that library computes it."""

    def needs_grades(self, parameters: Mapping[str, Value]) -> bool:
        """Whether the metric tells grades apart, so that it says little on a binary set."""
        return self.graded(parameters) if callable(self.graded) else self.graded

    def is_monotone(self, parameters: Mapping[str, Value]) -> bool:
        """Whether a document that moves up past one of a lower grade never makes it worse."""
        return self.monotone(parameters) if callable(self.monotone) else self.monotone

    @property
    def is_mean_of_values(self) -> bool:
        """Whether the difference of two means is the mean of the differences."""
        return self.aggregate == "arithmetic"

    def mean(self, values: FloatArray, weights: FloatArray | None = None) -> float:
        """Return the mean of the values that are not NaN; NaN if there are none.

        Args:
            values: the value of each query, ``[Q]``.
            weights: how much each counts, ``[Q]``; without them, all count the same.

        The sum is exact, so that the order of the queries changes nothing.
        """
        is_counted = ~np.isnan(values)
        counted = values[is_counted]
        if not counted.size:
            return math.nan
        share = np.ones(counted.size) if weights is None else weights[is_counted]
        if self.aggregate == "median":
            return median_of(counted, share)
        total = math.fsum(share)
        if self.aggregate == "geometric":
            return math.exp(math.fsum(share * np.log(counted)) / total)
        return math.fsum(share * counted) / total

    def __call__(
        self, block: JudgedHits | Trails, cutoff: int | None, parameters: Mapping[str, Value]
    ) -> FloatArray:
        """Return the value of each query, or session, of ``block``, ``[Q]``.

        Raises:
            MetricError: it is a metric of sessions and these are queries, or the other way round.
        """
        chosen = dict(parameters)
        found: Unit = "session" if isinstance(block, Trails) else "query"
        if found != self.unit:
            raise MetricError(_of_another_unit(self.name, self.unit))
        if isinstance(block, JudgedHits) and chosen.pop(JUDGED_ONLY.name):
            block = block.judged_only()
        return self.compute(block, cutoff, **chosen) + 0.0  # no negative zero


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
    at: At = "cutoff",
    unjudged: str = "not relevant",
    trec_eval: tuple[str, ...] = (),
    aggregate: Aggregate = "arithmetic",
    unit: Unit = "query",
    graded: Property = False,
    monotone: Property = False,
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
        at: what the number after @ is: the cutoff, the parameter ``recall``, or None: there is
            none.
        unjudged: what an unjudged document counts as, for the manual.
        trec_eval: what trec_eval calls the metric where a number follows, such as ``ndcg_cut``
            in ``ndcg_cut_10``.
        aggregate: which mean over the queries is the metric's.
        unit: what has a value: each query, or each session of a log, whose metrics take the trails
            of sessions in the place of judged hits.
        graded: whether it needs more than two grades to say something.
        monotone: whether a document that moves up past one of a lower grade never makes it worse;
            the tests hold a metric to it.

    Raises:
        MetricError: the name or an alias is taken.
    """

    def register(compute: Compute) -> Compute:
        of_all = (JUDGED_ONLY,) if unit == "query" else ()
        declared = {parameter.name: parameter for parameter in (*parameters, *of_all)}
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
            at=at,
            unjudged=unjudged,
            trec_eval=trec_eval,
            aggregate=aggregate,
            unit=unit,
            graded=graded,
            monotone=monotone,
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


def judged_definitions() -> Mapping[str, Definition]:
    """Return the metrics of rankings against judgments: those whose unit is the query."""
    return {name: entry for name, entry in definitions().items() if entry.unit == "query"}


def known(name: str) -> Definition | None:
    """Return the metric that ``name`` or an alias of it names, or None."""
    _load_families()
    return _NAMES.get(name.casefold())


def definition(name: str) -> Definition:
    """Return the metric that ``name`` or an alias of it names; case does not matter.

    Raises:
        MetricError: there is no such metric; the nearest one is named.
    """
    found = known(name)
    if found is None:
        words = [word for entry in _DEFINITIONS.values() for word in (entry.name, *entry.aliases)]
        hint = suggestion(name, words) or f"; known metrics: {', '.join(_DEFINITIONS)}"
        raise MetricError(f"unknown metric '{quoted(name)}'{hint}")
    return found


def trec_eval_definition(stem: str) -> Definition | None:
    """Return the metric that trec_eval calls ``stem``, as in ``ndcg_cut_10``; None if none is."""
    _load_families()
    found = (entry for entry in _DEFINITIONS.values() if stem in entry.trec_eval)
    return next(found, None)


def median_of(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Return the weighted median: half of the weight is at or below it, half at or above.

    NaN is left out; NaN if nothing is left.
    """
    is_counted = ~np.isnan(values)
    counted = values[is_counted]
    if weights is None or not counted.size:
        return float(np.median(counted)) if counted.size else math.nan
    order = np.argsort(counted, kind="stable")
    ordered, below = counted[order], np.cumsum(weights[is_counted][order])
    half = below[-1] / 2
    place = int(np.searchsorted(below, half * (1 - 1e-12)))
    if math.isclose(below[place], half, rel_tol=1e-12) and place + 1 < len(ordered):
        return float(ordered[place] + ordered[place + 1]) / 2
    return float(ordered[place])


def _of_another_unit(name: str, unit: Unit) -> str:
    if unit == "session":
        return (
            f"{name} is a metric of sessions: ask it of evaluate_sessions(log), or of the fixture "
            "session_evaluation"
        )
    return (
        f"{name} is a metric of queries, and these are sessions: log.to_golden_set(...) makes "
        "queries of them"
    )


@cache
def _load_families() -> None:
    """Import every module of ``families``, so that a new family is one new file."""
    from pytest_rankcheck.metrics import families

    for module in sorted(module.name for module in pkgutil.iter_modules(families.__path__)):
        importlib.import_module(f"{families.__name__}.{module}")
