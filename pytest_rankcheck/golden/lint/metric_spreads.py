"""How much queries' differences vary, by metric, which decides what few queries can detect."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["MEASURED", "PAIRS", "Spread", "spread_for"]


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of queries' differences between two versions of a ranker."""

    low: float
    middle: float
    high: float
    of: str
    """The metric for which it was measured; empty if the user gave the standard deviation."""


PAIRS = 16
"""The number of pairs of versions measured: 10 changes of BM25 on Cranfield (225 queries) and 6 of
LambdaRank on its example data (251 queries), by ``benchmarks/metric_spreads.py``."""

MEASURED: Mapping[str, tuple[float, float, float]] = {
    "nDCG@5": (0.07, 0.13, 0.17),
    "nDCG@10": (0.04, 0.09, 0.14),
    "nDCG@20": (0.04, 0.07, 0.12),
    "nDCG": (0.04, 0.07, 0.12),
    "AP@10": (0.04, 0.09, 0.13),
    "AP": (0.03, 0.07, 0.12),
    "RR@10": (0.11, 0.17, 0.29),
    "RR": (0.11, 0.17, 0.28),
    "ERR@10": (0.05, 0.08, 0.15),
    "P@1": (0.19, 0.29, 0.43),
    "P@5": (0.08, 0.11, 0.17),
    "P@10": (0.04, 0.06, 0.10),
    "R@5": (0.06, 0.11, 0.17),
    "R@10": (0.05, 0.09, 0.16),
    "R@20": (0.01, 0.06, 0.16),
    "R@50": (0.01, 0.07, 0.18),
    "Success@1": (0.19, 0.29, 0.43),
    "Success@5": (0.09, 0.22, 0.36),
    "Success@10": (0.01, 0.15, 0.28),
    "RBP": (0.03, 0.05, 0.10),
    "Bpref": (0.06, 0.13, 0.17),
    "Rprec": (0.06, 0.10, 0.18),
}
"""The smallest, the median and the largest value of the pairs, each at least 0.01."""


def spread_for(metric: Metric) -> Spread:
    """Return the measured spread of a metric, or of the same metric at the nearest cutoff.

    For a metric that was not measured, return the range of all measured metrics, with the median
    of their medians.
    """
    same = [name for name in MEASURED if Metric.parse(name).name == metric.name]
    if same:
        name = min(same, key=lambda name: abs(_depth(Metric.parse(name)) - _depth(metric)))
        return Spread(*MEASURED[name], name)
    lows, middles, highs = (sorted(column) for column in zip(*MEASURED.values(), strict=True))
    return Spread(lows[0], middles[len(middles) // 2], highs[-1], "other metrics")


def _depth(metric: Metric) -> float:
    """Return the logarithm of the cutoff; without a cutoff, the logarithm of 100."""
    return math.log(metric.cutoff or 100)
