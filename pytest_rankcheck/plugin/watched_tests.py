"""What a test session collected, what left some tests out, and how the others ended.

Workers of pytest-xdist collect; the controller decides. So what was collected can be sent. pytest
imports this at every start, so it imports nothing heavy.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.item_identity import item_key

__all__ = ["Collection", "LeftOut", "Outcome", "WatchedTests", "given_arguments", "is_given"]

_SENT = "rankcheck_collected"
_ARGUMENTS = "rankcheck_arguments"


class LeftOut(StrEnum):
    """Who left a test out of the test session."""

    USER = "user"
    """The command line, or an installed plugin."""
    MARKER = "marker"
    """A marker expression in ``addopts``."""
    PROJECT = "project"
    """A conftest or ``addopts``."""


@dataclass(slots=True)
class Collection:
    """What was collected, in built-in types. Paths are relative to the root of the project."""

    modules: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """By test file and key: the ids of the tests, before any of them was left out."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Who left a test out, by its id."""
    skipped_files: Mapping[str, str] = field(default_factory=dict)
    """Why a test file skipped itself."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a test ended."""

    word: str
    """``"passed"``, ``"failed"``, ``"skipped"`` or ``"xfailed"``."""
    reason: str = ""
    """Why it was skipped or expected to fail."""


def given_arguments(config: pytest.Config) -> Sequence[str]:
    """Return the arguments that the user gave pytest, not those of the project's ``addopts``."""
    sent = getattr(config, "workerinput", {}).get(_ARGUMENTS)
    if sent is not None:
        return list(sent)
    environment = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    return [*map(str, config.invocation_params.args), *environment]


class WatchedTests:
    """A plugin that watches which tests are collected, left out and run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._items: Sequence[pytest.Item] = ()
        self._left_out: dict[int, LeftOut] = {}
        self._skipped_files: dict[str, str] = {}
        self._received: Collection | None = None
        self.outcomes: dict[str, Outcome] = {}
        """How the tests ended, by id; the last one counts if a test was repeated."""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note the test files that skip themselves."""
        if report.skipped:
            self._skipped_files[report.nodeid] = _skip_reason(report.longrepr)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, items: list[pytest.Item]
    ) -> Generator[None, object, object]:
        """Keep the tests before anybody leaves some out."""
        self._items = tuple(items)
        return (yield)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note who deselects tests: it is the caller of this hook."""
        for item in items:
            self._left_out[id(item)] = _who_deselects(self._config, item)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Find the tests that a conftest left out without a word."""
        kept = {id(item) for item in session.items}
        for item in self._items:
            if id(item) not in kept:
                self._left_out.setdefault(id(item), LeftOut.PROJECT)

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

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker what the user has given."""
        node.workerinput[_ARGUMENTS] = list(given_arguments(self._config))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send what a worker collected to the controller."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None and self.uses_baselines:
            sent = self.collection
            output[_SENT] = [sent.modules, sent.left_out, sent.skipped_files]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker collected; all workers collect the same."""
        sent = getattr(node, "workeroutput", {}).get(_SENT)
        if sent is not None:
            self._received = Collection(*sent)

    # --- what was seen -----------------------------------------------------------------------

    @property
    def uses_baselines(self) -> bool:
        """Whether this test session has to do with baselines."""
        chosen = self._config.stash[CONFIG]
        return bool(self._received or chosen.baseline_ref or chosen.golden or chosen.sessions) or (
            any("baseline" in getattr(item, "fixturenames", ()) for item in self._items)
        )

    @property
    def collection(self) -> Collection:
        """What was collected, here or by the workers."""
        if self._received is not None:
            return self._received
        root = self._config.rootpath
        modules: dict[str, dict[str, list[str]]] = {}
        for item in self._items:
            file = Path(os.path.relpath(item.path, root)).as_posix()
            modules.setdefault(file, {}).setdefault(item_key(item), []).append(item.nodeid)
        left_out = {
            item.nodeid: str(self._left_out[id(item)])
            for item in self._items
            if id(item) in self._left_out
        }
        return Collection(modules, left_out, self._skipped_files)


def _skip_reason(longrepr: object) -> str:
    reason = longrepr[2] if isinstance(longrepr, tuple) else ""
    return str(reason).removeprefix("Skipped: ")


def _who_deselects(config: pytest.Config, item: pytest.Item) -> LeftOut:
    """Return who calls ``pytest_deselected``: the first frame that is not of pluggy or ours."""
    frame = sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in _NOT_CALLERS:
        frame = frame.f_back
    name, file = str(frame.f_globals.get("__name__")), Path(frame.f_code.co_filename)
    if name == "_pytest.mark" and frame.f_code.co_name == "deselect_by_mark":
        return LeftOut.USER if is_given(config, config.option.markexpr, "-m") else LeftOut.MARKER
    if name == "_pytest.mark":
        return LeftOut.USER if is_given(config, config.option.keyword, "-k") else LeftOut.PROJECT
    if name == "_pytest.main":
        prefixes = [text for text in config.option.deselect or () if item.nodeid.startswith(text)]
        by_user = any(is_given(config, prefix, "--deselect") for prefix in prefixes)
        return LeftOut.USER if by_user else LeftOut.PROJECT
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(file.parts)
    return LeftOut.USER if is_installed or name.startswith("_pytest.") else LeftOut.PROJECT


_NOT_CALLERS = ("pluggy", "pytest_rankcheck")


def is_given(config: pytest.Config, value: str, *options: str) -> bool:
    """Return whether the user gave an option a value, not the project's ``addopts``.

    Args:
        config: of the test session.
        value: the value.
        options: the names of the option: ``-k X``, ``-kX`` and ``--option=X`` are understood.
    """
    return any(
        (argument in options and following == value)
        or any(argument == f"{option}={value}" for option in options)
        or any(argument == f"{option}{value}" for option in options if len(option) == 2)
        for argument, following in pairwise([*given_arguments(config), ""])
    )
