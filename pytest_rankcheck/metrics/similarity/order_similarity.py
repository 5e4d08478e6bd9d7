"""Agreement of two rankings in the order of the documents that both have."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.families import order_agreement
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.declared_laws import ALIKE
from pytest_rankcheck.metrics.similarity.similarity_registry import similarity
from pytest_rankcheck.metrics.similarity.top_k_similarity import RankedIds, top_k_places

__all__ = ["kendall_distance", "kendall_tau", "spearman", "tau_ap"]

_KENDALL = "Kendall, A new measure of rank correlation, Biometrika 30, 1938"


@similarity("KendallTau", _KENDALL, range=(-1.0, 1.0), **(ALIKE | {"sensitive": False}))
@checked_arguments
def kendall_tau(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """Kendall's tau of the documents in both top k; NaN for fewer than two.

    Raises:
        MetricError: as in `overlap`.
    """
    hits = _shared_hits(first, second, k)
    return _value_of(order_agreement.graded_kendall_tau(hits, None, ties="a"), hits)


@similarity(
    "KendallDistance",
    _KENDALL,
    higher_is_better=False,
    range=(0.0, np.inf),
    **(ALIKE | {"sensitive": False}),
)
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
    hits = _shared_hits(first, second, k)
    kind = "pairs" if normalised else "none"
    return _value_of(order_agreement.graded_kendall_distance(hits, None, normalised=kind), hits)


@similarity(
    "Spearman",
    "Spearman, The proof and measurement of association between two things, 1904",
    range=(-1.0, 1.0),
    **(ALIKE | {"sensitive": False}),
)
@checked_arguments
def spearman(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """Spearman's rho of the documents in both top k; NaN for fewer than two.

    Raises:
        MetricError: as in `overlap`.
    """
    hits = _shared_hits(first, second, k)
    return _value_of(order_agreement.graded_spearman(hits, None), hits)


@similarity(
    "TauAP",
    "Yilmaz, Aslam and Robertson, A new rank correlation coefficient for information retrieval, "
    "SIGIR 2008, section 3",
    range=(-1.0, 1.0),
    **(ALIKE | {"symmetric": False, "sensitive": True}),
)
@checked_arguments
def tau_ap(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """AP correlation of ``first`` with ``second``, which counts as the true order.

    Only the documents in both top k count; the result is NaN for fewer than two. The correlation
    is not symmetric.

    Raises:
        MetricError: as in `overlap`.
    """
    hits = _shared_hits(first, second, k)
    return _value_of(order_agreement.graded_tau_ap(hits, None, ties="a"), hits)


def _shared_hits(first: RankedIds, second: RankedIds, k: int | None) -> JudgedHits:
    """Return the shared documents as ranked by ``first``, with grades by ``second``."""
    first_top, second_top = top_k_places(first, k), top_k_places(second, k)
    shared = [doc for doc in first_top if doc in second_top]
    grades = np.array([[float(len(second_top) - second_top[doc]) for doc in shared]]).reshape(1, -1)
    ranks = np.arange(1.0, len(shared) + 1).reshape(1, -1)
    return JudgedHits(ranks, grades, np.array([float(len(shared))]), -np.sort(-grades))


def _value_of(values: FloatArray, hits: JudgedHits) -> float:
    return float(values[0]) if hits.retrieved[0] > 1 else float("nan")
