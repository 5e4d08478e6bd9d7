"""Which keys a record needs to follow another one, and which of them no new approval gives.

It compares two records and nothing else, so it also holds for files that were edited, replaced or
recorded anew by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

import numpy as np

from pytest_rankcheck.baselines.approval import (
    Approval,
    Key,
    covers,
    is_looser,
    known_gate,
    number_of,
)
from pytest_rankcheck.baselines.golden_changes import lost_queries, lost_values
from pytest_rankcheck.baselines.record import Record, RecordedMetric, RecordedSet, as_decimal
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.comparison.measurement import QueryOverlap
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import MIN_QUERIES
from pytest_rankcheck.evaluation.recorded_precision import EXACT
from pytest_rankcheck.metrics.metric_names import Metric

Places = Sequence[int] | np.ndarray


def broken_promises(before: Record, after: Record) -> Sequence[Key]:
    """Return what ``after`` changes of ``before`` without a reason; empty if it may follow it."""
    approvals = new_approvals(before, after)
    if approvals is None:
        return [Key("approvals", words="the earlier approvals differ")]
    given = [key for approval in approvals for key in approval.keys]
    return [key for key in changes(before, after) if not covers(given, key)]


def new_approvals(before: Record, after: Record) -> Sequence[Approval] | None:
    """Return the approvals that ``after`` adds; None if it does not keep the earlier ones.

    One whose every key is undone may go, as with ``git revert``.
    """
    rest = list(after.approvals)
    for approval in before.approvals:
        if rest and rest[0] == approval:
            del rest[0]
        elif not approval.keys or not all(_is_undone(key, after) for key in approval.keys):
            return None
    return rest


def _is_undone(key: Key, record: Record) -> bool:
    """Whether a record is as it was before a change that an approval allowed."""
    now = {
        "depth": record.depth,
        "clusters": record.cluster_by,
        "scale": record.golden_set.scale,
        "golden-set": record.golden_set.fingerprint,
        "catalogue": record.golden_set.catalogue,
    }
    if key.kind in now:
        return now[key.kind] == key.before
    match key.kind:
        case "rise" | "option-looser":  # of the configuration, not of the record
            return True
        case "replicates":
            averaged = (record.metrics[name].averaged for name in record.approved)
            return max(averaged, default=1) >= number_of(key.before)
        case "queries-lost":
            return isinstance(key.before, int) and len(record.queries) >= key.before
        case "limits":
            return str(key.before) in map(str, record.limits)
        case "slice-gone":
            return key.subject in record.slices
        case "convention":
            return quoted(asdict(record.conventions).get(key.subject) or "none") == key.before
    return key.subject in record.gated and _is_metric_back(key, record)


def _is_metric_back(key: Key, record: Record) -> bool:
    """Whether a gated metric is as it was before a change that an approval allowed."""
    entry = record.metrics[key.subject]
    match key.kind:
        case "fall":
            metric = Metric.parse(key.subject)
            attribute, _, value = key.name.partition("[")[2].removesuffix("]").partition("=")
            places = record.queries.members(attribute).get(value, ()) if attribute else None
            mean = as_decimal(record.mean(metric, places))
            return mean is not None and Key(key.name, key.before, mean).loss <= EXACT
        case "metric-gone":
            return True
        case "gate-looser":
            return not is_looser(str(key.before), record.gate(Metric.parse(key.subject)))
        case "direction":
            return entry.lower_is_better == (key.before == "lower")
        case "noise-wider":
            return entry.deviation is not None and entry.deviation <= number_of(key.before)
        case "no-value":
            return record.queries.counted(key.subject) >= number_of(key.before)
    return False


def changes(before: Record, after: Record) -> Iterator[Key]:
    """Yield the keys that ``after`` needs to follow ``before``."""
    other_manner = [*manner_changes(before, after)]
    yield from other_manner
    overlap = QueryOverlap(after, before)
    if not other_manner:
        yield from _falls(before, after, overlap)
    for name in before.approved:
        yield from _metric_changes(name, before, after)
        lost = name in after.metrics and lost_values(before, overlap, Metric.parse(name))
        if lost:
            yield lost
    for attribute in before.slices:
        if attribute not in after.slices:
            yield Key(f"slice-gone:{attribute}")
    if overlap.is_paired:
        few = lost_queries(before, after.query_fingerprints)
        if few is not None:
            yield few
    both = [Metric.parse(name) for name in before.approved if name in after.metrics]
    yield from other_basis(both, before.golden_set, after.golden_set)
    yield from fewer_runs(before, after)
    yield from looser_limits(before, after.limits)
    if before.limits and after.limits and overlap.is_paired and not other_manner:
        changed = _changed_rankings(before, after, overlap)
        if changed:
            yield Key("rankings", None, changed)


def _metric_changes(name: str, before: Record, after: Record) -> Iterator[Key]:
    """Yield what else than its values changes of an approved metric."""
    then, now = before.metrics[name], after.metrics.get(name)
    if now is None:
        yield Key(f"metric-gone:{name}", then.gate, words=f"the values of {name} are gone")
    elif now.gate is None or (then.gated and not now.gated):
        yield Key(f"metric-gone:{name}", then.gate)
    elif then.lower_is_better != now.lower_is_better:
        yield reversed_direction(name, then)
    elif is_looser(then.gate, now.gate):
        yield Key(f"gate-looser:{name}", then.gate, now.gate)
    elif allows_for_more_noise(then, now):
        yield Key(f"noise-wider:{name}", then.deviation, now.deviation)


def reversed_direction(name: str, before: RecordedMetric) -> Key:
    """Return the key of a metric whose better direction is no longer that of its record."""
    sides = ("lower", "higher") if before.lower_is_better else ("higher", "lower")
    return Key(f"direction:{name}", *sides)


def allows_for_more_noise(before: RecordedMetric, after: RecordedMetric) -> bool:
    """Whether a gate that allows for the noise of runs has become wider."""
    gate = before.gate or "tolerance"
    ignores_noise = gate.startswith("tolerance") and "noise=" not in gate
    if ignores_noise or before.deviation is None:
        return False
    return after.deviation is None or after.deviation > before.deviation


def fewer_runs(before: Record, after: Record) -> Iterator[Key]:
    """Yield the key of approved values that are means of fewer runs than they were."""
    names = [name for name in before.approved if name in after.metrics]
    pairs = [(before.metrics[name].averaged, after.metrics[name].averaged) for name in names]
    fewer = [(then, now) for then, now in pairs if now < then]
    if fewer:
        yield Key("replicates", max(then for then, _ in fewer), min(now for _, now in fewer))


def manner_changes(before: Record, after: Record | Evaluation) -> Iterator[Key]:
    """Yield how a measurement was made in another way than a record, so that they don't compare."""
    then, now = asdict(before.conventions), asdict(after.conventions)
    for name in then:
        if then[name] != now[name]:
            old, new = (quoted(each[name] or "none") for each in (then, now))
            yield Key(
                f"convention:{name}",
                old,
                new,
                words=f"{name}: '{old}' in the baseline, '{new}' now",
            )
    if before.depth != after.depth:
        yield Key("depth", before.depth, after.depth)
    by = after.cluster_by if isinstance(after, Record) else after.golden.cluster_by
    if before.cluster_by != by:
        yield Key("clusters", before.cluster_by, by)


def other_basis(
    metrics: Iterable[Metric], before: RecordedSet, after: RecordedSet
) -> Iterator[Key]:
    """Yield what differs of that on which every value of some of the metrics depends."""
    wanted = {name for metric in metrics for name in metric.kind.depends_on}
    if "fingerprint" in wanted and before.fingerprint != after.fingerprint:
        words = "the golden set changed, and one value of the whole run has no unchanged queries"
        yield Key("golden-set", before.fingerprint, after.fingerprint, words=words)
    if "catalogue" in wanted and before.catalogue != after.catalogue:
        yield Key("catalogue", before.catalogue, after.catalogue)


def looser_limits(record: Record, now: Sequence[StabilityLimits]) -> Iterator[Key]:
    """Yield the limits on rankings for which there are now none that are at least as strict."""
    given = " and by ".join(dict.fromkeys(map(str, now))) or None
    for then in record.limits:
        if not any(each.is_at_least_as_strict_as(then) for each in now):
            yield Key("limits", str(then), given)


def _falls(before: Record, after: Record, overlap: QueryOverlap) -> Iterator[Key]:
    """Yield the approved means that are lower: of all queries that both share, and of slices."""
    if overlap.is_paired:
        then: Places = overlap.other_places
        now: Places = overlap.places
    else:
        then, now = np.arange(len(before.queries)), np.arange(len(after.queries))
    if not len(now):
        return
    for name in before.approved:
        metric = Metric.parse(name)
        if name not in after.metrics or before.metrics[name].lower_is_better != (
            after.metrics[name].lower_is_better
        ):
            continue
        yield from _fall(f"fall:{name}", metric, (before, then), (after, now))
        gate = known_gate(before.metrics[name].gate)
        given = gate.min_queries if gate else None
        smallest = max(1, MIN_QUERIES if given is None else given)
        for attribute in metric.kind.sliced_by(before.slices):
            slices = _slices(attribute, before, after, then, now, is_paired=overlap.is_paired)
            for label, there, here in slices if attribute in after.slices else ():
                if min(len(there), len(here)) >= smallest:
                    key = f"fall:{name}[{label}]"
                    yield from _fall(key, metric, (before, there), (after, here))


def _fall(
    name: str, metric: Metric, before: tuple[Record, Places], after: tuple[Record, Places]
) -> Iterator[Key]:
    then, now = (record.mean(metric, places) for record, places in (before, after))
    if metric.gain(then, now) < -EXACT or (np.isnan(now) and not np.isnan(then)):
        yield Key.of_means(name, then, now)


def _slices(
    attribute: str, before: Record, after: Record, then: Places, now: Places, *, is_paired: bool
) -> Iterator[tuple[str, Places, Places]]:
    """Yield each slice of an attribute that both gate by, with its places in both.

    Queries can be moved to another slice: what a slice had counts, and what it has.
    """
    old, new = before.queries.members(attribute), after.queries.members(attribute)
    for value in {**old, **new}:
        label = f"{attribute}={value}"
        if not is_paired:
            yield label, old.get(value, ()), new.get(value, ())
            continue
        for inside in (
            np.isin(then, np.array(old.get(value, ()), np.intp)),
            np.isin(now, np.array(new.get(value, ()), np.intp)),
        ):
            yield label, np.asarray(then)[inside], np.asarray(now)[inside]


def _changed_rankings(before: Record, after: Record, overlap: QueryOverlap) -> int:
    """Return how many compared rankings changed.

    Changes within the limits are never recorded, so that they cannot add up.
    """
    k = min(max(limits.k for limits in record.limits) for record in (before, after))
    then, now = before.queries.tops, after.queries.tops
    places = zip(overlap.other_places.tolist(), overlap.places.tolist(), strict=True)
    return sum(tuple(then[place][:k]) != tuple(now[at][:k]) for place, at in places)
