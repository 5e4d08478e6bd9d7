"""The registry of metrics: what is said once beside a metric's function and read everywhere."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, Unpack

from pytest_rankcheck.errors import MetricError, quoted, suggestion
from pytest_rankcheck.metrics.averages import Aggregate, mean_of
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.declared_laws import Holds, Laws, Property, checked_laws
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, flag
from pytest_rankcheck.metrics.registration_checks import (
    Origin,
    refuse_impossible,
    refuse_unless_callable,
)
from pytest_rankcheck.metrics.session_trails import Trails
from pytest_rankcheck.metrics.whole_run import WholeRun
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = [
    "JUDGED_ONLY",
    "Block",
    "Compute",
    "Definition",
    "Unit",
    "definition",
    "definitions",
    "generation",
    "judged_definitions",
    "known",
    "metric",
    "trec_eval_definition",
]

Compute = Callable[..., FloatArray]
"""``compute(hits, cutoff, **parameters)`` returns the value of each query, ``[Q]``."""

Synonyms = Mapping[str, Mapping[str, Mapping[str, object]]]
"""Another library's parameter -> its value -> our parameters and their values."""

At = Literal["cutoff", "recall"] | None
"""What the number after @ is: the cutoff, the recall level, or nothing: there is none."""

Unit = Literal["query", "session", "run"]
"""What a value is of: a query, a session of a log, or a query among all others of the run."""

_FAMILIES = "pytest_rankcheck.metrics.families."
"""Where the functions of our own metrics are."""

Block = JudgedHits | Trails | WholeRun
"""What a metric's function is given, by the metric's unit."""

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
    compute: Compute = field(repr=False)
    summary: str
    reference: str
    formula: str = ""
    """The formula as a line of plain text."""
    use: str = ""
    """When to use it, in a sentence."""
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
    laws: Mapping[str, Property] = field(default_factory=dict, compare=False)
    """The laws that it is declared to keep, or not to."""
    foreign: str | None = None
    """What ir_measures calls the metric, where that library computes it."""

    def needs_grades(self, parameters: Mapping[str, Value]) -> bool:
        """Whether the metric tells grades apart, so that it says little on a binary set."""
        return bool(self.graded(parameters) if callable(self.graded) else self.graded)

    def declared(
        self, law: str, parameters: Mapping[str, Value], cutoff: int | None = None
    ) -> Holds | None:
        """Return whether a law is declared to hold; None: nothing is declared."""
        said = self.laws.get(law)
        return said({**parameters, "cutoff": cutoff}) if callable(said) else said

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
        return mean_of(values, weights, self.aggregate)

    def __call__(
        self, block: Block, cutoff: int | None, parameters: Mapping[str, Value]
    ) -> FloatArray:
        """Return the value of each query, or session, of ``block``, ``[Q]``.

        Raises:
            MetricError: it is a metric of sessions and these are queries, or the other way round.
        """
        chosen = dict(parameters)
        found = next(unit for unit, kind in _BLOCKS.items() if isinstance(block, kind))
        if found != self.unit:
            raise MetricError(_of_another_unit(self.name, self.unit))
        if isinstance(block, JudgedHits) and chosen.pop(JUDGED_ONLY.name):
            block = block.judged_only()
        return self.compute(block, cutoff, **chosen) + 0.0  # no negative zero


_BLOCKS: Mapping[Unit, type[Block]] = {"query": JudgedHits, "session": Trails, "run": WholeRun}
"""What the functions of the metrics of each unit are given."""

_DEFINITIONS: dict[str, Definition] = {}
_NAMES: dict[str, Definition] = {}
_GENERATIONS = [0]


def metric(
    name: str,
    *,
    reference: str = "",
    formula: str = "",
    use: str = "",
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
    **laws: Unpack[Laws],
) -> Callable[[Compute], Compute]:
    """Register the decorated function as the metric ``name``.

    The function takes the judged hits, the cutoff (None: the whole ranking) and each parameter
    by keyword, and returns one float64 per query. Its docstring's first line is the metric's
    summary.

    Args:
        name: the canonical name, as it is printed.
        reference: the source of the formula: paper and equation; without it, the function.
        formula: the formula as a line of plain text, for the metric's card.
        use: when to use it, in a sentence, for the metric's card.
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
        unit: what a value is of: a query; a session of a log, whose metrics take the trails of
            sessions in the place of judged hits; or a query among all others of the run, whose
            metrics take all rankings at once.
        graded: whether it needs more than two grades to say something.
        **laws: the laws that it keeps (True), does not (False), or keeps wherever judgments are
            binary (``"binary"``), such as ``monotone=True``; or a function of the parameters and
            the cutoff that tells. `check_metric` holds a metric to them, as the tests do ours.

    Raises:
        MetricError: a name is not one or is another metric's, the range is none, there is no
            such law, or the function cannot be called with the parameters.
    """
    declared_laws = checked_laws(name, laws, Laws)
    refuse_impossible((name, *aliases), parameters, range)

    def register(compute: Compute) -> Compute:
        refuse_unless_callable(name, compute, [parameter.name for parameter in parameters])
        of_all = (JUDGED_ONLY,) if unit == "query" else ()
        declared = {parameter.name: parameter for parameter in (*parameters, *of_all)}
        entry = Definition(
            name=name,
            compute=compute,
            summary=(compute.__doc__ or "").strip().partition("\n")[0],
            reference=reference or f"the function {Origin.of(compute)}",
            formula=formula,
            use=use,
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
            laws=declared_laws,  # type: ignore[arg-type]
        )
        _enter(entry)
        return compute

    return register


def _enter(entry: Definition) -> None:
    """Enter a metric; a new definition of the same function takes the place of the old one."""
    origin = Origin.of(entry.compute)
    if not origin.module.startswith(_FAMILIES):
        _load_families()  # so that a name of ours is known to be taken
    spellings = {word.casefold(): word for word in (entry.name, *entry.aliases)}
    replaced = set()
    for spelling, word in spellings.items():
        holder = _NAMES.get(spelling)
        if holder is None:
            continue
        held_by = Origin.of(holder.compute)
        if not origin.is_again(held_by):
            ours = held_by.module.startswith(_FAMILIES)
            whose = "of pytest-rankcheck" if ours else f"({held_by})"
            raise MetricError(
                f"the metric name '{word}' is taken by {holder.name} {whose}; "
                f"give the metric of {origin} another name"
            )
        replaced.add(holder.name)
    for name in replaced:
        old = _DEFINITIONS.pop(name)
        for spelling in [key for key, value in _NAMES.items() if value is old]:
            del _NAMES[spelling]
    _DEFINITIONS[entry.name] = entry
    _NAMES.update(dict.fromkeys(spellings, entry))
    _GENERATIONS[0] += 1


def generation() -> int:
    """Return a number that is another one after each registration, for what is remembered."""
    return _GENERATIONS[0]


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
        hint = suggestion(name, words) or (
            f"; known metrics: {', '.join(_DEFINITIONS)}; @metric registers one of your own"
        )
        raise MetricError(f"unknown metric '{quoted(name)}'{hint}")
    return found


def trec_eval_definition(stem: str) -> Definition | None:
    """Return the metric that trec_eval calls ``stem``, as in ``ndcg_cut_10``; None if none is."""
    _load_families()
    found = (entry for entry in _DEFINITIONS.values() if stem in entry.trec_eval)
    return next(found, None)


def _of_another_unit(name: str, unit: Unit) -> str:
    if unit == "session":
        return (
            f"{name} is a metric of sessions: ask it of evaluate_sessions(log), or of the fixture "
            "session_evaluation"
        )
    if unit == "run":
        return f"{name} is a metric of the whole run: ask it of evaluate(run, golden)"
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
