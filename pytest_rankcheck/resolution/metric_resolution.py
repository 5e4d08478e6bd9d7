"""The resolution of a metric: what it can see of one run on one golden set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.errors import ConfigurationError, MetricError, RunError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.visible_falls import losses_seen, tolerance_of
from pytest_rankcheck.metrics.laws.visible_swaps import SwapsSeen, swaps_seen
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.resolution.fall_sight import FallSight, reshuffle_variance
from pytest_rankcheck.resolution.metric_extremes import extremes_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Resolution", "SwapSample", "refuse_unresolvable"]


@dataclass(frozen=True, slots=True)
class SwapSample:
    """The rankings whose swaps are tried, and which of their queries count."""

    blocks: Sequence[JudgedHits]
    counted: BoolArray
    """``[Q]`` the queries that are not left out by ``no_relevant="exclude"``."""
    weights: FloatArray | None = None
    """``[Q]`` how much each query counts in a mean; None: all count the same."""
    depth: int | None = None
    """Swaps at rank 1 to ``depth`` are tried; None: all."""

    @classmethod
    def of(cls, evaluation: Evaluation, depth: int | None) -> SwapSample:
        """Return the rankings of an evaluation.

        Raises:
            ConfigurationError: the depth is below 1.
            RunError: only values and the tops of rankings are known.
        """
        if depth is not None and depth < 1:
            raise ConfigurationError(f"depth={quoted(depth)} is invalid; it must be at least 1")
        blocks = evaluation.hits
        if blocks is None:
            raise RunError(
                f"{quoted(evaluation.name)} has no resolution on {evaluation.golden.kind} "
                f"'{quoted(evaluation.golden.name)}': the ranks of all judged documents are not "
                "known, only values and the tops of rankings; measure the run itself"
            )
        if evaluation.conventions.no_relevant == "exclude":
            counted = np.concatenate([(hits.ideal > 0).any(axis=1) for hits in blocks])
        else:
            counted = np.ones(len(evaluation.query_ids), dtype=np.bool_)
        return cls(blocks, counted, evaluation.weights, depth)


_RESOLUTIONS: WeakKeyDictionary[Evaluation, dict[tuple[Metric, int | None], Resolution]] = (
    WeakKeyDictionary()
)
"""The resolutions computed so far, by evaluation, metric and depth."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a metric can see of a run: swaps, losses, steps, and the queries at an end.

    A swap exchanges two neighbours of one ranking and leaves the rest in place; n documents have
    n - 1 swaps. A loss takes one relevant document (grade above 0) out of a ranking, and those
    below it move up; at most 32 losses per query are tried, evenly spread. The swaps and the
    losses of all queries are pooled. Queries that ``no_relevant="exclude"`` leaves
    out of means are left out here; weights only affect `step_of_mean`.
    """

    metric: Metric
    swaps: int
    """All swaps."""
    telling: int
    """Swaps of documents with different grades (unjudged and negative: 0), the only ones that
    change how good a ranking is."""
    seen: int
    """Swaps that change the metric's value by more than rounding (1e-9 of the largest value). A
    value that appears or disappears counts as a change."""
    seen_telling: int
    """Swaps that are both seen and telling."""
    disorder: FallSight
    """How clearly the metric sees a lower grade above a higher one, by the telling swaps: by the
    fall, or by the gain if the higher grade is already below."""
    losses: FallSight
    """How clearly the metric sees losses, at any rank."""
    step: float
    """The smallest change of a query's value by a swap that is seen; NaN if no swap is seen."""
    step_of_mean: float
    """The smallest change of the mean by a swap that is seen: the change of the query's value times
    the query's share of all weight. NaN if no swap is seen, or if the mean is not arithmetic."""
    queries: int
    """The queries that have a value."""
    at_ceiling: int
    """Queries with the best value that their judged documents allow (see `extremes_of`), if that
    is not also the worst."""
    at_floor: int
    """Queries with the worst value, if that is not also the best: they cannot get worse."""
    fixed: int
    """Queries whose best value is also the worst, such as those with nothing relevant."""

    @classmethod
    def of(
        cls, evaluation: Evaluation, metric: MetricLike, *, depth: int | None = None
    ) -> Resolution:
        """Return what a metric can see of the run that an evaluation measured.

        Args:
            evaluation: the evaluation of a run.
            metric: a name such as ``"nDCG@10"`` or a ``Metric``.
            depth: try the swaps at ranks 1 to ``depth``; without it, the swaps of whole rankings.
                Losses are tried at all ranks.

        Raises:
            MetricError: it is a metric of sessions or of ir_measures, or does not fit the grades.
            RunError: only the metric's values are known, not the rankings.
        """
        parsed = Metric.parse(metric)
        refuse_unresolvable(parsed)
        computed = _RESOLUTIONS.setdefault(evaluation, {})
        if (parsed, depth) not in computed:
            sample = SwapSample.of(evaluation, depth)
            computed[parsed, depth] = cls.of_sample(parsed, sample, evaluation.values(parsed))
        return computed[parsed, depth]

    @classmethod
    def of_sample(cls, metric: Metric, sample: SwapSample, values: FloatArray) -> Resolution:
        """Return what a metric can see of some rankings.

        Args:
            metric: a metric over judged hits.
            sample: the rankings.
            values: the metric's value of each query of the sample, ``[Q]``; NaN is not counted.

        Raises:
            MetricError: it is a metric of sessions or of ir_measures, or does not fit the grades.
        """
        refuse_unresolvable(metric)
        swaps = [swaps_seen(metric, hits, sample.depth) for hits in sample.blocks]
        counted = sample.counted
        variance = reshuffle_variance(swaps, counted)
        lost = [losses_seen(metric, hits) for hits in sample.blocks]

        def total(field: str) -> int:
            return int(_joined(swaps, field)[counted].sum())

        smallest = np.where(counted, _joined(swaps, "smallest"), np.nan)
        ceiling, floor, fixed = _at_ends(metric, sample, values)
        return cls(
            metric,
            swaps=total("possible"),
            telling=total("telling"),
            seen=total("seen"),
            seen_telling=total("seen_telling"),
            disorder=FallSight.of([block.disorder for block in swaps], counted, variance),
            losses=FallSight.of(lost, counted, variance),
            step=_least(smallest),
            step_of_mean=_step_of_mean(metric, smallest, values, sample.weights),
            queries=int((~np.isnan(values)).sum()),
            at_ceiling=int((ceiling & ~fixed).sum()),
            at_floor=int((floor & ~fixed).sum()),
            fixed=int(fixed.sum()),
        )

    @property
    def share_seen(self) -> float:
        """The share of all swaps that the metric sees; NaN without swaps."""
        return _share(self.seen, self.swaps)

    @property
    def share_of_telling(self) -> float:
        """The share of swaps of documents with different grades that the metric sees."""
        return _share(self.seen_telling, self.telling)

    @property
    def share_at_an_end(self) -> float:
        """The share of queries at the ceiling or the floor, including fixed ones."""
        return _share(self.at_ceiling + self.at_floor + self.fixed, self.queries)

    @property
    def share_that_cannot_fall(self) -> float:
        """The share of queries at the floor, including fixed ones."""
        return _share(self.at_floor + self.fixed, self.queries)

    def row(self) -> dict[str, float]:
        """Return the row of a table: shares and steps, by name."""
        return {
            "seen": self.share_seen,
            "seen_of_telling": self.share_of_telling,
            "losses_seen": self.losses.share,
            "sight_of_order": self.disorder.sight,
            "sight_of_losses": self.losses.sight,
            "step": self.step,
            "step_of_mean": self.step_of_mean,
            "at_ceiling": _share(self.at_ceiling, self.queries),
            "at_floor": _share(self.at_floor, self.queries),
            "fixed": _share(self.fixed, self.queries),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row with shares and steps, indexed by the metric's name."""
        import pandas as pd

        return pd.DataFrame([self.row()], index=pd.Index([str(self.metric)], name="metric"))


def refuse_unresolvable(metric: Metric) -> None:
    """Refuse a metric whose values do not depend on swaps of judged documents.

    Raises:
        MetricError: its unit is the session or the whole run, or ir_measures computes it.
    """
    if metric.unit == "run":
        raise MetricError(
            f"{metric} is a metric of the whole run and has no resolution: it does not use "
            "judgments"
        )
    if metric.unit == "session":
        raise MetricError(
            f"{metric} is a metric of sessions and has no resolution: sessions have no rankings "
            "with judgments, so there is nothing to swap"
        )
    if metric.definition.ir_measures:
        raise MetricError(
            f"{metric} is computed by ir_measures from the whole run and has no resolution: each "
            "swap would need a run of its own; use a metric of the catalogue "
            f"(not '{quoted(metric.definition.ir_measures)}')"
        )


def _at_ends(
    metric: Metric, sample: SwapSample, values: FloatArray
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Return which queries are at the ceiling, at the floor, and where the two are the same."""
    ends = [extremes_of(metric, hits) for hits in sample.blocks]
    best, worst = (np.concatenate(side) for side in zip(*ends, strict=True))
    tolerance = tolerance_of(np.concatenate([values, best, worst]))
    sign = 1.0 if metric.higher_is_better else -1.0
    # A comparison with NaN is false.
    ceiling = sign * (best - values) <= tolerance
    floor = sign * (values - worst) <= tolerance
    fixed = ~np.isnan(values) & (np.abs(best - worst) <= tolerance)
    return ceiling, floor, fixed


def _step_of_mean(
    metric: Metric, smallest: FloatArray, values: FloatArray, weights: FloatArray | None
) -> float:
    if not metric.definition.is_mean_of_values:
        return math.nan
    shares = np.ones_like(values) if weights is None else weights
    total = math.fsum(shares[~np.isnan(values)])
    counted = ~np.isnan(values) & (shares > 0)
    return _least(smallest[counted] * shares[counted]) / total if counted.any() else math.nan


def _joined(swaps: Sequence[SwapsSeen], field: str) -> FloatArray:
    return np.concatenate([getattr(block, field) for block in swaps])


def _least(values: FloatArray) -> float:
    """Return the smallest value that is not NaN; NaN if all are NaN."""
    return float(np.fmin.reduce(values, initial=np.nan))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
