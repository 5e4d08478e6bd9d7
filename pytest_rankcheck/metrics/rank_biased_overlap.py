"""Rank-biased overlap, also of rankings with ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.relevance import count_of, share_of

TiedRanking = Sequence[str | AbstractSet[str]]
"""Document ids, best first; a set of ids is a group of tied documents."""

Depths = FloatArray
"""``[D]`` the depths 1, 2, ..., down to the end of the longer ranking."""


@checked_arguments
def rbo(
    first: TiedRanking,
    second: TiedRanking,
    *,
    p: float = 0.9,
    ties: str = "a",
) -> float:
    """Rank-biased overlap: the agreement that a user expects who goes on with probability p.

    The value is extrapolated: the agreement beyond the end of a ranking is assumed to be as above
    it. Two empty rankings have 1, an empty one and any other have 0.

    Args:
        first: a ranking; a set of ids is a group of tied documents.
        second: another ranking.
        p: the probability that the user goes on to the next depth, between 0 and 1.
        ties: ``"a"``: the mean over all possible orders of tied documents; ``"b"``: corrected for
            the uncertainty of ties, so that a ranking and itself have 1; ``"w"``: tied documents
            share the first rank of their group, as in sports.

    Returns:
        A number from 0 to 1.

    Raises:
        ConfigurationError: p is not between 0 and 1.
        MetricError: ties is invalid, or a document is a duplicate.
    """
    if ties not in ("a", "b", "w"):
        raise MetricError(f"ties={quoted(ties)} is invalid; ties takes a, b or w")
    shorter, longer = sorted((rank_intervals(first), rank_intervals(second)), key=len)
    if not shorter:
        return 0.0 if longer else 1.0
    documents = list(longer | shorter)
    depths = np.arange(1.0, len(longer) + 1)
    in_longer = _contributions(longer, documents, depths, ties)
    in_shorter = _contributions(shorter, documents, depths, ties)
    s, n = len(shorter), len(longer)
    shared = (in_shorter * in_longer).sum(axis=0)
    sizes = _sizes(in_longer, ties)

    def agreement(common: FloatArray, of_shorter: FloatArray) -> FloatArray:
        if ties == "w":
            return 2 * common / (of_shorter + sizes)
        return common / (of_shorter * sizes if ties == "b" else depths)

    above = agreement(shared, _sizes(in_shorter, ties))
    at_end = above[s - 1]
    # Below its end, the shorter ranking is assumed to agree as much as at its end.
    not_in_shorter = np.array([doc not in shorter for doc in documents])
    below = np.maximum(depths - s, 0)
    reached = in_longer[not_in_shorter]
    mean_reached = share_of(reached.sum(axis=0), count_of((reached > 0).T))
    shared_below = shared + below * at_end * mean_reached
    beneath = agreement(shared_below, np.sqrt(depths) if ties == "b" else depths)
    agreements = np.where(below > 0, beneath, above)
    weights = p ** (depths - 1)
    beyond = (shared[-1] + (n - s) * at_end) / n * p**n
    return float((1 - p) * np.sum(agreements * weights) + beyond)


def _contributions(
    places: Mapping[str, tuple[int, int]],
    documents: Sequence[str],
    depths: Depths,
    ties: str,
) -> FloatArray:
    """Return the part of each document that is in the ranking at each depth, from 0 to 1.

    If a depth cuts a group of ties, each document of the group contributes the share of the group
    above the cut; with ``w``, it contributes fully. The shape is ``[documents, depths]``.
    """
    absent = (len(depths) + 1, len(depths) + 1)
    first, last = np.array([places.get(doc, absent) for doc in documents]).T[:, :, np.newaxis]
    if ties == "w":
        return np.asarray(np.where(depths >= first, 1.0, 0.0), dtype=np.float64)
    share: FloatArray = np.clip((depths - first + 1) / (last - first + 1), 0.0, 1.0)
    return share


def _sizes(contributions: FloatArray, ties: str) -> FloatArray:
    """Return the size of the ranking at each depth, as this variant counts it."""
    squared = ties == "b"
    sizes: FloatArray = (contributions**2 if squared else contributions).sum(axis=0)
    return np.sqrt(sizes) if squared else sizes


def rank_intervals(ranking: TiedRanking) -> dict[str, tuple[int, int]]:
    """Return the first and the last 1-based rank that each document may have.

    Raises:
        MetricError: a document is a duplicate.
    """
    intervals: dict[str, tuple[int, int]] = {}
    before = 0
    for item in ranking:
        group = sorted(item) if isinstance(item, (AbstractSet, list, tuple)) else [item]
        for doc in group:
            if doc in intervals:
                raise MetricError(f"duplicate document '{quoted(doc)}' in a ranking")
            intervals[doc] = (before + 1, before + len(group))
        before += len(group)
    return intervals
