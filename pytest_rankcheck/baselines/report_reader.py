"""A JSON report read back as a record: the measurement of one golden set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytest_rankcheck.baselines.entry_values import (
    as_count,
    as_list,
    as_mapping,
    as_number,
    as_number_or_nan,
    as_text,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_contents import RecordedMetric
from pytest_rankcheck.baselines.recorded_queries import RecordedQuery
from pytest_rankcheck.errors import BaselineError, MetricError, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["REPORT", "record_of_report"]

REPORT = "pytest-rankcheck report"
"""The format that a JSON report declares."""


def record_of_report(text: str, path: str, golden_name: str | None) -> Record:
    """Return what a JSON report says of a golden set now.

    Args:
        text: the text of the report.
        path: the file, for messages.
        golden_name: the golden set; without it, or if the report lacks it, the first one.

    Raises:
        BaselineError: the text is not a whole JSON report, or has no measurement.
    """
    try:
        report = as_mapping(json.loads(text))
        measurements = as_list(report["measurements"])
        if not measurements:
            raise BaselineError(f"{path}: the report has no measurement")
        names = [as_text(each["golden_set"]["name"]) for each in measurements]
        place = names.index(golden_name) if golden_name in names else 0
        return _record(measurements[place], as_list(report["gates"]))
    except BaselineError:
        raise
    except MetricError as failure:  # perhaps one that a project registers
        raise BaselineError(f"{path}: {failure}") from None
    except KeyError as missing:
        why = f"it lacks {quoted(missing)}"
    except json.JSONDecodeError as failure:
        why = f"not JSON: {failure.msg}, line {failure.lineno}; was the file cut short?"
    except (TypeError, ValueError, IndexError, AttributeError, RecursionError) as failure:
        why = quoted(failure, 200)
    raise BaselineError(
        f"{path}: this is not a whole JSON report: {why}. Write it again with --rankcheck-json"
    )


def _record(measurement: Mapping[str, Any], gates: Sequence[Any]) -> Record:
    golden, depth = measurement["golden_set"], measurement["run"]["depth"]
    metrics = {name: Metric.parse(name) for name in as_mapping(measurement["metrics"])}
    queries = {
        as_text(line["id"]): RecordedQuery(
            as_text(line["fingerprint"]),
            {name: _now(line["values"][name]) for name in metrics},
            tuple(map(as_text, as_list(line["now"]))),
        )
        for line in as_list(measurement["queries"])
    }
    best = {
        gate["metric"]: as_number(gate["best"])
        for gate in gates
        if gate["measurement"] == measurement["key"] and gate.get("best") is not None
    }
    return Record(
        golden_name=as_text(golden["name"]),
        golden_queries=as_count(golden["queries"]),
        golden_judgments=as_count(golden["judgments"]),
        golden_fingerprint=as_text(golden["fingerprint"]),
        depth=None if depth is None else as_count(depth),
        conventions=Conventions.from_dict(measurement["conventions"]),
        kept={
            name: RecordedMetric(True, best.get(name, _mean(metric, name, queries)))
            for name, metric in metrics.items()
        },
        queries=dict(sorted(queries.items())),
    )


def _mean(metric: Metric, name: str, queries: Mapping[str, RecordedQuery]) -> float:
    values = [as_number_or_nan(query.values[name]) for query in queries.values()]
    return metric.mean(np.array(values, dtype=np.float64))


def _now(pair: object) -> float | None:
    """Return the second of two values, before and now."""
    _, now = as_list(pair)
    return None if now is None else as_number(now)
