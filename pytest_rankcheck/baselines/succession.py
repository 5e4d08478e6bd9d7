"""The keys that a record needs to follow another one, and those that no new approval gives.

It compares two records and nothing else, so it also holds for files that were edited, replaced or
recorded anew by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np

from pytest_rankcheck.array_types import PlaceArray
from pytest_rankcheck.baselines.change import Approval, Change, Side, is_looser, known_gate, united
from pytest_rankcheck.baselines.families import lost_gates
from pytest_rankcheck.baselines.golden_changes import lost_labels, lost_queries, lost_values
from pytest_rankcheck.baselines.record import Record, RecordedSet
from pytest_rankcheck.baselines.recorded_metric import RecordedMetric
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.comparison.measurement import QueryOverlap
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import MIN_QUERIES, Evaluation
from pytest_rankcheck.evaluation.recorded_precision import EXACT
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.allowed_failures import allows_more


def broken_promises(before: Record, after: Record) -> Sequence[Change]:
    """Return what ``after`` changes in ``before`` without a reason; empty if it may follow it."""
    approvals = new_approvals(before, after)
    if approvals is None:
        return [Change("approvals", words="the earlier approvals differ")]
    given = allowed(before, after, approvals)
    return united(each for each in changes(before, after) if not each.is_covered(given))


def allowed(before: Record, after: Record, new: Iterable[Approval]) -> Sequence[Change]:
    """Return the changes that added approvals allow, and those that undo earlier approvals."""
    undone = [
        change for each in before.approvals if each not in after.approvals for change in each.keys
    ]
    rises = [each for each in undone if each.kind == "rise"]
    back = [replace(each, kind="fall", before=each.after, after=each.before) for each in rises]
    back += [each for each in undone if each.kind in _LABELS and isinstance(each.after, int)]
    if undone:  # the record may predate recorded assertions
        back.append(_NO_ASSERTIONS)
    return [*(change for approval in new for change in approval.keys), *back]


_NO_ASSERTIONS = Change("assertions", words="what its assertions decide together is gone")
_LABELS = ("slice-gone", "clusters")
"""The changes of labels; when an approval is undone, labels move back, as rises fall back."""


def new_approvals(before: Record, after: Record) -> Sequence[Approval] | None:
    """Return the approvals that ``after`` adds; None if it does not keep the earlier ones.

    An earlier approval may go if all its keys are undone, as with ``git revert``.
    """
    rest = list(after.approvals)
    for approval in before.approvals:
        if rest and rest[0] == approval:
            del rest[0]
        elif not approval.keys or not all(key.is_undone(_now(key, after)) for key in approval.keys):
            return None
    return rest


def _now(change: Change, record: Record) -> Side:
    """Return the present state of what a change is about in a record; None if it has none."""
    if change.kind in _OF_RECORD:
        return _OF_RECORD[change.kind](record, change)
    if change.kind in _OF_METRIC and change.subject in record.gated:
        return _OF_METRIC[change.kind](record, change)
    return None


def _mean(record: Record, change: Change) -> Side:
    places = None
    if change.slice is not None:
        attribute, value = change.slice
        places = record.queries.members.get(attribute, {}).get(value, ())
    metric = Metric.parse(change.subject)
    mean = record.mean(metric, places)
    return Change.fall(metric, mean, mean).after


def _runs(record: Record, change: Change) -> Side:
    return max((record.metrics[name].averaged for name in record.approved), default=1)


_WHOLE = "one value of the whole run"
_IF_OFTEN = "if it changes often, gate Distinct@k, and give this metric a floor"
_OF_RECORD: Mapping[str, Callable[[Record, Change], Side]] = {
    "depth": lambda record, _: record.depth,
    "clusters": lambda record, _: record.cluster_by,
    "scale": lambda record, _: record.golden_set.scale,
    "golden-set": lambda record, _: record.golden_set.fingerprint,
    "catalogue": lambda record, _: record.golden_set.catalogue,
    "replicates": _runs,
    "queries-lost": lambda record, _: len(record.queries),
    "limits": lambda record, it: it.before if str(it.before) in map(str, record.limits) else None,
    "slice-gone": lambda record, it: it.subject if it.subject in record.slices else None,
    "convention": lambda record, it: quoted(asdict(record.conventions).get(it.subject) or "none"),
}
_OF_METRIC: Mapping[str, Callable[[Record, Change], Side]] = {
    "fall": _mean,
    "no-value": lambda record, it: record.queries.counted(it.subject),
    "direction": lambda record, it: (
        "lower" if record.metrics[it.subject].lower_is_better else "higher"
    ),
    "noise-wider": lambda record, it: record.metrics[it.subject].deviation,
    "gate-looser": lambda record, it: record.metrics[it.subject].gate,
    "metric-gone": lambda record, it: record.metrics[it.subject].gate,
}


def changes(before: Record, after: Record) -> Iterator[Change]:
    """Yield the changes for which ``after`` needs a reason to follow ``before``."""
    other_manner = [*manner_changes(before, after)]
    yield from other_manner
    overlap = QueryOverlap(after, before)
    both = [Metric.parse(name) for name in before.approved if name in after.metrics]
    if not other_manner:
        for metric in both:
            yield from _falls(metric, before, after, overlap)
    yield from _of_metrics(before, after, overlap)
    yield from (Change("slice-gone", name) for name in before.slices if name not in after.slices)
    yield from lost_gates(before.assertions, after.assertions)
    if before.assertions and not after.assertions:
        yield _NO_ASSERTIONS
    if before.assertions and allows_more(after.failures or "0", before.failures or "0"):
        yield Change("option-looser", "failures", before.failures or "0", after.failures or "0")
    yield from looser_limits(before, after.limits)
    yield from lost_labels(overlap, before.slices)
    if overlap.is_paired:
        yield from lost_queries(before, after.query_fingerprints)
    yield from other_basis(both, before.golden_set, after.golden_set)
    runs = [(before.averaged(metric).count, after.averaged(metric).count) for metric in both]
    fewer = [(then, now) for then, now in runs if now < then]
    if fewer:
        yield Change("replicates", "", max(then for then, _ in fewer), min(now for _, now in fewer))
    if before.limits and after.limits and overlap.is_paired and not other_manner:
        changed = _changed_rankings(before, after, overlap)
        if changed:
            yield Change("rankings", after=changed)


def _of_metrics(before: Record, after: Record, overlap: QueryOverlap) -> Iterator[Change]:
    """Yield the changes of each approved metric, besides its mean."""
    for change in unknown_metrics(before):
        if change.subject not in (*after.unknown, *after.approved):
            yield change
    for name in before.approved:
        then, now = before.metrics[name], after.metrics.get(name)
        if now is None:
            words = f"the values of {name} are gone"
            yield Change("metric-gone", name, then.gate, words=words)
            continue
        if now.gate is None or (then.gated and not now.gated):
            yield Change("metric-gone", name, then.gate)
        elif then.lower_is_better != now.lower_is_better:
            yield reversed_direction(name, then)
        elif is_looser(then.gate, now.gate):
            yield Change("gate-looser", name, then.gate, now.gate)
        elif _allows_for_more_noise(then, now):
            yield Change("noise-wider", name, then.deviation, now.deviation)
        yield from lost_values(before, overlap, Metric.parse(name))


def unknown_metrics(record: Record) -> Iterator[Change]:
    """Yield the gated metrics of a record that are no longer known here."""
    for name, metric in record.unknown.items():
        if metric.entry["gate"] is not None:
            mean = "none" if metric.entry["mean"] is None else f"{metric.entry['mean']:.4f}"
            words = (
                f"{quoted(name)} is in the baseline ({mean}) and not known here; if it is one of "
                "yours, import the module that registers it, in a conftest for example"
            )
            yield Change("metric-gone", name, metric.entry["gate"], words=words)


def reversed_direction(name: str, before: RecordedMetric) -> Change:
    """Return the key of a metric whose direction is no longer that of its record."""
    sides = ("lower", "higher") if before.lower_is_better else ("higher", "lower")
    return Change("direction", name, *sides)


def _allows_for_more_noise(before: RecordedMetric, after: RecordedMetric) -> bool:
    """Whether a gate that allows for the noise of runs has become wider."""
    gate = before.gate or "tolerance"
    ignores_noise = gate.startswith("tolerance") and "noise=" not in gate
    if ignores_noise or before.deviation is None:
        return False
    return after.deviation is None or after.deviation > before.deviation


def manner_changes(before: Record, after: Record | Evaluation) -> Iterator[Change]:
    """Yield how a measurement differs in manner from a record, so that they are not comparable."""
    then, now = asdict(before.conventions), asdict(after.conventions)
    for name in then:
        if then[name] != now[name]:
            old, new = (quoted(each[name] or "none") for each in (then, now))
            yield Change(
                "convention", name, old, new, words=f"{name}: '{old}' in the baseline, '{new}' now"
            )
    if before.depth != after.depth:
        yield Change("depth", "", before.depth, after.depth)
    by = after.cluster_by if isinstance(after, Record) else after.golden.cluster_by
    if before.cluster_by != by:
        yield Change("clusters", "", before.cluster_by, by)


def other_basis(
    metrics: Iterable[Metric], before: RecordedSet, after: RecordedSet
) -> Iterator[Change]:
    """Yield differences in what every value of some metrics depends on."""
    wanted = {name for metric in metrics for name in metric.kind.depends_on}
    if "fingerprint" in wanted and before.fingerprint != after.fingerprint:
        words = f"the golden set changed, and {_WHOLE} has no unchanged queries; {_IF_OFTEN}"
        yield Change("golden-set", "", before.fingerprint, after.fingerprint, words=words)
    if "catalogue" in wanted and before.catalogue != after.catalogue:
        sizes = before.catalogue, after.catalogue
        words = "catalogue: {} documents in the baseline, {} now".format(*sizes)
        words += f", and {_WHOLE} depends on all of them; {_IF_OFTEN}"
        yield Change("catalogue", "", *sizes, words=words)


def looser_limits(record: Record, now: Sequence[StabilityLimits]) -> Iterator[Change]:
    """Yield the limits on rankings for which no limits now are at least as strict."""
    given = " and by ".join(dict.fromkeys(map(str, now))) or None
    for then in record.limits:
        if not any(each.is_at_least_as_strict_as(then) for each in now):
            yield Change("limits", "", str(then), given)


def _falls(
    metric: Metric, before: Record, after: Record, overlap: QueryOverlap
) -> Iterator[Change]:
    """Yield the means of a metric that are lower, on all shared queries and on slices."""
    name = str(metric)
    if before.metrics[name].lower_is_better != after.metrics[name].lower_is_better:
        return
    attributes = [each for each in before.slices if each in after.slices]
    for part, there, here in shared_parts(metric, before, overlap, attributes):
        then, now = before.mean(metric, there), after.mean(metric, here)
        if metric.gain(then, now) < -EXACT or (np.isnan(now) and not np.isnan(then)):
            yield Change.fall(metric, then, now, part)


def shared_parts(
    metric: Metric, before: Record, overlap: QueryOverlap, attributes: Iterable[str]
) -> Iterator[tuple[tuple[str, str] | None, PlaceArray, PlaceArray]]:
    """Yield the places of all queries that two records share, and of gated slices.

    Queries can move to another slice, so the earlier and the present slices count.
    """
    if overlap.is_paired:
        then, now = overlap.other_places, overlap.places
    else:
        sizes = len(before.query_ids), len(overlap.measured.query_ids)
        then, now = map(np.arange, sizes)
    if not len(now):
        return
    yield None, then, now
    gate = known_gate(before.gate(metric))
    given = gate.min_queries if gate else None
    smallest = max(1, MIN_QUERIES if given is None else given)
    for attribute in metric.kind.sliced_by(attributes):
        old, new = before.slice_places(attribute), overlap.measured.slice_places(attribute)
        for value in {**old, **new}:
            there, here = (np.array(each.get(value, ()), np.intp) for each in (old, new))
            sides = [(there, here)]
            if overlap.is_paired:
                inside = np.isin(then, there), np.isin(now, here)
                sides = [(then[chosen], now[chosen]) for chosen in inside]
            for places in sides:
                if min(map(len, places)) >= smallest:
                    yield (attribute, value), *places


def _changed_rankings(before: Record, after: Record, overlap: QueryOverlap) -> int:
    """Return how many compared rankings changed.

    Changes within the limits are never recorded, so that they cannot add up.
    """
    k = min(max(limits.k for limits in record.limits) for record in (before, after))
    then, now = before.queries.tops, after.queries.tops
    places = zip(overlap.other_places.tolist(), overlap.places.tolist(), strict=True)
    return sum(tuple(then[place][:k]) != tuple(now[at][:k]) for place, at in places)
