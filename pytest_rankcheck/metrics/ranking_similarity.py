"""Similarities and distances of two rankings of document ids, and the table of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.families import order_agreement
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_definition import MetricFunction
from pytest_rankcheck.metrics.metric_parameters import Value
from pytest_rankcheck.metrics.rank_biased_overlap import rbo

RankedIds = Sequence[str]
"""Ids, best first."""


@checked_arguments
def overlap(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """The share of the top k that both rankings have in common.

    The number of shared documents is divided by k, or by the length of the longer ranking if both
    are shorter than k. Two empty rankings have an overlap of 1.

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

    Raises:
        MetricError: as in `overlap`.
    """
    kind = "pairs" if normalised else "none"
    return _of_shared(order_agreement.graded_kendall_distance, first, second, k, normalised=kind)


@checked_arguments
def spearman(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """Spearman's rho of the documents in both top k; NaN for fewer than two.

    Raises:
        MetricError: as in `overlap`.
    """
    return _of_shared(order_agreement.graded_spearman, first, second, k)


@checked_arguments
def tau_ap(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """AP correlation of ``first`` with ``second``, which counts as the true order.

    Only the documents in both top k count; the result is NaN for fewer than two. The correlation
    is not symmetric.

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
    retrieved = np.array([float(len(shared))])
    hits = JudgedHits(ranks, grades, retrieved, -np.sort(-grades))
    return float(agreement(hits, None, **given)[0])


@dataclass(frozen=True, slots=True)
class Similarity:
    """A similarity of two rankings, or a distance between them."""

    compute: Callable[..., float]
    reference: str
    higher_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (self.compute.__doc__ or "").partition("\n")[0]


_KENDALL = "Kendall, A new measure of rank correlation, Biometrika 30, 1938"
_FAGIN = "Fagin, Kumar and Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17(1), 2003, "
_CORRELATION, _DISTANCE = (-1.0, 1.0), (0.0, float("inf"))

SIMILARITIES: Mapping[str, Similarity] = {
    "Jaccard": Similarity(
        jaccard, "Jaccard, The distribution of the flora in the alpine zone, 1912"
    ),
    "KendallDistance": Similarity(
        kendall_distance, _KENDALL, higher_is_better=False, range=_DISTANCE
    ),
    "KendallTau": Similarity(kendall_tau, _KENDALL, range=_CORRELATION),
    "Overlap": Similarity(overlap, _FAGIN + "section 2: the size of the intersection"),
    "RBO": Similarity(
        rbo,
        "Webber, Moffat and Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4), "
        "2010, equation 32; ties: Corsi and Urbano, The treatment of ties in rank-biased overlap, "
        "SIGIR 2024, sections 3 and 4",
    ),
    "Spearman": Similarity(
        spearman,
        "Spearman, The proof and measurement of association between two things, 1904",
        range=_CORRELATION,
    ),
    "TauAP": Similarity(
        tau_ap,
        "Yilmaz, Aslam and Robertson, A new rank correlation coefficient for information "
        "retrieval, SIGIR 2008, section 3",
        range=_CORRELATION,
    ),
    "TopKKendall": Similarity(
        top_k_kendall,
        _FAGIN + "section 3.1: K with the penalty parameter p",
        higher_is_better=False,
        range=_DISTANCE,
    ),
}
"""By name."""
