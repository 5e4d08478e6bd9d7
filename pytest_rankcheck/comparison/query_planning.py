"""The plan: how many queries a golden set needs, given how much their differences vary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.comparison.inconclusive_odds import (
    MOSTLY,
    NOTABLE,
    any_inconclusive,
    shares_inconclusive,
)
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.errors import ConfigurationError, MetricError, listed, quoted, warn_caller
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.sample_size import LEVEL, queries_needed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["POWERS", "Plan", "Spread", "plan", "plan_of", "spread_of"]

POWERS = (0.7, 0.8, 0.9, 0.95)


@checked_arguments
def plan(
    evaluation: Evaluation,
    metric: MetricLike,
    margin: float | Sequence[float],
    other: Measured | None = None,
    *,
    powers: Sequence[float] = POWERS,
    alpha: float = 0.05,
    by: str | None = None,
) -> pd.DataFrame:
    """Return how many queries are needed to detect a fall: a row per margin, a column per power.

    One-sided paired t-test, by the noncentral t distribution (Cohen 1988; Sakai 2018). How much the
    differences vary is itself an estimate: ``attrs["lowest"][margin][power]`` and
    ``attrs["highest"][margin][power]`` are the ends of the 80% interval of each number (jackknife;
    both are empty if only one query changed). Weights and clusters of queries count: further
    queries are assumed to have weights as unequal, and clusters as large, as those measured.

    Args:
        evaluation: what was measured.
        metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.
        margin: the fall that would matter, or several.
        other: another evaluation or a baseline record, which shows how much the differences of
            queries vary. Without one, they are assumed to vary as much as the values do;
            ``attrs["source"]`` says which was used.
        powers: the probabilities of detecting the fall.
        alpha: the probability of blocking a change without a fall.
        by: an attribute of the queries; needs ``other``. ``attrs["inconclusive"][margin][slice]``
            is then the share of changes without a fall that ``Gate.noninferior`` would call
            inconclusive in a slice. There is a warning if at least one slice of a margin would be
            for most changes.

    Raises:
        ConfigurationError: a margin, a power or the level is out of range, or ``by`` without
            ``other``.
        MetricError: no such metric, or its values do not vary.
        GoldenSetError: no query has the attribute ``by``.
    """
    parsed = Metric.parse(metric)
    if by is not None and other is None:
        raise ConfigurationError(
            f"by={quoted(by)} needs other=, an evaluation or a baseline record to compare with: "
            "how much the differences of each slice vary is known from it alone"
        )
    comparison = None if other is None else compare(evaluation, other)
    values = None if comparison is None else comparison.values(parsed)
    planned = plan_of(parsed, spread_of(evaluation, parsed, values), margin, powers, alpha)
    frame = planned.to_frame()
    if by is not None and comparison is not None:
        frame.attrs["inconclusive"] = _inconclusive(comparison, planned, by)
    return frame


def _inconclusive(comparison: Comparison, planned: Plan, by: str) -> dict[float, dict[str, float]]:
    """Return how often each slice would be inconclusive, by margin; warn if most often."""
    slices = comparison.values_by(by, planned.metric)
    odds: dict[float, dict[str, float]] = {}
    for margin in planned.margins:
        shares = shares_inconclusive(list(slices.values()), margin, planned.alpha)
        odds[margin] = dict(zip(slices, shares, strict=True))
        share = any_inconclusive(odds[margin].values())
        if share >= MOSTLY:
            often = sorted(odds[margin].items(), key=lambda pair: -pair[1])
            names = listed([f"{by}={value}" for value, part in often if part >= NOTABLE])
            warn_caller(
                f"{planned.metric}: Gate.noninferior(margin={margin:g}) by '{quoted(by)}' would be "
                f"inconclusive for about {share:.0%} of the changes that lose nothing, because "
                f"slices are too small: {names}. Use a larger margin, merge slices, or leave small "
                "ones out with min_queries="
            )
    return odds


@dataclass(frozen=True, slots=True)
class Spread:
    """How much the differences of queries vary, and where that is known from."""

    deviation: float
    """Their standard deviation."""
    queries: int
    """The number of queries it was computed from."""
    source: str
    """What it was computed from, in words."""
    interval: tuple[float, float] = (math.nan, math.nan)
    """The 80% interval of the deviation; NaN if it is unknown."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many queries are needed to detect a fall, by its size and by power."""

    metric: Metric
    spread: Spread
    margins: tuple[float, ...]
    powers: tuple[float, ...]
    alpha: float
    queries: tuple[tuple[int, ...], ...]
    """A row per margin, a column per power."""
    lowest: tuple[tuple[int, ...], ...] = ()
    """The lower ends of their 80% intervals; empty if the interval is unknown."""
    highest: tuple[tuple[int, ...], ...] = ()
    """The upper ends of their 80% intervals; empty if the interval is unknown."""

    def to_frame(self) -> pd.DataFrame:
        """Return a row per margin, a column per power; spread, source and level in ``attrs``."""
        import pandas as pd

        frame = pd.DataFrame(
            self.queries,
            index=pd.Index(self.margins, name="margin"),
            columns=pd.Index(self.powers, name="power"),
        )
        frame.attrs = {
            "metric": str(self.metric),
            "deviation": self.spread.deviation,
            "source": self.spread.source,
            "alpha": self.alpha,
            "level": LEVEL,
            "lowest": self._by_margin(self.lowest),
            "highest": self._by_margin(self.highest),
            "method": "one-sided paired t-test, noncentral t (Cohen 1988; Sakai 2018)",
        }
        return frame

    def _by_margin(self, rows: Sequence[Sequence[int]]) -> dict[float, dict[float, int]]:
        """Return numbers of queries by margin and power; empty if they are unknown."""
        return {
            margin: dict(zip(self.powers, row, strict=True))
            for margin, row in zip(self.margins, rows, strict=False)
        }


def spread_of(evaluation: Evaluation, metric: Metric, values: ComparedValues | None) -> Spread:
    """Return how much differences vary, as much as the weights and clusters of queries make them.

    Of clusters, it is the deviation of queries whose mean would be as uncertain.

    Args:
        evaluation: what was measured.
        metric: the metric.
        values: its values before and now; None with only one ranker.
    """
    if isinstance(values, Paired):
        differences = values.differences
        if differences.deviation > 0:
            return _spread(differences, values.size, "the differences of the two rankers")
    # Two rankers whose values correlate by 1/2 differ as much as one varies: (2 - 2r) = 1.
    own = evaluation.values(metric)
    return _spread(
        evaluation.differences_at(range(len(own)), own),
        int(np.count_nonzero(~np.isnan(own))),
        "guessed from how much the values of the queries vary, since there is no other measurement "
        "to compare with; two versions of one ranker usually differ less",
    )


def _spread(differences: Differences, queries: int, source: str) -> Spread:
    """Return the spread of queries whose mean has the standard error of these differences."""
    scale = math.sqrt(queries / max(1, differences.count))
    low, high = differences.deviation_interval()
    return Spread(scale * differences.deviation, queries, source, (scale * low, scale * high))


def plan_of(
    metric: Metric,
    spread: Spread,
    margin: float | Sequence[float],
    powers: Sequence[float] = POWERS,
    alpha: float = 0.05,
) -> Plan:
    """Return how many queries are needed to detect a fall of each margin with each power.

    Raises:
        ConfigurationError: a margin, a power or the level is out of range.
        MetricError: the values do not vary, or there are too few.
    """
    margins = tuple(np.atleast_1d(np.asarray(margin, dtype=np.float64)).tolist())
    if not all(math.isfinite(fall) and fall > 0 for fall in margins) or not margins:
        raise ConfigurationError(f"margin={quoted(margin)}: a margin is a finite number above 0")
    if not 0 < alpha < 0.5 or not all(alpha < power < 1 for power in powers):
        raise ConfigurationError(
            f"alpha={quoted(alpha)}, powers={quoted(powers)}: the level is above 0 and below 0.5, "
            "a power above the level and below 1"
        )
    if not spread.deviation > 0:
        raise MetricError(
            f"{metric}: the values of the {spread.queries:,} queries do not vary, so they say "
            "nothing of how many queries are needed"
        )

    def rows(deviation: float) -> tuple[tuple[int, ...], ...]:
        return tuple(
            tuple(queries_needed(fall, deviation, power, alpha) for power in powers)
            for fall in margins
        )

    ends = [() if math.isnan(end) else rows(end) for end in spread.interval]
    return Plan(metric, spread, margins, tuple(powers), alpha, rows(spread.deviation), *ends)
