"""What a test session collected, what was deselected, and how the rest ended.

Workers of pytest-xdist collect, but the controller decides, so this can be sent. pytest
imports this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import pytest

from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.item_identity import TYPED_ID, item_key, path_from, typed_id

_SENT = "rankcheck_collected"


class Collected(NamedTuple):
    """A test that was collected, even if it was deselected afterwards."""

    file: str
    """Relative to pytest's root."""
    key: str
    """What identifies it in its file."""
    id: str
    """As it can be typed."""
    is_deselected: bool = False
    """Whether anything left it out: an option, a plugin or a conftest."""


class Outcome(NamedTuple):
    """How a test ended."""

    word: str
    """``"passed"``, ``"failed"``, ``"skipped"`` or ``"xfailed"``."""
    reason: str = ""
    """Why it was skipped or expected to fail."""


class WatchedTests:
    """A plugin that watches which tests are collected, deselected and run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._items: Sequence[pytest.Item] = ()
        self._kept: frozenset[int] = frozenset()
        self._received: Sequence[Collected] | None = None
        self.files: dict[str, str | None] = {}
        """The test files that were collected; why, if they skipped themselves."""
        self.outcomes: dict[str, Outcome] = {}
        """How the tests ended, by id; the last one counts if a test was repeated."""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Note the test files, and how the collector can be typed."""
        report = yield
        setattr(report, TYPED_ID, typed_id(collector))
        if isinstance(collector, pytest.File):
            reason = _skip_reason(report.longrepr) if report.skipped else None
            self.files[self._file_of(collector)] = reason
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, items: list[pytest.Item]
    ) -> Generator[None, object, object]:
        """Note the tests before anything deselects some."""
        self._items = tuple(items)
        return (yield)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the tests that remain."""
        self._kept = frozenset(map(id, session.items))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended."""
        test = getattr(report, TYPED_ID, report.nodeid)
        if report.when == "setup":  # the test may be repeated
            self.outcomes.pop(test, None)
        reason = getattr(report, "wasxfail", None)
        if not report.failed and reason is not None:
            self.outcomes[test] = Outcome("xfailed", str(reason))
        elif report.skipped:
            self.outcomes[test] = Outcome("skipped", _skip_reason(report.longrepr))
        elif report.failed:
            self.outcomes[test] = Outcome("failed")
        elif report.when == "call" and self.outcomes.get(test) != Outcome("failed"):
            self.outcomes[test] = Outcome(report.outcome)  # a subtest may have failed before

    # --- pytest-xdist ------------------------------------------------------------------------

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send what a worker collected to the controller."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None and self.uses_baselines:
            output[_SENT] = [list(map(tuple, self.collected)), self.files]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker collected; all workers collect the same."""
        sent = getattr(node, "workeroutput", {}).get(_SENT)
        if sent is not None:
            self._received = [Collected(*test) for test in sent[0]]
            self.files = sent[1]

    # --- what was seen -----------------------------------------------------------------------

    @property
    def uses_baselines(self) -> bool:
        """Whether this test session involves baselines."""
        chosen = self._config.stash[CONFIG]
        return bool(self._received or chosen.baseline_ref or chosen.golden or chosen.sessions) or (
            any("baseline" in getattr(item, "fixturenames", ()) for item in self._items)
        )

    @property
    def collected(self) -> Sequence[Collected]:
        """The tests that were collected, here or by the workers."""
        if self._received is not None:
            return self._received
        return [
            Collected(
                self._file_of(item), item_key(item), typed_id(item), id(item) not in self._kept
            )
            for item in self._items
        ]

    def _file_of(self, node: pytest.Item | pytest.Collector) -> str:
        return path_from(self._config.rootpath, node.path)


def _skip_reason(longrepr: object) -> str:
    reason = longrepr[2] if isinstance(longrepr, tuple) else ""
    return str(reason).removeprefix("Skipped: ")
