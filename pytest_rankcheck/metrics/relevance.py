"""Relevant hits and their counts, shared by the metrics of binary relevance.

A document is relevant if its grade is above 0, or at least ``rel`` if that is given.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, number

__all__ = [
    "REL",
    "count_of",
    "depth_of",
    "found_count",
    "in_top",
    "is_relevant",
    "relevant_count",
    "relevant_hits",
    "share_of",
]


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
    return hits.retrieved if cutoff is None else np.minimum(hits.retrieved, cutoff)


def count_of(flags: BoolArray) -> FloatArray:
    """Return how many flags of each row are set, ``[Q]``."""
    count: FloatArray = np.sum(flags, axis=1, dtype=np.float64)
    return count


def share_of(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return ``part / whole``, or 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
