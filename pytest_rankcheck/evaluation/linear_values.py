"""Values of metrics on estimates of relevance: linear in the grades, each document for itself.

A replay can give every document that was shown an estimate of its relevance, which may be negative
or above 1. A metric of such a query is the sum over its documents of the estimate times what the
metric would be if that document alone were relevant: 1 / rank for RR, whether it is in the top k
for Success@k, 1 / log2(1 + rank) for DCG. That is linear in the estimates, so it is unbiased if
they are, and it is the same mean as that of weighted selections, each of which is a query of its
own (Agarwal, Takatsu, Zaitsev and Joachims, A general framework for counterfactual
learning-to-rank, SIGIR 2019).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["LINEAR_METRICS", "linear_values"]

LINEAR_METRICS = ("RR", "Success", "P", "R", "DCG", "nDCG", "RBP")
"""The metrics that are defined if one document of a query is relevant, by its rank alone."""


def linear_values(metric: Metric, hits: JudgedHits, golden_name: str) -> FloatArray:
    """Return the value of each query, ``[Q]``; it may be outside the metric's range.

    Args:
        metric: one of `LINEAR_METRICS`, without options that depend on other documents.
        hits: the documents with estimates, as grades.
        golden_name: the name of the golden set.

    Raises:
        MetricError: the metric is not linear in the relevance of documents.
    """
    options = dict(metric.parameters)
    if (
        metric.name not in LINEAR_METRICS
        or options.get("judged_only")
        or options.get("rel") not in (None, 1, 1.0)
    ):
        raise MetricError(
            f"{metric} has no unbiased value on golden set '{quoted(golden_name)}', whose grades "
            "are estimates of relevance (a replay with relevance= or (alpha, beta)): it is not "
            f"linear in them. Use {', '.join(LINEAR_METRICS[:-1])} or {LINEAR_METRICS[-1]}"
        )
    is_known = ~np.isnan(hits.ranks)
    longest = int(np.max(hits.ranks, where=is_known, initial=0))
    alone = np.concatenate((_values_alone(metric, longest), [0.0]))
    places = np.where(is_known, hits.ranks, longest + 1).astype(np.intp) - 1
    terms = np.where(is_known, hits.grades, 0.0) * alone[places]
    return np.asarray(terms.sum(axis=1))


def _values_alone(metric: Metric, longest: int) -> Sequence[float] | FloatArray:
    """Return the metric of a query whose only relevant document is at rank 1, 2, ..., ``[K]``."""
    ranks = np.arange(1, longest + 1, dtype=np.float64)[:, np.newaxis]
    ones = np.ones_like(ranks)
    retrieved = np.full(longest, float(longest))
    return metric.compute(JudgedHits(ranks, ones, retrieved, ones, max_grade=1.0))
