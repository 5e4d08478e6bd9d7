"""Metric names: parsing a name into a definition, checked parameters and a cutoff."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import ConfigurationError, MetricError, quoted, suggestion
from pytest_rankcheck.metrics.averages import mean_of
from pytest_rankcheck.metrics.ir_measures_bridge import (
    ONLY_THERE,
    PREFIX,
    ir_measures_definition,
    is_known_there,
    parts_of_measure,
)
from pytest_rankcheck.metrics.kinds import MeasurementKind, MetricInput
from pytest_rankcheck.metrics.metric_definition import Definition, Unit
from pytest_rankcheck.metrics.metric_parameters import Value, spelled
from pytest_rankcheck.metrics.metric_registry import (
    definition,
    generation,
    registered,
    trec_eval_definition,
)
from pytest_rankcheck.metrics.name_grammar import parts_of, refusal_of

USUAL_METRICS = ("nDCG@10", "RR")
"""The metrics that are shown unless others are configured."""


def usual_metrics(depth: int | None) -> tuple[str, ...]:
    """Return `USUAL_METRICS`, with cutoffs that rankings of ``depth`` documents reach."""
    if depth is None or depth >= 10:
        return USUAL_METRICS
    return (f"nDCG@{depth}", "RR")


_LARGEST_CUTOFF = 2**53
_RECALL = "recall"
_TREC_EVAL_NAME = re.compile(r"([A-Za-z_]*[A-Za-z])[_.](\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})")
"""``ndcg_cut_10`` as trec_eval prints it, ``ndcg_cut.10`` as its command line takes it."""
_CUTOFF_ELSEWHERE = ("k", "cutoff", "top_k")
"""What the cutoff is called in other tools."""
_NAME_AT = re.compile(r"([A-Za-z]\w*)_at_(\d{1,9})")
"""``recall_at_10``, as MTEB writes it."""


_Numbers = TypeVar("_Numbers", float, FloatArray)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its parameters and cutoff; ``Metric.parse("nDCG@10")`` makes one."""

    definition: Definition
    parameters: tuple[tuple[str, Value], ...] = ()
    """Every parameter with its value in canonical form, defaults included."""
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.definition, Definition):
            raise MetricError("write Metric.parse('nDCG@10') to make a metric from its name")

    @staticmethod
    def parse(text: MetricLike) -> Metric:
        """Return the metric with a name.

        Args:
            text: a name such as ``"nDCG(gain=exponential)@10"``, a ``Metric``, or an ir_measures
                object. Names and aliases ignore case.

        Raises:
            MetricError: the name is malformed, the metric or a parameter is unknown, a
                parameter's value is invalid, or the cutoff is not a positive whole number.
        """
        if isinstance(text, Metric):
            return text
        if not isinstance(text, str):
            if not type(text).__module__.startswith("ir_measures"):
                raise MetricError(
                    f"the metric {quoted(repr(text), 60)} ({type(text).__name__}) is invalid; give "
                    "a name such as 'nDCG@10', a Metric or an ir_measures object"
                )
            return _of_object(text)
        return _parse(text, generation())

    @staticmethod
    def of(name: str, cutoff: int | None = None, **parameters: object) -> Metric:
        """Return the metric ``name`` at ``cutoff``; parameters that are None keep their defaults.

        Raises:
            MetricError: as in `parse`.
        """
        given = {key: value for key, value in parameters.items() if value is not None}
        return _build(name, given, cutoff, name)

    @property
    def name(self) -> str:
        """The canonical name without parameters and cutoff."""
        return self.definition.name

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher value means a better ranking."""
        return self.definition.higher_is_better

    @property
    def kind(self) -> MeasurementKind:
        """What has a value, and what follows from it."""
        return self.definition.kind

    def gain(self, before: _Numbers, after: _Numbers) -> _Numbers:
        """Return how much better ``after`` is than ``before``; positive is always better."""
        if self.definition.ideal is not None:
            return abs(before - self.definition.ideal) - abs(after - self.definition.ideal)
        return after - before if self.higher_is_better else before - after

    @property
    def unit(self) -> Unit:
        """What has one value each: ``"query"``, ``"session"``, ``"run"`` or ``"time"``."""
        return self.definition.unit

    @property
    def quantile(self) -> float | None:
        """The q of a mean that is a quantile; None for any other mean."""
        if self.definition.aggregate != "quantile":
            return None
        return dict(self.parameters).get("q", 0.5)  # type: ignore[return-value]

    def compute(self, block: MetricInput) -> FloatArray:
        """Return the value of each query or session of ``block``, ``[Q]``."""
        return self.definition(block, self.cutoff, dict(self.parameters))

    def mean(self, values: FloatArray, weights: FloatArray | None = None) -> float:
        """Return the metric's mean of the values that are not NaN; NaN if all are NaN."""
        return mean_of(values, weights, self.definition.aggregate, self.quantile or 0.5)

    def weights(self, given: FloatArray | None, judged: FloatArray | None) -> FloatArray | None:
        """Return how much each query counts in the mean, ``[Q]``; None: all count the same.

        Args:
            given: the weights of the golden set.
            judged: how many judged documents each query has.
        """
        if self.definition.aggregate != "by_judged" or judged is None:
            return self.kind.for_each(given)
        return judged if given is None else judged * given

    def __reduce__(self) -> tuple[Callable[..., Metric], tuple[str, Mapping[str, Any]]]:
        """Pickle the name, and what reports show where the metric is not registered."""
        elsewhere = self.definition.ir_measures
        said = {each: getattr(self.definition, each) for each in _SAID}
        return _known_or_described, (str(self) if elsewhere is None else PREFIX + elsewhere, said)

    def __str__(self) -> str:
        values, at = dict(self.parameters), self.cutoff
        if self.definition.at == _RECALL:
            at = values.pop(_RECALL)  # type: ignore[assignment]
        declared = self.definition.parameters
        spellings = [
            f"{name}={spelled(value)}"
            for name, value in values.items()
            if value != declared[name].default
        ]
        brackets = f"({','.join(spellings)})" if spellings else ""
        return f"{self.name}{brackets}" + ("" if at is None else f"@{spelled(at)}")


MetricLike = str | Metric | Any
"""A metric's name, a Metric, or an ir_measures object."""


def metrics_of(metric: MetricLike | Sequence[MetricLike]) -> tuple[Metric, ...]:
    """Return one metric or several as a tuple, each once.

    Raises:
        ConfigurationError: no metric is given.
        MetricError: unknown metric.
    """
    several = metric if isinstance(metric, Sequence) and not isinstance(metric, str) else [metric]
    if not several:
        raise ConfigurationError('no metrics are given; name at least one, such as "nDCG@10"')
    return tuple(dict.fromkeys(map(Metric.parse, several)))


def _of_object(measure: object) -> Metric:
    """Return our metric for an ir_measures object, or one that ir_measures computes."""
    parts = parts_of_measure(measure)
    if parts is not None:
        with suppress(MetricError):
            return _build(parts.name, parts.given, parts.cutoff, str(measure))
    return Metric(ir_measures_definition(str(measure)))


_SAID = ("summary", "reference", "higher_is_better", "ideal", "range", "aggregate", "unit")


def _known_or_described(name: str, said: Mapping[str, Any]) -> Metric:
    with suppress(MetricError):
        return Metric.parse(name)
    return Metric(Definition(name=name, compute=_not_here, **said))


def _not_here(*_: object, **__: object) -> Any:
    raise MetricError("the metric is registered in another process only")


@lru_cache(maxsize=1024)
def _parse(text: str, _generation: int) -> Metric:
    """Return the metric that ``text`` means; the generation keeps the cache up to date."""
    if text.strip().startswith(PREFIX):
        return Metric(ir_measures_definition(text.strip().removeprefix(PREFIX)))
    trec_eval_name = _TREC_EVAL_NAME.fullmatch(text.strip())
    if trec_eval_name and (entry := trec_eval_definition(trec_eval_name[1])):
        number = trec_eval_name[2]
        cutoff = float(number) if "." in number else int(number)
        given = entry.as_spelled(trec_eval_name[1], {})
        return _build(entry.name, given, cutoff, text)
    name_at = _NAME_AT.fullmatch(text.strip())
    if name_at and registered(name_at[1]) and not registered(text.strip()):
        return _build(name_at[1], {}, int(name_at[2]), text)
    try:
        parts = parts_of(text)
    except MetricError as failure:  # say what to write instead of another tool's name
        raise refusal_of(text.strip()) or failure from None
    if parts.name in ONLY_THERE or (registered(parts.name) is None and is_known_there(parts.name)):
        return Metric(ir_measures_definition(text.strip()))
    return _build(parts.name, parts.given, parts.cutoff, text)


def _build(name: str, given: Mapping[str, object], cutoff: object, text: str) -> Metric:
    """Check the parts of a name against the metric's definition."""
    entry = definition(name)
    given = entry.as_spelled(name, given)
    if entry.at == _RECALL and cutoff is not None:
        given, cutoff = {**given, _RECALL: cutoff}, None
    values = {key: parameter.default for key, parameter in entry.parameters.items()}
    for key, value in _translated(entry, given, text):
        parameter = entry.parameters.get(key)
        if parameter is None:
            hint = (
                suggestion(key, entry.parameters)
                or f"; it has {', '.join(entry.parameters) or 'none'}"
            )
            if entry.at == "cutoff" and key in _CUTOFF_ELSEWHERE:
                hint = f"; write the cutoff after an @, as in {entry.name}@10"
            raise MetricError(f"{entry.name} has no parameter '{quoted(key)}'{hint}")
        try:
            values[key] = parameter.canonical(value)
        except ValueError as refusal:
            raise MetricError(
                f"{entry.name}: {key}={quoted(value)} is invalid{refusal}; "
                f"{key} takes {parameter.allowed}"
            ) from None
    for key, parameter in entry.parameters.items():
        if parameter.is_required and values[key] is None:
            raise MetricError(
                f"{entry.name} needs {key}=, which has no default: "
                f"{parameter.description}; {key} takes {parameter.allowed}, as in "
                f"{entry.name}({key}={parameter.allowed.split()[0].rstrip(',')})"
            )
    if entry.at == _RECALL and values[_RECALL] is None:
        raise MetricError(f"{entry.name} needs a recall level after the @, as in {entry.name}@0.1")
    if entry.at is None and cutoff is not None:
        raise MetricError(f"{entry.name}@{quoted(cutoff, 40)}: {entry.name} has no cutoff")
    return Metric(entry, tuple(values.items()), _checked_cutoff(cutoff, entry.name))


def _translated(
    entry: Definition, given: Mapping[str, object], text: str
) -> Iterator[tuple[str, object]]:
    """Yield the parameters with those of ir_measures translated into ours."""
    for key, value in given.items():
        if key in entry.synonyms:
            meanings = entry.synonyms[key]
            if value not in meanings:
                raise MetricError(
                    f"{quoted(text)}: {key}={quoted(value)} is invalid; "
                    f"{key} takes {' or '.join(meanings)}"
                )
            yield from meanings[str(value)].items()
        else:
            yield entry.renamed.get(key, key), value


def _checked_cutoff(cutoff: object, name: str) -> int | None:
    if cutoff is None:
        return None
    try:
        whole = operator.index(cutoff)  # type: ignore[arg-type]
    except TypeError:
        whole = 0
    if not 1 <= whole <= _LARGEST_CUTOFF or isinstance(cutoff, bool):
        raise MetricError(
            f"{name}@{quoted(cutoff, 40)}: a cutoff must be a whole number of at least 1"
        )
    return int(whole)
