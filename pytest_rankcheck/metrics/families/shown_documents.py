"""Metrics of the documents in each top k: how novel, popular and different they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.families.catalogue import BY
from pytest_rankcheck.metrics.metric_inputs import WholeRun
from pytest_rankcheck.metrics.metric_parameters import Value
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import share_of

_BLOCK = 4096
"""Queries whose vectors are compared at once, which bounds the memory."""

_of_run = partial(metric, unit="run", unjudged="-")


@_of_run("Novelty", aliases=("MIUF",), range=(0.0, np.inf))
def novelty(run: WholeRun, cutoff: int | None) -> FloatArray:
    """The mean self-information of the items in the top k, in bits.

    The mean is over the items that are shown; an empty ranking has no value.

    Formula: mean over the top k of -log2(max(users of the item, 1) / all users)

    Use: to see whether a recommender only repeats what everybody knows

    Source: Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems,
    PNAS 107(10), 2010, self-information; RecTools, MeanInvUserFreq
    """
    users = np.maximum(run.known.popularity, 1)
    return _mean_shown(run, cutoff, -np.log2(users / run.known.user_count))


@_of_run(
    "AvgPopularity",
    aliases=("ARP",),
    higher_is_better=False,
    range=(0.0, np.inf),
)
def average_popularity(run: WholeRun, cutoff: int | None) -> FloatArray:
    """The mean number of users who have interacted with the items in the top k.

    The mean is over the items that are shown; an empty ranking has no value.

    Formula: mean over the top k of the users of the item

    Use: to see whether a change favours items that are popular already

    Source: Yin et al., Challenging the long tail recommendation, PVLDB 5(9), 2012; RecTools,
    AvgRecPopularity, which counts interactions and not users
    """
    return _mean_shown(run, cutoff, run.known.popularity.astype(np.float64))


@_of_run("SeenItems", higher_is_better=False)
def seen_items(run: WholeRun, cutoff: int | None) -> FloatArray:
    """The share of the top k that the user has interacted with; 0 for an empty ranking.

    Formula: items in the top k that the user has interacted with / items in the top k

    Use: with a bound of 0, to see that a recommender leaves out what the user has already

    Source: by definition
    """
    top = run.top(cutoff)
    return share_of(run.known.seen(top).sum(axis=1), (top >= 0).sum(axis=1))


@_of_run("Duplicates", parameters=(replace(BY, is_required=False),), higher_is_better=False)
def duplicates(run: WholeRun, cutoff: int | None, *, by: Value) -> FloatArray:
    """The share of the top k that repeats what stands above; 0 for an empty ranking.

    Documents with an unknown value are different.

    Formula: documents in the top k that stand above already / documents in the top k; with by,
    those whose value stands above

    Use: to see whether an answer repeats a chunk or a source; with by=text, also under new ids

    Source: by definition
    """
    top = run.top(cutoff)
    ranked = np.minimum(run.retrieved, top.shape[1])
    different = (top >= 0).sum(axis=1)
    if by is not None:
        shown = np.sort(np.append(_codes(run.known.values(str(by))), -1)[top], axis=1)
        different -= ((shown[:, 1:] == shown[:, :-1]) & (shown[:, 1:] >= 0)).sum(axis=1)
    return share_of(ranked - different, ranked)


@_of_run("ILD", parameters=(BY,), range=(0.0, 2.0))
def intra_list_diversity(run: WholeRun, cutoff: int | None, *, by: Value) -> FloatArray:
    """The mean difference of two documents in the top k, by an attribute or a vector.

    Pairs with an unknown value are left out. A list without two documents of a known value has 0.

    Formula: mean over the pairs in the top k of 0 for equal values and 1 for others; of vectors, of
    1 - cosine

    Use: to see whether the lists are varied

    Source: Ziegler, McNee, Konstan and Lausen, Improving recommendation lists through topic
    diversification, WWW 2005, section 3.3, intra-list similarity; RecTools, IntraListDiversity
    """
    attribute, top = str(by), run.top(cutoff)
    values = run.known.values(attribute)
    first = next((value for value in values if value is not None), None)
    if isinstance(first, Sequence | np.ndarray) and not isinstance(first, str):
        return _mean_distance(top, _unit_vectors(values, attribute))
    if str(first).startswith("["):
        raise MetricError(
            f"ILD(by={attribute}): a {quoted(attribute)} is the text {quoted(repr(first), 60)}; "
            "give vectors as JSON lines, Parquet or a frame"
        )
    shown = np.append(_codes(values), -1)[top]
    pairs, different = np.zeros(len(top)), np.zeros(len(top))
    for offset in range(1, shown.shape[1]):
        one, other = shown[:, offset:], shown[:, :-offset]
        are_known = (one >= 0) & (other >= 0)
        pairs += are_known.sum(axis=1)
        different += (are_known & (one != other)).sum(axis=1)
    return share_of(different, pairs)


def _codes(values: Sequence[object]) -> IntArray:
    """Return a number for each value, the same one for equal values; -1 for None."""
    known: dict[str, int] = {}
    codes = [-1 if value is None else known.setdefault(str(value), len(known)) for value in values]
    return np.array(codes, np.int64)


def _mean_shown(run: WholeRun, cutoff: int | None, values: FloatArray) -> FloatArray:
    """Return the mean of a value of the documents in each top k; NaN for an empty ranking."""
    top = run.top(cutoff)
    total, shown = np.append(values, 0.0)[top].sum(axis=1), (top >= 0).sum(axis=1)
    return share_of(total, shown, np.nan)


def _mean_distance(top: IntArray, vectors: FloatArray) -> FloatArray:
    """Return 1 - the mean cosine of two documents in each top k; unknown vectors are zero."""
    is_known, distances = np.any(vectors, axis=1), np.zeros(len(top))
    for start in range(0, len(top), _BLOCK):
        block = top[start : start + _BLOCK]
        counts = np.take(is_known, block).sum(axis=1)
        sums = vectors[block].sum(axis=1)
        pairs = counts * (counts - 1)
        cosines = (sums**2).sum(axis=1) - counts  # of all pairs of different places
        mean = np.divide(cosines, pairs, out=np.ones(len(block)), where=pairs > 0)
        distances[start : start + _BLOCK] = np.maximum(1 - mean, 0.0)
    return distances


def _unit_vectors(values: Sequence[object], attribute: str) -> FloatArray:
    """Return the vectors of length 1, and at the end a zero, as for an unknown vector.

    Raises:
        MetricError: vectors have different lengths, or one is zero or not of finite numbers.
    """
    known = [place for place, value in enumerate(values) if value is not None]
    rows: list[FloatArray] = []
    for place in known:
        try:
            row = np.asarray(values[place], dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            row = np.zeros(0)
        length = np.linalg.norm(row)
        if not (np.isfinite(length) and length > 0) or (rows and len(row) != len(rows[0])):
            raise MetricError(
                f"ILD(by={attribute}): a {quoted(attribute)} is "
                f"{quoted(repr(values[place]), 60)}; give each document one value, or a vector of "
                "as many finite numbers as the others, not all 0"
            )
        rows.append(row / length)
    vectors = np.zeros((len(values) + 1, len(rows[0])))
    vectors[known] = rows
    return vectors
