"""Two answers to one query, before and after a change, and their similarity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

import numpy as np

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.run_evaluation import RunEvaluation
from pytest_rankcheck.evaluation.run_golden_join import join
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.similarity.rank_biased_overlap import rbo
from pytest_rankcheck.rankers.run import Run

__all__ = [
    "Compared",
    "ComparedAnswer",
    "ComparedAnswers",
    "MeasuredAnswers",
    "gain_of",
    "refuse_unjudged",
    "similarity_of",
    "values_by_query",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedAnswer:
    """A query, and its rankings before and after a change."""

    query: Query
    before: Sequence[str]
    """The documents ranked before the change, best first."""
    after: Sequence[str]
    """The documents ranked after the change, best first."""
    rbo: float
    """The rank-biased overlap of the two rankings, from 0 to 1."""
    value_before: float = math.nan
    """The metric before the change; NaN without judgments."""
    value_after: float = math.nan
    """The metric after the change, with the same judgments."""
    gain: float = math.nan
    """How much better the metric is after the change; positive is always better."""
    failure: Exception | None = None
    """The error that the ranker raised after the change, if any."""

    @property
    def is_wrong(self) -> bool:
        """Whether the answer after the change is wrong, whatever the limits are."""
        return self.failure is not None


Compared = TypeVar("Compared", bound=ComparedAnswer)


@dataclass(frozen=True)
class ComparedAnswers(Generic[Compared]):
    """The answers to several queries, before and after a change."""

    ranker: str
    name: str
    """The name of the change in messages."""
    trials: Sequence[Compared]
    """One for each change of each query."""

    @cached_property
    def by_query(self) -> Mapping[str, Sequence[Compared]]:
        """The trials of each query."""
        by_query: dict[str, list[Compared]] = {}
        for trial in self.trials:
            by_query.setdefault(trial.query.id, []).append(trial)
        return by_query

    @cached_property
    def counted(self) -> Mapping[str, Sequence[Compared]]:
        """What the limits on single queries apply to."""
        return self.by_query

    @property
    def mean_gain(self) -> float:
        """How much better the answers are after the change, as a mean over the queries."""
        return _mean(_mean(trial.gain for trial in trials) for trials in self.by_query.values())


@dataclass(frozen=True)
class MeasuredAnswers(ComparedAnswers[Compared]):
    """The answers to several queries, before and after a change, with the values of a metric."""

    metric: Metric
    p: float
    """The patience of RBO."""
    kind: ClassVar[str] = ""
    """The adjective for its queries in messages, with the space after it: ``"perturbed "``."""

    @property
    def range_of_metric(self) -> float:
        """The distance between the metric's lowest and highest possible values; may be infinite."""
        low, high = self.metric.definition.range
        return high - low

    @property
    def mean_rbo(self) -> float:
        """The mean RBO over the queries, where a query has the mean of its trials."""
        return _mean(_mean(trial.rbo for trial in trials) for trials in self.by_query.values())

    @property
    def judged(self) -> Mapping[str, Sequence[Compared]]:
        """The trials of the queries that have a value of the metric in all of them."""
        return {
            query_id: trials
            for query_id, trials in self.by_query.items()
            if not any(math.isnan(trial.gain) for trial in trials)
        }

    @property
    def means(self) -> tuple[float, float]:
        """The metric's mean over the judged queries, before and after the change."""
        judged = self.judged.values()
        before = np.array([trials[0].value_before for trials in judged])
        after = np.array([_mean(trial.value_after for trial in trials) for trials in judged])
        return self.metric.mean(before), self.metric.mean(after)

    @property
    def mean_gain(self) -> float:
        """How much better the metric's mean is after the change; NaN without judgments."""
        return gain_of(self.metric, *self.means)


def refuse_unjudged(golden: GoldenSet, result: MeasuredAnswers[Compared]) -> None:
    """Refuse a metric that cannot change, because no query or no ranked document is judged.

    Raises:
        ConfigurationError: no query is judged.
        RunError: no ranked document is judged in any of at least 5 queries.
    """
    if result.trials and not result.judged:
        raise ConfigurationError(
            f"{result.metric} cannot fall or rise on golden set '{quoted(golden.name)}': "
            f"no {result.kind}query is judged; judge some, or compare only rankings, with "
            "min_rbo=... of assert_invariant or assert_index_invariant"
        )
    rankings = {trial.query.id: trial.before for trial in result.trials}
    if rankings:
        run = Run.from_dict(rankings, name=result.ranker, duplicates="keep_places")
        judged = golden.subset(rankings)
        RunEvaluation(run, judged, Conventions(), join(run, judged)).refuse_unmet_ids()


def gain_of(metric: Metric, before: float, after: float) -> float:
    """Return how much better the second value of a metric is; positive is always better."""
    return after - before if metric.higher_is_better else before - after


def similarity_of(before: Iterable[str], after: Iterable[str], p: float) -> float:
    """Return the rank-biased overlap of two rankings; a repeated document counts once."""
    return rbo(tuple(dict.fromkeys(before)), tuple(dict.fromkeys(after)), p=p)


def values_by_query(run: Run, golden: GoldenSet, metric: Metric) -> dict[str, float]:
    """Return the metric's value for each judged query, including those with an empty ranking."""
    evaluation = RunEvaluation(run, golden, Conventions(), join(run, golden))
    values = zip(golden.query_ids, evaluation.values(metric).tolist(), strict=True)
    return {query_id: value for query_id, value in values if golden.grades(query_id)}


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else math.nan
