"""Binary metrics of the ranks of relevant documents.

A document is relevant if its grade is above 0, or at least ``rel`` if that is given.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, choice
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import (
    REL,
    count_of,
    relevant_count,
    relevant_hits,
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
