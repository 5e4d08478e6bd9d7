"""Similarity of two top-k lists that may share only some documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.laws.declared_laws import ALIKE, PairLaws
from pytest_rankcheck.metrics.similarity.similarity_registry import similarity

__all__ = ["RankedIds", "jaccard", "overlap", "top_k_kendall", "top_k_places"]

RankedIds = Sequence[str]
"""Ids, best first."""

_FAGIN = "Fagin, Kumar and Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17(1), 2003, "
_ORDERLESS: PairLaws = {"identity": False, "sensitive": False}
"""The laws of similarities that ignore order: all rankings of the same documents are equal."""


@similarity(
    "Overlap",
    _FAGIN + "section 2: the size of the intersection",
    **(ALIKE | _ORDERLESS),
)
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
    first_top, second_top = top_k_places(first, k), top_k_places(second, k)
    longer = max(len(first_top), len(second_top))
    return len(first_top.keys() & second_top.keys()) / longer if longer else 1.0


@similarity(
    "Jaccard",
    "Jaccard, The distribution of the flora in the alpine zone, 1912",
    **(ALIKE | _ORDERLESS),
)
@checked_arguments
def jaccard(first: RankedIds, second: RankedIds, *, k: int | None = None) -> float:
    """The number of documents in both top k, divided by the number in either of them.

    Two empty rankings have 1. Arguments are as in `overlap`.

    Raises:
        MetricError: as in `overlap`.
    """
    first_top, second_top = top_k_places(first, k), top_k_places(second, k)
    either = len(first_top.keys() | second_top.keys())
    return len(first_top.keys() & second_top.keys()) / either if either else 1.0


@similarity(
    "TopKKendall",
    _FAGIN + "section 3.1: K with the penalty parameter p",
    higher_is_better=False,
    range=(0.0, np.inf),
    **(ALIKE | {"sensitive": False}),
)
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
    first_top, second_top = top_k_places(first, k), top_k_places(second, k)
    documents = list(first_top | second_top)
    beyond = len(documents)
    ranks = np.array(
        [[top.get(doc, beyond) for doc in documents] for top in (first_top, second_top)]
    )
    order = np.sign(ranks[:, :, np.newaxis] - ranks[:, np.newaxis, :])
    against = np.triu(order[0] * order[1] < 0, 1).sum()
    unknown = np.triu(order[0] * order[1] == 0, 1).sum()  # both missing from one of the lists
    distance = float(against + penalty * unknown)
    n, m = len(first_top), len(second_top)
    most = n * m + penalty * (n * (n - 1) + m * (m - 1)) / 2
    if not normalised:
        return distance
    return distance / most if most else 0.0


def top_k_places(ranking: Sequence[str], k: int | None) -> dict[str, int]:
    """Return the 0-based position of each document of the top k.

    Raises:
        MetricError: a document is a duplicate.
    """
    doc_ids = list(ranking)[:k]
    top = {doc: place for place, doc in enumerate(doc_ids)}
    if len(top) < len(doc_ids):
        raise MetricError("duplicate document in a ranking")
    return top
