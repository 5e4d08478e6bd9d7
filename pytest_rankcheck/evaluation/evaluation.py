"""The evaluation: the values of metrics with their means and slices, and the rankings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray, IntArray, PlaceArray
from pytest_rankcheck.errors import (
    ConfigurationError,
    MetricError,
    RunError,
    quoted,
    warn_caller,
)
from pytest_rankcheck.evaluation.measured_source import Source
from pytest_rankcheck.evaluation.metric_values import (
    beyond_depth,
    cutoff_of,
    warn_if_uninformative,
)
from pytest_rankcheck.metrics.averages import median_of
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.rankers.ranking import TieOrder
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.statistics.counts import quantile_interval
from pytest_rankcheck.statistics.mean_differences import UNSEEN_WEIGHTED_GAIN, Differences
from pytest_rankcheck.statistics.run_noise import Averaged
from pytest_rankcheck.statistics.sample_size import unit_means

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.evaluation.unfit_runs import Gaps
    from pytest_rankcheck.golden.golden_set import GoldenSet


MIN_QUERIES = 30
"""A slice with fewer queries is reported, not gated."""


class Evaluation:
    """A measurement: the values of metrics by query, and the rankings they come from.

    `evaluate` makes one from a run and a golden set, `evaluate_sessions` one from a session log.
    Everywhere, ``metric`` is a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.

    Args:
        source: what was measured.
    """

    run: Run | None
    """The run that was measured; None for a session log, a record, and a run in parts."""
    missing: Sequence[str]
    """The judged queries without a ranking; they count as empty rankings."""
    unanswered: Sequence[str]
    """The judged queries for which the ranker returned no document, or on which it failed."""
    failed: Mapping[str, str]
    """The judged queries on which the ranker failed, and why; they count as empty rankings."""
    extra: Sequence[str]
    """The ranked queries without judgments; they are not evaluated."""
    replicates: Sequence[Evaluation]
    """The evaluation of each run, if several replicates were measured."""
    gaps: Gaps | None
    """The queries without a judgment or a ranking; None without any."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.golden, self.conventions, self.kind = source.golden, source.conventions, source.kind
        self.name, self.depth, self.run = source.name, source.depth, source.run
        self.missing, self.unanswered = source.missing, source.unanswered
        self.failed, self.extra = source.failed, source.extra
        self.replicates, self.gaps = source.runs, source.gaps
        self._values: dict[Metric, FloatArray] = {}
        self._reordered: dict[TieOrder, Evaluation] = {}
        self._warns_of_gaps = False

    @staticmethod
    @checked_arguments
    def merge(
        parts: Iterable[Any],
        golden: GoldenSet,
        *,
        expected: int | Iterable[str] | None = None,
        name: str | None = None,
    ) -> Evaluation:
        """Merge parts of a run that were evaluated one by one into one evaluation.

        It is an evaluation like any other: gates, slices, baselines and reports accept it, and
        every metric has the same value, bit for bit, as for a run evaluated in one piece.

        Args:
            parts: the results of `evaluate_part` for each part of a run.
            golden: the golden set of the parts.
            expected: how many parts there must be, or the ids of the queries that they must
                contain; anything missing is an error.
            name: what messages and records call the run.

        Raises:
            RunError: the parts are not the expected ones; a query is in two parts; parts have
                another golden set, version or convention; or as in `evaluate`.
            ConfigurationError: there are no parts, or ``parts`` contains something else.
        """
        some = list(parts)
        foreign = [part for part in some if not hasattr(part, "merged")]
        if foreign or not some:
            raise ConfigurationError(
                f"parts={quoted((foreign or some)[:1], 60)}: give those that evaluate_part(path, "
                "golden) returns, at least one"
            )
        wanted = expected if expected is None or isinstance(expected, int) else list(expected)
        if wanted is not None and not wanted:
            raise ConfigurationError(
                "expected is empty, so nothing could be missing; give how many parts there must "
                "be, or the ids that they must have, such as golden.query_ids"
            )
        merged: Evaluation = some[0].merged(some, golden, wanted, name)
        return merged

    def warn_of_misfits(self) -> None:
        """Warn about documents that are hardly ever judged, and about equal runs."""
        if self.source.unmet_ids is not None:
            warn_caller("\n  ".join(self.source.unmet_ids.lines))
        self._warns_of_gaps = self.gaps is not None
        if self.source.identical:
            warn_caller(self.source.identical)

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
        the whole run, these are the pseudo-values of its jackknife, whose mean is its value. Warn
        once about `gaps`.

        Raises:
            MetricError: no such metric, it does not fit this golden set, or its cutoff is beyond
                the depth that was asked for.
        """
        parsed = Metric.parse(metric)
        if parsed not in self._values:
            self.refuse_beyond_depth(parsed, cutoff_of(parsed))
            self.source.warn_if_short(parsed)
            warn_if_uninformative(parsed, self.golden)
            values = self.source.values(parsed)
            values.flags.writeable = False
            self._values[parsed] = values
            if self._warns_of_gaps and self.gaps and (means := self._means(parsed)):
                self._warns_of_gaps = False
                warn_caller(f"run '{quoted(self.name)}': {means}. {self.gaps.advice}")
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

    def differences_at(
        self, metric: Metric, places: Sequence[int], values: FloatArray
    ) -> Differences:
        """Return how precisely the values at some places determine their mean.

        Args:
            metric: the metric, by whose weights they are averaged.
            places: the places of the queries in `query_ids`.
            values: a value for each query, ``[Q]``; NaN is left out.
        """
        chosen = np.asarray(places, dtype=np.intp)
        kept = chosen[~np.isnan(values[chosen])]
        clusters = None if self.clusters is None else self.clusters[kept]
        units = unit_means(values[kept], self.weights_of(metric, kept), clusters)
        return Differences(*units, drawn_share=self.drawn_share)

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
        of the mean. Clusters and weights count; if the mean is a median or a sum, the last two are
        NaN.

        Raises:
            GoldenSetError: no query has this attribute.
        """
        import pandas as pd

        parsed = Metric.parse(metric)
        slices, values = self.slices(attribute), self.values(parsed)
        rows = []
        for ids in slices.values():
            places = self.places(ids)
            count = np.count_nonzero(~np.isnan(values[places]))
            low = high = math.nan
            if parsed.definition.is_mean_of_values:
                low, high = self.differences_at(parsed, places, values).interval()
            rows.append((self.mean_at(parsed, places), count, low, high))
        columns = ["mean", "queries", "low", "high"]
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

    def _means(self, metric: Metric) -> str:
        """Return the means over all queries and over those without gaps; empty if equal."""
        if self.gaps is None:
            return ""
        places = metric.kind.of_each(np.asarray(self.gaps.others, dtype=np.intp))
        weights = self.weights_of(metric, places)
        mean, other = self.mean(metric), metric.mean(self.values(metric)[places], weights)
        if mean == other or math.isnan(other):
            return ""
        return f"{metric} {mean:.4f}; {other:.4f} {self.gaps.over}"

    def refuse_beyond_depth(self, what: object, k: int | None) -> None:
        """Refuse to look further down than was ranked: R@500 at depth 100 would be R@100.

        Args:
            what: what looks at the rankings, such as a metric; the message names it.
            k: how many documents of each ranking it looks at; None: all.

        Raises:
            MetricError: the rankings were cut above that rank; the message says how to rank deeper.
        """
        if self.depth is not None and k is not None and k > self.depth and self.source.is_cut:
            raise MetricError(beyond_depth(str(what), k, self.depth))

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes; None: to the end."""
        return self.source.known_depth

    @property
    def relevant_depth(self) -> int | None:
        """How far down `ranks` has the relevant documents; None: to the end."""
        return self.known_depth

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the documents ranked for a query, best first, down to `known_depth`."""
        return self.source.ranking(query_id)

    def tops(self, depth: int | None = None) -> Mapping[str, Sequence[str]]:
        """Return the first documents of each query's ranking, or all that are known."""
        return self.source.tops(depth)

    def read_rankings(self, k: int) -> None:
        """Make `ranking` go down to rank ``k`` at least, if the whole rankings can be read."""
        self.source.read_rankings(k)

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """Return the known rank of each document of a query, from 1."""
        return self.source.ranks(query_id)

    @property
    def of_rankings(self) -> Evaluation:
        """The evaluation whose rankings are known; with several runs, that of the first."""
        return next(iter(self.replicates), self)

    @property
    def recorded_metrics(self) -> Sequence[Metric] | None:
        """The only metrics that have values; None if every metric can be computed."""
        return self.source.recorded_metrics

    def refuse_unmet_ids(self) -> None:
        """Refuse a run in which no ranked document is judged.

        Raises:
            RunError: no ranked document is judged in any of at least 5 queries with a relevant
                judgment; the message shows ids of both sides, and a rule that makes them match.
        """
        unmet = self.source.unmet_ids
        if unmet is not None and unmet.is_error:
            raise RunError("\n  ".join(unmet.lines))

    @property
    def notes(self) -> Sequence[str]:
        """What was unusual when the data was read, as sentences."""
        return self.source.notes

    def averaged(self, metric: Metric, query_ids: Sequence[str] = (), label: str = "") -> Averaged:
        """Return the runs behind the mean over some queries, without those that `failed`."""
        return self.source.averaged(metric, query_ids, label)

    @checked_arguments
    def tied(self, k: int | None = 10) -> Sequence[str]:
        """Return the queries in which a judged document of the top k shares its score.

        Empty without scores. ``k=None`` means the whole ranking. A run that is still in its file is
        read into memory.

        Raises:
            MetricError: the evaluation was merged from parts, which do not keep scores.
        """
        return self.source.tied(k)

    @checked_arguments
    def with_ties(self, order: TieOrder) -> Evaluation:
        """Return the evaluation with tied documents in another order; itself without scores.

        ``"best"`` puts the highest grades first among documents with the same score, ``"worst"``
        puts them last. All other orders lie between the two if the metric never falls when a better
        document moves up.

        Raises:
            MetricError: the evaluation was merged from parts, which do not keep scores.
        """
        if order not in self._reordered:
            source = self.source.with_ties(order)
            self._reordered[order] = self if source is self.source else Evaluation(source)
        return self._reordered[order]

    def tie_range(self, metric: MetricLike) -> tuple[float, float]:
        """Return the lowest and the highest mean over the orders of tied documents."""
        if not self.tied(None):
            return self.mean(metric), self.mean(metric)
        best, worst = (self.with_ties(order).mean(metric) for order in ("best", "worst"))
        return min(best, worst), max(best, worst)

    def __repr__(self) -> str:
        shown = [f"of {self.source!r}"]
        if self.gaps and not self.computed:
            shown.append(self.gaps.advice)
        shown += filter(None, map(self._means, self.computed))
        return f"Evaluation({'; '.join(shown)})"


def attributes_of(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the attributes that ``by`` names: none, one or several."""
    if by is None:
        return ()
    return (by,) if isinstance(by, str) else tuple(by)
