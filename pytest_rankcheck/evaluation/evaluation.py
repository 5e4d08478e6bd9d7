"""The evaluation: what was measured, with its rankings and ties."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import (
    ConfigurationError,
    MetricError,
    RunError,
    quoted,
    warn_caller,
)
from pytest_rankcheck.evaluation.measured_source import Source
from pytest_rankcheck.evaluation.metric_checks import beyond_depth, cutoff_of
from pytest_rankcheck.evaluation.metric_values import MetricValues
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.rankers.ranking import TieOrder
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.statistics.run_noise import Averaged

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.unfit_runs import Gaps
    from pytest_rankcheck.golden.golden_set import GoldenSet


class Evaluation(MetricValues):
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
        super().__init__(source)
        self.name, self.depth, self.run = source.name, source.depth, source.run
        self.missing, self.unanswered = source.missing, source.unanswered
        self.failed, self.extra = source.failed, source.extra
        self.replicates, self.gaps = source.runs, source.gaps
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
            RunError: there are no parts, or not the expected ones; a query is in two parts; parts
                have another golden set, version or convention; or as in `evaluate`.
            ConfigurationError: ``parts`` contains something else.
        """
        some = list(parts)
        if not some:
            raise RunError(
                "there are no parts to merge; give those from evaluate_part(path, golden)"
            )
        foreign = [part for part in some if not hasattr(part, "merged")]
        if foreign:
            raise ConfigurationError(
                f"parts: {quoted(repr(foreign[0]), 60)} is not a part; make each part with "
                "evaluate_part(path, golden)"
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

    def values(self, metric: MetricLike) -> FloatArray:
        """Return the value of each query, as in `MetricValues`; warn once about `gaps`."""
        parsed = Metric.parse(metric)
        if parsed not in self._values:
            self.refuse_beyond_depth(parsed, cutoff_of(parsed))
        values = super().values(parsed)
        if self._warns_of_gaps and self.gaps:
            self._warns_of_gaps = False  # the means need these values
            means = self._means(parsed)
            if means:
                warn_caller(f"run '{quoted(self.name)}': {means}. {self.gaps.advice}")
            self._warns_of_gaps = not means
        return values

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
