"""The plan: how many queries a golden set needs, given how much their differences vary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired
from pytest_rankcheck.comparison.comparison import compare
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.errors import ConfigurationError, MetricError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.sample_size import LEVEL, queries_needed

if TYPE_CHECKING:
    import pandas as pd


POWERS = (0.7, 0.8, 0.9, 0.95)


@checked_arguments
def plan(
    evaluation: Evaluation,
    metric: MetricLike,
    margin: float | Sequence[float],
    other: Measured | None = None,
    *,
    alpha: float = 0.05,
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
        alpha: the probability of blocking a change without a fall.

    Raises:
        ConfigurationError: a margin, a power or the level is out of range.
        MetricError: no such metric, or its values do not vary.
    """
    parsed = Metric.parse(metric)
    parsed.kind.refuse_parts(parsed)
    values = None if other is None else compare(evaluation, other).values(parsed)
    return plan_of(parsed, spread_of(evaluation, parsed, values), margin, alpha=alpha)


@dataclass(frozen=True, slots=True)
class Spread:
    """How much the differences of queries vary, and how that is known."""

    deviation: float
    """Their standard deviation."""
    queries: int
    """The number of queries it was computed from."""
    source: str
    """What it was computed from, in words."""
    interval: tuple[float, float] = (math.nan, math.nan)
    """The 80% interval of the deviation; NaN if it is unknown."""


def spread_of(evaluation: Evaluation, metric: Metric, values: ComparedValues | None) -> Spread:
    """Return how much differences vary, with the weights and clusters of queries.

    With clusters, it is the deviation of independent queries whose mean would be as uncertain.

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
        evaluation.differences_at(metric, range(len(own)), own),
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
) -> pd.DataFrame:
    """Return how many queries are needed to detect a fall: a row per margin, a column per power.

    The spread, its source, the level and the intervals are in ``attrs``.

    Raises:
        ConfigurationError: a margin, a power or the level is out of range.
        MetricError: the values do not vary, or there are too few.
    """
    margins = tuple(np.atleast_1d(np.asarray(margin, dtype=np.float64)).tolist())
    if not all(math.isfinite(fall) and fall > 0 for fall in margins) or not margins:
        raise ConfigurationError(f"margin={quoted(margin)}: a margin is a finite number above 0")
    if not 0 < alpha < 0.5:
        raise ConfigurationError(f"alpha={quoted(alpha)}: the level is above 0 and below 0.5")
    if not spread.deviation > 0:
        raise MetricError(
            f"{metric}: the values of the {spread.queries:,} queries do not vary, so they do not "
            "show how many queries are needed"
        )

    import pandas as pd

    def needed(deviation: float) -> dict[float, dict[float, int]]:
        """Return numbers of queries by margin and power; empty if the deviation is unknown."""
        if math.isnan(deviation):
            return {}
        return {
            fall: {power: queries_needed(fall, deviation, power, alpha) for power in powers}
            for fall in margins
        }

    frame = pd.DataFrame.from_dict(needed(spread.deviation), orient="index")
    frame = frame.rename_axis(index="margin", columns="power")
    low, high = spread.interval
    frame.attrs = {
        "metric": str(metric),
        "deviation": spread.deviation,
        "source": spread.source,
        "alpha": alpha,
        "level": LEVEL,
        "lowest": needed(low),
        "highest": needed(high),
        "method": "one-sided paired t-test, noncentral t (Cohen 1988; Sakai 2018)",
    }
    return frame
