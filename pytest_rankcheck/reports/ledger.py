"""The ledger: what the assertions of a test found, in built-in types.

It is how results get from an assertion to the terminal's summary, through the test's report and,
with pytest-xdist, from the worker to the controller. It imports nothing, so that a session that
does not use the plugin pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypedDict

__all__ = ["Entry", "Ledger", "collecting", "enter", "finding", "measured", "wants_detail"]


class Entry(TypedDict, total=False):
    """One finding: a metric that was measured, or something that the summary must say."""

    golden: str
    queries: int
    metric: str
    baseline: float | None
    now: float
    best: float | None
    """The best mean that was ever approved."""
    verdict: str
    """What the assertion decided, in a word or two; empty for a metric that is only shown."""
    failed: bool
    note: str
    """A sentence for the summary; an entry has a metric or a note."""
    heading: str
    """What the note stands under."""
    failure: str
    """All that a note with ``failed`` has to say, where a test failed that is about no metric."""
    detail: dict[str, Any]
    """What a report shows of the gate; only where one is written."""
    unjudged: list[dict[str, Any]]
    """Documents to be judged, for a report; an entry of its own."""
    resolution: dict[str, Any]
    """What the golden set can see of a run; an entry of its own."""
    measurement: dict[str, Any]
    """The queries that were measured, for a report; an entry of its own."""


Ledger = list[Entry]

_current: ContextVar[Ledger | None] = ContextVar("rankcheck_ledger", default=None)
_detailed: ContextVar[bool] = ContextVar("rankcheck_detailed", default=False)


@contextmanager
def collecting(*, detail: bool = False) -> Iterator[Ledger]:
    """Collect what is entered until the block ends; for a report, in all detail."""
    ledger: Ledger = []
    tokens = _current.set(ledger), _detailed.set(detail)
    try:
        yield ledger
    finally:
        _current.reset(tokens[0])
        _detailed.reset(tokens[1])


def finding(heading: str, note: str, failure: str | None = None) -> Entry:
    """Return what an assertion that is about no metric found; with its text where it fails."""
    if failure is None:
        return Entry(heading=heading, note=note)
    return Entry(heading=heading, note=note, failed=True, failure=failure)


def wants_detail() -> bool:
    """Return whether a report is written, so that details are wanted."""
    return _current.get() is not None and _detailed.get()


def measured(measurement: dict[str, Any]) -> None:
    """Enter the queries of a measurement, once for the same rankings and metrics."""
    for entry in _current.get() or ():
        before = entry.get("measurement")
        if before and before["key"] == measurement["key"]:
            missing = measurement["metrics"].keys() - before["metrics"].keys()
            if not missing:
                return
    enter(Entry(measurement=measurement))


def enter(entry: Entry) -> None:
    """Enter a finding; outside a test nobody collects, and nothing happens."""
    ledger = _current.get()
    if ledger is not None:
        ledger.append(entry)
