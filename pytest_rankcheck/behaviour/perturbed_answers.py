"""The answers of a ranker to queries and to the same queries after a perturbation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.perturbations import Perturb, perturbation_named
from pytest_rankcheck.errors import ConfigurationError, plural, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.run_evaluation import RunEvaluation
from pytest_rankcheck.evaluation.run_golden_join import join
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.similarity.rank_biased_overlap import rbo
from pytest_rankcheck.rankers.callable_adapters import name_of, takes_queries
from pytest_rankcheck.rankers.run import Run

__all__ = ["PerturbationResult", "PerturbedQuery", "perturbed_answers"]


@dataclass(frozen=True, slots=True)
class PerturbedQuery:
    """A query and a perturbed text of it, with the rankings for both."""

    query: Query
    text: str
    """The perturbed text."""
    before: Sequence[str]
    """The documents ranked for the original text, best first."""
    after: Sequence[str]
    """The documents ranked for the perturbed text, best first."""
    rbo: float
    """The rank-biased overlap of the two rankings, from 0 to 1."""
    value_before: float = math.nan
    """The metric for the original text; NaN without judgments."""
    value_after: float = math.nan
    """The metric for the perturbed text, with the same judgments."""
    gain: float = math.nan
    """How much better the metric is for the perturbed text; positive is always better."""
    failure: Exception | None = None
    """The error that the ranker raised for the perturbed text, if any."""


@dataclass(frozen=True)
class PerturbationResult:
    """The answers to all perturbed queries of a golden set."""

    ranker: str
    name: str
    """The name of the perturbation in messages."""
    metric: Metric
    p: float
    """The patience of RBO."""
    trials: Sequence[PerturbedQuery]
    """One for each perturbed text of each query."""
    unchanged: Sequence[str]
    """The queries whose text the perturbation does not change."""
    without_text: Sequence[str]
    """The queries without a text."""

    @cached_property
    def by_query(self) -> Mapping[str, Sequence[PerturbedQuery]]:
        """The trials of each query."""
        by_query: dict[str, list[PerturbedQuery]] = {}
        for trial in self.trials:
            by_query.setdefault(trial.query.id, []).append(trial)
        return by_query

    @property
    def mean_rbo(self) -> float:
        """The mean RBO over the queries, where a query has the mean of its trials."""
        return _mean(_mean(trial.rbo for trial in trials) for trials in self.by_query.values())

    @property
    def judged(self) -> Mapping[str, Sequence[PerturbedQuery]]:
        """The trials of the queries that have a value of the metric for all texts."""
        return {
            query_id: trials
            for query_id, trials in self.by_query.items()
            if not any(math.isnan(trial.gain) for trial in trials)
        }

    @property
    def means(self) -> tuple[float, float]:
        """The metric's mean over the judged queries, with original and with perturbed texts."""
        judged = self.judged.values()
        before = np.array([trials[0].value_before for trials in judged])
        after = np.array([_mean(trial.value_after for trial in trials) for trials in judged])
        return self.metric.mean(before), self.metric.mean(after)

    @property
    def mean_gain(self) -> float:
        """How much better the mean is after the perturbation; NaN without judgments."""
        before, after = self.means
        return after - before if self.metric.higher_is_better else before - after


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
    """Ask for the queries that a perturbation changes, with original and perturbed texts.

    Raises:
        ConfigurationError: the perturbation is unknown, does not return a text, or changes fewer
            than ``min_queries`` queries.
        RankerError: the ranker fails on an original query.
        RunError: every ranking is empty.
    """
    __tracebackhide__ = True
    if isinstance(min_queries, bool) or not isinstance(min_queries, int) or min_queries < 0:
        raise ConfigurationError(
            f"min_queries={quoted(min_queries)} is invalid; give a whole number from 0 on"
        )
    name, perturb = _perturbation(perturbation, seed)
    texts = {query.id: _texts(perturb, query, name) for query in golden if query.text is not None}
    changed = {query_id: others for query_id, others in texts.items() if others}
    if len(changed) < min_queries:
        raise ConfigurationError(
            f"perturbation '{quoted(name)}' changes {len(changed):,} of "
            f"{plural(len(golden), 'query', 'queries')} of golden set '{quoted(golden.name)}', "
            f"fewer than {min_queries:,}, which is too few to check; use another perturbation, or "
            "lower min_queries"
        )
    trials = _trials(ranker, golden, changed, metric, p) if changed else []
    return PerturbationResult(
        ranker.adapter.name,
        name,
        metric,
        p,
        trials,
        tuple(query_id for query_id, others in texts.items() if not others),
        tuple(query.id for query in golden if query.text is None),
    )


def _perturbation(perturbation: object, seed: int) -> tuple[str, Callable[[Query], object]]:
    """Return the name of a perturbation in messages, and the function that applies it."""
    if isinstance(perturbation, str):
        built_in = perturbation_named(perturbation)
        name = f"{perturbation}, seed {seed}" if built_in.takes_seed else perturbation
        return name, lambda query: built_in(str(query.text), seed)
    if not callable(perturbation):
        raise ConfigurationError(
            f"perturbation={quoted(repr(perturbation), 60)} is invalid; give the name of a "
            "perturbation, or a function that takes a text and returns another"
        )
    if takes_queries(perturbation):
        return name_of(perturbation), perturbation
    return name_of(perturbation), lambda query: perturbation(query.text)


def _texts(perturb: Callable[[Query], object], query: Query, name: str) -> list[str]:
    """Return the perturbed texts of a query, without duplicates and its own text.

    Raises:
        ConfigurationError: the perturbation raises an error, or returns something else than texts.
    """
    try:
        made = perturb(query)
        is_one = isinstance(made, (str, bytes, Mapping)) or not isinstance(made, Iterable)
        others = [made] if is_one else list(made)  # type: ignore[call-overload]
    except Exception as error:
        raise ConfigurationError(
            f"perturbation '{quoted(name)}' failed on query '{quoted(query.id)}' "
            f'"{quoted(query.text)}": {type(error).__name__}: {quoted(error, 300)}'
        ) from error
    for other in others:
        if not isinstance(other, str):
            raise ConfigurationError(
                f"perturbation '{quoted(name)}' returned {quoted(repr(other), 60)} for query "
                f"'{quoted(query.id)}' \"{quoted(query.text)}\"; it must return a text, or a list "
                "of texts"
            )
    return [other for other in dict.fromkeys(others) if other != query.text]


def _trials(
    ranker: RepeatedRanker,
    golden: GoldenSet,
    changed: Mapping[str, Sequence[str]],
    metric: Metric,
    p: float,
) -> list[PerturbedQuery]:
    """Ask for the original queries, then for the first text of each, the second of each, ..."""
    run = ranker.first_run(golden.subset(changed))
    before = _values(run, golden, metric)
    trials: dict[str, list[PerturbedQuery]] = {query_id: [] for query_id in changed}
    for turn in range(max(map(len, changed.values()))):
        texts = {
            query_id: others[turn] for query_id, others in changed.items() if turn < len(others)
        }
        attempt = ranker.rerun(golden.reworded(texts))
        after = _values(attempt.run, golden, metric)
        for query_id, text in texts.items():
            rankings = run.get(query_id), attempt.run.get(query_id)
            values = before.get(query_id, math.nan), after.get(query_id, math.nan)
            rise = values[1] - values[0]
            trials[query_id].append(
                PerturbedQuery(
                    golden.query(query_id),
                    text,
                    *rankings,
                    rbo(*map(tuple, map(dict.fromkeys, rankings)), p=p),
                    *values,
                    rise if metric.higher_is_better else -rise,
                    attempt.failures.get(query_id),
                )
            )
    return [trial for query_trials in trials.values() for trial in query_trials]


def _values(run: Run, golden: GoldenSet, metric: Metric) -> dict[str, float]:
    """Return the metric's value of each judged query, including queries with an empty ranking."""
    evaluation = RunEvaluation(run, golden, Conventions(), join(run, golden))
    values = zip(golden.query_ids, evaluation.values(metric).tolist(), strict=True)
    return {query_id: value for query_id, value in values if golden.grades(query_id)}


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else math.nan
