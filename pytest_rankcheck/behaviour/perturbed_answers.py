"""The answers of a ranker to queries and to the same queries after a perturbation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.compared_answers import (
    ComparedAnswer,
    MeasuredAnswers,
    gain_of,
    similarity_of,
    values_by_query,
)
from pytest_rankcheck.behaviour.query_changes import (
    Perturb,
    changed_attributes,
    changed_queries,
)
from pytest_rankcheck.errors import ConfigurationError, listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.adapter_protocol import Adapter

__all__ = ["PerturbationResult", "PerturbedQuery", "perturbed_answers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedQuery(ComparedAnswer):
    """A query, the same query after a perturbation, and the rankings for both."""

    perturbed: Query
    """The query after the perturbation, with another text or other attributes."""

    @property
    def text(self) -> str | None:
        """The perturbed text."""
        return self.perturbed.text

    @property
    def changed_attributes(self) -> Mapping[str, tuple[object, object]]:
        """The attributes that the perturbation changes, with their values before and after."""
        return changed_attributes(self.query, self.perturbed)


@dataclass(frozen=True)
class PerturbationResult(MeasuredAnswers[PerturbedQuery]):
    """The answers to all perturbed queries of a golden set."""

    unchanged: Sequence[str]
    """The queries that the perturbation does not change."""
    without_text: Sequence[str]
    """The queries without a text, if the perturbation takes texts."""
    kind: ClassVar[str] = "perturbed "
    are_draws: bool = False
    """Whether a query's variants are random draws of one perturbation; then their mean counts."""
    new_values: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """By attribute, the values that the perturbation sets but no query has by itself."""

    @cached_property
    def counted(self) -> Mapping[str, Sequence[PerturbedQuery]]:
        """What the limits on single queries apply to: each trial; for random draws, their mean."""
        if not self.are_draws:
            return self.by_query
        return {query_id: (_mean_of(trials),) for query_id, trials in self.by_query.items()}


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
    __tracebackhide__ = True
    check_whole_number("min_queries", min_queries, 0, ConfigurationError)
    queries = changed_queries(golden, perturbation, seed)
    if len(queries.changed) < min_queries:
        raise ConfigurationError(
            f"perturbation '{quoted(queries.name)}' changes {len(queries.changed):,} of "
            f"{plural(len(golden), 'query', 'queries')} of golden set '{quoted(golden.name)}', "
            f"fewer than {min_queries:,}, which is too few to check; use another perturbation, or "
            "lower min_queries"
        )
    _refuse_unseen(ranker.adapter, golden, queries.changed, queries.name)
    trials = _trials(ranker, golden, queries.changed, metric, p) if queries.changed else []
    return PerturbationResult(
        ranker.adapter.name,
        queries.name,
        trials,
        metric,
        p,
        queries.unchanged,
        queries.without_text,
        queries.are_draws,
        _new_values(golden, queries.changed),
    )


def _refuse_unseen(
    adapter: Adapter, golden: GoldenSet, changed: Mapping[str, Sequence[Query]], name: str
) -> None:
    """Refuse changes that the ranker cannot see, because the check could not fail.

    Raises:
        ConfigurationError: for some query, only attributes change that the ranker does not
            receive.
    """
    for query_id, others in changed.items():
        before = golden.query(query_id)
        for other in others:
            attributes = list(changed_attributes(before, other))
            if other.text == before.text and not any(map(adapter.sees, attributes)):
                raise ConfigurationError(
                    f"perturbation '{quoted(name)}' changes {listed(attributes)} of query "
                    f"'{quoted(query_id)}', but ranker '{quoted(adapter.name)}' does not receive "
                    "this, so the check could not fail. Pass it the query: annotate its first "
                    "parameter as Query (http: write {attributes.NAME}; model: add the attribute "
                    "to features)"
                )


def _new_values(
    golden: GoldenSet, changed: Mapping[str, Sequence[Query]]
) -> Mapping[str, Sequence[object]]:
    """Return the values set for attributes that queries have, but never with these values."""
    given: dict[str, dict[object, object]] = {}
    for query_id, others in changed.items():
        for other in others:
            for name, (_, value) in changed_attributes(golden.query(query_id), other).items():
                if name in other.attributes:
                    given.setdefault(name, {})[_key(value)] = value
    new: dict[str, list[object]] = {}
    for name, values in given.items():
        own = {_key(query.attributes[name]) for query in golden if name in query.attributes}
        new[name] = [value for key, value in values.items() if own and key not in own]
    return {name: values for name, values in new.items() if values}


def _key(value: object) -> object:
    try:
        hash(value)
    except TypeError:  # unhashable, such as a list
        return repr(value)
    return value


def _trials(
    ranker: RepeatedRanker,
    golden: GoldenSet,
    changed: Mapping[str, Sequence[Query]],
    metric: Metric,
    p: float,
) -> list[PerturbedQuery]:
    """Ask the original queries, then the first variant of each, the second of each, ..."""
    run = ranker.first_run(golden.subset(changed))
    before = values_by_query(run, golden, metric)
    trials: dict[str, list[PerturbedQuery]] = {query_id: [] for query_id in changed}
    for turn in range(max(map(len, changed.values()))):
        variants = {
            query_id: others[turn] for query_id, others in changed.items() if turn < len(others)
        }
        attempt = ranker.rerun(golden.reworded(variants))
        after = values_by_query(attempt.run, golden, metric)
        for query_id, perturbed in variants.items():
            rankings = run.get(query_id), attempt.run.get(query_id)
            values = before.get(query_id, math.nan), after.get(query_id, math.nan)
            trials[query_id].append(
                PerturbedQuery(
                    query=golden.query(query_id),
                    perturbed=perturbed,
                    before=rankings[0],
                    after=rankings[1],
                    rbo=similarity_of(*rankings, p),
                    value_before=values[0],
                    value_after=values[1],
                    gain=gain_of(metric, *values),
                    failure=attempt.failures.get(query_id),
                )
            )
    return [trial for query_trials in trials.values() for trial in query_trials]


def _mean_of(trials: Sequence[PerturbedQuery]) -> PerturbedQuery:
    """Return the most different trial of a query, with the mean values of all its trials."""
    worst = max(
        trials,
        key=lambda trial: (trial.failure is not None, trial.before != trial.after, -trial.rbo),
    )
    return replace(
        worst,
        rbo=math.fsum(trial.rbo for trial in trials) / len(trials),
        value_after=math.fsum(trial.value_after for trial in trials) / len(trials),
        gain=math.fsum(trial.gain for trial in trials) / len(trials),
    )
