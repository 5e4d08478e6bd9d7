"""Metrics of the whole run: which documents are shown how often, and lists that are alike.

The value of a query depends on the rankings of the others; no judgment is needed.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, number
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.whole_run import WholeRun
from pytest_rankcheck.statistics.array_types import FloatArray, IntArray

_GE = (
    "Ge, Delgado-Battenfeld and Jannach, Beyond accuracy: evaluating recommender systems by "
    "coverage and serendipity, RecSys 2010, section 3"
)


@metric(
    "Distinct",
    aliases=("Coverage",),
    reference=_GE + "; as a share of the places, since the size of the catalogue is not known",
    formula="distinct documents in the top k of all queries / (k * queries)",
    use="does the ranker show much of the catalogue, or the same to everybody",
    unit="run",
    unjudged="-",
)
def distinct(run: WholeRun, cutoff: int | None) -> FloatArray:
    """The different documents in all top k together, as a share of the places there.

    A query's value is what its documents add: each is shared with the other queries that show it,
    sum over the top k of 1 / (k * queries that show d). 1 if nothing is shown twice. Without a
    cutoff, k is the length of the longest ranking.
    """
    top = run.top(cutoff)
    width = top.shape[1] if cutoff is None else cutoff
    parts = np.divide(1.0, _shown(top), out=np.zeros(top.shape), where=top >= 0)
    values: FloatArray = parts.sum(axis=1) / max(width, 1)
    return values


@metric(
    "HeadShare",
    reference="Abdollahpouri, Burke and Mobasher, Managing popularity bias in recommender systems "
    "with personalized re-ranking, FLAIRS 2019: the long tail's complement",
    formula="documents of the head in the top k / documents in the top k",
    use="does a change push everybody to the same few documents",
    parameters=(
        Parameter(
            "head",
            default=0.01,
            check=number(above=0, at_most=1),
            allowed="a share above 0, at most 1",
            description="which share of the documents that are shown, the most shown, is the head",
        ),
    ),
    higher_is_better=False,
    unit="run",
    unjudged="-",
)
def head_share(run: WholeRun, cutoff: int | None, *, head: Value) -> FloatArray:
    """The share of the top k that belongs to the documents that are shown most often.

    The head is the share ``head`` of all documents in the top k of any query, rounded up, by how
    many queries show them; all that are shown as often as the last of them belong to it. An empty
    ranking has 0.
    """
    top = run.top(cutoff)
    counts = np.bincount(top[top >= 0])
    ordered = np.sort(counts[counts > 0])[::-1]
    if not ordered.size:
        return np.zeros(len(top))
    size = math.ceil(cast("float", head) * ordered.size - 1e-9)
    in_head = _shown(top) >= ordered[max(size, 1) - 1]
    shown = (top >= 0).sum(axis=1)
    taken = (in_head & (top >= 0)).sum(axis=1)
    share: FloatArray = np.divide(taken, shown, out=np.zeros(len(top)), where=shown > 0)
    return share


@metric(
    "NoResults",
    aliases=("ZeroResults",),
    reference="by its definition: queries without a result",
    formula="1 if nothing is ranked; else 0",
    use="a gate of its own for every ranker that may find nothing",
    higher_is_better=False,
    at=None,
    unit="run",
    unjudged="-",
)
def no_results(run: WholeRun, cutoff: int | None) -> FloatArray:
    """1 if the ranking is empty, else 0."""
    values: FloatArray = np.equal(run.retrieved, 0).astype(np.float64)
    return values


@metric(
    "RepeatedList",
    reference="by its definition; near-identical lists by their overlap, found with the prefix "
    "filter of Chaudhuri, Ganti and Kaushik, A primitive operator for similarity joins in data "
    "cleaning, ICDE 2006",
    formula="1 if another query shows the same top k, or shares so much of it; else 0",
    use="does a change answer many queries alike: a fallback, a broken filter",
    parameters=(
        Parameter(
            "similar",
            default=1,
            check=number(above=0, at_most=1),
            allowed="a share above 0, at most 1",
            description="how much of the longer top k two lists share, in any order, if alike",
        ),
    ),
    higher_is_better=False,
    unit="run",
    unjudged="-",
)
def repeated_list(run: WholeRun, cutoff: int | None, *, similar: Value) -> FloatArray:
    """1 if another query has the same documents in its top k, or nearly, in any order; else 0.

    An empty ranking repeats nothing: NoResults counts it.
    """
    top = np.sort(run.top(cutoff), axis=1)
    is_empty: NDArray[np.bool_] = np.asarray((top < 0).all(axis=1))
    if not top.shape[1]:
        return np.zeros(len(top))
    _, inverse, counts = np.unique(top, axis=0, return_inverse=True, return_counts=True)
    repeated = (counts[inverse.reshape(-1)] > 1) & ~is_empty
    if similar != 1:
        repeated |= _nearly_repeated(run.top(cutoff), cast("float", similar), ~is_empty)
    values: FloatArray = repeated.astype(np.float64)
    return values


def _shown(top: IntArray) -> FloatArray:
    """Return how many queries show each document, in the shape of the top k; 0 past the end."""
    counts = np.bincount(top[top >= 0], minlength=1)
    shown: FloatArray = np.where(top >= 0, counts[np.maximum(top, 0)], 0).astype(np.float64)
    return shown


def _nearly_repeated(
    top: IntArray, similar: float, counted: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which lists share enough with another one.

    Two lists that share so much share one of the rarest documents of each: only lists with a rare
    document in common are compared.
    """
    counts = np.bincount(top[top >= 0], minlength=1)
    lists = [
        sorted((doc for doc in row if doc >= 0), key=lambda doc: (counts[doc], doc))
        for row in top.tolist()
    ]
    sets = [frozenset(one) for one in lists]
    found = np.zeros(len(lists), dtype=bool)
    seen: dict[int, list[int]] = {}
    for place, documents in enumerate(lists):
        if not counted[place]:
            continue
        needed = math.ceil(similar * len(documents) - 1e-9)
        candidates: set[int] = set()
        for doc in documents[: len(documents) - needed + 1]:
            candidates.update(seen.get(doc, ()))
            seen.setdefault(doc, []).append(place)
        for other in candidates:
            longer = max(len(sets[place]), len(sets[other]))
            if len(sets[place] & sets[other]) >= similar * longer - 1e-9:
                found[place] = found[other] = True
    return found
