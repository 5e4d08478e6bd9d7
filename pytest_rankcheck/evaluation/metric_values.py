"""The values of metrics by query or session: means, intervals, slices, tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray, IntArray, PlaceArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.evaluation.measured_source import Source
from pytest_rankcheck.evaluation.metric_checks import warn_if_uninformative
from pytest_rankcheck.metrics.averages import median_of
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.statistics.mean_differences import UNSEEN_WEIGHTED_GAIN, Differences
from pytest_rankcheck.statistics.quantile_interval import quantile_interval
from pytest_rankcheck.statistics.weighted_clusters import unit_means

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.statistics.two_samples import Sample


MIN_QUERIES = 30
"""A slice with fewer queries is reported, not gated."""


class MetricValues:
    """The values of metrics on every query, computed when they are first needed.

    Args:
        source: what was measured.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.golden, self.conventions, self.kind = source.golden, source.conventions, source.kind
        self._values: dict[Metric, FloatArray] = {}

    @property
    def query_ids(self) -> Sequence[str]:
        """All judged queries, in the golden set's order."""
        return self.golden.query_ids

    @property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each query's text and judgments."""
        return self.golden.query_fingerprints

    def fits(self, metric: Metric) -> bool:
        """Return whether a metric applies here: to queries and runs, or to sessions."""
        return self.source.fits(metric)

    @cached_property
    def weights(self) -> FloatArray | None:
        """How much each query counts, ``[Q]``; None: all count the same."""
        weights = self.golden.weights
        return None if weights is None else np.array(weights, dtype=np.float64)

    @cached_property
    def _judged(self) -> FloatArray:
        """How many judged documents each query has, ``[Q]``."""
        return np.diff(self.golden.columns.starts).astype(np.float64)

    def weights_of(self, metric: Metric, places: PlaceArray | None = None) -> FloatArray | None:
        """Return how much each query counts in the mean of a metric; None: all count the same.

        Args:
            metric: the metric.
            places: the places of some queries in `query_ids`; without them, all.
        """
        weights = metric.weights(self.weights, self._judged)
        return weights if weights is None or places is None else weights[places]

    @property
    def cluster_names(self) -> Sequence[str] | None:
        """The name of the independent unit of each query, ``[Q]``; None: each is one."""
        return self.golden.clusters

    @cached_property
    def clusters(self) -> IntArray | None:
        """The number of the independent unit of each query, ``[Q]``; None: each is one."""
        names = self.cluster_names
        if names is None:
            return None
        codes = {name: number for number, name in enumerate(sorted(set(names)))}
        return np.array([codes[name] for name in names])

    @property
    def drawn_share(self) -> float:
        """How much tests allow for heavy queries of a replay; see `Differences.drawn_share`."""
        replay = self.golden.replay
        if replay is not None and replay.corrects(self.golden.contents.weight_by):
            return UNSEEN_WEIGHTED_GAIN
        return 0.0

    def values(self, metric: MetricLike) -> FloatArray:
        """Return the value of each query in the order of `query_ids`, float64 ``[Q]``.

        NaN marks a query that is left out of the mean (``no_relevant="exclude"``). For a metric of
        the whole run, these are the pseudo-values of its jackknife, whose mean is its value.

        Raises:
            MetricError: no such metric, it does not fit this golden set, or its cutoff is beyond
                the depth that was asked for.
        """
        parsed = Metric.parse(metric)
        if parsed not in self._values:
            self.source.warn_if_short(parsed)
            warn_if_uninformative(parsed, self.golden)
            values = self.source.values(parsed)
            values.flags.writeable = False
            self._values[parsed] = values
        return self._values[parsed]

    def refuse_no_value(self, metric: Metric) -> None:
        """Refuse a metric without a value for any query: a gate on it would always pass.

        Raises:
            MetricError: the metric has no value; the message gives the likely reason.
        """
        if np.isnan(self.values(metric)).all():
            raise MetricError(
                f"{metric} has no value on {self.golden.kind} '{quoted(self.golden.name)}': all "
                f"{len(self.query_ids):,} {self.kind.plural} are left out, so a gate would always "
                f"pass; {self.source.hint_for_no_value(metric)}"
            )

    def mean(self, metric: MetricLike) -> float:
        """Return the mean over the queries with a value; NaN if all are NaN.

        The kind of mean depends on the metric: geometric for GMAP, arithmetic for most others,
        and the sum for TotalRet and the other totals.
        """
        parsed = Metric.parse(metric)
        return parsed.mean(self.values(parsed), self.weights_of(parsed))

    def mean_at(self, metric: MetricLike, places: Sequence[int]) -> float:
        """Return the mean over the queries at some places of `query_ids`."""
        chosen, parsed = np.asarray(places, dtype=np.intp), Metric.parse(metric)
        if len(chosen) < len(self.query_ids):
            parsed.kind.refuse_parts(parsed)
        return parsed.mean(self.values(parsed)[chosen], self.weights_of(parsed, chosen))

    def median(self, metric: MetricLike) -> float:
        """Return the median over the queries with a value; NaN if all are NaN.

        Also NaN for a metric of the whole run, because no query has a value of its own.
        """
        parsed = Metric.parse(metric)
        return median_of(parsed.kind.of_each(self.values(parsed)), self.weights_of(parsed))

    @checked_arguments
    def interval(self, metric: MetricLike, level: float = 0.95) -> tuple[float, float]:
        """Return the two-sided confidence interval of the mean; NaN with fewer than two queries.

        Student's t. Weights and clusters of queries are taken into account (Taylor linearisation:
        Cochran, Sampling Techniques, 1977, section 6.3). For a metric whose mean is a quantile, see
        `quantile_interval_at`. For one value of the whole run, it is that of the delete-one-query
        jackknife.

        Raises:
            MetricError: the metric's mean is geometric, a median or a sum.
        """
        parsed, everything = Metric.parse(metric), range(len(self.query_ids))
        if parsed.quantile is not None:
            return self.quantile_interval_at(parsed, everything, level)
        aggregate = parsed.definition.aggregate
        if aggregate in ("geometric", "median", "sum"):
            raise MetricError(f"{parsed} has no interval here: its mean is {aggregate}")
        return self.differences_at(parsed, everything, self.values(parsed)).interval(level)

    @checked_arguments
    def quantile_interval_at(
        self, metric: Metric, places: Sequence[int], level: float = 0.95
    ) -> tuple[float, float]:
        """Return the interval of a quantile over the queries at some places of `query_ids`.

        It is that of order statistics. An end is infinite with too few queries for it; both are NaN
        with weights or clusters.
        """
        if self.weights is not None or self.clusters is not None:
            return math.nan, math.nan
        chosen = self.values(metric)[np.asarray(places, dtype=np.intp)]
        return quantile_interval(chosen, metric.quantile or 0.5, level)

    def design_effect(self, metric: MetricLike) -> float:
        """Return how many times the variance of the mean is that of independent queries.

        1 without clusters; NaN if all values are the same (Kish, Survey Sampling, 1965, section
        5.4).
        """
        values, clusters = self.values(metric), self.clusters
        if clusters is None:
            return 1.0
        kept = np.flatnonzero(~np.isnan(values))
        weights = self.weights_of(Metric.parse(metric), kept)
        alone, together = (
            Differences(*unit_means(values[kept], weights, units)).error
            for units in (None, clusters[kept])
        )
        return (together / alone) ** 2 if alone > 0 else math.nan

    def differences_at(
        self, metric: Metric, places: Sequence[int], values: FloatArray
    ) -> Differences:
        """Return how precisely the values at some places determine their mean.

        Args:
            metric: the metric, by whose weights they are averaged.
            places: the places of the queries in `query_ids`.
            values: a value for each query, ``[Q]``; NaN is left out.
        """
        own, clusters, weights = self._sample(metric, places, values)
        return Differences(*unit_means(own, weights, clusters), drawn_share=self.drawn_share)

    def _sample(self, metric: Metric, places: Sequence[int], values: FloatArray) -> Sample:
        """Return the values at some places without NaN, their units and weights."""
        chosen = np.asarray(places, dtype=np.intp)
        kept = chosen[~np.isnan(values[chosen])]
        clusters = None if self.clusters is None else self.clusters[kept]
        return values[kept], clusters, self.weights_of(metric, kept)

    def per_query(self, metric: MetricLike) -> pd.Series:
        """Return the value of each query, indexed by ``query_id``, named after the metric."""
        return self.table([metric])[str(Metric.parse(metric))]

    @checked_arguments
    def table(self, metrics: Iterable[MetricLike]) -> pd.DataFrame:
        """Return one row per query and one column per metric, indexed by ``query_id``.

        A metric of the whole run is NaN, because no query has a value of its own.
        """
        import pandas as pd

        index = pd.Index(self.query_ids, name="query_id")
        columns = {}
        for metric in map(Metric.parse, metrics):
            values = metric.kind.of_each(self.values(metric))
            columns[str(metric)] = pd.Series(values, index[: len(values)]).reindex(index)
        return pd.DataFrame(columns, index=index)

    @checked_arguments
    def by(self, attribute: str, metric: MetricLike) -> pd.DataFrame:
        """Return the mean of each slice, with its interval, indexed by the attribute's value.

        Columns: ``mean``; ``queries``, those with a value; ``low`` and ``high``, the 95% interval
        of the mean; ``p``, two-sided, of Welch's t-test of the slice against all other queries. p
        is not corrected for several slices, and NaN if a cluster has queries in the slice and
        outside it. Clusters and weights count; if the mean is a median or a sum, the last three are
        NaN.

        Raises:
            GoldenSetError: no query has this attribute.
        """
        import pandas as pd

        from pytest_rankcheck.statistics.two_samples import p_of_difference

        parsed = Metric.parse(metric)
        slices, values = self.slices(attribute), self.values(parsed)
        rows = []
        for ids in slices.values():
            places = self.places(ids)
            own = self._sample(parsed, places, values)
            low = high = p = math.nan
            if parsed.definition.is_mean_of_values:
                outside = np.setdiff1d(np.arange(len(values)), places).tolist()
                p = p_of_difference(self._sample(parsed, outside, values), own)
                low, high = self.differences_at(parsed, places, values).interval()
            rows.append((self.mean_at(parsed, places), len(own[0]), low, high, p))
        columns = ["mean", "queries", "low", "high", "p"]
        return pd.DataFrame(rows, columns=columns, index=pd.Index(list(slices), name=attribute))

    @checked_arguments
    def slices(self, attribute: str) -> Mapping[str, Sequence[str]]:
        """Return the ids of the queries that have each value of an attribute.

        The same as ``golden.slices(attribute)``; the queries of a log are its sessions.

        Raises:
            GoldenSetError: no query has this attribute.
        """
        return self.golden.slices(attribute)

    def places(self, query_ids: Iterable[str]) -> list[int]:
        """Return the index of each of some queries in `query_ids`, from 0."""
        return [self._place[query_id] for query_id in query_ids]

    def slice_places(self, attribute: str) -> Mapping[str, Sequence[int]]:
        """Return the `places` of each slice; empty if no query has the attribute."""
        if attribute not in self.golden.attributes:
            return {}
        return {value: self.places(ids) for value, ids in self.slices(attribute).items()}

    @property
    def computed(self) -> Sequence[Metric]:
        """The metrics that have been computed so far."""
        return tuple(self._values)

    @cached_property
    def _place(self) -> Mapping[str, int]:
        return {query_id: place for place, query_id in enumerate(self.query_ids)}


def attributes_of(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the attributes that ``by`` names: none, one or several."""
    if by is None:
        return ()
    return (by,) if isinstance(by, str) else tuple(by)
