"""Which promises of a record its successor breaks, and whether a new reason covers them.

It compares two records and nothing else, so it also holds for files that were edited, replaced or
recorded anew by hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import FloatArray, PlaceArray
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.approved_limits import (
    LIMITED_BY,
    approved_changes,
    changed_rankings,
    loosened_texts,
    uncompared,
)
from pytest_rankcheck.baselines.query_losses import LOSS_SHARE, replaced_queries, uncounted_queries
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_contents import RecordedMetric
from pytest_rankcheck.comparison.query_overlap import QueryOverlap
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.evaluation.recorded_precision import EXACT
from pytest_rankcheck.gates.configured_gates import gate_of
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["Problem", "broken_promises", "new_approvals", "raises_best"]

_ROUNDING = 1e-8
"""What best means can be off by: they are recorded with nine decimals."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A promise of a record that its successor breaks."""

    text: str
    metric: str | None = None
    """The metric that fell; None for another change."""
    fall: float = 0.0
    """How far it fell."""
    words: tuple[str, ...] = ()
    """What a reason for another change says, if it is about this one: any of these."""

    def is_covered_by(self, approvals: Sequence[Approval]) -> bool:
        """Return whether these reasons are about it, and about no smaller fall."""
        if any(approval.explains(word) for approval in approvals for word in self.words):
            return True
        if self.metric is None:
            return False
        return self.fall <= sum(_approved_fall(approval, self.metric) for approval in approvals)


def _approved_fall(approval: Approval, metric: str) -> float:
    """Return how far an approval lets the mean over all queries fall.

    It was measured on the queries that were unchanged then. If a few of them have left since, the
    same fall is a larger share of the others.
    """
    means = approval.fall.get(metric)
    if means is None:
        return 0.0
    start, end = means["from"], means["to"]
    if start is None or end is None:
        return math.inf
    return abs(start - end) / (1 - LOSS_SHARE) + 1e-6


def broken_promises(before: Record, after: Record) -> Sequence[Problem]:
    """Return what ``after`` changes of ``before`` without a reason; empty if it may follow it."""
    approvals = new_approvals(before, after)
    if approvals is None:
        return [Problem("the earlier approvals differ")]
    problems = [*_changes(before, after), *_loosened_limits(before, after)]
    if before.manner == after.manner:
        problems = [*_falls(before, after), *problems, *_changed_rankings(before, after, approvals)]
    if not approvals:
        problems += _forgotten(before, after)
    return [problem for problem in problems if not problem.is_covered_by(approvals)]


def new_approvals(before: Record, after: Record) -> Sequence[Approval] | None:
    """Return the approvals that ``after`` adds; None if it does not keep all earlier ones."""
    kept = len(before.approvals)
    return after.approvals[kept:] if after.approvals[:kept] == before.approvals else None


def _falls(before: Record, after: Record) -> Iterator[Problem]:
    """Yield the gated metrics whose mean, or distance from the best, is worse."""
    then, now = _compared_places(before, after)
    for name in _approved_metrics(before):
        metric = Metric.parse(name)
        scale = (f"which changes {name} of every query",)
        if name not in after.metrics or not len(now):
            continue
        means = [_mean(record, metric, places) for record, places in ((before, then), (after, now))]
        gain = means[1] - means[0] if metric.higher_is_better else means[0] - means[1]
        if np.isnan(means[1]) and not np.isnan(means[0]):
            yield Problem(f"{name} {means[0]:.4f} -> no value", name, math.inf, scale)
        if gain < -EXACT:
            yield Problem(f"{name} {means[0]:.4f} -> {means[1]:.4f}", name, -gain, scale)
        expected = before.below_best(metric) - (0.0 if np.isnan(gain) else gain)
        if after.below_best(metric) < expected - _possible_gain(before, metric, then) - _ROUNDING:
            best = before.kept[name].best
            yield Problem(f"{name} no longer knows its best mean, {best:.4f}", words=scale)


def raises_best(before: Record, after: Record, metric: Metric) -> bool:
    """Return whether the best mean of ``after`` is a new one, on the queries that both share.

    A golden set that changed moves the best mean without a new approval.
    """
    if before.manner != after.manner:
        return True
    then, now = _compared_places(before, after)
    if str(metric) not in before.metrics or not len(now):
        return True
    gain = _mean(after, metric, now) - _mean(before, metric, then)
    return (gain if metric.higher_is_better else -gain) > before.below_best(metric) + EXACT


def _possible_gain(before: Record, metric: Metric, shared: PlaceArray) -> float:
    """Return by how much queries that left since can have raised the mean before they left."""
    values, weights = before.values(metric), before.weights
    has_left = ~np.isin(np.arange(len(values)), shared) & ~np.isnan(values)
    best = metric.definition.range[1 if metric.higher_is_better else 0]
    if not has_left.any():
        return 0.0
    shares = np.ones(len(values)) if weights is None else weights
    counted = shares[~np.isnan(values)].sum()
    return float((np.abs(best - values) * shares)[has_left].sum() / counted)


def _changes(before: Record, after: Record) -> Iterator[Problem]:
    """Yield what is gone, loosened or measured in another way."""
    if before.manner != after.manner:
        is_of_units = before.manner[:2] == after.manner[:2]
        what = "clusters" if is_of_units else "conventions or depth"
        yield Problem(f"{what} differ", words=(" in the baseline, ",))
    for name in before.gated:
        if name not in after.gated:
            text = f"{name} is no longer gated"
            yield Problem(text, words=(text,))
    for name in _approved_metrics(before):
        then, now = before.kept[name], after.kept.get(name)
        about_gate = (f"the gate of {name} ",)
        if now is None:
            yield Problem(f"the values of {name} are gone")
        elif then.lower_is_better != now.lower_is_better:
            yield Problem(f"{name} has another direction", words=(f"direction of {name}: ",))
        elif _is_loosened(then.gate, now.gate):
            yield Problem(
                f"the gate of {name} was {then.gate}, and is {now.gate}", words=about_gate
            )
        elif _allows_for_more_noise(then, now):
            yield Problem(
                f"the gate of {name} allows for the noise of the ranker, which was {then.noise} "
                f"and is {now.noise}",
                words=about_gate,
            )
    for attribute in before.slices:
        if attribute not in after.slices:
            text = f"the slices of {attribute} are no longer gated"
            yield Problem(text, words=(text,))
    if not QueryOverlap(after, before).is_paired:
        return
    replaced = replaced_queries(before, after.query_fingerprints)
    if replaced.needs_reason:
        about_set = (" removed and ", "without an unchanged query in common")
        yield Problem(str(replaced), words=about_set)
    yield from _uncounted(before, after)


def _loosened_limits(before: Record, after: Record) -> Iterator[Problem]:
    """Yield the limits on rankings that were removed or loosened."""
    for text in uncompared(after.stability, before):
        yield Problem(text, words=(text,))
    for text in loosened_texts(after.stability, before):
        yield Problem(text, words=(LIMITED_BY,))


def _changed_rankings(
    before: Record, after: Record, approvals: Sequence[Approval]
) -> Iterator[Problem]:
    """Yield how many compared rankings changed, if the reasons approve fewer changes than that.

    Changes within the limits are never recorded, so that they cannot add up.
    """
    overlap = QueryOverlap(after, before)
    if not before.stability or not after.stability or not overlap.is_paired:
        return
    k = min(max(limits.k for limits in record.stability) for record in (before, after))
    then, now = before.lines.tops, after.lines.tops
    places = zip(overlap.other_places.tolist(), overlap.places.tolist(), strict=True)
    changed = sum(then[place][:k] != now[at][:k] for place, at in places)
    if changed > approved_changes(approvals):
        yield Problem(changed_rankings(changed), words=(" in the baseline, ",))


def _uncounted(before: Record, after: Record) -> Iterator[Problem]:
    """Yield the metrics for which too many queries have lost their value."""
    overlap = QueryOverlap(after, before)
    for name in _approved_metrics(before):
        if name in after.metrics:
            uncounted = uncounted_queries(before, overlap, Metric.parse(name))
            if uncounted.needs_reason:
                yield Problem(str(uncounted), words=(f"{name} has no value for ",))


def _forgotten(before: Record, after: Record) -> Iterator[Problem]:
    """Yield the counts since the last approval that started again without one."""
    then, now = before.since_approval, after.since_approval
    if then is None or now is None or not QueryOverlap(after, before).is_paired:
        return
    replaced = replaced_queries(before, after.query_fingerprints)
    uncounted_less = any(
        now.uncounted.get(name, 0) < count for name, count in then.uncounted.items()
    )
    if now.replaced < replaced.removed + replaced.edited or uncounted_less:
        yield Problem("the queries lost since the last approval were forgotten")


def _approved_metrics(record: Record) -> Sequence[str]:
    """Return the metrics that are gated, or were and keep their approved values."""
    return [name for name, kept in record.kept.items() if kept.gate is not None]


def _is_loosened(before: str | None, after: str | None) -> bool:
    """Return whether a gate may let pass what another blocks."""
    if before is None or before == after:
        return False
    if after is None:
        return True
    try:
        return not gate_of(after).is_at_least_as_strict_as(gate_of(before))
    except ConfigurationError:  # removed since, or of an extension that is not loaded
        return True


def _allows_for_more_noise(before: RecordedMetric, after: RecordedMetric) -> bool:
    """Return whether a gate that allows for noise has become wider."""
    if before.gate is None or "noise=" not in before.gate or before.noise is None:
        return False
    return after.noise is None or after.noise > before.noise


def _compared_places(before: Record, after: Record) -> tuple[PlaceArray, PlaceArray]:
    """Return the places of the unchanged lines that both share, in each; of two logs, all lines."""
    overlap = QueryOverlap(after, before)
    if not overlap.is_paired:
        return np.arange(len(before.queries)), np.arange(len(after.queries))
    return overlap.other_places, overlap.places


def _mean(record: Record, metric: Metric, places: PlaceArray) -> float:
    """Return the mean over some lines of a record."""
    return metric.mean(record.values(metric)[places], _weights(record, places))


def _weights(record: Record, places: PlaceArray) -> FloatArray | None:
    return None if record.weights is None else record.weights[places]
