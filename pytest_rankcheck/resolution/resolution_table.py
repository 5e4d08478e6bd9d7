"""What several metrics can see of one run, how alike they are, and which of them to gate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.run_golden_join import Joined, judged_hits
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.resolution.gating_advice import GatingAdvice
from pytest_rankcheck.resolution.metric_extremes import ideal_hits
from pytest_rankcheck.resolution.metric_resolution import (
    Resolution,
    SwapSample,
    refuse_unresolvable,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Resolutions", "compared_depth"]

_RECALL_AT = (10, 20, 50, 100)
"""The cutoffs at which R may be suggested: the largest that the run reaches is chosen."""
_NDCG_AT = 10
"""The cutoff at which nDCG is suggested if whole rankings are compared."""


@dataclass(frozen=True, eq=False)
class Resolutions:
    """What several metrics can see of the same rankings, compared at one depth."""

    resolutions: tuple[Resolution, ...]
    tau: FloatArray
    """``[M, M]`` Kendall's tau between the orders of queries by each two metrics."""
    depth: int | None
    """Swaps at ranks 1 to ``depth`` were tried, for all metrics alike; None: all swaps."""
    recall: Resolution | None = None
    """What R could see at the depth of the run, or at 100; None if it is one of the metrics, the
    run has less than ten documents per query, or there is no run."""
    ndcg: Resolution | None = None
    """What nDCG could see at `depth`, or else at 10; None if it is one of the metrics."""
    of_ideal: bool = False
    """Whether the rankings are the ideal ones, because there is no run."""

    @classmethod
    def of(
        cls, evaluation: Evaluation, metrics: Iterable[MetricLike], *, depth: int | None = None
    ) -> Resolutions:
        """Return what metrics can see of a run, how much they agree, and which to gate.

        Args:
            evaluation: the evaluation of a run.
            metrics: names such as ``"nDCG@10"``, or ``Metric`` objects.
            depth: try the swaps at ranks 1 to ``depth``; without it, `compared_depth` chooses: 10
                for ``["nDCG@10", "AP", "R@50"]``. Losses are tried at all ranks.

        Raises:
            MetricError: as in `Resolution.of`.
            RunError: as in `Resolution.of`.
        """
        chosen = list(dict.fromkeys(map(Metric.parse, metrics)))
        if depth is None:
            depth = compared_depth(chosen, evaluation.golden.max_grade)
        resolutions = tuple(Resolution.of(evaluation, metric, depth=depth) for metric in chosen)
        tau = _agreement(chosen, [evaluation.values(metric) for metric in chosen])
        # Not from `evaluation`, where only metrics that somebody requested may count as computed.
        sample = SwapSample.of(evaluation, depth)
        recall = _unless_chosen(_deepest_recall(sample), chosen, sample)
        ndcg = _unless_chosen(Metric.of("nDCG", depth or _NDCG_AT), chosen, sample)
        return cls(resolutions, tau, depth, recall, ndcg)

    @classmethod
    def of_ideal_rankings(
        cls, golden: GoldenSet, metrics: Iterable[MetricLike], *, depth: int | None = None
    ) -> Resolutions:
        """Return what metrics can see of the ideal rankings of a golden set; for use without a run.

        Each ideal ranking has all judged documents of a query, the highest grade first. So every
        query is at its ceiling or fixed, and the agreement of the metrics is unknown.

        Args:
            golden: the golden set.
            metrics: names such as ``"nDCG@10"``, or ``Metric`` objects.
            depth: as in `of`.

        Raises:
            MetricError: a metric has no resolution, or does not fit the grades.
        """
        chosen = list(dict.fromkeys(map(Metric.parse, metrics)))
        if depth is None:
            depth = compared_depth(chosen, golden.max_grade)
        blocks = [ideal_hits(hits) for hits in judged_hits(Joined(golden.columns, (), ()), golden)]
        sample = SwapSample(blocks, np.ones(len(golden), dtype=np.bool_), depth=depth)
        resolutions = tuple(_of_sample(metric, sample) for metric in chosen)
        unknown = np.full((len(resolutions), len(resolutions)), np.nan)
        ndcg = _unless_chosen(Metric.of("nDCG", depth or _NDCG_AT), chosen, sample)
        return cls(resolutions, unknown, depth, ndcg=ndcg, of_ideal=True)

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics, in the order given."""
        return [resolution.metric for resolution in self.resolutions]

    @property
    def agreement(self) -> pd.DataFrame:
        """Kendall's tau between the orders of queries by each two metrics, by their names.

        It is tau-b, which allows for ties (Kendall, The treatment of ties in ranking problems,
        Biometrika 33, 1945), of values oriented so that higher is better, over the queries that
        have a value of both metrics. NaN if a metric has the same value for all queries.
        """
        import pandas as pd

        names = pd.Index([str(metric) for metric in self.metrics], name="metric")
        return pd.DataFrame(self.tau, index=names, columns=list(names))

    def nearest(self, place: int) -> tuple[Metric, float] | None:
        """Return the other metric with the highest tau, and that tau; None if unknown.

        What a metric adds to the others is the rest, 1 - tau.
        """
        taus = self.tau[place].copy()
        taus[place] = np.nan
        if np.isnan(taus).all():
            return None
        nearest = int(np.nanargmax(taus))
        return self.metrics[nearest], float(taus[nearest])

    @property
    def recommendation(self) -> Sequence[str]:
        """Which of these metrics to gate on this golden set, and why, as sentences."""
        return tuple(self._advice.sentences())

    @property
    def gated(self) -> tuple[Metric, ...]:
        """The one or two of these metrics to gate, as `recommendation` explains; may be empty.

        The first shows a worse order of documents most clearly. The second shows lost documents,
        which the first misses; it is left out if no metric shows them much more clearly.
        """
        return self._advice.gated

    @property
    def _advice(self) -> GatingAdvice:
        return GatingAdvice(
            self.resolutions, self.tau, self.depth, self.recall, self.ndcg, self.of_ideal
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per metric, indexed by its name: shares, steps, the nearest other."""
        import pandas as pd

        rows = []
        for place, resolution in enumerate(self.resolutions):
            name, tau = self.nearest(place) or ("", math.nan)
            rows.append({**resolution.row(), "nearest": str(name), "tau": tau})
        index = pd.Index([str(metric) for metric in self.metrics], name="metric")
        return pd.DataFrame(rows, index=index)


def _agreement(metrics: Sequence[Metric], values: Sequence[FloatArray]) -> FloatArray:
    """Return Kendall's tau-b of each two metrics over the queries, ``[M, M]``.

    Args:
        metrics: the metrics.
        values: the values of each, ``[Q]``.
    """
    from scipy.stats import kendalltau

    tau = np.full((len(metrics), len(metrics)), np.nan)
    for row, metric in enumerate(metrics):
        for column in range(row + 1):
            in_both = ~(np.isnan(values[row]) | np.isnan(values[column]))
            pair = values[row][in_both], values[column][in_both]
            if any(side.size < 2 or (side == side[0]).all() for side in pair):
                continue  # a constant value orders nothing
            same_direction = metric.higher_is_better == metrics[column].higher_is_better
            statistic = float(kendalltau(*pair).statistic)
            tau[row, column] = tau[column, row] = statistic if same_direction else -statistic
    return tau


def compared_depth(metrics: Iterable[Metric], highest: float) -> int | None:
    """Return the lowest rank to which the order of documents is compared; None: all ranks.

    It is the smallest cutoff among the metrics that depend on the order above their cutoff, so
    that no metric leads only because it looks deeper. Metrics that are not monotone are never
    gated, so they do not count. P, R and Success also have cutoffs, but do not see the order above
    them.

    Args:
        metrics: the metrics to compare.
        highest: the highest grade of the golden set.

    Raises:
        MetricError: a metric has no resolution, or does not fit the grades.
    """
    if highest <= 0:
        return None
    grades = np.full((2, 1), highest)
    first_or_second = JudgedHits(np.array([[1.0], [2.0]]), grades, np.full(2, 2.0), grades, highest)
    cutoffs = []
    for metric in metrics:
        refuse_unresolvable(metric)
        if (
            metric.cutoff is not None
            and metric.cutoff > 1
            and metric.declared("monotone") is not False
        ):
            first, second = metric.compute(first_or_second)
            if abs(first - second) > 0:  # not NaN
                cutoffs.append(metric.cutoff)
    return min(cutoffs, default=None)


def _deepest_recall(sample: SwapSample) -> Metric | None:
    """Return R at the depth of a run, or at 100; None if the run is too shallow."""
    deepest = max((float(hits.retrieved.max(initial=0)) for hits in sample.blocks), default=0)
    cutoff = max((k for k in _RECALL_AT if k <= deepest), default=None)
    return None if cutoff is None else Metric.of("R", cutoff)


def _unless_chosen(
    metric: Metric | None, chosen: Sequence[Metric], sample: SwapSample
) -> Resolution | None:
    """Return what an additional metric could see; None if it is among the chosen metrics."""
    return None if metric is None or metric in chosen else _of_sample(metric, sample)


def _of_sample(metric: Metric, sample: SwapSample) -> Resolution:
    values = np.concatenate([metric.compute(hits) for hits in sample.blocks])
    return Resolution.of_sample(metric, sample, values)
