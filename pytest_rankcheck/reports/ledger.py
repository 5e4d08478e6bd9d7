"""The ledger: what the assertions of a test found, in built-in types.

It is how results get from an assertion to the terminal's summary, through the test's report and,
with pytest-xdist, from the worker to the controller. It imports nothing, so that a session that
does not use the plugin pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypedDict

__all__ = ["Entry", "Ledger", "collecting", "enter"]


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


Ledger = list[Entry]

_current: ContextVar[Ledger | None] = ContextVar("rankcheck_ledger", default=None)


@contextmanager
def collecting() -> Iterator[Ledger]:
    """Collect what is entered until the block ends."""
    ledger: Ledger = []
    token = _current.set(ledger)
    try:
        yield ledger
    finally:
        _current.reset(token)


def enter(entry: Entry) -> None:
    """Enter a finding; outside a test nobody collects, and nothing happens."""
    ledger = _current.get()
    if ledger is not None:
        ledger.append(entry)
