"""Findings from built-in types: what a worker of pytest-xdist has sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pytest_rankcheck.reports.baseline_findings import BaselineFinding, RecordFinding, SlicesFinding
from pytest_rankcheck.reports.depth_findings import DepthFinding
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.gating_findings import (
    GatedSizeFinding,
    IndecisiveGateFinding,
    MixFinding,
    MostlyInconclusiveFinding,
    RarelyDecidingFinding,
    ReplayFinding,
    UngatedFallFinding,
    UngatedSlicesFinding,
    UnshownFallFinding,
)
from pytest_rankcheck.reports.measurement_findings import JudgingFinding, MeasurementFinding
from pytest_rankcheck.reports.metric_findings import GateFinding, MetricFinding
from pytest_rankcheck.reports.notes import Note
from pytest_rankcheck.reports.resolution_findings import ResolutionFinding

__all__ = ["FINDINGS", "decoded"]

FINDINGS: dict[str, type[ReportedFinding]] = {
    kind.__name__: kind
    for kind in (
        BaselineFinding,
        DepthFinding,
        GatedSizeFinding,
        GateFinding,
        IndecisiveGateFinding,
        JudgingFinding,
        MeasurementFinding,
        MetricFinding,
        MixFinding,
        MostlyInconclusiveFinding,
        Note,
        RarelyDecidingFinding,
        RecordFinding,
        ReplayFinding,
        ResolutionFinding,
        SlicesFinding,
        UngatedFallFinding,
        UngatedSlicesFinding,
        UnshownFallFinding,
    )
}
"""Every kind of finding, by the name that is written beside its fields."""


def decoded(data: Mapping[str, Any]) -> ReportedFinding:
    """Return the finding that `encoded` was given."""
    kind = FINDINGS[data["finding"]]
    finding = _value(kind, data)
    assert isinstance(finding, ReportedFinding)
    return finding


@cache
def _hints(kind: type) -> dict[str, Any]:
    """Return the types of the fields of a dataclass, by name."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _value(hint: Any, data: Any) -> Any:
    """Return data from built-in types as the type that a field has."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if data is None:
            return None
        return _value(next(kind for kind in arguments if kind is not type(None)), data)
    if origin is tuple:
        kinds = [arguments[0]] * len(data) if arguments[-1] is Ellipsis else arguments
        return tuple(_value(kind, item) for kind, item in zip(kinds, data, strict=True))
    if isinstance(hint, type) and is_dataclass(hint):
        hints = _hints(hint)
        return hint(**{name: _value(kind, data[name]) for name, kind in hints.items()})
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(data)
    if isinstance(data, Mapping) and arguments:
        return {key: _value(arguments[1], item) for key, item in data.items()}
    return data
