"""Metrics for incomplete judgments: an unjudged document does not count as not relevant.

As in trec_eval, a negative grade marks a document in the pool that was not judged; to GAUC, it is
not relevant.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.metric_parameters import Value
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import (
    REL,
    count_of,
    in_top,
    is_relevant,
    relevant_count,
    relevant_hits,
    share_of,
)

_EPSILON = 1e-5
"""What infAP adds to both counts of its ratio, as in trec_eval, so that 0 of 0 is one half."""


@metric("Bpref", parameters=(REL,), unjudged="left out")
def binary_preference(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """Binary preference: how rarely documents judged not relevant are above relevant ones.

    bpref = 1/m * sum over relevant documents of 1 - min(n above, m) / min(N, m), where m documents
    are relevant, N are judged not relevant, and n of these are above the relevant document. A
    relevant document with none above it counts as 1. Unjudged documents and negative grades are
    ignored.

    Formula: mean over relevant documents of 1 - min(n above, m) / min(N, m), with m relevant and N
    documents judged not relevant

    Use: when many documents at the top are unjudged and cannot be judged

    Source: Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004,
    section 3; the denominator min(m, judged not relevant) as in trec_eval 8 and later
    """
    found = relevant_hits(hits, cutoff, rel)
    relevant = relevant_count(hits, rel)
    not_relevant = count_of(_judged_not_relevant(hits.ideal, rel))
    above = np.cumsum(_judged_not_relevant(hits.grades, rel), axis=1, dtype=np.float64)
    worst = np.broadcast_to(np.minimum(relevant, not_relevant)[:, np.newaxis], above.shape)
    lost = share_of(np.minimum(above, relevant[:, np.newaxis]), worst)
    return share_of(last_of_running_sum(np.where(found, 1.0 - lost, 0.0)), relevant)


@metric("infAP", parameters=(REL,), unjudged="not in the pool")
def inferred_average_precision(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """Inferred AP: an estimate of AP from judgments of a random sample of the pool.

    At a relevant document at rank i the expected precision is 1/i + (i-1)/i * (pooled above /
    (i-1)) * ((r + e) / (r + s + 2e)), where r and s are the numbers of documents above that are
    judged relevant and not relevant, and e is 1e-5.

    Formula: mean over relevant i of 1/i + (i-1)/i * (pooled above / (i-1)) * (relevant above /
    judged above)

    Use: when a random sample of the pool is judged

    Source: Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments,
    CIKM 2006, section 3.2
    """
    found = relevant_hits(hits, cutoff, rel)
    not_relevant = _judged_not_relevant(hits.grades, rel)
    unjudged = in_top(hits, cutoff) & (hits.grades < 0)
    r, s, u = (_count_above(flags) for flags in (found, not_relevant, unjudged))
    higher = hits.ranks - 1
    pooled = np.divide(r + s + u, higher, out=np.zeros_like(r), where=higher > 0)
    relevant_rate = (r + _EPSILON) / (r + s + 2 * _EPSILON)
    expected = (1 + higher * pooled * relevant_rate) / hits.ranks
    return share_of(last_of_running_sum(np.where(found, expected, 0.0)), relevant_count(hits, rel))


@metric("GAUC", parameters=(REL,), at=None, unjudged="left out", aggregate="by_judged")
def grouped_area_under_curve(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """AUC of each query, averaged with its number of judged documents as the weight.

    Each of the m relevant documents makes a pair with each of the N other judged ones. Documents
    with the same score are tied, and so are, at the end, those that are not ranked. A query whose
    judged documents are all relevant, or none, has no value and is left out.

    Formula: (pairs in the right order + tied pairs / 2) / (m N); mean weighted by m + N

    Use: click models and learning to rank, where all documents of a query are judged and ranked

    Source: Zhou et al., Deep interest network for click-through rate prediction, KDD 2018
    """
    found = relevant_hits(hits, cutoff, rel)
    other = ~(np.isnan(hits.grades) | found)
    relevant, retrieved = relevant_count(hits, rel), count_of(other)
    judged_other = count_of(~np.isnan(hits.ideal)) - relevant
    above = np.where(found, _mean_count_above(other, hits.tied), 0.0)
    above_missing = (relevant - count_of(found)) * (retrieved + judged_other) / 2
    pairs = relevant * judged_other
    lost = last_of_running_sum(above) + above_missing
    return np.asarray(1 - lost / np.where(pairs > 0, pairs, np.nan), dtype=np.float64)


def _mean_count_above(flags: BoolArray, tied: FloatArray | None) -> FloatArray:
    """Return how many flagged hits are above each hit, of those with its score half, ``[Q, J]``."""
    count = np.cumsum(flags, axis=1, dtype=np.float64)
    is_first = np.ones(flags.shape, np.bool_) if tied is None else tied != 1
    before = np.maximum.accumulate(np.where(is_first, count - flags, 0.0), axis=1)
    is_last = np.roll(is_first, -1, axis=1)  # the first hit of each query is not tied
    through = np.minimum.accumulate(np.where(is_last, count, np.inf)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray((before + through) / 2, dtype=np.float64)


def _judged_not_relevant(grades: FloatArray, rel: Value) -> BoolArray:
    return (grades >= 0) & ~is_relevant(grades, rel)


def _count_above(flags: BoolArray) -> FloatArray:
    """Return how many flagged hits are above each hit, ``[Q, J]``."""
    return np.asarray(np.cumsum(flags, axis=1, dtype=np.float64) - flags, dtype=np.float64)
