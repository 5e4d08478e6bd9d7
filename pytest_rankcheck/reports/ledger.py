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


Ledger = list["ReportedFinding"]

_current: ContextVar[tuple[Ledger | None, bool, bool]] = ContextVar(
    "rankcheck_ledger", default=(None, False, False)
)
"""The ledger, whether a report wants all details, and whether inconclusive verdicts fail."""


@contextmanager
def collecting(*, detail: bool = False, strict: bool = False) -> Iterator[Ledger]:
    """Collect the findings that are entered until the block ends.

    Args:
        detail: whether a report wants all details.
        strict: whether an inconclusive verdict fails its test.
    """
    ledger: Ledger = []
    token = _current.set((ledger, detail, strict))
    try:
        yield ledger
    finally:
        _current.reset(token)


def wants_detail() -> bool:
    """Return whether a report is written, so that details are wanted."""
    return _current.get()[1]


def fails_if_inconclusive() -> bool:
    """Return whether an inconclusive verdict fails its test (``rankcheck_inconclusive = fail``)."""
    return _current.get()[2]


def enter(finding: ReportedFinding) -> None:
    """Enter a finding; outside a test nothing is collected."""
    ledger, _, _ = _current.get()
    if ledger is not None:
        ledger.append(finding)


def packed(ledger: Ledger) -> str:
    """Return findings as text that a worker of pytest-xdist can send along with a test's report."""
    from base64 import b64encode
    from pickle import dumps

    return b64encode(dumps(ledger)).decode("ascii")


def unpacked(text: str) -> Ledger:
    """Return the findings that a process of this test session packed."""
    from base64 import b64decode
    from pickle import loads

    findings: Ledger = loads(b64decode(text))
    return findings
