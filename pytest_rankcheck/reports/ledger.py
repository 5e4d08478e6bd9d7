"""The ledger: the findings of a test, collected while its assertions run.

It imports nothing, so it costs nothing in a test session that does not use the plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pytest_rankcheck.reports.findings import ReportedFinding


Ledger = list["ReportedFinding"]
T = TypeVar("T")

_current: ContextVar[tuple[Ledger | None, bool, bool, bool, bool, bool]] = ContextVar(
    "rankcheck_ledger", default=(None, False, False, False, False, False)
)
"""The ledger, and the settings passed to `collecting`."""
_made: ContextVar[dict[tuple[object, ...], tuple[Any, Any]]] = ContextVar("rankcheck_made")
"""What was made for the running test and from what, by the ids of the latter."""
_printed: ContextVar[PrintedDocuments | None] = ContextVar("rankcheck_printed", default=None)


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


@contextmanager
def collecting(
    *,
    detail: bool = False,
    queries: bool = True,
    strict: bool = False,
    evidence: bool = False,
    proves: bool = False,
    printed: PrintedDocuments | None = None,
) -> Iterator[Ledger]:
    """Collect the findings that are entered in this block.

    Args:
        detail: whether a report is written.
        queries: whether a report shows every query, and passed gates in full.
        strict: whether an inconclusive verdict fails its test.
        evidence: whether failure texts include the evidence (-v).
        proves: whether a proof at the end asks what assertions would block.
        printed: what the texts of earlier tests have shown.
    """
    ledger: Ledger = []
    token = _current.set((ledger, detail, detail and queries, strict, evidence, proves))
    _made.set({})
    shown = _printed.set(printed)
    if printed is not None:
        printed.of_test.clear()
    try:
        yield ledger
    finally:
        _current.reset(token)
        _printed.reset(shown)  # reports show everything
        _made.set({})


def place_of_documents(key: object) -> str | None:
    """Return the test whose failure text has shown a query's documents; None if none has."""
    printed = _printed.get()
    if printed is None:
        return None
    if key not in printed.tests:
        printed.of_test.append(key)
    return printed.tests.get(key)


def made_once(make: Callable[..., T], *of: object) -> T:
    """Return the result of a function of some things; within a test, it is computed once."""
    made, key = _made.get({}), (make, *map(id, of))
    if key not in made:
        made[key] = (of, make(*of))  # while the things are kept, nothing else has their ids
    result: T = made[key][1]
    return result


def wants_detail() -> bool:
    """Return whether a report is written, so that details are wanted."""
    return _current.get()[1]


def wants_queries() -> bool:
    """Return whether a report shows every query, and passed gates in full."""
    return _current.get()[2]


def fails_if_inconclusive() -> bool:
    """Return whether an inconclusive verdict fails its test (``rankcheck_inconclusive = fail``)."""
    return _current.get()[3]


def wants_evidence() -> bool:
    """Return whether failure texts include the evidence (-v)."""
    return _current.get()[4]


def wants_proof() -> bool:
    """Return whether a proof at the end asks what assertions would block."""
    return _current.get()[5]


def enter(finding: ReportedFinding) -> None:
    """Enter a finding; outside a test nothing is collected."""
    ledger = _current.get()[0]
    if ledger is not None:
        ledger.append(finding)


def packed(ledger: Ledger) -> str:
    """Return findings as text that a worker of pytest-xdist can send along with a test's report."""
    import copyreg
    from base64 import b64encode
    from io import BytesIO
    from pickle import Pickler

    from pytest_rankcheck.metrics.metric_names import Metric, described

    text = BytesIO()
    pickler = Pickler(text)
    # The controller may lack the conftest that registers a metric.
    pickler.dispatch_table = {**copyreg.dispatch_table, Metric: described}
    pickler.dump(ledger)
    return b64encode(text.getvalue()).decode("ascii")


def unpacked(text: str) -> Ledger:
    """Return the findings that a process of this test session packed."""
    from base64 import b64decode
    from pickle import loads

    findings: Ledger = loads(b64decode(text))
    return findings
