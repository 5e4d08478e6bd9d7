"""What a record gates, and with which gates, against what a test gates now."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rankcheck.baselines.metric_check import Check
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.gates.configured_gates import gate_of
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = [
    "approved_gate_of",
    "is_loosened",
    "loosened_gates",
    "no_longer_gated",
]


def no_longer_gated(checks: Sequence[Check], record: Record) -> Sequence[str]:
    """Return what the record gates and the test does not: metrics, and slices, as text."""
    metrics = {str(check.metric) for check in checks}
    attributes = {attribute for check in checks for attribute in check.attributes}
    return [
        *(f"{name} is no longer gated" for name in record.gated if name not in metrics),
        *(
            f"the slices of {attribute} are no longer gated"
            for attribute in record.slices
            if attribute not in attributes
        ),
    ]


def loosened_gates(checks: Sequence[Check], record: Record) -> Sequence[str]:
    """Return the gates that may let pass what the gate of the record blocks, as text."""
    return [
        f"the gate of {check.metric} was {record.kept[str(check.metric)].gate}, and is "
        f"{check.gate.text} now"
        for check in checks
        if check.gate is not None and is_loosened(check, record)
    ]


def is_loosened(check: Check, record: Record) -> bool:
    """Return whether a gate may let pass what the gate of the record blocks."""
    kept = record.kept.get(str(check.metric))
    if kept is None or kept.gate is None or check.gate is None or kept.gate == check.gate.text:
        return False
    approved = approved_gate_of(record, check.metric)
    # A gate that was removed, or of an extension that is not loaded, may have been any.
    return approved is None or not check.gate.is_at_least_as_strict_as(approved)


def approved_gate_of(record: Record, metric: Metric) -> Gate | None:
    """Return the gate that a metric was approved under; None if it is not known."""
    kept = record.kept.get(str(metric))
    if kept is None or kept.gate is None:
        return None
    try:
        return gate_of(kept.gate)
    except ConfigurationError:  # removed since, or of an extension that is not loaded
        return None
