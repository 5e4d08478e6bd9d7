"""What metrics share: relevant hits and their counts, and the highest grade of the scale.

A document is relevant if its grade is above 0, or at least ``rel`` if that is given.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, choice, number, one_of

REL = Parameter(
    "rel",
    default=None,
    check=number(),
    allowed="a number",
    description="the lowest grade that counts as relevant; by default, any grade above 0",
)


def is_relevant(grades: FloatArray, rel: Value) -> BoolArray:
    """Return which grades are relevant, in the shape of ``grades``; the padding is not."""
    relevant: BoolArray = np.asarray(
        grades > 0 if rel is None else grades >= rel  # type: ignore[operator]
    )
    return relevant


def in_top(hits: JudgedHits, cutoff: int | None) -> BoolArray:
    """Return which hits are in the top k, ``[Q, J]``; the padding is not."""
    return hits.ranks <= (np.inf if cutoff is None else cutoff)


def relevant_hits(hits: JudgedHits, cutoff: int | None, rel: Value) -> BoolArray:
    """Return which hits are relevant and in the top k, ``[Q, J]``."""
    relevant = is_relevant(hits.grades, rel)
    return relevant if cutoff is None else relevant & in_top(hits, cutoff)


def found_count(hits: JudgedHits, cutoff: int | None, rel: Value) -> FloatArray:
    """Return the number of relevant documents of each query in the top k, ``[Q]``."""
    return count_of(relevant_hits(hits.top(cutoff), cutoff, rel))


def relevant_count(hits: JudgedHits, rel: Value) -> FloatArray:
    """Return the number of relevant documents of each query, retrieved or not, ``[Q]``."""
    return count_of(is_relevant(hits.ideal, rel))


def depth_of(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Return the number of documents in the top k, ``[Q]``: k, or fewer if fewer were ranked."""
    if cutoff is None:
        return hits.retrieved
    return np.minimum(hits.retrieved, cutoff)


def count_of(flags: BoolArray) -> FloatArray:
    """Return how many flags of each row are set, ``[Q]``."""
    return np.asarray(np.sum(flags, axis=1, dtype=np.float64), dtype=np.float64)


def share_of(
    part: FloatArray | IntArray, whole: FloatArray | IntArray, otherwise: float = 0.0
) -> FloatArray:
    """Return ``part / whole``, or ``otherwise`` where the whole is 0."""
    out: FloatArray = np.full(part.shape, otherwise)
    return np.divide(part, whole, out=out, where=whole > 0)


def share_of_top(count: FloatArray, hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Return ``count / k``, ``[Q]``; without a cutoff, k is the length of the ranking."""
    return share_of(count, hits.retrieved) if cutoff is None else count / cutoff


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
