"""Agreement of two rankings in the order of the documents that both have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.metrics.families import order_agreement
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.declared_laws import ALIKE
from pytest_rankcheck.metrics.similarity.similarity_registry import similarity
from pytest_rankcheck.metrics.similarity.tied_ranking import top_of
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["kendall_distance", "kendall_tau", "spearman", "tau_ap"]

_KENDALL = "Kendall, A new measure of rank correlation, Biometrika 30, 1938"


@similarity("KendallTau", _KENDALL, range=(-1.0, 1.0), **(ALIKE | {"sensitive": False}))
def kendall_tau(first: Sequence[str], second: Sequence[str], *, k: int | None = None) -> float:
    """Kendall's tau of the documents that both top k have; NaN for fewer than two.

    Raises:
        MetricError: as in `overlap`.
    """
    hits = _shared(first, second, k)
    return _of(order_agreement.kendall_tau(hits, None, ties="a"), hits)


@similarity(
    "KendallDistance",
    _KENDALL,
    higher_is_better=False,
    range=(0.0, np.inf),
    **(ALIKE | {"sensitive": False}),
)
def kendall_distance(
    first: Sequence[str], second: Sequence[str], *, k: int | None = None, normalised: bool = False
) -> float:
    """How many pairs of the documents that both top k have stand in opposite order.

    ``normalised`` divides by the number of pairs. Fewer than two shared documents give NaN.

    Raises:
        MetricError: as in `overlap`.
    """
    hits = _shared(first, second, k)
    kind = "pairs" if normalised else "none"
    return _of(order_agreement.kendall_distance(hits, None, normalised=kind), hits)


@similarity(
    "Spearman",
    "Spearman, The proof and measurement of association between two things, 1904",
    range=(-1.0, 1.0),
    **(ALIKE | {"sensitive": False}),
)
def spearman(first: Sequence[str], second: Sequence[str], *, k: int | None = None) -> float:
    """Spearman's rho of the documents that both top k have; NaN for fewer than two.

    Raises:
        MetricError: as in `overlap`.
    """
    hits = _shared(first, second, k)
    return _of(order_agreement.spearman(hits, None), hits)


@similarity(
    "TauAP",
    "Yilmaz, Aslam and Robertson, A new rank correlation coefficient for information retrieval, "
    "SIGIR 2008, section 3",
    range=(-1.0, 1.0),
    **(ALIKE | {"symmetric": False, "sensitive": True}),
)
def tau_ap(first: Sequence[str], second: Sequence[str], *, k: int | None = None) -> float:
    """AP correlation of ``first`` with ``second``, which is taken for the true order.

    Over the documents that both top k have; NaN for fewer than two. It is not symmetric.

    Raises:
        MetricError: as in `overlap`.
    """
    hits = _shared(first, second, k)
    return _of(order_agreement.tau_ap(hits, None, ties="a"), hits)


def _shared(first: Sequence[str], second: Sequence[str], k: int | None) -> JudgedHits:
    """Return the first ranking, of the shared documents only, graded by the second."""
    one, two = top_of(first, k), top_of(second, k)
    shared = [doc for doc in one if doc in two]
    grades = np.array([[float(len(two) - two[doc]) for doc in shared]]).reshape(1, -1)
    ranks = np.arange(1.0, len(shared) + 1).reshape(1, -1)
    return JudgedHits(ranks, grades, np.array([float(len(shared))]), -np.sort(-grades))


def _of(values: FloatArray, hits: JudgedHits) -> float:
    return float(values[0]) if hits.retrieved[0] > 1 else float("nan")
