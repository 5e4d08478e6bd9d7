"""Measures of ir_measures that are not in our catalogue, under the names ``ir_measures:...``."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_definition import Definition
from pytest_rankcheck.metrics.name_grammar import parts_of
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["PREFIX", "ir_measures_definition", "measure_of"]

PREFIX = "ir_measures:"


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
    from ir_measures.measures import registry

    parts = parts_of(text)  # its own parser does not run on Python 3.14
    try:
        measure = registry[parts.name]  # KeyError: no such measure
        given = dict(parts.given)
        if parts.cutoff is not None:
            given[measure.AT_PARAM] = parts.cutoff
        return measure(**given)
    except (ValueError, TypeError, AttributeError, AssertionError, KeyError) as failure:
        raise MetricError(
            f"ir_measures does not know the measure '{quoted(text)}': {quoted(failure)}"
        ) from None


def _without_hits(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Raise an error: ir_measures computes the measure from the run, not from judged hits."""
    raise MetricError(
        "a measure of ir_measures cannot be computed from judged hits; use evaluate()"
    )
