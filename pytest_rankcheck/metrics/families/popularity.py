"""Metrics of the whole run: how often documents are shown, and repeated lists.

The value of a query depends on the rankings of the other queries; no judgments are needed.
"""

from __future__ import annotations

import math
from functools import partial
from typing import cast

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.metrics.metric_inputs import WholeRun
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, number
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import share_of

_of_run = partial(metric, unit="run", unjudged="-")
"""Declares a metric of the whole run."""


@_of_run("Distinct")
def distinct(run: WholeRun, cutoff: int | None) -> FloatArray:
    """The number of distinct documents in the top k of all queries, as a share of all ranks.

    A document that several queries show counts in equal parts for each of them: the value of a
    query is the sum over its top k of 1 / (k * queries that show the document). It is 1 if no
    document is shown twice. Without a cutoff, k is the length of the longest ranking.

    Formula: distinct documents in the top k of all queries / (k * queries)

    Use: to see whether the ranker shows the same documents to everybody

    Source: Ge, Delgado-Battenfeld and Jannach, Beyond accuracy: evaluating recommender systems by
    coverage and serendipity, RecSys 2010, section 3; divided by the number of ranks, since the size
    of the catalogue is unknown
    """
    top = run.top(cutoff)
    width = top.shape[1] if cutoff is None else cutoff
    parts = np.divide(1.0, _times_shown(top), out=np.zeros(top.shape), where=top >= 0)
    return np.asarray(parts.sum(axis=1) / max(width, 1), dtype=np.float64)


@_of_run(
    "HeadShare",
    parameters=(
        Parameter(
            "head",
            default=0.01,
            check=number(above=0, at_most=1),
            allowed="a share above 0, at most 1",
        ),
    ),
    higher_is_better=False,
)
def head_share(run: WholeRun, cutoff: int | None, *, head: Value) -> FloatArray:
    """The share of the top k taken by the documents that are shown most often.

    The head is the share ``head``, rounded up, of all documents in the top k of any query, those
    that most queries show first; documents tied with the last of them belong to it too. An empty
    ranking has 0.

    head: the share of all shown documents, most shown first, that is the head

    Formula: head documents in the top k / documents in the top k

    Use: to see whether a change pushes everybody to the same few documents

    Source: Abdollahpouri, Burke and Mobasher, Managing popularity bias in recommender systems with
    personalized re-ranking, FLAIRS 2019: the complement of the long tail
    """
    top = run.top(cutoff)
    counts = np.bincount(top[top >= 0])
    ordered = np.sort(counts[counts > 0])[::-1]
    if not ordered.size:
        return np.zeros(len(top))
    size = math.ceil(cast("float", head) * ordered.size - 1e-9)
    in_head = _times_shown(top) >= ordered[max(size, 1) - 1]
    shown = (top >= 0).sum(axis=1)
    return share_of((in_head & (top >= 0)).sum(axis=1), shown)


@_of_run("NoResults", aliases=("ZeroResults",), higher_is_better=False, at=None)
def no_results(run: WholeRun, cutoff: int | None) -> FloatArray:
    """1 if the ranking is empty, else 0.

    Formula: 1 if nothing is ranked; else 0

    Use: in a separate gate for every ranker that may find nothing

    Source: by definition: queries without results
    """
    return np.asarray(np.equal(run.retrieved, 0), dtype=np.float64)


@_of_run("RepeatedList", higher_is_better=False)
def repeated_list(run: WholeRun, cutoff: int | None) -> FloatArray:
    """1 if another query has the same top k, in any order, else 0.

    An empty ranking does not count as repeated: NoResults counts it.

    Formula: 1 if another query shows the same top k; else 0

    Use: to see whether a change gives many queries the same answer: a fallback, a broken filter

    Source: by definition
    """
    top = np.sort(run.top(cutoff), axis=1)
    if not top.shape[1]:
        return np.zeros(len(top))
    _, inverse, counts = np.unique(top, axis=0, return_inverse=True, return_counts=True)
    is_empty = (top < 0).all(axis=1)
    repeated = (counts[inverse.reshape(-1)] > 1) & ~is_empty
    return np.asarray(repeated, dtype=np.float64)


def _times_shown(top: IntArray) -> FloatArray:
    """Return how many queries show each document, in the shape of ``top``; 0 past the end."""
    counts = np.bincount(top[top >= 0], minlength=1)
    return np.asarray(np.where(top >= 0, counts[np.maximum(top, 0)], 0), dtype=np.float64)
