"""What several metrics can see of one run, how alike they are, and which of them to gate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.run_golden_join import Joined, judged_hits
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.laws.visible_swaps import swaps_seen
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.resolution.metric_extremes import ideal_hits
from pytest_rankcheck.resolution.metric_resolution import Resolution, SwapSample

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALIKE", "HALF", "Resolutions"]

ALIKE = 0.9
"""From this tau on, two orders of queries count as the same. Voorhees (Evaluation by highly
relevant documents, SIGIR 2001) uses this value for orders of systems."""
HALF = 0.5
"""The share of queries, or of the swaps that could be seen, that is worth mentioning."""


@dataclass(frozen=True, eq=False)
class Resolutions:
    """What several metrics can see of the same rankings."""

    resolutions: tuple[Resolution, ...]
    tau: FloatArray
    """``[M, M]`` Kendall's tau between the orders of queries by each two metrics."""
    would_see: tuple[float, ...]
    """``[M]`` the share of telling swaps that nDCG at the metric's cutoff would see."""
    of_ideal: bool = False
    """Whether the rankings are the ideal ones, because there is no run."""

    @classmethod
    def of(
        cls, evaluation: Evaluation, metrics: Iterable[MetricLike], *, depth: int | None = None
    ) -> Resolutions:
        """Return what metrics can see of a run, how alike they are, and which to gate.

        Args:
            evaluation: the evaluation of a run.
            metrics: names such as ``"nDCG@10"``, or ``Metric`` objects.
            depth: try the swaps at rank 1 to ``depth``; without it, those of whole rankings.

        Raises:
            MetricError: as in `Resolution.of`.
            RunError: as in `Resolution.of`.
        """
        chosen = list(dict.fromkeys(map(Metric.parse, metrics)))
        resolutions = tuple(Resolution.of(evaluation, metric, depth=depth) for metric in chosen)
        tau = _agreement(chosen, [evaluation.values(metric) for metric in chosen])
        would_see = _ndcg_would_see(resolutions, SwapSample.of(evaluation, depth))
        return cls(resolutions, tau, would_see)

    @classmethod
    def of_ideal_rankings(
        cls, golden: GoldenSet, metrics: Iterable[MetricLike], *, depth: int | None = None
    ) -> Resolutions:
        """Return what metrics can see of the ideal rankings of a golden set, if there is no run.

        Each ideal ranking has all judged documents of a query, the highest grade first. So every
        query is at its ceiling or fixed, and how alike the metrics are is unknown.

        Args:
            golden: the golden set.
            metrics: names such as ``"nDCG@10"``, or ``Metric`` objects.
            depth: try the swaps at rank 1 to ``depth``; without it, those of whole rankings.

        Raises:
            MetricError: a metric has no resolution, or does not fit the grades.
        """
        blocks = [ideal_hits(hits) for hits in judged_hits(Joined(golden.columns, (), ()), golden)]
        sample = SwapSample(blocks, np.ones(len(golden), dtype=np.bool_), depth=depth)
        resolutions = []
        for metric in dict.fromkeys(map(Metric.parse, metrics)):
            values = np.concatenate([metric.compute(hits) for hits in blocks])
            resolutions.append(Resolution.of_sample(metric, sample, values))
        unknown = np.full((len(resolutions), len(resolutions)), np.nan)
        would_see = _ndcg_would_see(resolutions, sample)
        return cls(tuple(resolutions), unknown, would_see, of_ideal=True)

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
        return tuple(_recommended(self))

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


def _ndcg_would_see(resolutions: Sequence[Resolution], sample: SwapSample) -> tuple[float, ...]:
    """Return the share of telling swaps that nDCG would see at the cutoff of each metric.

    With its default gain it sees every telling swap down to the cutoff.
    """
    shares: dict[int | None, float] = {}
    for resolution in resolutions:
        k = resolution.metric.cutoff
        if k not in shares:
            ndcg = Metric.of("nDCG", k)
            swaps = [swaps_seen(ndcg, hits, sample.depth) for hits in sample.blocks]
            seen = np.concatenate([block.seen_telling for block in swaps])[sample.counted].sum()
            shares[k] = float(seen) / resolution.telling if resolution.telling else math.nan
    return tuple(shares[resolution.metric.cutoff] for resolution in resolutions)


def _recommended(table: Resolutions) -> Iterator[str]:
    """Yield which metrics to gate, as sentences.

    Metrics that see no telling swap of these rankings are left out, and so are those that are
    declared not monotone: a worse ranking can have a better value. Of the others:

    - The metric that sees the most telling swaps leads. A metric that can fall on more than half of
      the queries comes before one that cannot.
    - One more is gated beside it: the one with the lowest tau, if that is below 0.9 and the metric
      is not at its ceiling or floor on half of the queries. A metric that overlooks much (see
      below) is only taken if there is no other. Each additional gate can fail by chance.
    - The rest is worth watching, but adds little if its tau with one of these two is 0.9 or more.

    Then come the metrics that see less than half of the telling swaps that nDCG would see at the
    same cutoff, and those at their floor or their ceiling on half of the queries.
    """
    if not any(resolution.telling for resolution in table.resolutions):
        yield (
            "no two neighbours in these rankings have different grades, so no metric can see a "
            "swap: judge more of what is ranked"
        )
        return
    usable = []
    for place, resolution in enumerate(table.resolutions):
        metric = resolution.metric
        if metric.declared("monotone") is False:
            yield f"do not gate on {metric}: a worse ranking can have a better value of it"
        elif not resolution.seen_telling:
            yield (
                f"do not gate on {metric} alone: it sees no swap of documents with different grades"
            )
        else:
            usable.append(place)
    if usable:
        yield from _chosen(table, usable)
        yield from _overlooked(table, usable)
        yield from _often_at_ends(table, usable)


def _chosen(table: Resolutions, usable: Sequence[int]) -> Iterator[str]:
    """Yield which metric leads, which is gated beside it, and what the others add."""
    lead, *rest = sorted(usable, key=lambda place: _order(table.resolutions[place]))
    leading = table.resolutions[lead]
    most = ", the most of these" if rest else ""
    yield (
        f"gate on {leading.metric}: it sees {leading.share_of_telling:.1%} of the swaps of "
        f"documents with different grades{most}"
    )
    if table.of_ideal:
        return  # only a run shows how alike the metrics are
    tau = table.tau[lead]
    gated = [lead]
    adding = [
        place
        for place in rest
        if tau[place] < ALIKE and table.resolutions[place].share_at_an_end < HALF
    ]
    if adding:
        beside = min(adding, key=lambda place: (_overlooks(table, place), float(tau[place])))
        gated.append(beside)
        yield (
            f"gate on {table.metrics[beside]} beside it: it orders the queries in another way "
            f"(tau {tau[beside]:.2f})"
        )
    yield from _remaining(table, gated, sorted(set(rest) - set(gated)))


def _remaining(table: Resolutions, gated: Sequence[int], rest: Sequence[int]) -> Iterator[str]:
    """Yield which metrics add little to those that are gated, and which to watch."""
    watched = []
    for place in rest:
        metric, taus = table.metrics[place], table.tau[place, gated]
        if np.isnan(taus).all():
            yield f"{metric} adds nothing: it does not order the queries"
        elif np.nanmax(taus) >= ALIKE:
            alike = table.metrics[gated[int(np.nanargmax(taus))]]
            yield (
                f"{metric} adds little: it orders the queries as {alike} does "
                f"(tau {float(np.nanmax(taus)):.2f})"
            )
        else:
            watched.append(str(metric))
    if watched:
        yield f"watch without a gate: {', '.join(watched)}; more gates fail more often by chance"


def _order(resolution: Resolution) -> tuple[bool, int]:
    return resolution.share_that_cannot_fall >= HALF, -resolution.seen_telling


def _overlooks(table: Resolutions, place: int) -> bool:
    return table.resolutions[place].share_of_telling < HALF * table.would_see[place]


def _overlooked(table: Resolutions, usable: Sequence[int]) -> Iterator[str]:
    """Yield which metrics see less than half of what they could."""
    clauses = [
        f"{metric} sees {table.resolutions[place].share_of_telling:.1%} where "
        f"{Metric.of('nDCG', metric.cutoff)} would see {table.would_see[place]:.1%}"
        for place, metric in enumerate(table.metrics)
        if place in usable and _overlooks(table, place)
    ]
    if clauses:
        yield f"not enough on its own: {'; '.join(clauses)}"


def _often_at_ends(table: Resolutions, usable: Sequence[int]) -> Iterator[str]:
    """Yield which metrics are at their floor or ceiling on half of the queries."""
    chosen = [table.resolutions[place] for place in usable]
    low = [
        f"{resolution.metric} ({resolution.share_that_cannot_fall:.0%} of the queries)"
        for resolution in chosen
        if resolution.share_that_cannot_fall >= HALF
    ]
    high = [
        f"{resolution.metric} ({resolution.at_ceiling / resolution.queries:.0%})"
        for resolution in chosen
        if resolution.queries and resolution.at_ceiling >= HALF * resolution.queries
    ]
    if low:
        yield f"at the floor, so it does not notice what gets worse there: {', '.join(low)}"
    if high and not table.of_ideal:
        yield (
            "at the ceiling on half of the queries or more, so it hardly separates good rankers: "
            f"{', '.join(high)}; add harder queries"
        )
