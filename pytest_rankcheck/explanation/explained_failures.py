"""The explanation of metrics that fell, or that are beyond a bound."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pytest_rankcheck.comparison.cause import CauseKind
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.rank_changes import TOP, crossing_between, top_of
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.explanation.explanation import (
    Bound,
    Bounded,
    ExplainedQuery,
    ExplainedSlice,
    Explanation,
    InCommon,
    MetricFailure,
    RankedDocument,
    TakenOver,
    bounded_places,
)
from pytest_rankcheck.explanation.gate_numbers import verdict_numbers
from pytest_rankcheck.explanation.moved_documents import best_documents, moved_documents
from pytest_rankcheck.gates.verdict import Decision, Outcome, Verdict
from pytest_rankcheck.metrics.metric_names import Metric

_WORST = 5
"""How many queries are explained."""
_TAKEN_OVER, _GONE = 2, 1


def explained_state(evaluation: Evaluation, of: int, **known: Any) -> Explanation:
    """Return the explanation of an assertion that fails by the state of its record.

    Args:
        evaluation: what was measured.
        of: how many metrics the assertion has.
        known: further fields.
    """
    return Explanation(
        kind=evaluation.kind,
        golden_set=evaluation.golden.name,
        queries=len(evaluation.query_ids),
        of=of,
        **known,
    )


def explained_falls(
    comparison: Comparison,
    verdicts: Mapping[Metric, Verdict],
    of: int,
    *,
    world: Sequence[str] = (),
    in_full: bool = True,
    **known: Any,
) -> Explanation:
    """Return the explanation of verdicts that fail their assertion.

    Args:
        comparison: what they were decided from.
        verdicts: those of the metrics that failed, at least one.
        of: how many metrics the assertion has.
        world: how the declared world has changed, in sentences.
        in_full: whether to include the evidence.
        known: further fields.
    """
    evaluation = comparison.evaluation
    label = _shared(verdict.leading.label for verdict in verdicts.values())
    parts = {m: verdict.leading if label else verdict.overall for m, verdict in verdicts.items()}
    losses = {metric: [*_fallen(part.pairs)] for metric, part in parts.items()}
    first = next(iter(parts.values())).pairs
    knows_documents = evaluation.source.unmet_ids is None
    return explained_state(
        evaluation,
        of,
        failures=tuple(_failures(comparison, verdicts, in_full=in_full)),
        slices=tuple(_slices(verdicts)),
        in_common=_in_common(comparison, verdicts, world),
        worst_of=label,
        **_worst(evaluation, losses, partial(moved_documents, comparison)),
        taken_over=tuple(_taken_over(comparison, verdicts)),
        unjudged=comparison.unjudged_in(first, in_full=False) if knows_documents else None,
        **known,
    )


def explained_bounds(
    evaluation: Evaluation,
    bounds: Mapping[Metric, Bound],
    failing: Mapping[Metric, Sequence[Bounded]],
    by: str | Sequence[str] | None,
    **known: Any,
) -> Explanation:
    """Return the explanation of metrics that are beyond a bound.

    Args:
        evaluation: what was measured.
        bounds: the bounds of all metrics of the assertion.
        failing: what the bound was applied to, for each metric that failed.
        by: the attributes of the slices.
        known: further fields.
    """
    failures = [
        MetricFailure(each, bound=bounds[each], leading=next(part for part in parts if part.fails))
        for each, parts in failing.items()
    ]
    label = _shared(failure.leading.label for failure in failures if failure.leading)
    places = bounded_places(evaluation, by)[label]
    losses = {each: [*_beyond(evaluation, each, bounds[each], places)] for each in failing}
    return explained_state(
        evaluation,
        len(bounds),
        failures=tuple(failures),
        slices=tuple(_bounded_slices(failing)),
        worst_of=label,
        **_worst(evaluation, losses, partial(best_documents, evaluation)),
        **known,
    )


class _Loss(NamedTuple):
    """A query that fell, or is beyond a bound."""

    query_id: str
    before: float | None
    now: float
    share: float
    """The loss as a share of the largest loss in the metric."""


def _fallen(pairs: ComparedValues) -> Iterator[_Loss]:
    gains, worse = pairs.gains, pairs.worst()
    for at in worse:
        values = float(pairs.before[at]), float(pairs.after[at])
        yield _Loss(pairs.query_ids[at], *values, float(gains[at] / gains[worse[0]]))


def _shared(labels: Iterable[str]) -> str:
    """Return the only slice of all labels; empty for all queries, or if there are several."""
    different = {*labels}
    return different.pop() if len(different) == 1 else ""


def _beyond(
    evaluation: Evaluation, metric: Metric, bound: Bound, some: Sequence[int]
) -> Iterator[_Loss]:
    values = evaluation.values(metric)
    places = metric.kind.of_each(np.asarray(some, dtype=np.intp))
    distances = bound.excess(values[places])
    worse = [at for at in np.argsort(-distances, kind="stable").tolist() if distances[at] > 0]
    for at in worse:
        share, value = float(distances[at] / distances[worse[0]]), float(values[places[at]])
        yield _Loss(evaluation.query_ids[places[at]], None, value, share)


def _worst(
    evaluation: Evaluation,
    losses: Mapping[Metric, Sequence[_Loss]],
    documents: Callable[[str, Sequence[Metric]], Sequence[RankedDocument]],
) -> Mapping[str, Any]:
    """Return how many queries fell in any metric, and those that fell most, as fields."""
    shares: dict[str, float] = {}
    for lost in losses.values():
        for each in lost:
            shares[each.query_id] = shares.get(each.query_id, 0.0) + each.share
    worst = sorted(shares, key=shares.__getitem__, reverse=True)[:_WORST]
    values = {query_id: dict[Metric, tuple[float | None, float]]() for query_id in worst}
    for metric, lost in losses.items():
        for each in lost:
            if each.query_id in values:
                values[each.query_id][metric] = (each.before, each.now)
    queries = (
        ExplainedQuery(
            query_id,
            evaluation.golden.query(query_id).text or "",
            {str(metric): pair for metric, pair in values[query_id].items()},
            documents(query_id, [*values[query_id]]),
            tuple(evaluation.ranking(query_id)[:TOP]),
        )
        for query_id in worst
    )
    return {"fallen": len(shares), "worst": tuple(queries)}


def _failures(
    comparison: Comparison, verdicts: Mapping[Metric, Verdict], *, in_full: bool
) -> Iterator[MetricFailure]:
    """Yield each metric, a single one with the values that decided, several with all queries."""
    for metric, verdict in verdicts.items():
        part = verdict.leading if len(verdicts) == 1 else verdict.overall
        told = verdict_numbers(verdict, in_full=in_full, has_evidence=in_full)
        interval = whole_interval(comparison.evaluation, metric)
        crossing = crossing_between(comparison.evaluation, comparison.other, part.pairs)
        yield MetricFailure(metric, told, interval=interval, crossing=crossing)


def _in_common(
    comparison: Comparison, verdicts: Mapping[Metric, Verdict], world: Sequence[str]
) -> InCommon | None:
    """Return what the queries that fell in the first such metric have in common.

    For one query or none, this is only how the world has changed.
    """
    falls = {metric: verdict.overall.pairs.losses for metric, verdict in verdicts.items()}
    metric = next((each for each, fallen in falls.items() if fallen > 1), next(iter(falls)))
    is_shared = falls[metric] > 1
    if not is_shared and not world:
        return None
    causes = comparison.in_common(metric, world)
    known = [each for each in causes if is_shared or each.kind is CauseKind.WORLD]
    return InCommon(metric, tuple(each.text for each in known), falls[metric])


def whole_interval(evaluation: Evaluation, metric: Metric) -> tuple[float, float] | None:
    """Return the interval of one value of the whole run; None for means, and if unknown."""
    if not metric.kind.single:
        return None
    (low, high), (least, most) = evaluation.interval(metric), metric.definition.range
    return None if math.isnan(low) else (max(low, least), min(high, most))


_WORST_FIRST = (Outcome.REGRESSED, Outcome.INCONCLUSIVE, Outcome.NOT_GATED)


def _slices(verdicts: Mapping[Metric, Verdict]) -> Sequence[ExplainedSlice]:
    """Return the slices of all metrics: those that regressed first, then the largest falls."""
    parts: dict[str, dict[str, Decision]] = {}
    for metric, verdict in verdicts.items():
        for part in verdict.slices:
            parts.setdefault(part.label, {})[str(metric)] = part
    fell_most = {_fell_most(each) for each in verdicts.values()}
    slices, falls = [], {}
    for label, of_metrics in parts.items():
        decisions = [*of_metrics.values()]
        outcomes = [each.outcome for each in decisions]
        outcome = next((each for each in _WORST_FIRST if each in outcomes), outcomes[0])
        falls[label] = (outcome is not Outcome.REGRESSED, min(d.pairs.gain for d in decisions))
        means = {
            name: (each.pairs.mean_before, each.pairs.mean_after)
            for name, each in of_metrics.items()
        }
        size = len(decisions[0].pairs.query_ids)
        slices.append(ExplainedSlice(label, size, means, outcome, fell_most == {label}))
    return sorted(slices, key=lambda part: falls[part.label])


def _fell_most(verdict: Verdict) -> str | None:
    """Return the gated slice whose mean fell more than that of any other, if there is one."""
    gated = [part for part in verdict.slices if part.outcome is not Outcome.NOT_GATED]
    lowest = min((part.pairs.gain for part in gated), default=0.0)
    labels = [part.label for part in gated if part.pairs.gain <= lowest + SLACK]
    return labels[0] if len(labels) == 1 else None


def _bounded_slices(failing: Mapping[Metric, Sequence[Bounded]]) -> Iterator[ExplainedSlice]:
    """Yield the slices that were held to bounds, those that are beyond one first."""
    parts: dict[str, dict[str, Bounded]] = {}
    for metric, held_parts in failing.items():
        for part in held_parts:
            if part.label:
                parts.setdefault(part.label, {})[str(metric)] = part
    for label, of_metrics in sorted(
        parts.items(), key=lambda item: not any(part.fails for part in item[1].values())
    ):
        held = [*of_metrics.values()]
        outcome = Outcome.REGRESSED if any(part.fails for part in held) else Outcome.EQUAL
        if not held[0].gated:
            outcome = Outcome.NOT_GATED
        means = {name: (None, part.mean) for name, part in of_metrics.items()}
        yield ExplainedSlice(label, held[0].queries, means, outcome)


def _taken_over(comparison: Comparison, verdicts: Mapping[Metric, Verdict]) -> Iterator[TakenOver]:
    """Yield the documents in many more tops than before, then those that are in none now."""
    whole = next((metric for metric in verdicts if metric.kind.single), None)
    if whole is None or comparison.other.known_depth == 0:
        return
    evaluation, other = comparison.evaluation, comparison.other
    k = top_of(evaluation, other, whole)
    now, then = (
        Counter(doc for top in side.tops(k).values() for doc in set(top[:k]))
        for side in (evaluation, other)
    )
    rises = Counter({doc: count - then[doc] for doc, count in now.items()}).most_common(_TAKEN_OVER)
    gone = Counter({doc: count for doc, count in then.items() if doc not in now})
    for doc in [doc for doc, rise in rises if rise > 1] + [d for d, _ in gone.most_common(_GONE)]:
        yield TakenOver(doc, evaluation.golden.title(doc), k, then[doc], now[doc])
