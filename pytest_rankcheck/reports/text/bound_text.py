"""The text of a metric beyond a fixed bound: which slices, which queries, which documents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import first_ranks
from pytest_rankcheck.reports.failure import Failure, ValueLine
from pytest_rankcheck.reports.text.wording import (
    caveat_lines,
    document_in,
    document_name,
    documents_once,
    golden_name,
    number_text,
    packed,
    query_in,
    whole_interval,
)

_WORST_QUERIES = 5
_TOP = 3
_HELD = "a value that the ranker must hold"


@dataclass(frozen=True, slots=True)
class Bound:
    """What a metric is held to: at least, or at most, a value."""

    limit: float
    is_floor: bool
    confidence: float | None = None
    """If given, the one-sided confidence bound of the mean is compared, not the mean."""

    @property
    def words(self) -> str:
        """``at least 0.4500``."""
        confidence = (
            f" with {self.confidence:.0%} confidence" if self.confidence is not None else ""
        )
        return f"{'at least' if self.is_floor else 'at most'} {number_text(self.limit)}{confidence}"

    @property
    def broken_words(self) -> str:
        """``below 0.4500``; with a confidence, ``lower 95% bound below 0.4500``."""
        side, beyond = ("lower", "below") if self.is_floor else ("upper", "above")
        tested = f"{side} {self.confidence:.0%} bound " if self.confidence is not None else ""
        return f"{tested}{beyond} {number_text(self.limit)}"


@dataclass(frozen=True, slots=True)
class Bounded:
    """One set of queries held to a bound."""

    label: str
    """The slice as ``attribute=value``; empty for all queries."""
    places: Sequence[int]
    mean: float
    tested: float
    """What is compared with the limit: the mean, or its confidence bound."""
    holds: bool
    gated: bool = True


def bound_failure(
    evaluation: Evaluation, metric: Metric, bound: Bound, parts: Sequence[Bounded]
) -> Failure | None:
    """Return what is beyond its bound, and the worst queries; None if nothing is.

    Args:
        evaluation: what was measured.
        metric: the metric with a bound.
        bound: the bound.
        parts: all queries first, then the slices.
    """
    leading = next((part for part in parts if part.gated and not part.holds), None)
    if leading is None:
        return None
    values = evaluation.values(metric)
    places = metric.kind.of_each(np.asarray(leading.places, dtype=np.intp))
    beyond = np.less if bound.is_floor else np.greater
    valued = places[beyond(values[places], bound.limit)]
    order = np.argsort(values[valued] if bound.is_floor else -values[valued], kind="stable")
    worst = [evaluation.query_ids[place] for place in valued[order][:_WORST_QUERIES].tolist()]
    lines = [
        *_part_lines(evaluation, metric, bound, parts, leading),
        *map(ValueLine, _worst_lines(evaluation, metric, worst) if worst else ()),
        f"  to fix: improve {metric.kind.improved}, or change the bound to {_HELD}",
    ]
    return Failure(lines, leading.label, worst)


def _part_lines(
    evaluation: Evaluation, metric: Metric, bound: Bound, parts: Sequence[Bounded], leading: Bounded
) -> Iterator[str]:
    queries = metric.kind.counted(len(leading.places))
    where = golden_name(evaluation)
    if leading.label:
        where = f"{quoted(leading.label)} of {where}"
    mean = number_text(leading.mean)
    if bound.confidence is not None:
        side = "lower" if bound.is_floor else "upper"
        mean = f"{mean} ({side} {bound.confidence:.0%} bound {number_text(leading.tested)})"
    mean += precision_text(evaluation, metric, leading.places)
    yield f"{metric} is {mean} on {where} ({queries}); it must be {bound.words}"
    for bounded in parts:
        if bounded.label:
            remark = "" if bounded.holds else ", beyond the bound"
            if not bounded.gated:
                remark = ", too few to gate"
            count = metric.kind.counted(len(bounded.places))
            value = number_text(bounded.mean)
            yield ValueLine(f"  {quoted(bounded.label)}  {value} ({count}{remark})")
    yield from caveat_lines(evaluation)


def _worst_lines(evaluation: Evaluation, metric: Metric, worst: Sequence[str]) -> Iterator[str]:
    yield f"  worst {metric.kind.plural}"
    values = evaluation.values(metric)
    for query_id, place in zip(worst, evaluation.places(worst), strict=True):
        value = number_text(float(values[place]), 3)
        yield f"    {query_in(evaluation.golden, query_id)}   {value}"
        documents = _documents(evaluation, query_id) if metric.kind.is_of_documents else ()
        if metric.name == "SeenItems":
            documents = _seen(evaluation, query_id, metric.cutoff)
        lines = packed(documents, indent="      ")
        yield from documents_once(
            evaluation.golden.name, query_id, evaluation.ranking(query_id), lines
        )


def precision_text(evaluation: Evaluation, metric: Metric, places: Sequence[int]) -> str:
    """Return how precisely a value that is no mean is known, and what it depends on, in brackets.

    Such as `` (95% interval 0.0812 to no upper end, concurrency 8)``; empty for a mean.
    """
    if metric.kind.single:
        return whole_interval(evaluation, metric)
    if metric.quantile is None:
        return ""
    low, high = evaluation.quantile_interval_at(metric, places)
    start = number_text(low) if math.isfinite(low) else "no lower end"
    end = number_text(high) if math.isfinite(high) else "no upper end"
    run = evaluation.run
    at = f", concurrency {run.concurrency}" if not metric.kind.is_of_documents and run else ""
    return f" (95% interval {start} to {end}{at})"


def _seen(evaluation: Evaluation, user: str, cutoff: int | None) -> Iterator[str]:
    """Yield the ranks of the documents that a user has interacted with."""
    golden, rank = evaluation.golden, first_ranks(evaluation.ranking(user)[:cutoff])
    interactions = golden.contents.interactions
    for doc_id in interactions.seen_by(user, [*rank]) if interactions else ():
        yield f"{document_in(golden, doc_id)} at {rank[doc_id]}, seen before"


def _documents(evaluation: Evaluation, query_id: str) -> Iterator[str]:
    """Yield the ranks of the best judged documents, and what is at the top instead."""
    grades = evaluation.golden.grades(query_id)
    ranking = evaluation.ranking(query_id)
    rank = first_ranks(ranking)
    best = sorted((doc for doc in grades if grades[doc] > 0), key=lambda doc: -grades[doc])[:_TOP]
    for doc_id in best:
        at = f"at {rank[doc_id]}" if doc_id in rank else "not ranked"
        yield f"{document_name(evaluation, doc_id, grades[doc_id])} {at}"
    for doc_id in dict.fromkeys(ranking[:_TOP]):
        if doc_id not in best:
            named = document_name(evaluation, doc_id, grades.get(doc_id))
            yield f"{named} at {rank[doc_id]}"
