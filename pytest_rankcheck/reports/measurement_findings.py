"""What reports show of a measurement: its queries, as ranked now and, if known, before."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import zip_longest
from typing import Any

from pytest_rankcheck.baselines.recorded_metric import as_decimal
from pytest_rankcheck.comparison.measurement import Measured, mean_before
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.golden.query import REPLAY
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.findings import MeasurementFinding
from pytest_rankcheck.reports.ledger import made_once

TOP = 10
"""How many documents of each ranking a report shows."""

_Values = dict[str, float | None]
"""The values of a metric by query, with six decimals; None for a query without a value."""


def measurement_finding(
    evaluation: Evaluation,
    other: Measured | None,
    metrics: Iterable[MetricLike],
    query_ids: Collection[str] | None = None,
) -> MeasurementFinding:
    """Return the queries of an evaluation, or some of them, with the state before if known.

    Equal rankings now give equal ``rankings``; equal rankings on both sides give an equal ``key``.
    """
    data = made_once(_measured, evaluation, other, query_ids)
    definitions, means, values = {}, {}, {}
    for metric in dict.fromkeys(map(Metric.parse, metrics)):
        then, now = _values(other, metric), _values(evaluation, metric)
        before = mean_before(evaluation, other, metric)
        definitions[str(metric)] = as_json(_definition(metric))
        means[str(metric)] = as_json((before, evaluation.mean(metric)))
        values[str(metric)] = [
            [then.get(each["id"]) if each["state"] == "unchanged" else None, now[each["id"]]]
            for each in data["queries"]
        ]
    return MeasurementFinding({**data, "metrics": definitions, "means": means}, values)


def _measured(
    evaluation: Evaluation, other: Measured | None, query_ids: Collection[str] | None
) -> dict[str, Any]:
    """Return the queries of a measurement, and everything else that all metrics share."""
    golden = evaluation.golden
    prints = {} if other is None else other.query_fingerprints
    fingerprints = golden.query_fingerprints
    tops = {} if query_ids == () else evaluation.tops(TOP)
    now = {each: [*top] for each, top in tops.items() if query_ids is None or each in query_ids}
    tops = other.tops(TOP) if other is not None and now else {}
    before = {query_id: [*tops[query_id]] for query_id in now if query_id in prints}
    queries = []
    for query_id, top in now.items():
        query, grades = golden.query(query_id), golden.grades(query_id)
        fingerprint, old = fingerprints[query_id], prints.get(query_id)
        top_before = before.get(query_id)
        shown = {*top, *(top_before or ())}
        entry = {
            "id": query_id,
            "text": query.text or "",
            "attributes": as_json({k: it for k, it in query.attributes.items() if k != REPLAY}),
            "fingerprint": fingerprint,
            "state": "new" if old is None else "unchanged" if old == fingerprint else "changed",
            "values": {},
            "judged": as_json(sum(doc in grades for doc in top) / len(top)) if top else None,
            "now": top,
            "before": top_before,
            "grades": {d: as_json(it) for d, it in grades.items() if it > 0 or d in shown},
        }
        queries.append(entry)
    docs = {doc for tops in (now, before) for top in tops.values() for doc in top}
    rankings = _key(golden.name, golden.fingerprint, now)
    data = {
        "key": _key(rankings, before),
        "rankings": rankings,
        "unit": evaluation.kind.plural,
        "golden_set": {
            "name": golden.name,
            "queries": len(golden),
            "judgments": golden.judgment_count,
            "fingerprint": golden.fingerprint,
            "scale": float(golden.scale),
            "attributes": [name for name in golden.attributes if name != REPLAY],
        },
        "run": {"name": evaluation.name, "depth": evaluation.depth},
        "conventions": evaluation.conventions.to_dict(),
        "metrics": {},
        "means": {},
        "missing": evaluation.missing,
        "extra": evaluation.extra,
    }
    titles = {doc: golden.title(doc) for doc in sorted(filter(golden.title, docs))}
    return {**as_json(data), "queries": queries, "titles": titles}


def _definition(metric: Metric) -> dict[str, Any]:
    names = ("summary", "reference", "higher_is_better", "range", "unjudged")
    described = {name: getattr(metric.definition, name) for name in names}
    return {**described, "parameters": dict(metric.parameters)}


def _values(side: Measured | None, metric: Metric) -> _Values:
    """Return the values of a metric by query; nothing if a record does not have the metric."""
    if side is None or (side.recorded_metrics is not None and metric not in side.recorded_metrics):
        return {}
    values = map(as_json, metric.kind.of_each(side.values(metric)).tolist())
    return dict(zip_longest(side.query_ids, values))


def _key(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:16]


def as_json(value: Any) -> Any:
    """Return dataclasses, enums and collections in JSON's types.

    Numbers have six decimals; NaN and infinity become None; anything else becomes text.
    """
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, float):
        return None if math.isinf(value) else as_decimal(float(value))
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        names = (each.name for each in fields(value) if each.metadata.get("json", True))
        return {name: as_json(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value if isinstance(value, (str, int)) else str(value)
