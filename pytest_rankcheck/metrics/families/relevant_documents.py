"""Binary metrics: the ranks of the relevant documents, and their share of the top k.

A document is relevant if its grade is above 0, or at least ``rel`` if that is given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, choice, number
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import (
    REL,
    count_of,
    found_count,
    relevant_count,
    relevant_hits,
    share_of,
    share_of_top,
)

_rank = partial(
    metric,
    parameters=(
        REL,
        Parameter("missing", default="next", check=choice("next", "omit"), allowed="next or omit"),
    ),
    higher_is_better=False,
    range=(1.0, np.inf),
)
"""Declares a mean of ranks, in which documents outside the top k count as ``missing`` says."""


@metric("RR", aliases=("MRR", "recip_rank"), parameters=(REL,))
def reciprocal_rank(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """Reciprocal rank: 1 / rank of the first relevant document, or 0 without one in the top k.

    Formula: 1 / rank of the first relevant document

    Use: when one answer is enough, as for questions, known items and autocompletion; it ignores
    everything below that answer

    Source: Voorhees, The TREC-8 question answering track report, 1999, section 3; Kantor and
    Voorhees, The TREC-5 confusion track, Information Retrieval 2, 2000
    """
    return np.asarray(1.0 / _first_rank(hits, cutoff, rel), dtype=np.float64)


@_rank("FirstRank", aliases=("FRP",))
def first_rank(hits: JudgedHits, cutoff: int | None, *, rel: Value, missing: Value) -> FloatArray:
    """The rank of the first relevant document.

    Use it with a cutoff: without one, a ranking that misses everything is better if it is shorter.

    missing: the value of a query without a relevant document in the top k: next is k+1, or n+1 for
    a ranking of n documents without a cutoff; omit leaves the query out of the mean

    Formula: rank of the first relevant document; k+1 without one

    Use: like RR, as a rank that anybody understands; use it with a cutoff

    Source: Cooper, Expected search length, American Documentation 19(1), 1968, section 2
    """
    first = _first_rank(hits, cutoff, rel)
    absent = np.full_like(first, np.nan) if missing == "omit" else _rank_after(hits, cutoff)
    return np.where(np.isinf(first), absent, first)


@_rank("MeanRank", aliases=("MR",))
def mean_rank(hits: JudgedHits, cutoff: int | None, *, rel: Value, missing: Value) -> FloatArray:
    """The mean rank of the relevant documents.

    A query without relevant documents has the value of one whose only relevant document is missing.

    missing: the rank of a relevant document outside the top k: next is k+1, or n+1 for a ranking of
    n documents without a cutoff; omit leaves the document out, and a query without any other out of
    the mean

    Formula: mean rank of the relevant documents, k+1 for each one outside the top k

    Use: link prediction and other tasks that rank all candidates

    Source: Bordes, Usunier, Garcia-Duran, Weston and Yakhnenko, Translating embeddings for modeling
    multi-relational data, NIPS 2013, section 4.1
    """
    found = relevant_hits(hits, cutoff, rel)
    count = count_of(found)
    total = last_of_running_sum(np.where(found, hits.ranks, 0.0))
    if missing == "omit":
        return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    after = _rank_after(hits, cutoff)
    relevant = relevant_count(hits, rel)
    total = total + (relevant - count) * after
    return np.divide(total, relevant, out=after.copy(), where=relevant > 0)


def _first_rank(hits: JudgedHits, cutoff: int | None, rel: Value) -> FloatArray:
    """Return the rank of the first relevant document, or infinity, ``[Q]``."""
    top = hits.top(cutoff)
    found = relevant_hits(top, cutoff, rel)
    first: FloatArray = np.where(found, top.ranks, np.inf).min(axis=1, initial=np.inf)
    return first


def _rank_after(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Return the rank after the last that counts, ``[Q]``: k+1, or n+1 without a cutoff."""
    if cutoff is None:
        return hits.retrieved + 1
    return np.full_like(hits.retrieved, cutoff + 1)


def _with_root_of_beta(given: Mapping[str, object]) -> Mapping[str, object]:
    """Return the beta of a SetF of ir_measures, which uses its square.

    ir_measures passes it to trec_eval as x in (x + 1) P R / (R + x P).
    """
    weight = given.get("beta")
    if isinstance(weight, (int, float)) and not isinstance(weight, bool) and weight > 0:
        return {**given, "beta": math.sqrt(weight)}
    return given


@metric(
    "Success",
    aliases=("Hit", "HitRate", "hit_rate", "HR", "Accuracy"),
    parameters=(REL,),
    trec_eval=("success",),
)
def success(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """1 if any document in the top k is relevant, else 0.

    Formula: 1 if any document in the top k is relevant, else 0

    Use: when one relevant document in the top k is enough, such as retrieval for an LLM

    Source: Craswell, Success at n, Encyclopedia of Database Systems, 2009
    """
    return np.minimum(found_count(hits, cutoff, rel), 1.0)


@metric("P", aliases=("Precision", "SetP", "set_P"), parameters=(REL,), trec_eval=("P",))
def precision(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """Precision: the share of the top k that is relevant.

    The denominator is k, even if fewer documents are ranked. Without a cutoff it is the length of
    the ranking; an empty ranking has 0.

    Formula: relevant documents in the top k / k

    Use: when the whole top k is shown at once and its order matters little

    Source: van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7
    """
    return share_of_top(found_count(hits, cutoff, rel), hits, cutoff)


@metric(
    "R",
    aliases=("Recall", "SetR", "set_recall", "ContextRecall", "context_recall"),
    spellings={"R_cap": {"divide": "min"}},
    parameters=(
        REL,
        Parameter(
            "divide", default="relevant", check=choice("relevant", "min"), allowed="relevant or min"
        ),
    ),
    trec_eval=("recall",),
)
def recall(hits: JudgedHits, cutoff: int | None, *, rel: Value, divide: Value) -> FloatArray:
    """Recall: the share of relevant documents that are in the top k; 0 if nothing is relevant.

    divide: the denominator: all relevant documents, or the smaller of k and that

    Formula: relevant documents in the top k / all relevant documents

    Use: a first stage that passes k candidates to a reranker or an LLM

    Source: van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7
    """
    most = np.inf if cutoff is None or divide != "min" else cutoff
    return share_of(found_count(hits, cutoff, rel), np.minimum(relevant_count(hits, rel), most))


@metric(
    "F",
    aliases=("set_F",),
    spellings={"SetF": _with_root_of_beta, "f1": {"beta": 1}},
    parameters=(
        Parameter("beta", default=1, check=number(above=0), allowed="a number above 0"),
        REL,
    ),
)
def f_measure(hits: JudgedHits, cutoff: int | None, *, beta: Value, rel: Value) -> FloatArray:
    """F-measure: the weighted harmonic mean of precision and recall; 0 if both are 0.

    F = (1 + beta^2) P R / (beta^2 P + R).

    beta: the weight of recall relative to precision

    Formula: (1 + beta^2) P R / (beta^2 P + R)

    Use: when a set is returned, and both missing and wrong documents are costly

    Source: van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7: 1 - E, with beta
    for the importance of recall
    """
    weight = float(beta) ** 2  # type: ignore[arg-type]
    p, r = precision(hits, cutoff, rel=rel), recall(hits, cutoff, rel=rel, divide="relevant")
    product = (1 + weight) * p * r
    return share_of(product, weight * p + r)


@metric("Rprec", parameters=(REL,))
def r_precision(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """R-precision: precision at m, the number of relevant documents; 0 if m is 0.

    Formula: relevant documents in the top m / m, where m documents are relevant in all

    Use: when queries have very different numbers of relevant documents, so that no single cutoff
    fits them all

    Source: Buckley and Voorhees, Retrieval system evaluation, in TREC: Experiment and Evaluation in
    Information Retrieval, MIT Press 2005, section 3.2
    """
    relevant = relevant_count(hits, rel)
    found = relevant_hits(hits, cutoff, rel) & (hits.ranks <= relevant[:, np.newaxis])
    return share_of(count_of(found), relevant)


@metric(
    "IPrec",
    parameters=(
        Parameter(
            "recall",
            default=None,
            check=number(at_least=0, at_most=1),
            allowed="a number from 0 to 1",
        ),
        REL,
        Parameter(
            "needed", default="exact", check=choice("exact", "rounded"), allowed="exact or rounded"
        ),
    ),
    at="recall",
    spellings={"iprec_at_recall": {"needed": "rounded"}},
    trec_eval=("iprec_at_recall",),
)
def interpolated_precision(
    hits: JudgedHits, cutoff: int | None, *, recall: Value, rel: Value, needed: Value
) -> FloatArray:
    """Interpolated precision: the highest precision at any rank with a recall of at least r.

    The mean of IPrec@0, IPrec@0.1, ..., IPrec@1 is trec_eval's ``11pt_avg``. The value is 0 if
    no rank reaches the recall.

    recall: the recall level; it is written after the @

    needed: how many of m relevant documents make a recall of r: at least r m (exact), or r m
    rounded to the nearest whole number (rounded), as in trec_eval 10

    Formula: highest P@i of any rank i with R@i >= r

    Use: to plot precision against recall; in gates, use AP instead

    Source: Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, section 8.4,
    equation 8.7
    """
    found = relevant_hits(hits, cutoff, rel)
    so_far = np.cumsum(found, axis=1, dtype=np.float64)
    level = float(recall)  # type: ignore[arg-type]
    relevant = np.broadcast_to(relevant_count(hits, rel)[:, np.newaxis], so_far.shape)
    if needed == "rounded":
        enough = found & (so_far >= np.floor(level * relevant + 0.5))
    else:
        enough = found & (share_of(so_far, relevant) >= level)
    precisions = np.divide(so_far, hits.ranks, out=np.zeros_like(so_far), where=enough)
    return np.asarray(precisions.max(axis=1, initial=0.0), dtype=np.float64)
