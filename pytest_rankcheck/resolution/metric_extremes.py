"""The ceiling and the floor of a query: what rankings of its judged documents could score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.relevance import count_of, is_relevant
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["extremes_of", "ideal_hits"]


def extremes_of(metric: Metric, hits: JudgedHits) -> tuple[FloatArray, FloatArray]:
    """Return the ceiling and the floor of each query under a metric, ``[Q]`` each.

    They are the best and the worst value, where lower may be better, of seven rankings of the
    query's judged documents:

    1. the ideal ranking: all of them, the highest grade first, and nothing else;
    2. the same, and after them so many others that it has as many documents as this run ranked:
       the best for correlations where all judged documents are relevant;
    3. its relevant documents only (``rel``, or a grade above 0): the best for a share of what was
       ranked, such as P without a cutoff;
    4. the empty ranking;
    5. as many documents as this run ranked, none of them judged: the worst for what counts ranks,
       such as FirstRank;
    6. all of them, the lowest grade first: the worst for correlations, which go below 0;
    7. the same at the end of as many documents as this run ranked: the worst for MeanRank where it
       leaves out what was not found.

    That no ranking is better or worse is tried on all rankings of a few documents for each metric
    of the catalogue that is monotone (tests/evaluation/test_resolution.py). It does not hold of
    what is only counted (NumRet, Judged, RBPResidual), nor of correlations where a ranking lacks
    judged documents, of which they say nothing. Whatever is beyond an end counts as being at it.
    NaN, where none of the rankings has a value.
    """
    sign = 1.0 if metric.higher_is_better else -1.0
    merits = sign * np.stack([metric.compute(one) for one in _rankings(metric, hits)])
    # fmax and fmin leave NaN out.
    return sign * np.fmax.reduce(merits), sign * np.fmin.reduce(merits)


def ideal_hits(hits: JudgedHits) -> JudgedHits:
    """Return the judged hits of the ideal ranking: all judged documents, best first, no other."""
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
    # Sorting puts NaN last, and from the lowest to the highest grade what is judged.
    worst = replace(ideal, grades=np.sort(hits.ideal, axis=1))
    yield worst
    below = (deep - ideal.retrieved)[:, np.newaxis]
    yield replace(worst, ranks=worst.ranks + below, retrieved=deep)
