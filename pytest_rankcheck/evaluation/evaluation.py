"""The evaluation: a run measured on a golden set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.query_planning import POWERS, plan_of, spread_of
from pytest_rankcheck.errors import ConfigurationError, MetricError, RunError, listed, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.ir_measures_values import foreign_values
from pytest_rankcheck.evaluation.metric_values import MetricValues
from pytest_rankcheck.evaluation.run_golden_join import Joined, join, judged_hits
from pytest_rankcheck.evaluation.tied_scores import TieOrder, reordered, tied_queries
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.metrics.whole_run import WholeRun
from pytest_rankcheck.rankers.query_hits import TOP
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.reports.notebook import evaluation_html
from pytest_rankcheck.resolution.metric_resolution import (
    Resolution,
    Sample,
    refuse_unseen,
    resolution_of,
)
from pytest_rankcheck.resolution.resolution_table import Resolutions, agreement_of, ndcg_would_see
from pytest_rankcheck.statistics.array_types import BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Evaluation", "evaluate"]


def evaluate(
    run: Run,
    golden: GoldenSet,
    *,
    conventions: Conventions | None = None,
) -> Evaluation:
    """Measure ``run`` on ``golden``. Lazy: a metric is computed when it is asked for.

    Args:
        run: the rankings.
        golden: the judged queries.
        conventions: what a missing query, an extra query and a query without a relevant document
            count as; without them, trec_eval's. ``ties`` and ``duplicates`` were applied when the
            run was made, and so are always the run's.

    Raises:
        RunError: every ranking of a judged query is empty, which means a broken ranker and not a
            bad one; or a query is missing or extra and the conventions make that an error.
        ConfigurationError: ``conventions`` names ties or duplicates that are not the run's.
    """
    chosen = _conventions_for(run, conventions or Conventions())
    evaluation = Evaluation(run, golden, chosen, join(run, golden))
    evaluation._refuse_nothing()
    for convention, query_ids, problem in (
        (chosen.missing, evaluation.missing, "lacks judged queries"),
        (chosen.extra, evaluation.extra, "has queries without judgments"),
    ):
        if convention == "error" and query_ids:
            raise RunError(
                f"run '{quoted(run.name)}' {problem} of golden set '{quoted(golden.name)}', "
                f"{len(query_ids):,}: {listed(query_ids)}; fix the run, or use the conventions "
                "missing='empty' and extra='ignore'"
            )
    return evaluation


def _conventions_for(run: Run, chosen: Conventions) -> Conventions:
    """Return the chosen conventions with the ties and duplicates by which the run was made.

    Raises:
        ConfigurationError: other ties or duplicates than the run's were asked for.
    """
    for name in ("ties", "duplicates"):
        of_run, of_choice = getattr(run, name), getattr(chosen, name)
        if of_choice not in (of_run, getattr(Conventions(), name)):
            raise ConfigurationError(
                f"{name}={of_choice} does not fit run '{quoted(run.name)}', which was made with "
                f"{name}={of_run}; make the run with {name}={of_choice!r}"
            )
    return replace(chosen, ties=run.ties, duplicates=run.duplicates)


class Evaluation(MetricValues):
    """The values of metrics on every judged query, computed as they are asked for.

    Everywhere, ``metric`` is a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.
    """

    def __init__(
        self, run: Run, golden: GoldenSet, conventions: Conventions, joined: Joined
    ) -> None:
        super().__init__(golden, conventions)
        self.run = run
        self._joined = joined
        self._tied: dict[int | None, Sequence[str]] = {}
        self._reordered: dict[TieOrder, Evaluation] = {}
        self._resolutions: dict[tuple[Metric, int | None], Resolution] = {}

    @property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each query's text and judgments."""
        return self.golden.query_fingerprints

    @cached_property
    def missing(self) -> Sequence[str]:
        """The judged queries that the run lacks; they count as empty rankings."""
        found = self._joined.found
        return tuple(query_id for query_id in self.query_ids if query_id not in found)

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the values must know of how the data was read, in words."""
        return ()

    @property
    def extra(self) -> Sequence[str]:
        """The queries of the run that have no judgments; they are not evaluated."""
        return self._joined.extra

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes; None: all the way."""
        return None if self.run.is_in_memory else TOP

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the documents ranked for a query, best first; none if the run lacks it.

        Of a run that was only scanned, the top of the ranking.
        """
        if self.run.is_in_memory:
            return self.run.ranking(query_id)
        found = self._joined.found.get(query_id)
        return tuple(found.top) if found else ()

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """Return the rank of each document of `ranking`, and of every judged one."""
        ranks = {doc_id: rank for rank, doc_id in enumerate(self.ranking(query_id), start=1)}
        found = self._joined.found.get(query_id)
        if found and not self.run.is_in_memory:
            ranks.update(zip(found.doc_ids, found.ranks, strict=True))
        return ranks

    def _computed(self, metric: Metric) -> FloatArray:
        if metric.definition.foreign:
            return foreign_values(metric.definition.foreign, self.run, self.golden)
        if metric.unit == "run":
            return metric.compute(self._whole_run(metric))
        return np.concatenate([metric.compute(hits) for hits in self._hits])

    def _whole_run(self, metric: Metric) -> WholeRun:
        """Return the top of all rankings, as far down as a metric of the whole run looks."""
        known = self.known_depth
        if known is not None and (metric.cutoff or known + 1) > known and metric.definition.at:
            raise MetricError(
                f"{metric} needs whole rankings, and of a run in a file that is not read only the "
                f"first {known} documents are known; take a cutoff of at most {known}, or read the "
                "run: Run.from_frame(run.to_frame())"
            )
        found = self._joined.found
        return WholeRun.of(
            [self.ranking(query_id)[: metric.cutoff] for query_id in self.query_ids],
            [found[query_id].retrieved if query_id in found else 0 for query_id in self.query_ids],
        )

    def tied(self, k: int | None = 10) -> Sequence[str]:
        """Return the queries where a judged document of the top k has the score of another.

        None of a ranker that gives no scores, nor of a run in a file that is not read. ``k=None``
        means the whole ranking.
        """
        if k not in self._tied:
            self._tied[k] = tied_queries(self.run, self.golden, k)
        return self._tied[k]

    def with_ties(self, order: TieOrder) -> Evaluation:
        """Return the evaluation of the run with its tied documents in another order.

        ``"best"`` has the highest grades first among the documents of one score, ``"worst"`` has
        them last. Between the two are all orders, for a metric that a better document higher up
        never lowers.
        """
        if order not in self._reordered:
            self._reordered[order] = self._alike(reordered(self.run, self.golden, order))
        return self._reordered[order]

    def tie_range(self, metric: MetricLike) -> tuple[float, float]:
        """Return the least and the greatest mean over the orders of tied documents."""
        if not self.tied(None):
            return self.mean(metric), self.mean(metric)
        one, other = (self.with_ties(order).mean(metric) for order in ("best", "worst"))
        return min(one, other), max(one, other)

    def plan(
        self,
        metric: MetricLike,
        margin: float | Sequence[float],
        other: Measured | None = None,
        *,
        powers: Sequence[float] = POWERS,
        alpha: float = 0.05,
    ) -> pd.DataFrame:
        """Return how many queries would show a fall: a row a margin, a column a power.

        One-sided paired t-test, by the noncentral t distribution (Cohen 1988; Sakai 2018).

        Args:
            metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.
            margin: the fall that would matter, or several.
            other: another evaluation or a baseline record, from which it is learnt how much the
                differences of queries vary. Without one, they are taken to vary as much as the
                values do; ``attrs["source"]`` says what was done.
            powers: how often the fall is to be seen.
            alpha: how often an innocent change may be blocked.

        Raises:
            ConfigurationError: a margin, a power or the level is not possible.
            MetricError: no such metric, or its values do not vary.
        """
        from pytest_rankcheck.comparison.comparison import compare

        parsed = Metric.parse(metric)
        gains = None if other is None else compare(self, other).paired(parsed).gains
        spread = spread_of(self.values(parsed), gains)
        return plan_of(parsed, spread, margin, powers, alpha).to_frame()

    @property
    def can_swap(self) -> bool:
        """Whether it is known where all judged documents stand, so that `resolution` can tell."""
        return True

    def resolution(self, metric: MetricLike, *, depth: int | None = None) -> Resolution:
        """Return what a metric can see of this run: which swaps, which steps, at which ends.

        Args:
            metric: a name such as ``"nDCG@10"`` or a ``Metric``.
            depth: try the swaps at rank 1 to ``depth``; without it, those of whole rankings.

        Raises:
            MetricError: the metric is one of sessions or of ir_measures, or does not fit.
            RunError: the rankings are not known, only their values.
        """
        parsed = Metric.parse(metric)
        refuse_unseen(parsed)
        if (parsed, depth) not in self._resolutions:
            sample = self._sample(depth)
            self._resolutions[parsed, depth] = resolution_of(parsed, sample, self.values(parsed))
        return self._resolutions[parsed, depth]

    def resolutions(
        self, metrics: Iterable[MetricLike], *, depth: int | None = None
    ) -> Resolutions:
        """Return what metrics can see of this run, how alike they are, and which to gate.

        Raises:
            MetricError: as in `resolution`.
            RunError: as in `resolution`.
        """
        chosen = list(dict.fromkeys(map(Metric.parse, metrics)))
        found = tuple(self.resolution(metric, depth=depth) for metric in chosen)
        tau = agreement_of(chosen, [self.values(metric) for metric in chosen])
        return Resolutions(found, tau, ndcg_would_see(found, self._sample(depth)))

    def _sample(self, depth: int | None) -> Sample:
        if depth is not None and depth < 1:
            raise ConfigurationError(f"depth={quoted(depth)}: a depth is a number of at least 1")
        if not self.can_swap:
            raise RunError(
                f"{quoted(self.run.name)} has no resolution on golden set "
                f"'{quoted(self.golden.name)}': it has values and the tops of rankings, not where "
                "all judged documents stand; measure the run itself"
            )
        excludes = self.conventions.no_relevant == "exclude"
        counted = self._has_relevant if excludes else np.ones(len(self.query_ids), dtype=np.bool_)
        return Sample(self._hits, counted, self.weights, depth)

    def _alike(self, run: Run) -> Evaluation:
        """Return the evaluation of another run, measured by the same conventions."""
        conventions = replace(self.conventions, ties=run.ties, duplicates=run.duplicates)
        return evaluate(run, self.golden, conventions=conventions)

    @cached_property
    def repeats(self) -> Sequence[Evaluation]:
        """The evaluations of the run's repeats (``--rankcheck-repeat``), measured alike."""
        return tuple(map(self._alike, self.run.repeats))

    def noise(self, metric: MetricLike) -> float:
        """Return the standard deviation of the mean from run to run; NaN without repeats."""
        if not self.repeats:
            return math.nan
        means = [evaluation.mean(metric) for evaluation in (self, *self.repeats)]
        return float(np.std(means, ddof=1))

    @cached_property
    def unstable(self) -> Sequence[str]:
        """The queries whose ranking differs between the run and its repeats."""
        return tuple(
            query_id
            for query_id in self.query_ids
            if any(other.ranking(query_id) != self.ranking(query_id) for other in self.repeats)
        )

    def _refuse_nothing(self) -> None:
        """Refuse a run that ranks no document for any judged query."""
        found = self._joined.found
        if any(query.retrieved for query in found.values()):
            return
        why = "every ranking is empty: the ranker is broken, not bad"
        if not found:
            why = (
                f"they share no query: the run has {listed(self.extra, 3) or 'none'}, the golden "
                f"set {listed(self.query_ids, 3)}; are the ids of the same kind?"
            )
        raise RunError(
            f"run '{quoted(self.run.name)}' cannot be measured on golden set "
            f"'{quoted(self.golden.name)}': {why}"
        )

    @cached_property
    def _hits(self) -> tuple[JudgedHits, ...]:
        return tuple(judged_hits(self._joined, self.golden))

    @cached_property
    def _has_relevant(self) -> BoolArray:
        return np.concatenate([(hits.ideal > 0).any(axis=1) for hits in self._hits])

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        return evaluation_html(self, self.computed)

    def __repr__(self) -> str:
        return f"Evaluation(of {self.run!r} on {self.golden!r})"
