"""What a changed golden set takes from a record: queries, values, and what that does to means.

A few need no reason. What updates take away is added up in the record, so that many do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.comparison.query_overlap import QueryOverlap
from pytest_rankcheck.errors import plural
from pytest_rankcheck.evaluation.recorded_precision import as_recorded
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = [
    "LOSS_SHARE",
    "Replaced",
    "Uncounted",
    "replaced_queries",
    "set_changes",
    "uncounted_queries",
]

LOSS_SHARE = 0.05
"""The share of queries that may be lost since the last approval without a reason."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """The queries that were removed or edited since the last approval."""

    removed: int
    edited: int
    queries: int
    """How many queries there were then."""
    weight: float = 0.0
    """The share of the weight of those that this record still has, if queries are weighted."""

    @property
    def allowed(self) -> int:
        """How many need no reason."""
        return max(1, math.floor(LOSS_SHARE * self.queries))

    @property
    def needs_reason(self) -> bool:
        """Whether they are too many."""
        return self.removed + self.edited > self.allowed or self.weight > LOSS_SHARE

    def __str__(self) -> str:
        text = (
            f"{self.removed:,} of {plural(self.queries, 'query', 'queries')} removed and "
            f"{self.edited:,} edited since the last approval; {self.allowed:,} need no reason"
        )
        if self.weight <= LOSS_SHARE:
            return text
        return (
            f"{text}, but these have {self.weight:.0%} of the weight, and {LOSS_SHARE:.0%} may go"
        )


@dataclass(frozen=True, slots=True)
class Uncounted:
    """The queries or sessions that had a value of a metric and lost it."""

    metric: Metric
    lost: int
    counted: int
    """How many had a value at the last approval."""

    @property
    def needs_reason(self) -> bool:
        """Whether they are too many."""
        return self.lost > LOSS_SHARE * self.counted

    def __str__(self) -> str:
        units = "sessions" if self.metric.unit == "session" else "queries"
        return (
            f"{self.metric} has no value for {self.lost:,} of {self.counted:,} {units} that "
            "counted at the last approval"
        )


def replaced_queries(record: Record, fingerprints: Mapping[str, str]) -> Replaced:
    """Return how many queries of a record are removed or edited in a golden set.

    Args:
        record: the approved record.
        fingerprints: of the queries now, by query id.
    """
    then, since = record.query_fingerprints, record.since_approval
    removed = sum(query_id not in fingerprints for query_id in then)
    edited = sum(
        query_id in fingerprints and fingerprints[query_id] != fingerprint
        for query_id, fingerprint in then.items()
    )
    weight = _lost_weight(record, fingerprints)
    if since is None:
        return Replaced(removed, edited, len(then), weight)
    return Replaced(since.removed + removed, since.edited + edited, since.queries, weight)


def _lost_weight(record: Record, fingerprints: Mapping[str, str]) -> float:
    """Return the share of weight of the queries that are removed or edited; 0 without weights."""
    if record.weights is None:
        return 0.0
    is_lost = [
        fingerprints.get(query_id) != fingerprint
        for query_id, fingerprint in record.query_fingerprints.items()
    ]
    return float(record.weights[np.array(is_lost)].sum() / record.weights.sum())


def set_changes(record: Record, overlap: QueryOverlap) -> Mapping[str, float]:
    """Return how far added, removed and edited queries move each mean of a record.

    It is the mean with the values of the record on all unchanged queries, minus the mean of the
    record; empty if the golden set is unchanged, and for session logs.

    Args:
        record: the approved record.
        overlap: of what was measured later with the record.
    """
    if not overlap.is_paired or not (overlap.added or overlap.changed or overlap.removed):
        return {}
    changes = {}
    for name, metric in ((name, Metric.parse(name)) for name in record.metrics):
        if overlap.measured.fits(metric):
            values = np.array(as_recorded(overlap.measured.values(metric)))
            values[overlap.places] = record.values(metric)[overlap.other_places]
            changes[name] = metric.mean(values, overlap.measured.weights) - record.mean(metric)
    return changes


def uncounted_queries(record: Record, overlap: QueryOverlap, metric: Metric) -> Uncounted:
    """Return how many queries of a record have lost their value of a metric.

    The log of the next week has other sessions: then the share that counts is compared. A log with
    the same sessions must not have lost many.
    """
    since, name = record.since_approval, str(metric)
    counted = record.counted(metric) if since is None else since.counted.get(name, 0)
    now = overlap.measured.values(metric)
    if overlap.is_paired:
        then = record.values(metric)[overlap.other_places]
        lost = int((~np.isnan(then) & np.isnan(now[overlap.places])).sum())
        before = 0 if since is None else since.uncounted.get(name, 0)
        return Uncounted(metric, before + lost, counted)
    has_value = {
        query_id
        for query_id, value in zip(overlap.measured.query_ids, now, strict=True)
        if not np.isnan(value)
    }
    if _is_same_log(record, overlap):
        gone = sum(
            line.values[name] is not None and query_id not in has_value
            for query_id, line in record.queries.items()
        )
        return Uncounted(metric, max(0, counted - record.counted(metric)) + gone, counted)
    total = len(record.queries) if since is None else since.queries
    expected = counted / max(total, 1) * len(now)
    return Uncounted(metric, max(0, round(expected) - len(has_value)), round(expected))


def _is_same_log(record: Record, overlap: QueryOverlap) -> bool:
    """Whether a log is the recorded one with some sessions added or removed."""
    shared = sum(query_id in record.queries for query_id in overlap.measured.query_ids)
    return 2 * shared >= min(len(record.queries), len(overlap.measured.query_ids))
