"""Which hits are relevant, and counting them: shared by the metrics of binary relevance.

A document is relevant when its grade is above 0, or at least ``rel`` where that is given.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, number
from pytest_rankcheck.statistics.array_types import BoolArray, FloatArray

__all__ = [
    "REL",
    "count_of",
    "depth_of",
    "found_in",
    "in_top",
    "is_relevant",
    "relevant_in",
    "share_of",
]


REL = Parameter(
    "rel",
    default=None,
    check=number(),
    allowed="a number: the lowest relevant grade",
    description="relevant means a grade of at least this; without it, a grade above 0",
)


def is_relevant(grades: FloatArray, rel: Value) -> BoolArray:
    """Return which grades are relevant, in the shape of ``grades``; the padding is not."""
    lowest = grades > 0 if rel is None else grades >= rel  # type: ignore[operator]
    relevant: BoolArray = np.asarray(lowest)
    return relevant


def in_top(hits: JudgedHits, cutoff: int | None) -> BoolArray:
    """Return which hits are in the top k, ``[Q, J]``; the padding is not."""
    return hits.ranks <= (np.inf if cutoff is None else cutoff)


def found_in(hits: JudgedHits, cutoff: int | None, rel: Value) -> BoolArray:
    """Return which hits are relevant and in the top k, ``[Q, J]``."""
    found = is_relevant(hits.grades, rel)
    return found if cutoff is None else found & in_top(hits, cutoff)


def relevant_in(hits: JudgedHits, rel: Value) -> FloatArray:
    """Return how many documents of each query are relevant, retrieved or not, ``[Q]``."""
    return count_of(is_relevant(hits.ideal, rel))


def depth_of(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Return how many documents the top k really has, ``[Q]``: k, or fewer if fewer were ranked."""
    return hits.retrieved if cutoff is None else np.minimum(hits.retrieved, cutoff)


def count_of(chosen: BoolArray) -> FloatArray:
    """Return how many of each row are chosen, ``[Q]``."""
    count: FloatArray = np.sum(chosen, axis=1, dtype=np.float64)
    return count


def share_of(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return ``part / whole``, 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
