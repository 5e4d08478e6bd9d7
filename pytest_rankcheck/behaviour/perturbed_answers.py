"""What a ranker answers to queries as they are, and to the same queries perturbed."""

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
    """A query as it is and with another text, and what was answered to both."""

    query: Query
    text: str
    """What the query became."""
    before: Sequence[str]
    """The documents ranked for the query as it is, best first."""
    after: Sequence[str]
    """The documents ranked for the other text."""
    rbo: float
    """The rank-biased overlap of the two."""
    value_before: float = math.nan
    """The metric of the query as it is; NaN where nothing is judged."""
    value_after: float = math.nan
    """The metric with the other text, by the same judgments."""
    gain: float = math.nan
    """How much better it is with the other text, whichever direction the metric has."""
    failure: Exception | None = None
    """What the ranker raised, where it did."""


@dataclass(frozen=True)
class PerturbationResult:
    """What was answered to all queries of a golden set, perturbed."""

    ranker: str
    name: str
    """What messages call the perturbation."""
    metric: Metric
    p: float
    """The patience of RBO."""
    trials: Sequence[PerturbedQuery]
    """One for each text that a query became."""
    unchanged: Sequence[str]
    """The queries whose text stays as it is."""
    without_text: Sequence[str]
    """The queries that have none."""

    @cached_property
    def by_query(self) -> Mapping[str, Sequence[PerturbedQuery]]:
        """The trials of each query."""
        found: dict[str, list[PerturbedQuery]] = {}
        for trial in self.trials:
            found.setdefault(trial.query.id, []).append(trial)
        return found

    @property
    def mean_rbo(self) -> float:
        """The mean over the queries; of a query, over what it became."""
        return _mean(_mean(one.rbo for one in trials) for trials in self.by_query.values())

    @property
    def judged(self) -> Mapping[str, Sequence[PerturbedQuery]]:
        """The trials of the queries that have a value of the metric, before and after."""
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
        after = np.array([_mean(one.value_after for one in trials) for trials in judged])
        return self.metric.mean(before), self.metric.mean(after)

    @property
    def mean_gain(self) -> float:
        """How much better the mean is; NaN where nothing is judged."""
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
    """Ask for the queries that a perturbation changes, as they are and perturbed.

    Raises:
        ConfigurationError: there is no such perturbation, it returns something that is no text, or
            it changes fewer queries than it should.
        RankerError: the ranker fails on a query as it is.
        RunError: every ranking is empty.
    """
    __tracebackhide__ = True
    if isinstance(min_queries, bool) or not isinstance(min_queries, int) or min_queries < 0:
        raise ConfigurationError(
            f"min_queries={quoted(min_queries)}: it is a whole number of at least 0"
        )
    name, perturb = _perturbation(perturbation, seed)
    texts = {query.id: _texts(perturb, query, name) for query in golden if query.text is not None}
    changed = {query_id: others for query_id, others in texts.items() if others}
    if len(changed) < min_queries:
        raise ConfigurationError(
            f"perturbation '{quoted(name)}' changes {len(changed):,} of "
            f"{plural(len(golden), 'query', 'queries')} of golden set '{quoted(golden.name)}', "
            f"fewer than {min_queries:,}: there is too little to check; take another one, or fewer "
            "with min_queries"
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
    """Return what messages call a perturbation, and how it is asked."""
    if isinstance(perturbation, str):
        built_in = perturbation_named(perturbation)
        name = f"{perturbation}, seed {seed}" if built_in.takes_seed else perturbation
        return name, lambda query: built_in(str(query.text), seed)
    if not callable(perturbation):
        raise ConfigurationError(
            f"perturbation={quoted(repr(perturbation), 60)} is neither the name of one nor a "
            "function from a text to another"
        )
    if takes_queries(perturbation):
        return name_of(perturbation), perturbation
    return name_of(perturbation), lambda query: perturbation(query.text)


def _texts(perturb: Callable[[Query], object], query: Query, name: str) -> list[str]:
    """Return the texts that a query becomes, each once, without its own.

    Raises:
        ConfigurationError: the perturbation raises, or returns something that is no text.
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
                f"perturbation '{quoted(name)}' made {quoted(repr(other), 60)} of query "
                f"'{quoted(query.id)}' \"{quoted(query.text)}\"; it returns a text, or a list of "
                "texts"
            )
    return [other for other in dict.fromkeys(others) if other != query.text]


def _trials(
    ranker: RepeatedRanker,
    golden: GoldenSet,
    changed: Mapping[str, Sequence[str]],
    metric: Metric,
    p: float,
) -> list[PerturbedQuery]:
    """Ask for the queries as they are, and then for all their first texts, all second ones, ..."""
    run = ranker.first_run(golden.subset(changed))
    before = _values(run, golden, metric)
    found: dict[str, list[PerturbedQuery]] = {query_id: [] for query_id in changed}
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
            found[query_id].append(
                PerturbedQuery(
                    golden.query(query_id),
                    text,
                    *rankings,
                    rbo(*rankings, p=p),
                    *values,
                    rise if metric.higher_is_better else -rise,
                    attempt.failures.get(query_id),
                )
            )
    return [trial for trials in found.values() for trial in trials]


def _values(run: Run, golden: GoldenSet, metric: Metric) -> dict[str, float]:
    """Return the metric's value of each query that is judged; of one without a ranking, too."""
    evaluation = RunEvaluation(run, golden, Conventions(), join(run, golden))
    values = zip(golden.query_ids, evaluation.values(metric).tolist(), strict=True)
    return {query_id: value for query_id, value in values if golden.grades(query_id)}


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else math.nan
