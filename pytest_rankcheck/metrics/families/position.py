"""Binary metrics: at which ranks the relevant documents are, and how many of them.

A document is relevant when its grade is above 0, or at least ``rel`` where that is given.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.metrics.hits import FloatArray, JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.parameters import Parameter, Value, choice, number
from pytest_rankcheck.metrics.registry import metric
from pytest_rankcheck.metrics.relevance import (
    REL,
    count_of,
    found_in,
    relevant_in,
    share_of,
)

_NEXT = "the rank after the last that counts: k+1, or n+1 without a cutoff"


@metric(
    "RR",
    aliases=("MRR", "recip_rank"),
    reference=(
        "Voorhees, The TREC-8 question answering track report, 1999, section 3; "
        "Kantor and Voorhees, The TREC-5 confusion track, Information Retrieval 2, 2000"
    ),
    parameters=(REL,),
    monotone=True,
)
def reciprocal_rank(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """One over the rank of the first relevant document; 0 if there is none in the top k."""
    reciprocal: FloatArray = np.asarray(1.0 / _first_rank(hits, cutoff, rel))
    return reciprocal


@metric(
    "FirstRank",
    aliases=("FRP",),
    reference="Cooper, Expected search length, American Documentation 19(1), 1968, section 2",
    parameters=(
        REL,
        Parameter(
            "missing",
            default="next",
            check=choice("next", "omit"),
            allowed="next or omit",
            description=(
                f"what a query without a relevant document in the top k scores: {_NEXT}; or it is "
                "left out of the mean"
            ),
        ),
    ),
    higher_is_better=False,
    range=(1.0, np.inf),
    monotone=True,
)
def first_rank(hits: JudgedHits, cutoff: int | None, *, rel: Value, missing: Value) -> FloatArray:
    """The rank of the first relevant document.

    Give a cutoff: without one, a ranker that returns less is better off where it finds nothing.
    """
    first = _first_rank(hits, cutoff, rel)
    absent = np.full_like(first, np.nan) if missing == "omit" else _rank_after(hits, cutoff)
    return np.where(np.isinf(first), absent, first)


@metric(
    "MeanRank",
    aliases=("MR",),
    reference=(
        "Bordes, Usunier, Garcia-Duran, Weston and Yakhnenko, Translating embeddings for modeling "
        "multi-relational data, NIPS 2013, section 4.1"
    ),
    parameters=(
        REL,
        Parameter(
            "missing",
            default="next",
            check=choice("next", "omit"),
            allowed="next or omit",
            description=(
                f"where a relevant document that is not in the top k stands: {_NEXT}; or it is "
                "left out, and so is a query without any"
            ),
        ),
    ),
    higher_is_better=False,
    range=(1.0, np.inf),
    monotone=lambda parameters: parameters["missing"] == "next",
)
def mean_rank(hits: JudgedHits, cutoff: int | None, *, rel: Value, missing: Value) -> FloatArray:
    """The mean rank of the relevant documents.

    A query with nothing relevant scores as one whose only relevant document was not found.
    """
    found = found_in(hits, cutoff, rel)
    count = count_of(found)
    total = last_of_running_sum(np.where(found, hits.ranks, 0.0))
    if missing == "omit":
        return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    after = _rank_after(hits, cutoff)
    relevant = relevant_in(hits, rel)
    total = total + (relevant - count) * after
    return np.divide(total, relevant, out=after.copy(), where=relevant > 0)


@metric(
    "Success",
    aliases=("Hit", "HitRate", "Accuracy"),
    reference="Craswell, Success at n, Encyclopedia of Database Systems, 2009",
    parameters=(REL,),
    trec_eval=("success",),
    monotone=True,
)
def success(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """1 if any document of the top k is relevant, else 0."""
    return np.minimum(count_of(found_in(hits, cutoff, rel)), 1.0)


@metric(
    "P",
    aliases=("Precision", "SetP", "set_P"),
    reference="van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7",
    parameters=(REL,),
    trec_eval=("P",),
    monotone=True,
)
def precision(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """The share of the top k that is relevant; divided by k, though fewer were returned.

    Without a cutoff it is the share of the whole ranking, and 0 for an empty one.
    """
    count = count_of(found_in(hits, cutoff, rel))
    if cutoff is not None:
        return count / cutoff
    return share_of(count, hits.retrieved)


@metric(
    "R",
    aliases=("Recall", "SetR", "set_recall"),
    reference="van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7",
    parameters=(REL,),
    trec_eval=("recall",),
    monotone=True,
)
def recall(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """The share of all relevant documents that is in the top k; 0 if nothing is relevant."""
    return share_of(count_of(found_in(hits, cutoff, rel)), relevant_in(hits, rel))


@metric(
    "F",
    aliases=("SetF", "set_F"),
    reference=(
        "van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7: 1 - E, with "
        "beta for the importance of recall"
    ),
    parameters=(
        Parameter(
            "beta",
            default=1,
            check=number(above=0),
            allowed="a number above 0",
            description="how many times as important recall is as precision",
        ),
        REL,
    ),
    monotone=True,
)
def f_measure(hits: JudgedHits, cutoff: int | None, *, beta: Value, rel: Value) -> FloatArray:
    """The weighted harmonic mean of P@k and R@k; 0 where both are.

    F = (1 + beta^2) P R / (beta^2 P + R).
    """
    weight = float(beta) ** 2  # type: ignore[arg-type]
    p, r = precision(hits, cutoff, rel=rel), recall(hits, cutoff, rel=rel)
    return share_of((1 + weight) * p * r, weight * p + r)


@metric(
    "Rprec",
    reference=(
        "Buckley and Voorhees, Retrieval system evaluation, in TREC: Experiment and Evaluation in "
        "Information Retrieval, MIT Press 2005, section 3.2"
    ),
    parameters=(REL,),
    monotone=True,
)
def r_precision(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """P at m, the number of relevant documents; 0 if nothing is relevant."""
    relevant = relevant_in(hits, rel)
    found = found_in(hits, cutoff, rel) & (hits.ranks <= relevant[:, np.newaxis])
    return share_of(count_of(found), relevant)


@metric(
    "IPrec",
    reference=(
        "Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, section 8.4, "
        "equation 8.7"
    ),
    parameters=(
        Parameter(
            "recall",
            default=None,
            check=number(at_least=0, at_most=1),
            allowed="a number from 0 to 1",
            description="the lowest recall that counts; it is what stands after the @",
        ),
        REL,
        Parameter(
            "needed",
            default="exact",
            check=choice("exact", "rounded"),
            allowed="exact or rounded",
            description=(
                "which rank has a recall of r: one with at least r m relevant documents, or, as "
                "in trec_eval 10, with r m rounded to the nearest whole number"
            ),
        ),
    ),
    at="recall",
    trec_eval=("iprec_at_recall",),
    monotone=True,
)
def interpolated_precision(
    hits: JudgedHits, cutoff: int | None, *, recall: Value, rel: Value, needed: Value
) -> FloatArray:
    """The highest precision at any rank where recall is at least r; 0 if it never is.

    The mean of IPrec@0, IPrec@0.1, ..., IPrec@1 is trec_eval's ``11pt_avg``.
    """
    found = found_in(hits, cutoff, rel)
    so_far = np.cumsum(found, axis=1, dtype=np.float64)
    level = float(recall)  # type: ignore[arg-type]
    relevant = np.broadcast_to(relevant_in(hits, rel)[:, np.newaxis], so_far.shape)
    if needed == "rounded":
        enough = found & (so_far >= np.floor(level * relevant + 0.5))
    else:
        enough = found & (share_of(so_far, relevant) >= level)
    precisions = np.divide(so_far, hits.ranks, out=np.zeros_like(so_far), where=enough)
    highest: FloatArray = precisions.max(axis=1, initial=0.0)
    return highest


def _first_rank(hits: JudgedHits, cutoff: int | None, rel: Value) -> FloatArray:
    """Return the rank of the first relevant document, infinity if there is none, ``[Q]``."""
    found = found_in(hits, cutoff, rel)
    first: FloatArray = np.where(found, hits.ranks, np.inf).min(axis=1, initial=np.inf)
    return first


def _rank_after(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Return the rank after the last that counts, ``[Q]``: k+1, or n+1 without a cutoff."""
    return hits.retrieved + 1 if cutoff is None else np.full_like(hits.retrieved, cutoff + 1)
