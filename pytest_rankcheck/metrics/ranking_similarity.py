"""Similarities and distances of two rankings of document ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.families import order_agreement
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_definition import MetricFunction
from pytest_rankcheck.metrics.metric_parameters import Value
from pytest_rankcheck.metrics.relevance import count_of, share_of

RankedIds = Sequence[str]
"""Ids, best first."""
TiedRanking = Sequence[str | AbstractSet[str]]
"""Document ids, best first; a set of ids is a group of tied documents."""


@checked_arguments
def overlap(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """The share of the top k that both rankings have in common.

    The number of shared documents is divided by k, or by the length of the longer ranking if both
    are shorter than k. Two empty rankings have an overlap of 1.

    Source: Fagin, Kumar and Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17(1), 2003,
    section 2: the size of the intersection.

    Args:
        first: a ranking.
        second: another ranking.
        k: how many documents of each ranking count; by default, all.

    Returns:
        A number from 0 to 1.

    Raises:
        MetricError: k is not a positive whole number, or a document is a duplicate.
    """
    first_top, second_top = _top_k_places(first, k), _top_k_places(second, k)
    longer = max(len(first_top), len(second_top))
    shared = len(first_top.keys() & second_top.keys())
    return shared / longer if longer else 1.0


@checked_arguments
def jaccard(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """The number of documents in both top k, divided by the number in either of them.

    Two empty rankings have 1. Arguments are as in `overlap`.

    Source: Jaccard, The distribution of the flora in the alpine zone, 1912.

    Raises:
        MetricError: as in `overlap`.
    """
    first_top, second_top = _top_k_places(first, k), _top_k_places(second, k)
    either = len(first_top.keys() | second_top.keys())
    shared = len(first_top.keys() & second_top.keys())
    return shared / either if either else 1.0


@checked_arguments
def top_k_kendall(
    first: RankedIds,
    second: RankedIds,
    *,
    k: int | None = None,
    penalty: float = 0.0,
    normalised: bool = False,
) -> float:
    """Kendall's distance of two top-k lists: the pairs that they order differently.

    A document that is missing from a list counts as ranked below all documents of the list.

    Source: Fagin, Kumar and Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17(1), 2003,
    section 3.1: K with the penalty parameter p.

    Args:
        first: a ranking.
        second: another ranking.
        k: how many documents of each ranking count; by default, all.
        penalty: the cost of a pair whose documents are both missing from the same list, from 0
            (optimistic) to 1; 1/2 is neutral.
        normalised: divide by the distance of two lists of these lengths with no shared document.

    Returns:
        A number of at least 0; at most 1 if normalised.

    Raises:
        MetricError: as in `overlap`, or the penalty is not between 0 and 1.
    """
    if not 0 <= penalty <= 1:
        raise MetricError(f"penalty={quoted(penalty)}: the penalty must be a number from 0 to 1")
    first_top, second_top = _top_k_places(first, k), _top_k_places(second, k)
    documents = list(first_top | second_top)
    beyond = len(documents)
    ranks = np.array(
        [[top.get(doc, beyond) for doc in documents] for top in (first_top, second_top)]
    )
    order = np.sign(ranks[:, :, np.newaxis] - ranks[:, np.newaxis, :])
    agreements = order[0] * order[1]
    against = np.triu(agreements < 0, 1).sum()
    unknown = np.triu(agreements == 0, 1).sum()  # both missing from one of the lists
    distance = float(against + penalty * unknown)
    if not normalised:
        return distance
    n, m = len(first_top), len(second_top)
    within = n * (n - 1) + m * (m - 1)
    most = n * m + penalty * within / 2
    return distance / most if most else 0.0


def _top_k_places(ranking: Sequence[str], k: int | None) -> dict[str, int]:
    """Return the 0-based position of each document of the top k.

    Raises:
        MetricError: a document is a duplicate.
    """
    doc_ids = list(ranking)[:k]
    top = {doc: place for place, doc in enumerate(doc_ids)}
    if len(top) < len(doc_ids):
        raise MetricError("duplicate document in a ranking")
    return top


@checked_arguments
def kendall_tau(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """Kendall's tau of the documents in both top k; NaN for fewer than two.

    Source: Kendall, A new measure of rank correlation, Biometrika 30, 1938.

    Raises:
        MetricError: as in `overlap`.
    """
    return _of_shared(order_agreement.graded_kendall_tau, first, second, k, ties="a")


@checked_arguments
def kendall_distance(
    first: RankedIds, second: RankedIds, *, k: int | None = None, normalised: bool = False
) -> float:
    """Kendall's distance: the pairs of documents in both top k that are in opposite order.

    ``normalised`` divides by the number of pairs. The distance of fewer than two shared documents
    is NaN.

    Source: Kendall, A new measure of rank correlation, Biometrika 30, 1938.

    Raises:
        MetricError: as in `overlap`.
    """
    kind = "pairs" if normalised else "none"
    return _of_shared(order_agreement.graded_kendall_distance, first, second, k, normalised=kind)


@checked_arguments
def spearman(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """Spearman's rho of the documents in both top k; NaN for fewer than two.

    Source: Spearman, The proof and measurement of association between two things, 1904.

    Raises:
        MetricError: as in `overlap`.
    """
    return _of_shared(order_agreement.graded_spearman, first, second, k)


@checked_arguments
def tau_ap(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """AP correlation of ``first`` with ``second``, which counts as the true order.

    Only the documents in both top k count; the result is NaN for fewer than two. The correlation
    is not symmetric.

    Source: Yilmaz, Aslam and Robertson, A new rank correlation coefficient for information
    retrieval, SIGIR 2008, section 3.

    Raises:
        MetricError: as in `overlap`.
    """
    return _of_shared(order_agreement.graded_tau_ap, first, second, k, ties="a")


def _of_shared(
    agreement: MetricFunction, first: RankedIds, second: RankedIds, k: int | None, **given: Value
) -> float:
    """Return the agreement of the shared documents: ranks by ``first``, grades by ``second``."""
    first_top, second_top = _top_k_places(first, k), _top_k_places(second, k)
    shared = [doc for doc in first_top if doc in second_top]
    if len(shared) < 2:
        return float("nan")
    places = np.array([second_top[doc] for doc in shared])
    grades = (len(second_top) - places).astype(np.float64).reshape(1, -1)
    ranks = np.arange(1.0, len(shared) + 1).reshape(1, -1)
    hits = JudgedHits(ranks, grades, np.array([float(len(shared))]), -np.sort(-grades))
    return float(agreement(hits, None, **given)[0])


@checked_arguments
def rbo(
    first: TiedRanking,
    second: TiedRanking,
    *,
    p: float = 0.9,
    ties: str = "a",
) -> float:
    """Rank-biased overlap: the expected agreement for a user who goes on with probability p.

    The value is extrapolated: the agreement beyond the end of a ranking is assumed to be as above
    it. Two empty rankings have 1, an empty one and any other have 0.

    Source: Webber, Moffat and Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4),
    2010, equation 32; ties: Corsi and Urbano, The treatment of ties in rank-biased overlap, SIGIR
    2024, sections 3 and 4.

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
    depths: FloatArray,
    ties: str,
) -> FloatArray:
    """Return the fraction of each document that is in the ranking at each depth, from 0 to 1.

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
