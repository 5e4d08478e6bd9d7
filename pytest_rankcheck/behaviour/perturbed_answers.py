"""The answers of a ranker to queries and to perturbed ones, and limits on how they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

import numpy as np

from pytest_rankcheck.argument_checks import check_limits, check_whole_number
from pytest_rankcheck.behaviour.changed_queries import (
    ChangedQueries,
    Perturb,
    changed_attributes,
    changed_queries,
)
from pytest_rankcheck.behaviour.repeated_ranker import RepeatedRanker
from pytest_rankcheck.errors import ConfigurationError, listed, plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.ranked_run import ranked_run
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.ranking_similarity import rbo
from pytest_rankcheck.rankers.adapter_protocol import Adapter
from pytest_rankcheck.rankers.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedQuery:
    """A query, the same query after a perturbation, and the rankings for both."""

    query: Query
    perturbed: Query
    """The query after the perturbation, with another text or other attributes."""
    before: Sequence[str]
    """The documents ranked for the query as it is, best first."""
    after: Sequence[str]
    """The documents ranked for the perturbed query, best first."""
    rbo: float
    """The rank-biased overlap of the two rankings, from 0 to 1."""
    value_before: float = math.nan
    """The metric of the query as it is; NaN without judgments."""
    value_after: float = math.nan
    """The metric of the perturbed query, with the same judgments."""
    gain: float = math.nan
    """How much better the metric of the perturbed query is; positive is always better."""
    failure: Exception | None = None
    """The error that the ranker raised on the perturbed query, if any."""

    @property
    def changed_attributes(self) -> Mapping[str, tuple[object, object]]:
        """The attributes that the perturbation changes, with their values before and after."""
        return changed_attributes(self.query, self.perturbed)


ByQuery = Mapping[str, Sequence[PerturbedQuery]]


@dataclass(frozen=True)
class PerturbationResult:
    """The answers to all perturbed queries of a golden set."""

    ranker: str
    queries: ChangedQueries
    trials: Sequence[PerturbedQuery]
    """One for each variant of each query."""
    metric: Metric
    p: float
    """The patience of RBO."""

    @cached_property
    def by_query(self) -> ByQuery:
        """The trials of each query."""
        by_query: dict[str, list[PerturbedQuery]] = {}
        for trial in self.trials:
            by_query.setdefault(trial.query.id, []).append(trial)
        return by_query

    @property
    def mean_rbo(self) -> float:
        """The mean RBO over the queries, where a query has the mean of its trials."""
        each = [fmean(trial.rbo for trial in trials) for trials in self.by_query.values()]
        return fmean(each) if each else math.nan

    @property
    def judged(self) -> ByQuery:
        """The trials of the queries that have a value of the metric in all of them."""
        return {
            query_id: trials
            for query_id, trials in self.by_query.items()
            if not any(math.isnan(trial.gain) for trial in trials)
        }

    @property
    def means(self) -> tuple[float, float]:
        """The metric's mean over the judged queries, as they are and perturbed."""
        judged = self.judged.values()
        before = np.array([trials[0].value_before for trials in judged])
        after = np.array([fmean(trial.value_after for trial in trials) for trials in judged])
        return self.metric.mean(before), self.metric.mean(after)

    @property
    def mean_gain(self) -> float:
        """How much better the metric's mean is for perturbed queries; NaN without judgments."""
        return self.metric.gain(*self.means)

    def refuse_unjudged(self, golden: GoldenSet) -> None:
        """Refuse a metric that cannot change, because no query or no ranked document is judged.

        Raises:
            ConfigurationError: no query is judged.
            RunError: no ranked document is judged in any of at least 5 queries.
        """
        if self.trials and not self.judged:
            raise ConfigurationError(
                f"{self.metric} cannot fall or rise on golden set '{quoted(golden.name)}': "
                "no perturbed query is judged; judge some, or compare only rankings, with "
                "min_rbo=... of assert_invariant"
            )
        rankings = {trial.query.id: trial.before for trial in self.trials}
        if rankings and not golden.by_text:  # the texts of the documents are not kept
            run = Run.from_dict(rankings, name=self.ranker, duplicates="keep_places")
            judged = golden.subset(rankings)
            Evaluation(ranked_run(run, judged)).refuse_unmet_ids()


def perturbed_answers(
    ranker: RepeatedRanker,
    golden: GoldenSet,
    perturbation: str | Perturb,
    metric: Metric,
    *,
    p: float,
    seed: int,
    min_queries: int,
) -> PerturbationResult:
    """Ask the queries that a perturbation changes, both as they are and perturbed.

    Raises:
        ConfigurationError: the perturbation is invalid, changes fewer than ``min_queries`` queries,
            or changes only attributes that the ranker does not receive.
        RankerError: the ranker fails on an original query.
        RunError: every ranking is empty.
    """
    check_whole_number("min_queries", min_queries, 0, ConfigurationError)
    queries = changed_queries(golden, perturbation, seed)
    if len(queries.changed) < min_queries:
        raise ConfigurationError(
            f"perturbation '{quoted(queries.name)}' changes {len(queries.changed):,} of "
            f"{plural(len(golden), 'query', 'queries')} of golden set '{quoted(golden.name)}', "
            f"fewer than {min_queries:,}, which is too few to check; use another perturbation, or "
            "lower min_queries"
        )
    _refuse_unseen(ranker.adapter, golden, queries)
    trials = _trials(ranker, golden, queries.changed, metric, p) if queries.changed else []
    return PerturbationResult(ranker.adapter.name, queries, trials, metric, p)


def _refuse_unseen(adapter: Adapter, golden: GoldenSet, queries: ChangedQueries) -> None:
    """Refuse changes that the ranker cannot see, because the check could not fail.

    Raises:
        ConfigurationError: for some query, only attributes change that the ranker does not
            receive.
    """
    for query_id, others in queries.changed.items():
        before = golden.query(query_id)
        for other in others:
            attributes = list(changed_attributes(before, other))
            if other.text == before.text and not any(map(adapter.sees, attributes)):
                raise ConfigurationError(
                    f"perturbation '{quoted(queries.name)}' changes {listed(attributes)} of query "
                    f"'{quoted(query_id)}', but ranker '{quoted(adapter.name)}' does not receive "
                    "this, so the check could not fail. Pass it the query: annotate its first "
                    "parameter as Query (http: write {attributes.NAME}; model: add the attribute "
                    "to features)"
                )


def _trials(
    ranker: RepeatedRanker,
    golden: GoldenSet,
    changed: Mapping[str, Sequence[Query]],
    metric: Metric,
    p: float,
) -> list[PerturbedQuery]:
    """Ask the original queries, then the first variant of each, the second of each, ..."""
    run = ranker.first_run(golden.subset(changed))
    before = _values(run, golden, metric)
    trials: dict[str, list[PerturbedQuery]] = {query_id: [] for query_id in changed}
    for turn in range(max(map(len, changed.values()))):
        variants = {
            query_id: others[turn] for query_id, others in changed.items() if turn < len(others)
        }
        attempt = ranker.rerun(reworded(golden, variants))
        after = _values(attempt.run, golden, metric)
        for query_id, perturbed in variants.items():
            rankings = run.get(query_id), attempt.run.get(query_id)
            values = before.get(query_id, math.nan), after.get(query_id, math.nan)
            trial = PerturbedQuery(
                query=golden.query(query_id),
                perturbed=perturbed,
                before=rankings[0],
                after=rankings[1],
                # A repeated document counts once.
                rbo=rbo(*(tuple(dict.fromkeys(ranking)) for ranking in rankings), p=p),
                value_before=values[0],
                value_after=values[1],
                gain=metric.gain(*values),
                failure=attempt.failures.get(query_id),
            )
            trials[query_id].append(trial)
    return [trial for query_trials in trials.values() for trial in query_trials]


def reworded(golden: GoldenSet, queries: Mapping[str, Query]) -> GoldenSet:
    """Return queries with new texts or attributes, by their ids, and unchanged judgments."""
    part = golden.subset(queries)
    named = {query_id: replace(query, id=query_id) for query_id, query in queries.items()}
    return GoldenSet(replace(part.contents, queries=named), golden.name)


def _values(run: Run, golden: GoldenSet, metric: Metric) -> dict[str, float]:
    """Return the metric's value for each judged query, including those with an empty ranking."""
    evaluation = Evaluation(ranked_run(run, golden))
    values = zip(golden.query_ids, evaluation.values(metric).tolist(), strict=True)
    return {query_id: value for query_id, value in values if golden.grades(query_id)}


# --- limits ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InvarianceLimits:
    """The limits of an invariance check; None means no limit.

    Raises:
        ConfigurationError: a limit is invalid.
    """

    min_rbo: float | None = None
    """The lowest allowed RBO of any query; 1 means that no ranking may change."""
    min_mean_rbo: float | None = None
    max_drop: float | None = None
    """The largest allowed fall of the metric of any query."""
    max_mean_drop: float | None = None
    allowed_queries: int = 0
    """How many queries may exceed the limits for single queries."""

    def __post_init__(self) -> None:
        check_limits(self)

    @property
    def on_metric(self) -> bool:
        """Whether the metric is limited."""
        return self.max_drop is not None or self.max_mean_drop is not None

    def refuse_never_failing(self, result: PerturbationResult) -> None:
        """Refuse limits that the answers cannot exceed, whatever they are.

        Raises:
            ConfigurationError: naming what allows too much.
        """
        queries, allowed = len(result.by_query), self.allowed_queries
        if queries and allowed >= queries:
            where = plural(queries, "checked query", "checked queries")
            raise ConfigurationError(
                f"allowed_queries={allowed} can never fail on {where}; give a smaller number"
            )
        low, high = result.metric.definition.range
        drops = {"max_drop": self.max_drop, "max_mean_drop": self.max_mean_drop}
        for name, drop in drops.items():
            if drop is not None and drop + SLACK >= high - low:
                raise ConfigurationError(
                    f"{name}={drop:g} can never fail: {result.metric} cannot change by more than "
                    f"{high - low:g}; give a smaller number"
                )

    def is_unlike(self, trial: PerturbedQuery) -> bool:
        """Whether the two rankings are less similar than allowed."""
        if self.min_rbo is None:
            return False
        # A change far down the ranking is smaller than the slack, so compare the rankings directly.
        must_be_same = self.min_rbo >= 1 and trial.before != trial.after
        return must_be_same or trial.rbo < self.min_rbo - SLACK

    def is_drop(self, trial: PerturbedQuery) -> bool:
        """Whether the metric falls by more than allowed."""
        return self.max_drop is not None and -trial.gain > self.max_drop + SLACK

    def beyond(self, result: PerturbationResult) -> ByQuery:
        """Return the queries with trials that exceed a limit, or on which the ranker fails."""
        exceeding: dict[str, list[PerturbedQuery]] = {}
        for query_id, trials in result.by_query.items():
            for trial in trials:
                if trial.failure is not None or self.is_unlike(trial) or self.is_drop(trial):
                    exceeding.setdefault(query_id, []).append(trial)
        return exceeding

    def mean_is_unlike(self, result: PerturbationResult) -> bool:
        """Whether the mean RBO is below its limit."""
        if self.min_mean_rbo is None:
            return False
        return result.mean_rbo < self.min_mean_rbo - SLACK

    def mean_is_drop(self, result: PerturbationResult) -> bool:
        """Whether the mean of the metric falls by more than allowed."""
        if self.max_mean_drop is None:
            return False
        return -result.mean_gain > self.max_mean_drop + SLACK

    def fails(self, result: PerturbationResult) -> bool:
        """Whether any limit is exceeded; an error of the ranker always fails."""
        return (
            any(trial.failure for trial in result.trials)
            or len(self.beyond(result)) > self.allowed_queries
            or self.mean_is_unlike(result)
            or self.mean_is_drop(result)
        )

    def severity(self, trial: PerturbedQuery) -> float:
        """Return how bad a trial is, judged by what is limited."""
        if trial.failure is not None:
            return math.inf
        severity = 0.0
        if self.min_rbo is not None or self.min_mean_rbo is not None:
            severity += 1 - trial.rbo
        if self.on_metric and not math.isnan(trial.gain):
            severity -= trial.gain
        return severity
