"""What a test session collected, what left some tests out, and how the others ended.

Workers of pytest-xdist collect; the controller decides. So what was collected can be sent. pytest
imports this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.item_identity import item_key

_SENT = "rankcheck_collected"
PROJECT = "project"
"""What left a test out: a conftest, not an option or an installed plugin."""
_NOT_CALLERS = ("pluggy", "pytest_rankcheck")


class Collected(NamedTuple):
    """A test that was collected, also if it was left out then."""

    file: str
    """Relative to the root of the project."""
    key: str
    """What identifies it in its file."""
    id: str
    left_out: str = ""
    """What left it out: ``-k``, ``-m``, ``--deselect``, `PROJECT`, or a module of a plugin."""


class Outcome(NamedTuple):
    """How a test ended."""

    word: str
    """``"passed"``, ``"failed"``, ``"skipped"`` or ``"xfailed"``."""
    reason: str = ""
    """Why it was skipped or expected to fail."""


class WatchedTests:
    """A plugin that watches which tests are collected, left out and run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._items: Sequence[pytest.Item] = ()
        self._left_out: dict[int, str] = {}
        self._received: Sequence[Collected] | None = None
        self.skipped_files: dict[str, str] = {}
        """Why a test file skipped itself."""
        self.outcomes: dict[str, Outcome] = {}
        """How the tests ended, by id; the last one counts if a test was repeated."""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note the test files that skip themselves."""
        if report.skipped:
            self.skipped_files[report.nodeid] = _skip_reason(report.longrepr)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, items: list[pytest.Item]
    ) -> Generator[None, object, object]:
        """Keep the tests before anybody leaves some out."""
        self._items = tuple(items)
        return (yield)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note what deselects tests: it is the caller of this hook."""
        self._left_out |= dict.fromkeys(map(id, items), _deselecting())

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Find the tests that a conftest left out without a word."""
        kept = {id(item) for item in session.items}
        for item in self._items:
            if id(item) not in kept:
                self._left_out.setdefault(id(item), PROJECT)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended."""
        reason = getattr(report, "wasxfail", None)
        if not report.failed and reason is not None:
            self.outcomes[report.nodeid] = Outcome("xfailed", str(reason))
        elif report.skipped:
            self.outcomes[report.nodeid] = Outcome("skipped", _skip_reason(report.longrepr))
        elif report.failed or report.when == "call":
            self.outcomes[report.nodeid] = Outcome(report.outcome)

    # --- pytest-xdist ------------------------------------------------------------------------

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send what a worker collected to the controller."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None and self.uses_baselines:
            output[_SENT] = [list(map(tuple, self.collected)), self.skipped_files]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker collected; all workers collect the same."""
        sent = getattr(node, "workeroutput", {}).get(_SENT)
        if sent is not None:
            self._received = [Collected(*test) for test in sent[0]]
            self.skipped_files = sent[1]

    # --- what was seen -----------------------------------------------------------------------

    @property
    def uses_baselines(self) -> bool:
        """Whether this test session has to do with baselines."""
        chosen = self._config.stash[CONFIG]
        return bool(self._received or chosen.baseline_ref or chosen.golden or chosen.sessions) or (
            any("baseline" in getattr(item, "fixturenames", ()) for item in self._items)
        )

    @property
    def collected(self) -> Sequence[Collected]:
        """The tests that were collected, here or by the workers."""
        if self._received is not None:
            return self._received
        root = self._config.rootpath
        return [
            Collected(
                Path(os.path.relpath(item.path, root)).as_posix(),
                item_key(item),
                item.nodeid,
                self._left_out.get(id(item), ""),
            )
            for item in self._items
        ]


def _skip_reason(longrepr: object) -> str:
    reason = longrepr[2] if isinstance(longrepr, tuple) else ""
    return str(reason).removeprefix("Skipped: ")


def _deselecting() -> str:
    """Return what calls ``pytest_deselected``: the first frame that is not of pluggy or ours."""
    frame = sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in _NOT_CALLERS:
        frame = frame.f_back
    name = str(frame.f_globals.get("__name__"))
    if name == "_pytest.mark":
        return "-m" if frame.f_code.co_name == "deselect_by_mark" else "-k"
    if name == "_pytest.main":
        return "--deselect"
    folders = Path(frame.f_code.co_filename).parts
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(folders)
    return name if is_installed or name.startswith("_pytest.") else PROJECT
