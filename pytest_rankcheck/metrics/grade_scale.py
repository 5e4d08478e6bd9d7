"""The highest grade that graded metrics divide by: the golden set's, a given one, or a query's."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, choice, number, one_of

__all__ = ["MAX_GRADE", "highest_grades"]

MAX_GRADE = Parameter(
    "max_grade",
    default=None,
    check=one_of(number(above=0), choice("query")),
    allowed="a number above 0, or query",
    description=(
        "the highest grade of the scale; by default, that of the golden set's scale. With query "
        "it is the highest grade of each query, as in ptranking, so a query whose best document "
        "is poor counts as much as any other"
    ),
)


def highest_grades(name: str, hits: JudgedHits, max_grade: Value) -> FloatArray:
    """Return the highest grade of each query's scale, ``[Q, 1]``; at least 0.

    Args:
        name: the metric, for messages.
        hits: the judged hits.
        max_grade: the value of the parameter.

    Raises:
        MetricError: the golden set's scale goes above ``max_grade``.
    """
    if max_grade == "query":
        own: FloatArray = np.nanmax(hits.ideal, axis=1, initial=0.0, keepdims=True)
        return own
    highest = hits.max_grade if max_grade is None else float(max_grade)  # type: ignore[arg-type]
    if highest < hits.max_grade:
        raise MetricError(
            f"{name}(max_grade={highest:g}): the golden set's scale goes up to "
            f"{hits.max_grade:g}; use max_grade={hits.max_grade:g} or more"
        )
    return np.full((len(hits.ideal), 1), highest)
