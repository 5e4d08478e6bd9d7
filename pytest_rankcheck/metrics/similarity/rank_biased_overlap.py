"""Rank-biased overlap, also of rankings with ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.laws.declared_laws import ALIKE
from pytest_rankcheck.metrics.similarity.similarity_registry import similarity
from pytest_rankcheck.metrics.similarity.tied_ranking import TiedRanking, places_of
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["rbo"]

Depths = FloatArray
"""``[D]`` the depths 1, 2, ..., as far as the longer ranking goes."""


@similarity(
    "RBO",
    "Webber, Moffat and Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4), 2010, "
    "equation 32; ties: Corsi and Urbano, The treatment of ties in rank-biased overlap, SIGIR "
    "2024, sections 3 and 4",
    **(ALIKE | {"sensitive": True}),
)
def rbo(
    first: TiedRanking,
    second: TiedRanking,
    *,
    p: float = 0.9,
    ties: str = "a",
) -> float:
    """Rank-biased overlap: the expected agreement seen by a user who goes on with probability p.

    It is extrapolated: what lies beyond the end of a ranking agrees as much as what is known.

    Args:
        first: a ranking; a set of ids is a group of tied documents.
        second: another one.
        p: the probability of going on to the next depth, between 0 and 1.
        ties: ``"a"``: the mean over all orders that tied documents may have; ``"b"``: corrected
            for what the ties leave open, so that a ranking agrees fully with itself; ``"w"``:
            tied documents share the first place of their group, as in sports.

    Two empty rankings are the same: 1. An empty one agrees with no other: 0.

    Raises:
        MetricError: p or ties is not possible, or a document stands twice.
    """
    if not 0 < p < 1:
        raise MetricError(f"p={quoted(p)}: p is a number between 0 and 1")
    if ties not in ("a", "b", "w"):
        raise MetricError(f"ties={quoted(ties)} is not possible; ties takes a, b or w")
    shorter, longer = sorted((places_of(first), places_of(second)), key=len)
    if not shorter:
        return 0.0 if longer else 1.0
    documents = list(longer | shorter)
    depths = np.arange(1.0, len(longer) + 1)
    in_longer = _contributions(longer, documents, depths, ties)
    in_shorter = _contributions(shorter, documents, depths, ties)
    s, n = len(shorter), len(longer)
    known = (in_shorter * in_longer).sum(axis=0)
    sizes = _sizes(in_shorter, ties), _sizes(in_longer, ties)
    at_end = _agreement(known, sizes, depths, ties)[s - 1]
    # Below its end, the shorter ranking is taken to agree as it did at its end.
    unknown = np.array([doc not in shorter for doc in documents])
    below = np.maximum(depths - s, 0)
    reached = np.where(in_longer[unknown] > 0, in_longer[unknown], np.nan)
    known_below = known + below * at_end * _mean_of_columns(reached)
    sizes_below = _sizes_of_untied(depths, ties), sizes[1]
    agreements = np.where(
        below > 0,
        _agreement(known_below, sizes_below, depths, ties),
        _agreement(known, sizes, depths, ties),
    )
    beyond = (known[-1] + (n - s) * at_end) / n * p**n
    return float((1 - p) * np.sum(agreements * p ** (depths - 1)) + beyond)


def _contributions(
    places: Mapping[str, tuple[int, int]],
    documents: Sequence[str],
    depths: Depths,
    ties: str,
) -> FloatArray:
    """Return how far each document is part of the ranking at each depth, ``[documents, depths]``.

    A group of ties that a depth cuts is part of it in the share that is above the cut; with
    ``w`` wholly.
    """
    absent = (len(depths) + 1, len(depths) + 1)
    first, last = np.array([places.get(doc, absent) for doc in documents]).T[:, :, np.newaxis]
    if ties == "w":
        shown: FloatArray = np.where(depths >= first, 1.0, 0.0)
        return shown
    share: FloatArray = np.clip((depths - first + 1) / (last - first + 1), 0.0, 1.0)
    return share


def _sizes(contributions: FloatArray, ties: str) -> FloatArray:
    """Return the size of the ranking at each depth, as the variant counts it."""
    squared = ties == "b"
    sizes: FloatArray = (contributions**2 if squared else contributions).sum(axis=0)
    return np.sqrt(sizes) if squared else sizes


def _sizes_of_untied(depths: Depths, ties: str) -> FloatArray:
    return np.sqrt(depths) if ties == "b" else depths


def _agreement(
    shared: FloatArray,
    sizes: tuple[FloatArray, FloatArray],
    depths: Depths,
    ties: str,
) -> FloatArray:
    """Return the agreement at each depth: what is shared, by the size of both."""
    match ties:
        case "w":
            return 2 * shared / (sizes[0] + sizes[1])
        case "b":
            return shared / (sizes[0] * sizes[1])
    return shared / depths


def _mean_of_columns(values: FloatArray) -> FloatArray:
    """Return the mean of each column's values that are not NaN; 0 where there are none."""
    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    sums: FloatArray = np.where(known, values, 0.0).sum(axis=0)
    means: FloatArray = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return means
