"""The resolution of a metric: what it can see of one run on one golden set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.law_cases import PRECISION
from pytest_rankcheck.metrics.laws.visible_swaps import SwapsSeen, swaps_seen
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.resolution.metric_extremes import extremes_of
from pytest_rankcheck.statistics.array_types import BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Resolution", "Sample", "refuse_unseen", "resolution_of"]


@dataclass(frozen=True, slots=True)
class Sample:
    """What metrics are looked at on: rankings, and which of their queries count."""

    blocks: Sequence[JudgedHits]
    counted: BoolArray
    """``[Q]`` the queries that are not left out by ``no_relevant="exclude"``."""
    weights: FloatArray | None = None
    """``[Q]`` how much each query counts in a mean; None: all the same."""
    depth: int | None = None
    """Swaps at rank 1 to ``depth`` are tried; None: all."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a metric can see of a run: swaps, steps, and the queries where it is at an end.

    A swap exchanges two neighbours of one ranking, whatever else stays; n documents have n - 1.
    Swaps of all queries are pooled. Queries that are left out of means by
    ``no_relevant="exclude"`` are left out here; weights count in `step_of_mean` alone.
    """

    metric: Metric
    swaps: int
    """All swaps."""
    telling: int
    """Those of documents with different grades (unjudged and negative: 0), the only ones that
    change how good a ranking is."""
    seen: int
    """Those that change the metric's value by more than rounding (1e-9 of the largest value);
    a value that comes or goes counts."""
    seen_telling: int
    """Those that are seen and telling."""
    step: float
    """The smallest change of a query's value by a swap that is seen; NaN if none is."""
    step_of_mean: float
    """The smallest change of the mean by such a swap: its change of the query's value times the
    query's share of all weight. NaN if none is seen, and for a mean that is no arithmetic one."""
    queries: int
    """The queries that have a value."""
    at_ceiling: int
    """Of them, those with the best value that their judged documents allow
    (`evaluation.extremes.extremes_of`), where that is not the worst too."""
    at_floor: int
    """Those with the worst value, where that is not the best too: they cannot get worse."""
    fixed: int
    """Those whose best value is the worst too, such as those with nothing relevant."""

    @property
    def share_seen(self) -> float:
        """The share of all swaps that the metric sees; NaN if there are none."""
        return _share(self.seen, self.swaps)

    @property
    def share_of_telling(self) -> float:
        """The share that it sees of the swaps of documents with different grades."""
        return _share(self.seen_telling, self.telling)

    @property
    def share_at_an_end(self) -> float:
        """The share of queries at the ceiling or the floor, those that are fixed included."""
        return _share(self.at_ceiling + self.at_floor + self.fixed, self.queries)

    @property
    def share_that_cannot_fall(self) -> float:
        """The share of queries at the floor, those that are fixed included."""
        return _share(self.at_floor + self.fixed, self.queries)

    def row(self) -> dict[str, float]:
        """Return what a table shows of it: shares and steps, by name."""
        return {
            "seen": self.share_seen,
            "seen_of_telling": self.share_of_telling,
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


def resolution_of(metric: Metric, sample: Sample, values: FloatArray) -> Resolution:
    """Return what a metric can see.

    Args:
        metric: a metric over judged hits.
        sample: what it is looked at on.
        values: its value of each query of the sample, ``[Q]``; NaN: does not count.

    Raises:
        MetricError: it is a metric of sessions or of ir_measures, or does not fit the grades.
    """
    refuse_unseen(metric)
    swaps = [swaps_seen(metric, hits, sample.depth) for hits in sample.blocks]
    counted = sample.counted

    def total(field: str) -> int:
        return int(_joined(swaps, field)[counted].sum())

    smallest = np.where(counted, _joined(swaps, "smallest"), np.nan)
    ceiling, floor, fixed = _at_ends(metric, sample, values)
    return Resolution(
        metric,
        swaps=total("possible"),
        telling=total("telling"),
        seen=total("seen"),
        seen_telling=total("seen_telling"),
        step=_least(smallest),
        step_of_mean=_step_of_mean(metric, smallest, values, sample.weights),
        queries=int((~np.isnan(values)).sum()),
        at_ceiling=int((ceiling & ~fixed).sum()),
        at_floor=int((floor & ~fixed).sum()),
        fixed=int(fixed.sum()),
    )


def refuse_unseen(metric: Metric) -> None:
    """Refuse a metric whose values swaps of judged documents say nothing of.

    Raises:
        MetricError: its unit is the session or the whole run, or ir_measures computes it.
    """
    if metric.unit == "run":
        raise MetricError(
            f"{metric} is a metric of the whole run, and has no resolution: no judgment tells its "
            "documents apart"
        )
    if metric.unit == "session":
        raise MetricError(
            f"{metric} is a metric of sessions, and has no resolution: there are no rankings with "
            "judgments to swap documents in"
        )
    if metric.definition.foreign:
        raise MetricError(
            f"{metric} is computed by ir_measures from the whole run, and has no resolution: each "
            "swap would be a run of its own; ask for a metric of the catalogue "
            f"(not '{quoted(metric.definition.foreign)}')"
        )


def _at_ends(
    metric: Metric, sample: Sample, values: FloatArray
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Return which queries are at the ceiling, which at the floor, and where these are one."""
    ends = [extremes_of(metric, hits) for hits in sample.blocks]
    best, worst = (np.concatenate(side) for side in zip(*ends, strict=True))
    known = np.abs(np.concatenate([values, best, worst]))
    tolerance = PRECISION * float(known[np.isfinite(known)].max(initial=0.0))
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
    known = ~np.isnan(values) & (shares > 0)
    return _least(smallest[known] * shares[known]) / total if known.any() else math.nan


def _joined(swaps: Sequence[SwapsSeen], field: str) -> FloatArray:
    return np.concatenate([getattr(block, field) for block in swaps])


def _least(values: FloatArray) -> float:
    """Return the least value that is not NaN; NaN if there is none."""
    return float(np.fmin.reduce(values, initial=np.nan))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
