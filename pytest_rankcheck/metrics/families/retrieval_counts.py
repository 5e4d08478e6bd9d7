"""Counts of ranked, judged and relevant documents, and the time that a ranking took."""

from __future__ import annotations

from functools import partial

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_inputs import Timings
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, number
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import (
    REL,
    count_of,
    depth_of,
    found_count,
    in_top,
    relevant_count,
    share_of_top,
)

_count = partial(metric, parameters=(REL,), range=(0.0, np.inf))
"""Declares a number of documents; with ``rel``, of relevant ones."""


@metric("Judged", unjudged="not judged")
def judged(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """The share of the top k that is judged.

    The denominator is k, even if fewer documents are ranked. Without a cutoff it is the length of
    the ranking; an empty ranking has 0. A negative grade counts as unjudged.

    Formula: judged documents in the top k / k

    Use: next to other metrics, to see how many of the documents in the top k are unjudged

    Source: ir_measures, Judged, which divides by the length of a shorter ranking
    """
    return share_of_top(_judged_count(hits, cutoff), hits, cutoff)


@metric(
    "Unjudged", aliases=("unj",), trec_eval=("unj",), higher_is_better=False, unjudged="unjudged"
)
def unjudged(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """The share of the top k that is ranked but not judged.

    The denominator is k, even if fewer documents are ranked, so it is not 1 - Judged@k for a
    ranking shorter than k. Without a cutoff it is the length of the ranking; an empty ranking has
    0. A negative grade counts as unjudged.

    Formula: unjudged documents in the top k / k

    Use: next to other metrics, as trec_eval does; a short ranking is not unjudged where it ends

    Source: trec_eval 10, measure unj
    """
    count = depth_of(hits, cutoff) - _judged_count(hits, cutoff)
    return share_of_top(count, hits, cutoff)


def _judged_count(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    return count_of(in_top(hits, cutoff) & (hits.grades >= 0))


@_count("NumRet", unjudged="retrieved")
def number_retrieved(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """The number of documents in the top k; with ``rel``, the number of relevant ones.

    Formula: number of documents in the top k

    Use: to check that queries have enough results

    Source: trec_eval, measure num_ret of a query
    """
    if rel is not None:
        return found_count(hits, cutoff, rel)
    return depth_of(hits, cutoff)


@_count("NumRel", at=None, unjudged="not relevant")
def number_relevant(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """The number of relevant documents, retrieved or not.

    Formula: number of relevant documents, ranked or not

    Use: to describe a golden set; it does not depend on the ranker

    Source: trec_eval, measure num_rel of a query
    """
    return relevant_count(hits, rel)


@_count("NumRelRet")
def number_relevant_retrieved(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """The number of relevant documents in the top k.

    Formula: number of relevant documents in the top k

    Use: to describe a run as trec_eval does; in gates, use R instead

    Source: trec_eval, measure num_rel_ret of a query
    """
    return found_count(hits, cutoff, rel)


@_count("TotalRet", aliases=("num_ret",), aggregate="sum", unjudged="retrieved")
def total_retrieved(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """NumRet, with the sum over the queries instead of the mean.

    Formula: sum over queries of the number of documents in the top k

    Use: to compare with trec_eval or ir_measures; otherwise use NumRet, which is a mean

    Source: trec_eval, measure num_ret, which it adds up over the queries
    """
    return number_retrieved(hits, cutoff, rel=rel)


@_count("TotalRel", aliases=("num_rel",), aggregate="sum", at=None)
def total_relevant(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """NumRel, with the sum over the queries instead of the mean.

    Formula: sum over queries of the number of relevant documents, ranked or not

    Use: to compare with trec_eval or ir_measures; otherwise use NumRel, which is a mean

    Source: trec_eval, measure num_rel, which it adds up over the queries
    """
    return number_relevant(hits, cutoff, rel=rel)


@_count("TotalRelRet", aliases=("num_rel_ret",), aggregate="sum")
def total_relevant_retrieved(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """NumRelRet, with the sum over the queries instead of the mean.

    Formula: sum over queries of the number of relevant documents in the top k

    Use: to compare with trec_eval or ir_measures; otherwise use NumRelRet, which is a mean

    Source: trec_eval, measure num_rel_ret, which it adds up over the queries
    """
    return number_relevant_retrieved(hits, cutoff, rel=rel)


@metric(
    "Seconds",
    parameters=(
        Parameter(
            "q",
            default=None,
            check=number(above=0, below=1),
            allowed="0.95, or another share above 0 and below 1",
            is_required=True,
        ),
    ),
    higher_is_better=False,
    range=(0.0, np.inf),
    at=None,
    unit="time",
    unjudged="-",
    aggregate="quantile",
)
def seconds(times: Timings, cutoff: int | None, *, q: Value) -> FloatArray:
    """The time in seconds that the share q of the queries does not exceed.

    A query that failed counts as the slowest one.

    q: the share of the queries that the time must not exceed

    Formula: the smallest time t such that at least the share q of the queries took t or less

    Use: to bound how long a ranker takes on the machine that runs the test

    Source: Hyndman and Fan, Sample quantiles in statistical packages, The American Statistician 50,
    1996, definition 1
    """
    return times.seconds
