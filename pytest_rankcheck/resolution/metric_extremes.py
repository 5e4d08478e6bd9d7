"""The ceiling and the floor of a query: the best and worst values of its possible rankings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.relevance import count_of, is_relevant

__all__ = ["extremes_of", "ideal_hits"]


def extremes_of(metric: Metric, hits: JudgedHits) -> tuple[FloatArray, FloatArray]:
    """Return the ceiling and the floor of each query under a metric, ``[Q]`` each.

    They are the best and the worst value (lower may be better) of seven rankings of the query's
    judged documents:

    1. the ideal ranking: all judged documents, the highest grade first, and nothing else;
    2. the same, followed by unjudged documents until it is as long as this run's ranking: the best
       for correlations if all judged documents are relevant;
    3. the relevant documents only (``rel``, or a grade above 0): the best for a share of what was
       ranked, such as P without a cutoff;
    4. the empty ranking;
    5. as many documents as this run ranked, all unjudged: the worst for metrics of ranks, such as
       FirstRank;
    6. all judged documents, the lowest grade first: the worst for correlations, which go below 0;
    7. the same, at the end of a ranking as long as this run's: the worst for MeanRank if it leaves
       out documents that were not retrieved.

    A test checks, on all rankings of a few documents and for each monotone metric of the catalogue,
    that no ranking is better or worse (tests/resolution/test_resolution.py). This does not hold for
    plain counts (NumRet, Judged, RBPResidual), nor for correlations of rankings that lack judged
    documents, which these ignore. A value beyond an end counts as being at it. NaN if no
    ranking has a value.
    """
    sign = 1.0 if metric.higher_is_better else -1.0
    merits = sign * np.stack([metric.compute(ranking) for ranking in _rankings(metric, hits)])
    # fmax and fmin ignore NaN.
    return sign * np.fmax.reduce(merits), sign * np.fmin.reduce(merits)


def ideal_hits(hits: JudgedHits) -> JudgedHits:
    """Return the judged hits of the ideal ranking: only judged documents, best first."""
    judged = ~np.isnan(hits.ideal)
    ranks = np.where(judged, np.cumsum(judged, axis=1), np.nan)
    return replace(hits, ranks=ranks, grades=hits.ideal, retrieved=count_of(judged))


def _rankings(metric: Metric, hits: JudgedHits) -> Iterator[JudgedHits]:
    ideal = ideal_hits(hits)
    deep = np.maximum(hits.retrieved, ideal.retrieved)
    yield ideal
    yield replace(ideal, retrieved=deep)
    relevant = is_relevant(hits.ideal, dict(metric.parameters).get("rel"))
    yield replace(
        ideal,
        ranks=np.where(relevant, ideal.ranks, np.nan),
        grades=np.where(relevant, ideal.grades, np.nan),
        retrieved=count_of(relevant),
    )
    nothing = np.empty((len(hits.retrieved), 0))
    empty = replace(hits, ranks=nothing, grades=nothing, retrieved=np.zeros_like(hits.retrieved))
    yield empty
    yield replace(empty, retrieved=hits.retrieved)
    # Sorting puts the judged documents first, by rising grade, and NaN last.
    worst = replace(ideal, grades=np.sort(hits.ideal, axis=1))
    yield worst
    below = (deep - ideal.retrieved)[:, np.newaxis]
    yield replace(worst, ranks=worst.ranks + below, retrieved=deep)
