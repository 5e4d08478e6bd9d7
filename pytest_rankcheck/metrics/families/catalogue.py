"""Metrics of the whole run: how much of a catalogue is shown, how evenly, and what is repeated.

The value of a query depends on the rankings of the other queries, or no query has a value of its
own. No judgments are needed, except for Exposure.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, cast

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import MetricError, listed, quoted
from pytest_rankcheck.metrics.metric_inputs import WholeRun, jackknife
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, number, text
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import share_of

_of_catalogue = partial(metric, unit="run", aggregate="whole", unjudged="-")
"""Declares one value of the whole run."""

BY = Parameter(
    "by",
    default=None,
    check=text,
    allowed="brand, or another column of the documents",
    description="the attribute of the documents",
    is_required=True,
)


@_of_catalogue("CatalogCoverage", aliases=("catalog_coverage", "ItemCoverage"))
def catalog_coverage(run: WholeRun, cutoff: int | None) -> FloatArray:
    """The share of the catalogue that is in the top k of any query.

    Ranked documents that are not in the catalogue do not count.

    Formula: distinct documents in the top k of all queries / documents in the catalogue

    Use: to see whether a change hides a part of the catalogue

    Source: Herlocker, Konstan, Terveen and Riedl, Evaluating collaborative filtering recommender
    systems, TOIS 22(1), 2004, section 4.2.1, of the top k
    """
    top, counts = _times_shown(run, cutoff)
    shown = np.count_nonzero(counts)
    of_one_query = ((top >= 0) & (counts[top] == 1)).sum(axis=1)
    size = run.known.catalogue_size
    return jackknife(shown / size, (shown - of_one_query) / size)


@_of_catalogue("Gini", higher_is_better=False)
def gini(run: WholeRun, cutoff: int | None) -> FloatArray:
    """How unevenly the documents of the catalogue are shown: 0 if all are shown equally often.

    It is 0 if nothing is shown.

    Formula: sum over i of (2 i - n - 1) x_i / (n * sum of x), x_1 <= ... <= x_n how often each of
    the n documents of the catalogue is in a top k

    Use: to see whether few documents take most places

    Source: Gini, Variabilità e mutabilità, 1912; of counts that include 0, as in Fleder and
    Hosanagar, Blockbuster culture's next rise or fall, Management Science 55(5), 2009, section 4
    """
    top, counts = _times_shown(run, cutoff)
    size = run.known.catalogue_size
    ordered = np.sort(np.append(counts[counts > 0], np.zeros(size - np.count_nonzero(counts))))
    total, weighted = ordered.sum(), float(np.arange(1, size + 1) @ ordered)

    # Without a query, each of its documents is shown once less. Of the documents that are shown as
    # often, the one that comes first falls below the others, and the weighted sum falls by its i.
    first_alike = np.searchsorted(ordered, counts) + 1
    first = np.sort(np.where(top >= 0, first_alike[top], 0), axis=1)
    place = np.arange(first.shape[1])
    is_other = np.diff(first, axis=1, prepend=-1) > 0
    before = place - np.maximum.accumulate(np.where(is_other, place, 0), axis=1)
    lost = np.where(first > 0, first + before, 0).sum(axis=1)
    left = total - (top >= 0).sum(axis=1)
    every = np.append(left, total)
    sums = np.append(weighted - lost, weighted)
    values = np.divide(2 * sums, every * size, out=np.ones(len(sums)), where=every > 0)
    values -= np.where(every > 0, (size + 1) / size, 1.0)
    return jackknife(float(values[-1]), values[:-1])


@_of_catalogue(
    "Exposure",
    parameters=(
        BY,
        Parameter(
            "of",
            default=None,
            check=text,
            allowed="acme, or another value of that column",
            is_required=True,
        ),
    ),
    range=(0.0, np.inf),
    ideal=1.0,
)
def exposure(run: WholeRun, cutoff: int | None, *, by: Value, of: Value) -> FloatArray:
    """How much exposure a group of documents gets, for the relevance that it has.

    1 is its share; below 1 it gets less than that, above 1 more. Unjudged documents take
    exposure too. A negative grade has no gain.

    of: the value that the group shares

    Formula: (discount of the group / discount of all documents in the top k) / (gain of the group /
    gain of all judged documents), discount 1 / log2(i + 1), gain the grade, sums over all queries

    Use: to see whether a seller or a source gets the exposure that its relevance deserves

    Source: Singh and Joachims, Fairness of exposure in rankings, KDD 2018, equation 10, disparate
    treatment of a group against all documents; sums before dividing
    """
    attribute, group, top = str(by), str(of), run.top(cutoff)
    queries, grades, values = run.known.judged(attribute)
    gains = np.maximum(grades, 0.0)
    owned = np.array([group_label(value) == group for value in values], dtype=np.float64)
    count = len(top)
    gain = np.bincount(queries, gains, count)
    of_group = np.bincount(queries, gains * owned, count)
    if not of_group.sum():
        known = sorted({group_label(value) for value in values if value is not None})
        raise MetricError(
            f"Exposure(by={attribute},of={group}): no relevant document has the {quoted(attribute)}"
            f" '{quoted(group)}', so its share of the relevance is 0; judged documents have "
            f"{listed(known, 10)}"
        )
    shown = [group_label(value) == group for value in run.known.values(attribute)]
    discount = np.where(top >= 0, 1 / np.log2(np.arange(top.shape[1]) + 2), 0.0)
    is_of_group = np.append(shown, False)[top]
    parts = np.stack([(discount * is_of_group).sum(axis=1), discount.sum(axis=1), of_group, gain])
    totals = parts.sum(axis=1, keepdims=True)
    left = np.append(totals - parts, totals, axis=1)
    ratio = _ratio(_ratio(left[0], left[1]), _ratio(left[2], left[3]))
    return jackknife(float(ratio[-1]), np.where(np.isnan(ratio), ratio[-1], ratio)[:-1])


def group_label(value: object) -> str:
    """Return an attribute's value as it is written in a metric's name."""
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def _ratio(part: Any, whole: Any) -> FloatArray:
    """Return part / whole; NaN where that is nothing, such as without the only query."""
    ratio = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 1e-12)
    return ratio


def _times_shown(run: WholeRun, cutoff: int | None) -> tuple[IntArray, IntArray]:
    """Return the documents of the catalogue in each top k, and how often each is shown.

    The first are ``[Q, k]``, -1 for any other; the counts are ``[N + 1]``, the last of them 0.
    """
    has_row = np.append(run.known.in_catalogue, False)
    top = run.top(cutoff)
    top = np.where(has_row[top], top, -1)
    return top, np.bincount(top[top >= 0], minlength=len(has_row))


_of_run = partial(metric, unit="run", unjudged="-")
"""Declares a metric whose value for a query depends on the rankings of the others."""


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
    parts = np.divide(1.0, _queries_showing(top), out=np.zeros(top.shape), where=top >= 0)
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
    in_head = _queries_showing(top) >= ordered[max(size, 1) - 1]
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


def _queries_showing(top: IntArray) -> FloatArray:
    """Return how many queries show each document, in the shape of ``top``; 0 past the end."""
    counts = np.bincount(top[top >= 0], minlength=1)
    return np.asarray(np.where(top >= 0, counts[np.maximum(top, 0)], 0), dtype=np.float64)
