"""Similarity of two top k that share only some documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.laws.declared_laws import ALIKE, PairLaws
from pytest_rankcheck.metrics.similarity.similarity_registry import similarity
from pytest_rankcheck.metrics.similarity.tied_ranking import top_of

__all__ = ["jaccard", "overlap", "top_k_kendall"]

_FAGIN = "Fagin, Kumar and Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17(1), 2003, "
_ORDERLESS: PairLaws = {"identity": False, "sensitive": False}
"""Two rankings of the same documents are the same to what sees no order."""


@similarity(
    "Overlap",
    _FAGIN + "section 2: the size of the intersection",
    **(ALIKE | _ORDERLESS),
)
def overlap(first: Sequence[str], second: Sequence[str], *, k: int | None = None) -> float:
    """The share of the top k that both rankings have.

    The shared documents of both top k, divided by k, or by the longer top k if both are shorter.
    Two empty rankings are the same: 1.

    Raises:
        MetricError: k is not a positive whole number, or a document stands twice.
    """
    one, two = top_of(first, k), top_of(second, k)
    longer = max(len(one), len(two))
    return len(one.keys() & two.keys()) / longer if longer else 1.0


@similarity(
    "Jaccard",
    "Jaccard, The distribution of the flora in the alpine zone, 1912",
    **(ALIKE | _ORDERLESS),
)
def jaccard(first: Sequence[str], second: Sequence[str], *, k: int | None = None) -> float:
    """The documents that both top k have, as a share of those that either has.

    Two empty rankings are the same: 1.

    Raises:
        MetricError: as in `overlap`.
    """
    one, two = top_of(first, k), top_of(second, k)
    either = len(one.keys() | two.keys())
    return len(one.keys() & two.keys()) / either if either else 1.0


@similarity(
    "TopKKendall",
    _FAGIN + "section 3.1: K with the penalty parameter p",
    higher_is_better=False,
    range=(0.0, np.inf),
    **(ALIKE | {"sensitive": False}),
)
def top_k_kendall(
    first: Sequence[str],
    second: Sequence[str],
    *,
    k: int | None = None,
    penalty: float = 0.0,
    normalised: bool = False,
) -> float:
    """Pairs of documents that the two top k order differently, for lists that share only some.

    Args:
        first: a ranking.
        second: another one.
        k: how much of each counts; without it, all.
        penalty: what a pair costs of which neither document is in the other list, 0 to 1: 0 is
            the optimistic choice, 1/2 the neutral one.
        normalised: divide by the value of two lists of these lengths that share nothing.

    A document that a list lacks stands below all that it has.

    Raises:
        MetricError: as in `overlap`; or the penalty is not from 0 to 1.
    """
    if not 0 <= penalty <= 1:
        raise MetricError(f"penalty={quoted(penalty)}: a penalty is a number from 0 to 1")
    one, two = top_of(first, k), top_of(second, k)
    documents = list(one | two)
    beyond = len(documents)
    ranks = np.array([[top.get(doc, beyond) for doc in documents] for top in (one, two)])
    order = np.sign(ranks[:, :, np.newaxis] - ranks[:, np.newaxis, :])
    against = np.triu(order[0] * order[1] < 0, 1).sum()
    unknown = np.triu(order[0] * order[1] == 0, 1).sum()  # both absent from one of the lists
    distance = float(against + penalty * unknown)
    n, m = len(one), len(two)
    most = n * m + penalty * (n * (n - 1) + m * (m - 1)) / 2
    if not normalised:
        return distance
    return distance / most if most else 0.0
