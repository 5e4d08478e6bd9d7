"""What a metric's name means: the definition, its parameters checked and completed, a cutoff."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from pytest_rankcheck.errors import MetricError, quoted, suggestion
from pytest_rankcheck.metrics.ir_measures_bridge import PREFIX, foreign_definition
from pytest_rankcheck.metrics.laws.declared_laws import Holds
from pytest_rankcheck.metrics.metric_parameters import Value, spelled
from pytest_rankcheck.metrics.metric_registry import (
    Block,
    Definition,
    Unit,
    definition,
    generation,
    known,
    trec_eval_definition,
)
from pytest_rankcheck.metrics.name_grammar import parts_of
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["USUAL_METRICS", "Metric", "MetricLike"]

USUAL_METRICS = ("nDCG@10", "RR")
"""The metrics that are shown when none are configured."""

_LARGEST_CUTOFF = 2**53
_RECALL = "recall"
_TREC_EVAL_NAME = re.compile(r"([A-Za-z_]*[A-Za-z])[_.](\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})")
"""``ndcg_cut_10`` as trec_eval prints it, ``ndcg_cut.10`` as it is asked for."""
_OTHER_MEANING = frozenset({"Accuracy"})
"""Names that mean one thing in ir_measures and another here."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its parameters and cutoff, such as ``nDCG(gain=exponential)@10``."""

    definition: Definition
    parameters: tuple[tuple[str, Value], ...] = ()
    """Every parameter with its value in canonical form, defaults included."""
    cutoff: int | None = None

    @staticmethod
    def parse(text: MetricLike) -> Metric:
        """Return the metric that a name means.

        Args:
            text: a name in the grammar above, a ``Metric``, or an ir_measures object. Names and
                aliases ignore case.

        Raises:
            MetricError: no such metric, an unknown parameter, a value that the parameter does
                not take, a cutoff that is not a positive whole number, or not a name at all.
        """
        if isinstance(text, Metric):
            return text
        if not isinstance(text, str):
            if not type(text).__module__.startswith("ir_measures"):
                raise MetricError(
                    f"a metric is a name such as 'nDCG@10', a Metric or an ir_measures object, "
                    f"not {type(text).__name__}: {quoted(text)}"
                )
            return _of_object(text)
        return _parse(text, generation())

    @staticmethod
    def of(name: str, cutoff: int | None = None, **parameters: object) -> Metric:
        """Return the metric ``name`` at ``cutoff`` with these parameters; None means not given.

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
        """Whether a larger value is a better ranking."""
        return self.definition.higher_is_better

    @property
    def unit(self) -> Unit:
        """What has a value of the metric: each query, or each session of a log."""
        return self.definition.unit

    def compute(self, block: Block) -> FloatArray:
        """Return the value of each query, or session, of ``block``, ``[Q]``."""
        return self.definition(block, self.cutoff, dict(self.parameters))

    def mean(self, values: FloatArray, weights: FloatArray | None = None) -> float:
        """Return the metric's mean of the values that are not NaN; NaN if there are none."""
        return self.definition.mean(values, weights)

    @property
    def needs_grades(self) -> bool:
        """Whether the metric tells grades apart, so that it says little on a binary set."""
        return self.definition.needs_grades(dict(self.parameters))

    @property
    def is_monotone(self) -> bool:
        """Whether a document that moves up past one of a lower grade never makes it worse."""
        return self.declared("monotone") is True

    def declared(self, law: str) -> Holds | None:
        """Return whether a law is declared to hold of it; None: nothing is declared."""
        return self.definition.declared(law, dict(self.parameters), self.cutoff)

    def __str__(self) -> str:
        values, at = dict(self.parameters), self.cutoff
        if self.definition.at == _RECALL:
            at = values.pop(_RECALL)  # type: ignore[assignment]
        declared = self.definition.parameters
        said = [
            f"{name}={spelled(value)}"
            for name, value in values.items()
            if value != declared[name].default
        ]
        brackets = f"({','.join(said)})" if said else ""
        return f"{self.name}{brackets}" + ("" if at is None else f"@{spelled(at)}")


MetricLike = str | Metric | Any
"""A metric's name, a Metric, or an ir_measures object."""


def _of_object(measure: object) -> Metric:
    """Return our metric of an object of ir_measures, or one that ir_measures computes."""
    text = str(measure)
    if getattr(measure, "NAME", None) not in _OTHER_MEANING:
        with suppress(MetricError):
            return _parse(text, generation())
    return Metric(foreign_definition(text))


def _foreign(name: str, text: str) -> Metric | None:
    """Return what ir_measures calls ``text``, where that is installed and ``name`` is not ours."""
    if known(name) is None and find_spec("ir_measures") is not None:
        with suppress(MetricError):
            return Metric(foreign_definition(text.strip()))
    return None


@lru_cache(maxsize=1024)
def _parse(text: str, _generation: int) -> Metric:
    """Return the metric that ``text`` means, as long as no other is registered."""
    if text.strip().startswith(PREFIX):
        return Metric(foreign_definition(text.strip().removeprefix(PREFIX)))
    of_trec_eval = _TREC_EVAL_NAME.fullmatch(text.strip())
    if of_trec_eval and (known := trec_eval_definition(of_trec_eval[1])):
        number = of_trec_eval[2]
        return _build(known.name, {}, float(number) if "." in number else int(number), text)
    parts = parts_of(text)
    return _foreign(parts.name, text) or _build(parts.name, parts.given, parts.cutoff, text)


def _build(name: str, given: Mapping[str, object], cutoff: object, text: str) -> Metric:
    """Check the parts of a name against the metric's definition."""
    found = definition(name)
    if found.at == _RECALL and cutoff is not None:
        given, cutoff = {**given, _RECALL: cutoff}, None
    values = {key: parameter.default for key, parameter in found.parameters.items()}
    for key, value in _translated(found, given, text):
        parameter = found.parameters.get(key)
        if parameter is None:
            hint = suggestion(key, found.parameters) or f"; it has {', '.join(found.parameters)}"
            raise MetricError(f"{found.name} has no parameter '{quoted(key)}'{hint}")
        try:
            values[key] = parameter.canonical(value)
        except ValueError as refusal:
            raise MetricError(
                f"{found.name}: {key}={quoted(value)} is not possible{refusal}; "
                f"{key} takes {parameter.allowed}"
            ) from None
    for key, parameter in found.parameters.items():
        if parameter.is_required and values[key] is None:
            raise MetricError(
                f"{found.name} needs {key}=, for which no default would be right: "
                f"{parameter.description}; {key} takes {parameter.allowed}, as in "
                f"{found.name}({key}={parameter.allowed.split()[0].rstrip(',')})"
            )
    if found.at == _RECALL and values[_RECALL] is None:
        raise MetricError(f"{found.name} needs a recall level after the @, as in {found.name}@0.1")
    if found.at is None and cutoff is not None:
        raise MetricError(f"{found.name}@{quoted(cutoff, 40)}: {found.name} has no cutoff")
    return Metric(found, tuple(values.items()), _checked_cutoff(cutoff, found.name))


def _translated(
    found: Definition, given: Mapping[str, object], text: str
) -> Iterator[tuple[str, object]]:
    """Put the parameters of ir_measures into our terms; leave the others as they are."""
    for key, value in given.items():
        if key in found.synonyms:
            meanings = found.synonyms[key]
            if value not in meanings:
                raise MetricError(
                    f"{quoted(text)}: {key}={quoted(value)} is not possible; "
                    f"{key} takes {' or '.join(meanings)}"
                )
            yield from meanings[str(value)].items()
        else:
            yield found.renamed.get(key, key), value


def _checked_cutoff(cutoff: object, name: str) -> int | None:
    if cutoff is None:
        return None
    try:
        whole = operator.index(cutoff)  # type: ignore[arg-type]
    except TypeError:
        whole = 0
    if not 1 <= whole <= _LARGEST_CUTOFF or isinstance(cutoff, bool):
        raise MetricError(f"{name}@{quoted(cutoff, 40)}: a cutoff is a whole number of at least 1")
    return int(whole)
