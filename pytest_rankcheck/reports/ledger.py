"""The ledger: the findings of a test, collected while its assertions run.

It imports nothing, so that a test session that does not use the plugin pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rankcheck.reports.findings import ReportedFinding
    from pytest_rankcheck.reports.measurement_findings import MeasurementFinding

__all__ = [
    "Ledger",
    "collecting",
    "enter",
    "enter_measurement",
    "fails_if_inconclusive",
    "wants_detail",
]

Ledger = list["ReportedFinding"]

_current: ContextVar[Ledger | None] = ContextVar("rankcheck_ledger", default=None)
_detailed: ContextVar[bool] = ContextVar("rankcheck_detailed", default=False)
_strict: ContextVar[bool] = ContextVar("rankcheck_strict", default=False)


@contextmanager
def collecting(*, detail: bool = False, strict: bool = False) -> Iterator[Ledger]:
    """Collect the findings that are entered until the block ends.

    Args:
        detail: whether a report wants all details.
        strict: whether an inconclusive verdict fails its test.
    """
    ledger: Ledger = []
    tokens = _current.set(ledger), _detailed.set(detail), _strict.set(strict)
    try:
        yield ledger
    finally:
        _current.reset(tokens[0])
        _detailed.reset(tokens[1])
        _strict.reset(tokens[2])


def wants_detail() -> bool:
    """Return whether a report is written, so that details are wanted."""
    return _current.get() is not None and _detailed.get()


def fails_if_inconclusive() -> bool:
    """Return whether an inconclusive verdict fails its test (``rankcheck_inconclusive = fail``)."""
    return _strict.get()


def enter(finding: ReportedFinding) -> None:
    """Enter a finding; outside a test nothing is collected."""
    ledger = _current.get()
    if ledger is not None:
        ledger.append(finding)


def enter_measurement(measurement: MeasurementFinding) -> None:
    """Enter the queries of a measurement, once for the same rankings and metrics."""
    for earlier in _current.get() or ():
        if (
            isinstance(earlier, type(measurement))
            and earlier.key == measurement.key
            and not measurement.metrics.keys() - earlier.metrics.keys()
        ):
            return
    enter(measurement)
