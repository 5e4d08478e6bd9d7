"""Two answers to one query, with and without a change, and how alike they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.run_evaluation import RunEvaluation
from pytest_rankcheck.evaluation.run_golden_join import join
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.run import Run

__all__ = ["Compared", "ComparedAnswer", "ComparedAnswers", "values_by_query"]


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


Compared = TypeVar("Compared", bound=ComparedAnswer)


@dataclass(frozen=True)
class ComparedAnswers(Generic[Compared]):
    """The answers to several queries, before and after a change."""

    ranker: str
    name: str
    """The name of the change in messages."""
    metric: Metric
    p: float
    """The patience of RBO."""
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
        """How much better the mean is after the change; NaN without judgments."""
        before, after = self.means
        return after - before if self.metric.higher_is_better else before - after


def values_by_query(run: Run, golden: GoldenSet, metric: Metric) -> dict[str, float]:
    """Return the metric's value of each judged query, including queries with an empty ranking."""
    evaluation = RunEvaluation(run, golden, Conventions(), join(run, golden))
    values = zip(golden.query_ids, evaluation.values(metric).tolist(), strict=True)
    return {query_id: value for query_id, value in values if golden.grades(query_id)}


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else math.nan
