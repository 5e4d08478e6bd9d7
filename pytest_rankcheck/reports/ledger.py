"""The ledger: the findings of a test, collected while its assertions run.

It imports nothing, so it costs nothing in a test session that does not use the plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from pytest_rankcheck.reports.findings import ReportedFinding


Ledger = list["ReportedFinding"]
T = TypeVar("T")


class Wanted(NamedTuple):
    """What findings and failure texts include."""

    detail: bool = False
    """Whether a report is written."""
    queries: bool = False
    """Whether a report shows every query, and passed gates in full."""
    strict: bool = False
    """Whether an inconclusive verdict fails its test (``rankcheck_inconclusive = fail``)."""
    evidence: bool = False
    """Whether failure texts include the evidence (-v)."""
    proves: bool = False
    """Whether a proof at the end asks what assertions would block."""


class PrintedDocuments:
    """The queries whose documents the failure texts of a test session have shown."""

    def __init__(self) -> None:
        self.tests: dict[object, str] = {}
        """The id of the failed test that has shown them."""
        self.of_test: list[object] = []
        """What the texts of the running test have shown."""

    def settle(self, test: str) -> None:
        """Keep what a test has shown that failed."""
        for key in self.of_test:
            self.tests.setdefault(key, test)


class _Running(NamedTuple):
    """The test that runs."""

    ledger: Ledger
    wanted: Wanted
    printed: PrintedDocuments | None
    made: dict[tuple[object, ...], tuple[Any, Any]]
    """What was made for it and from what, by the ids of the latter."""


_running: ContextVar[_Running | None] = ContextVar("rankcheck_running", default=None)


@contextmanager
def collecting(
    *, printed: PrintedDocuments | None = None, queries: bool = True, **chosen: bool
) -> Iterator[Ledger]:
    """Collect the findings that are entered in this block.

    Args:
        printed: what the texts of earlier tests have shown.
        queries: as in `Wanted`, if a report is written.
        chosen: the other fields of `Wanted`.
    """
    shows_queries = queries and chosen.get("detail", False)
    running = _Running([], Wanted(queries=shows_queries, **chosen), printed, {})
    if printed is not None:
        printed.of_test.clear()
    token = _running.set(running)
    try:
        yield running.ledger
    finally:
        _running.reset(token)


def place_of_documents(key: object) -> str | None:
    """Return the test whose failure text has shown a query's documents; None if none has."""
    running = _running.get()
    if running is None or running.printed is None:  # reports show everything
        return None
    if key not in running.printed.tests:
        running.printed.of_test.append(key)
    return running.printed.tests.get(key)


def made_once(make: Callable[..., T], *of: object) -> T:
    """Return the result of a function of some things; within a test, it is computed once."""
    running = _running.get()
    made, key = running.made if running else {}, (make, *map(id, of))
    if key not in made:
        made[key] = (of, make(*of))  # while the things are kept, nothing else has their ids
    result: T = made[key][1]
    return result


def wanted() -> Wanted:
    """Return what is wanted of the running test."""
    running = _running.get()
    return running.wanted if running else Wanted()


def enter(finding: ReportedFinding) -> None:
    """Enter a finding; outside a test nothing is collected."""
    running = _running.get()
    if running is not None:
        running.ledger.append(finding)


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
