"""The queries whose answers differ most, as found by the checks of a ranker's behaviour."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Any, TypeVar

from pytest_rankcheck.behaviour.expectation_check import ExpectationResult
from pytest_rankcheck.behaviour.perturbed_answers import (
    ByQuery,
    PerturbationResult,
    PerturbedQuery,
)
from pytest_rankcheck.behaviour.ranking_stability import RankingStability, TopKAgreement
from pytest_rankcheck.behaviour.repeated_ranker import AnswerDifference
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.explanation.explanation import Answer, AnsweredQuery
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.golden.query import label_of
from pytest_rankcheck.metrics.ranking_similarity import rbo
from pytest_rankcheck.rankers.run import Run

_WORST = 5
_MOST_EXPECTED = 20
_NAMED = 5
"""How many of the other queries are named."""
_TOP = 5
_TOP_EXPECTED = 10
"""How many documents of an answer are shown."""

T = TypeVar("T")


def differing_answers(
    golden: GoldenSet, differences: Sequence[AnswerDifference], labels: tuple[str, str]
) -> Mapping[str, Any]:
    """Return the queries that a ranker answered differently, as fields of an explanation.

    Args:
        golden: the queries.
        differences: one for each query.
        labels: of the first answer and the second.
    """
    likeness = {
        each.query_id: -1.0 if each.failure else rbo(each.before, each.after)
        for each in differences
    }

    def answered(difference: AnswerDifference) -> AnsweredQuery:
        rankings, failure = (difference.before, difference.after), difference.failure
        like = {} if failure else {"RBO": likeness[difference.query_id]}
        shown = _two(golden, labels, rankings, failure)
        return _query(golden, difference.query_id, shown, how=difference.how, similarity=like)

    worst = sorted(differences, key=lambda each: likeness[each.query_id])
    return _fields(worst, answered, lambda each: each.query_id)


def changed_answers(
    golden: GoldenSet,
    result: PerturbationResult,
    chosen: ByQuery,
    severity: Callable[[PerturbedQuery], float],
) -> Mapping[str, Any]:
    """Return the queries whose answers a perturbation changes most, each with its worst variant.

    Args:
        golden: the queries.
        result: of all perturbed queries.
        chosen: those that count.
        severity: how bad a variant is.
    """

    def answered(trial: PerturbedQuery) -> AnsweredQuery:
        query = trial.query
        is_known = trial.failure is None and not math.isnan(trial.gain)
        values = {str(result.metric): (trial.value_before, trial.value_after)}
        changes = trial.changed_attributes.items()
        return _query(
            golden,
            query.id,
            _two(golden, ("as it is", "perturbed"), (trial.before, trial.after), trial.failure),
            becomes=None if trial.perturbed.text == query.text else trial.perturbed.text or "",
            attributes={name: _labels(*pair) for name, pair in changes},
            similarity={} if trial.failure else {"RBO": trial.rbo},
            values=values if is_known else {},
        )

    each = (max(trials, key=severity) for trials in chosen.values())
    changed = [trial for trial in each if trial.failure or trial.before != trial.after]
    worst = sorted(changed, key=severity, reverse=True)
    return _fields(worst, answered, lambda trial: trial.query.id)


def changed_rankings(golden: JudgedQueries, stability: RankingStability) -> Mapping[str, Any]:
    """Return the queries whose rankings differ most from those before."""

    def answered(agreement: TopKAgreement) -> AnsweredQuery:
        rankings = agreement.before, agreement.now
        like = agreement.exceeded(stability.limits) or {"RBO": agreement.rbo}
        shown = _two(golden, ("before", "now"), rankings)
        return _query(golden, agreement.query_id, shown, similarity=like)

    worst = stability.beyond or stability.changed
    return _fields(worst, answered, lambda agreement: agreement.query_id)


def unexpected_rankings(
    golden: GoldenSet, run: Run, violated: Iterable[ExpectationResult]
) -> Mapping[str, Any]:
    """Return the queries that violate expectations, in the order of the golden set."""
    by_query = {
        query_id: tuple(group)
        for query_id, group in groupby(violated, lambda result: result.expectation.query)
    }

    def answered(query_id: str) -> AnsweredQuery:
        ranking = run.get(query_id)
        failure = "" if query_id in run else "nothing: the run does not have this query"
        shown = Answer("ranked", tuple(ranking[:_TOP_EXPECTED]), 1, len(ranking), failure)
        place, broken = golden.place(query_id) or "", by_query[query_id]
        return _query(golden, query_id, (shown,), place=place, broken=broken)

    return _fields([*by_query], answered, lambda query_id: query_id, _MOST_EXPECTED)


def _fields(
    worst: Sequence[T],
    answered: Callable[[T], AnsweredQuery],
    id_of: Callable[[T], str],
    most: int = _WORST,
) -> Mapping[str, Any]:
    return {
        "fallen": len(worst),
        "answered": tuple(map(answered, worst[:most])),
        "others": tuple(map(id_of, worst[most : most + _NAMED])),
    }


def _query(
    golden: JudgedQueries, query_id: str, answers: tuple[Answer, ...], **known: Any
) -> AnsweredQuery:
    named = {doc for answer in answers for doc in answer.documents}
    named.update(doc for result in known.get("broken", ()) for doc in result.ranks)
    titles = {doc: title for doc in named if (title := golden.title(doc))}
    text = golden.query(query_id).text or ""
    return AnsweredQuery(id=query_id, text=text, answers=answers, titles=titles, **known)


def _two(
    golden: JudgedQueries,
    labels: tuple[str, str],
    rankings: tuple[Sequence[str], Sequence[str]],
    failure: Exception | None = None,
) -> tuple[Answer, ...]:
    """Return two answers from the top or, if they differ only further down, from there."""
    pairs = enumerate(zip_longest(*rankings), 1)
    different = next((rank for rank, (old, new) in pairs if old != new), 1)
    first = different - 1 if different > _TOP and failure is None else 1
    errors = "", f"{type(failure).__name__}: {quoted(failure, 300)}" if failure else ""
    return tuple(
        Answer(label, tuple(ranking[first - 1 : first - 1 + _TOP]), first, len(ranking), error)
        for label, ranking, error in zip(labels, rankings, errors, strict=True)
    )


def _labels(old: object, new: object) -> tuple[str, str]:
    """Return two values of an attribute, so that they differ."""
    before, after = label_of(old), label_of(new)
    return (repr(old), repr(new)) if before == after else (before, after)
