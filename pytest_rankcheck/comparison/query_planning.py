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
from pytest_rankcheck.statistics.sample_size import (
    LEVEL,
    deviation_interval,
    linearised,
    queries_needed,
)

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
        ConfigurationError: a margin or ``alpha`` is out of range.
        MetricError: no such metric, or its values do not vary.
    """
    parsed = Metric.parse(metric)
    parsed.kind.refuse_parts(parsed)
    margins = tuple(np.atleast_1d(np.asarray(margin, dtype=np.float64)).tolist())
    if not all(math.isfinite(fall) and fall > 0 for fall in margins) or not margins:
        raise ConfigurationError(f"margin={quoted(margin)}: a margin is a finite number above 0")
    if not 0 < alpha < 0.5:
        raise ConfigurationError(f"alpha={quoted(alpha)}: the level is above 0 and below 0.5")
    values = None if other is None else compare(evaluation, other).values(parsed)
    spread = spread_of(evaluation, parsed, values)
    if not spread.deviation > 0:
        raise MetricError(
            f"{parsed}: the values of the {len(evaluation.query_ids):,} queries do not vary, so "
            "they do not show how many queries are needed"
        )

    import pandas as pd

    found = {fall: [spread.needed(fall, each, alpha) for each in POWERS] for fall in margins}

    def numbers(place: int) -> dict[float, dict[float, int]]:
        """Return the estimates, or an end of their intervals, by margin and power."""
        return {
            fall: {power: each[place] for power, each in zip(POWERS, of_fall, strict=True)}
            for fall, of_fall in found.items()
        }

    frame = pd.DataFrame.from_dict(numbers(0), orient="index")
    frame = frame.rename_axis(index="margin", columns="power")
    has_interval = not math.isnan(spread.interval[0])
    frame.attrs = {
        "deviation": spread.deviation,
        "source": spread.source,
        "level": LEVEL,
        "lowest": numbers(1) if has_interval else {},
        "highest": numbers(2) if has_interval else {},
    }
    return frame


@dataclass(frozen=True, slots=True)
class Spread:
    """How much the differences of queries vary, and how that is known."""

    deviation: float
    """Their standard deviation."""
    source: str
    """What it was computed from, in words."""
    interval: tuple[float, float]
    """The 80% interval of the deviation; NaN if it is unknown."""

    def needed(self, fall: float, power: float, alpha: float = 0.05) -> Sequence[int]:
        """Return how many queries detect a fall, then the ends of the interval, if known."""
        known = [each for each in (self.deviation, *self.interval) if not math.isnan(each)]
        return [queries_needed(fall, each, power, alpha) for each in known]


def spread_of(evaluation: Evaluation, metric: Metric, values: ComparedValues | None) -> Spread:
    """Return how much differences vary, with the weights and clusters of queries.

    With clusters, it is the deviation of independent queries whose mean would be as uncertain.

    Args:
        evaluation: what was measured.
        metric: the metric.
        values: its values before and now; None with only one ranker.
    """
    # Two rankers whose values correlate by 1/2 differ as much as one varies: (2 - 2r) = 1.
    own = evaluation.values(metric)
    differences = evaluation.differences_at(metric, range(len(own)), own)
    queries = int(np.count_nonzero(~np.isnan(own)))
    source = (
        "guessed from how much the values of the queries vary, since there is no other measurement "
        "to compare with; two versions of one ranker usually differ less"
    )
    if isinstance(values, Paired) and values.differences.deviation > 0:
        differences, queries = values.differences, values.size
        source = "the differences of the two rankers"
    # As independent queries, whose mean has the standard error of these differences.
    scale = math.sqrt(queries / max(1, differences.count))
    low, high = deviation_interval(linearised(differences.gains, differences.weights, None))
    return Spread(scale * differences.deviation, source, (scale * low, scale * high))
