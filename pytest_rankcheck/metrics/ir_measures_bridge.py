"""Measures of ir_measures that are not in our catalogue, under the names ``ir_measures:...``."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError, quoted, suggestion
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_definition import Definition
from pytest_rankcheck.metrics.name_grammar import NameParts, parts_of

PREFIX = "ir_measures:"

ONLY_THERE = frozenset({"SDCG"})
"""Names that, spelled in this case, belong to ir_measures: its SDCG is not our sDCG of sessions."""

_COMPUTED_THERE = frozenset({"Accuracy", "Judged", "NumRel", "SDCG"})
"""Measures whose namesakes here have other values."""

_NAMES_HERE = {"NumRet": "TotalRet"}
_PARAMETERS_HERE = {"ERR": {"max_grade": 4}}
"""Where defaults of ir_measures differ: a sum over the queries, and the scale of gdeval."""


@lru_cache(maxsize=256)
def ir_measures_definition(text: str) -> Definition:
    """Return the definition of the measure that ir_measures calls ``text``.

    Raises:
        MetricError: ir_measures is not installed, or the measure is unknown to it.
    """
    measure = measure_of(text)
    return Definition(
        name=f"{PREFIX}{measure}",
        compute=_without_hits,
        summary=str(getattr(measure, "__doc__", None) or "").strip().partition("\n")[0],
        reference="ir_measures (MacAvaney, Macdonald and Ounis, ECIR 2022)",
        at=None,
        aggregate="sum" if type(measure.aggregator()).__name__ == "SumAgg" else "arithmetic",
        ir_measures=str(measure),
    )


def measure_of(text: str) -> Any:
    """Return the measure that ir_measures calls ``text``, without our prefix.

    Raises:
        MetricError: as in `ir_measures_definition`.
    """
    if find_spec("ir_measures") is None:
        raise MetricError(
            f"'{PREFIX}{quoted(text)}' is a measure of ir_measures, which is not installed: "
            "pip install ir-measures"
        )
    parts = parts_of(text)  # its own parser does not run on Python 3.14
    if not is_known_there(parts.name):
        raise MetricError(f"ir_measures does not know the measure '{quoted(text)}'")
    from ir_measures.measures import registry

    try:
        measure = registry[parts.name]
        given = dict(parts.given)
        if parts.cutoff is not None:
            given[measure.AT_PARAM] = parts.cutoff
        measure = measure(**given)
    except (ValueError, TypeError, AttributeError) as failure:
        raise MetricError(
            f"ir_measures refuses the measure '{quoted(text)}': {quoted(failure)}"
        ) from None
    _check_parameters(measure)
    return measure


def is_known_there(name: str) -> bool:
    """Whether ir_measures is installed and has a measure with this name."""
    if find_spec("ir_measures") is None:
        return False
    from ir_measures.measures import registry

    return name in registry


def parts_of_measure(measure: Any) -> NameParts | None:
    """Return our name and parameters for a measure of ir_measures; None if values may differ.

    The measure's own text is not used: it leaves out the gains that equal their grades.

    Raises:
        MetricError: the object is not a valid measure.
    """
    from ir_measures.measures import Measure

    if not isinstance(measure, Measure):
        raise MetricError(
            f"{quoted(measure)} is not a measure of ir_measures, such as ir_measures.nDCG @ 10"
        )
    _check_parameters(measure)
    name, given = str(measure.NAME), dict(measure.params)
    if name in _COMPUTED_THERE:
        return None
    if name == "RBP" and "rel" not in given:
        raise MetricError(
            "ir_measures computes RBP only with rel; use RBP(rel=1), or the name "
            "'RBP(graded=true)' for graded judgments"
        )
    cutoff = given.pop(measure.AT_PARAM, None)
    given = {**_PARAMETERS_HERE.get(name, {}), **given}
    return NameParts(_NAMES_HERE.get(name, name), given, cutoff)


def _check_parameters(measure: Any) -> None:
    """Check an ir_measures object as ir_measures does when it computes it.

    Raises:
        MetricError: a parameter is unknown, missing or invalid.
    """
    name, given = quoted(getattr(measure, "NAME", None) or type(measure).__name__), measure.params
    allowed = measure.SUPPORTED_PARAMS
    for key, value in given.items():
        if key not in allowed:
            hint = suggestion(key, allowed) or f"; it has {', '.join(allowed)}"
            raise MetricError(f"ir_measures' {name} has no parameter '{quoted(key)}'{hint}")
        if not allowed[key].validate(value):
            raise MetricError(
                f"ir_measures' {name}: {key}={quoted(value)} is invalid ({allowed[key].desc})"
            )
    for key, parameter in allowed.items():
        if parameter.required and key not in given:
            raise MetricError(f"ir_measures' {name} needs {key}= ({parameter.desc})")


def _without_hits(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Raise an error: ir_measures computes the measure from the run, not from judged hits."""
    raise MetricError(
        "a measure of ir_measures cannot be computed from judged hits; use evaluate()"
    )
