"""What several metrics can see of one run, how alike they are, and which of them to gate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.evaluation.run_golden_join import Joined, judged_hits
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.laws.visible_swaps import swaps_seen
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.resolution.metric_extremes import ideal_hits
from pytest_rankcheck.resolution.metric_resolution import Resolution, Sample, resolution_of
from pytest_rankcheck.statistics.array_types import FloatArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Resolutions", "agreement_of", "ndcg_would_see", "resolutions_of_ideal"]


@dataclass(frozen=True, eq=False)
class Resolutions:
    """What metrics can see of the same rankings."""

    found: tuple[Resolution, ...]
    tau: FloatArray
    """``[M, M]`` Kendall's tau of each two metrics over the queries: how alike they order them."""
    would_see: tuple[float, ...]
    """``[M]`` the share of telling swaps that nDCG at the metric's cutoff would see."""
    of_ideal: bool = False
    """Whether the rankings are the ideal ones, since there is no run."""

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics, in the order in which they were given."""
        return [one.metric for one in self.found]

    @property
    def agreement(self) -> pd.DataFrame:
        """Kendall's tau of each two metrics over the queries, by their names.

        It is tau-b, which allows for ties (Kendall, The treatment of ties in ranking problems,
        Biometrika 33, 1945), of the values turned so that more is better, over the queries that
        have a value of both. NaN where one of them is the same for all.
        """
        import pandas as pd

        names = pd.Index([str(metric) for metric in self.metrics], name="metric")
        return pd.DataFrame(self.tau, index=names, columns=list(names))

    def nearest(self, place: int) -> tuple[Metric, float] | None:
        """Return which other metric orders the queries most as one does, and tau; None: unknown.

        What it adds beyond the others is the rest, 1 - tau.
        """
        others = self.tau[place].copy()
        others[place] = np.nan
        if np.isnan(others).all():
            return None
        at = int(np.nanargmax(others))
        return self.found[at].metric, float(others[at])

    @property
    def recommendation(self) -> Sequence[str]:
        """Which of these metrics to gate on this golden set, and why, as sentences."""
        from pytest_rankcheck.resolution.recommendation import recommended

        return tuple(recommended(self))

    def to_frame(self) -> pd.DataFrame:
        """Return a row a metric, indexed by its name: shares, steps, and the nearest other."""
        import pandas as pd

        rows = []
        for place, one in enumerate(self.found):
            name, tau = self.nearest(place) or ("", math.nan)
            rows.append({**one.row(), "nearest": str(name), "tau": tau})
        index = pd.Index([str(metric) for metric in self.metrics], name="metric")
        return pd.DataFrame(rows, index=index)


def resolutions_of_ideal(golden: GoldenSet, metrics: Sequence[MetricLike]) -> Resolutions:
    """Return what metrics can see where no run is at hand: of the ideal rankings of a golden set.

    Each has all judged documents of a query, the highest grade first. Every query is at its
    ceiling then, or fixed; how alike metrics are is not known.

    Raises:
        MetricError: a metric has no resolution, or does not fit the grades.
    """
    blocks = [ideal_hits(hits) for hits in judged_hits(Joined({}, ()), golden)]
    sample = Sample(blocks, np.ones(len(golden), dtype=np.bool_))
    found = []
    for metric in dict.fromkeys(map(Metric.parse, metrics)):
        values = np.concatenate([metric.compute(hits) for hits in blocks])
        found.append(resolution_of(metric, sample, values))
    unknown = np.full((len(found), len(found)), np.nan)
    return Resolutions(tuple(found), unknown, ndcg_would_see(found, sample), of_ideal=True)


def agreement_of(metrics: Sequence[Metric], values: Sequence[FloatArray]) -> FloatArray:
    """Return Kendall's tau-b of each two metrics over the queries, ``[M, M]``.

    Args:
        metrics: the metrics.
        values: the values of each, ``[Q]``.
    """
    from scipy.stats import kendalltau

    tau = np.full((len(metrics), len(metrics)), np.nan)
    for row, one in enumerate(metrics):
        for column in range(row + 1):
            known = ~(np.isnan(values[row]) | np.isnan(values[column]))
            pair = values[row][known], values[column][known]
            if any(side.size < 2 or (side == side[0]).all() for side in pair):
                continue  # one that is the same for all orders nothing
            alike = one.higher_is_better == metrics[column].higher_is_better
            found = float(kendalltau(*pair).statistic)
            tau[row, column] = tau[column, row] = found if alike else -found
    return tau


def ndcg_would_see(found: Sequence[Resolution], sample: Sample) -> tuple[float, ...]:
    """Return the share of telling swaps that nDCG would see at the cutoff of each metric.

    With its default gain it sees every telling swap down to there.
    """
    shares: dict[int | None, float] = {}
    for one in found:
        k = one.metric.cutoff
        if k not in shares:
            ndcg = Metric.of("nDCG", k)
            swaps = [swaps_seen(ndcg, hits, sample.depth) for hits in sample.blocks]
            seen = np.concatenate([block.seen_telling for block in swaps])[sample.counted].sum()
            shares[k] = float(seen) / one.telling if one.telling else math.nan
    return tuple(shares[one.metric.cutoff] for one in found)
