"""Binary metrics: at which ranks the relevant documents are.

A document is relevant when its grade is above 0, or at least ``rel`` where that is given.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.metrics.hits import FloatArray, JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.parameters import Parameter, Value, choice, number
from pytest_rankcheck.metrics.registry import metric

REL = Parameter(
    "rel",
    default=None,
    check=number(),
    allowed="a number: the lowest relevant grade",
    description="relevant means a grade of at least this; without it, a grade above 0",
)


@metric(
    "RR",
    aliases=("MRR",),
    reference=(
        "Voorhees, The TREC-8 question answering track report, 1999, section 3; "
        "Kantor and Voorhees, The TREC-5 confusion track, Information Retrieval 2, 2000"
    ),
    parameters=(REL,),
)
def reciprocal_rank(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """One over the rank of the first relevant document; 0 if there is none in the top k."""
    found = _found(hits, cutoff, rel)
    first = np.where(found, hits.ranks, np.inf).min(axis=1, initial=np.inf)
    reciprocal: FloatArray = np.asarray(1.0 / first)
    return reciprocal


@metric(
    "Success",
    aliases=("Hit", "HitRate", "Accuracy"),
    reference="Craswell, Success at n, Encyclopedia of Database Systems, 2009",
    parameters=(REL,),
)
def success(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """1 if any document of the top k is relevant, else 0."""
    return np.minimum(_count(_found(hits, cutoff, rel)), 1.0)


@metric(
    "P",
    aliases=("Precision",),
    reference="van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7",
    parameters=(REL,),
)
def precision(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """The share of the top k that is relevant; divided by k, though fewer were returned.

    Without a cutoff it is the share of the whole ranking, and 0 for an empty one.
    """
    count = _count(_found(hits, cutoff, rel))
    if cutoff is not None:
        return count / cutoff
    return _share(count, hits.retrieved)


@metric(
    "R",
    aliases=("Recall",),
    reference="van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7",
    parameters=(REL,),
)
def recall(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """The share of all relevant documents that is in the top k; 0 if nothing is relevant."""
    count = _count(_found(hits, cutoff, rel))
    return _share(count, _relevant_documents(hits, rel))


DIVIDE = Parameter(
    "divide",
    default="relevant",
    check=choice("relevant", "retrieved", "min"),
    allowed="relevant, retrieved or min",
    description=(
        "what the sum is divided by: all relevant documents, the relevant ones in the top k, or "
        "the smaller of k and all relevant"
    ),
)


@metric(
    "AP",
    aliases=("MAP",),
    reference=(
        "Harman, Evaluation issues in information retrieval, IP&M 28(4), 1992; Buckley and "
        "Voorhees, Evaluating evaluation measure stability, SIGIR 2000, section 2"
    ),
    parameters=(REL, DIVIDE),
)
def average_precision(
    hits: JudgedHits, cutoff: int | None, *, rel: Value, divide: Value
) -> FloatArray:
    """The mean of the precision at each relevant document; those not in the top k count 0.

    AP@k = (sum over relevant i <= k of P@i) / m, with m all relevant documents, so that a short
    ranking is not better for being short. ``divide`` selects another denominator.
    """
    found = _found(hits, cutoff, rel)
    relevant_so_far = np.cumsum(found, axis=1)
    precisions = np.divide(relevant_so_far, hits.ranks, out=np.zeros_like(hits.ranks), where=found)
    total = _relevant_documents(hits, rel)
    if divide == "retrieved":
        total = _count(found)
    elif divide == "min" and cutoff is not None:
        total = np.minimum(total, cutoff)
    return _share(last_of_running_sum(precisions), total)


def _found(hits: JudgedHits, cutoff: int | None, rel: Value) -> NDArray[np.bool_]:
    """Return which hits are relevant and in the top k, ``[Q, J]``."""
    found = _is_relevant(hits.grades, rel)
    return found if cutoff is None else found & (hits.ranks <= cutoff)


def _relevant_documents(hits: JudgedHits, rel: Value) -> FloatArray:
    """Return how many documents of each query are relevant, retrieved or not, ``[Q]``."""
    return _count(_is_relevant(hits.ideal, rel))


def _count(chosen: NDArray[np.bool_]) -> FloatArray:
    """Return how many of each row are chosen, ``[Q]``."""
    count: FloatArray = np.sum(chosen, axis=1, dtype=np.float64)
    return count


def _is_relevant(grades: FloatArray, rel: Value) -> NDArray[np.bool_]:
    lowest = grades > 0 if rel is None else grades >= rel  # type: ignore[operator]
    relevant: NDArray[np.bool_] = np.asarray(lowest)
    return relevant


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return ``part / whole``, 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
