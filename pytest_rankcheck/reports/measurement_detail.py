"""What reports show of a measurement: its queries, now and before."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.baselines.record_contents import as_decimal
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.golden.query import REPLAY
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.measurement_findings import (
    GoldenSetDetail,
    MeasurementFinding,
    MetricDetail,
    QueryDetail,
    RunDetail,
)

__all__ = ["measurement_finding", "rankings_key", "rounded"]

_TOP = 10
"""How many documents of each ranking a report shows."""


def measurement_finding(
    evaluation: Evaluation, other: Measured | None, metrics: Iterable[MetricLike]
) -> MeasurementFinding:
    """Return the queries of an evaluation, with what they were before if that is known.

    Two measurements with the same ``key`` are of the same rankings.
    """
    golden = evaluation.golden
    now = {query_id: _top(evaluation, query_id) for query_id in evaluation.query_ids}
    before = {
        query_id: _top(other, query_id)
        for query_id in now
        if other is not None and query_id in other.query_fingerprints
    }
    chosen = list(dict.fromkeys(map(Metric.parse, metrics)))
    lines = _Lines(evaluation, other, chosen)
    shown = {doc for tops in (now, before) for top in tops.values() for doc in top}
    rankings = rankings_key(evaluation)
    return MeasurementFinding(
        key=_key(rankings, before),
        rankings=rankings,
        unit="sessions" if evaluation.unit == "session" else "queries",
        golden_set=GoldenSetDetail(
            name=golden.name,
            queries=len(golden),
            judgments=golden.judgment_count,
            fingerprint=golden.fingerprint,
            scale=float(golden.scale),
            attributes=tuple(name for name in golden.attributes if name != REPLAY),
        ),
        run=RunDetail(evaluation.name, evaluation.depth),
        conventions=dict(evaluation.conventions.to_dict()),
        metrics={str(metric): _definition(metric) for metric in chosen},
        means={str(metric): lines.means(metric) for metric in chosen},
        missing=tuple(evaluation.missing),
        extra=tuple(evaluation.extra),
        queries=tuple(lines.of(query_id, now[query_id], before.get(query_id)) for query_id in now),
        titles={doc: title for doc in sorted(shown) if (title := golden.title(doc))},
    )


def rankings_key(evaluation: Evaluation) -> str:
    """Return a key that is the same for the same golden set and the same tops of rankings."""
    golden = evaluation.golden
    now = {query_id: _top(evaluation, query_id) for query_id in evaluation.query_ids}
    return _key(golden.name, golden.fingerprint, now)


def rounded(value: float | None) -> float | None:
    """Return a number with six decimals, as reports show it; None for NaN and infinity."""
    return None if value is None or math.isinf(value) else as_decimal(float(value))


class _Lines:
    """The queries of a measurement, one line each."""

    def __init__(
        self, evaluation: Evaluation, other: Measured | None, metrics: Sequence[Metric]
    ) -> None:
        self.golden = evaluation.golden
        self.evaluation, self.other = evaluation, other
        self.fingerprints_before = other.query_fingerprints if other else {}
        self.after = {str(metric): _by_query(evaluation, metric) for metric in metrics}
        self.before = {str(metric): _by_query(other, metric) if other else {} for metric in metrics}

    def means(self, metric: Metric) -> tuple[float | None, float | None]:
        """Return the mean before, of the unchanged queries, and the mean now, of all."""
        same = [
            query_id
            for query_id, fingerprint in self.golden.query_fingerprints.items()
            if self.fingerprints_before.get(query_id) == fingerprint
        ]
        now = self.evaluation.mean(metric)
        if self.evaluation.unit == "session":  # of another log: all of its sessions count
            before = metric.mean(_array(self.before[str(metric)].values()))
            return rounded(before), rounded(now)
        comparable = _array([self.before[str(metric)].get(query_id) for query_id in same])
        weights = self.evaluation.weights
        if weights is not None:
            place = {query_id: at for at, query_id in enumerate(self.evaluation.query_ids)}
            weights = weights[[place[query_id] for query_id in same]]
        return rounded(metric.mean(comparable, weights)), rounded(now)

    def of(
        self, query_id: str, now: tuple[str, ...], before: tuple[str, ...] | None
    ) -> QueryDetail:
        """Return a query, given the top of its ranking now and before."""
        query, grades = self.golden.query(query_id), self.golden.grades(query_id)
        fingerprint = self.golden.query_fingerprints[query_id]
        fingerprint_before = self.fingerprints_before.get(query_id)
        is_same = fingerprint_before == fingerprint
        shown = {*now, *(before or ())}
        return QueryDetail(
            id=query_id,
            text=query.text or "",
            attributes={
                name: _plain(value) for name, value in query.attributes.items() if name != REPLAY
            },
            fingerprint=fingerprint,
            state="unchanged"
            if is_same
            else "changed"
            if query_id in self.fingerprints_before
            else "new",
            values={
                name: (self.before[name].get(query_id) if is_same else None, values[query_id])
                for name, values in self.after.items()
            },
            judged=round(sum(doc in grades for doc in now) / len(now), 6) if now else None,
            now=now,
            before=before,
            grades={doc: grade for doc, grade in grades.items() if grade > 0 or doc in shown},
        )


def _definition(metric: Metric) -> MetricDetail:
    definition = metric.definition
    low, high = (None if math.isinf(end) else end for end in definition.range)
    return MetricDetail(
        summary=definition.summary,
        reference=definition.reference,
        higher_is_better=definition.higher_is_better,
        range=(low, high),
        parameters={name: _plain(value) for name, value in metric.parameters},
        unjudged=definition.unjudged,
    )


def _array(values: Iterable[float | None]) -> FloatArray:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _by_query(side: Measured, metric: Metric) -> dict[str, float | None]:
    """Return the values of a metric by query; nothing if a record does not have the metric."""
    if side.recorded_metrics is not None and metric not in side.recorded_metrics:
        return {}
    return dict(zip(side.query_ids, map(rounded, side.values(metric).tolist()), strict=True))


def _top(side: Measured, query_id: str) -> tuple[str, ...]:
    return tuple(side.ranking(query_id)[:_TOP])


def _key(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:16]


def _plain(value: object) -> object:
    """Return a value as JSON knows it."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    is_plain = value is None or isinstance(value, (str, bool, int))
    if is_plain:
        return value
    return rounded(value) if isinstance(value, float) else str(value)
