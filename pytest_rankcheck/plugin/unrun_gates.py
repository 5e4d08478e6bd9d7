"""The baselines whose gates should have run in a test session but did not, and why.

pytest's own outcome decides: the test is gone, ran without comparing, was skipped or deselected, or
the command line left it out. Nothing that a branch can configure excuses a gate.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from enum import Enum, auto
from fnmatch import fnmatch
from functools import cached_property
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_rankcheck.baselines.baseline_file import readable_record
from pytest_rankcheck.baselines.baseline_path import (
    baseline_folder,
    baseline_path,
    baselines_under,
    golden_name_of,
    real_file,
    test_file_of,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_file import is_foreign
from pytest_rankcheck.files.packed_files import shown_name
from pytest_rankcheck.plugin.baseline_settings import baseline_settings
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.options import command_line
from pytest_rankcheck.plugin.watched_tests import Collected, Outcome, WatchedTests


class Loss(Enum):
    """The consequence of a gate that did not run."""

    GONE = auto()
    """It fails against a reference, unless a new baseline replaces this one."""
    UNSEEN = auto()
    """It fails against a reference."""
    SKIPPED = auto()
    """It fails against a reference, unless the command line asks for a warning."""
    LEFT_OUT = auto()
    """The same, of a golden set whose environment variable is not set; nobody gives it up."""
    NOT_CHOSEN = auto()
    """The user chose other tests; against a reference it is listed."""
    NOT_MERGED = auto()
    """It is listed: this branch has no such gate yet."""
    FAILED = auto()
    """The test session has failed because of it, and says so."""


class Reason(NamedTuple):
    """Why a gate did not run."""

    loss: Loss
    text: str
    detail: str = ""
    """Why a test was skipped or is expected to fail."""


NOT_CHOSEN = Reason(Loss.NOT_CHOSEN, "its test was not chosen on the command line")
FAILED = Reason(Loss.FAILED, "its test failed")
_NOT_COMPARED = Reason(Loss.GONE, "its test passed, but did not compare this golden set with it")
_CAUGHT = Reason(Loss.UNSEEN, "its gate failed, and its test went on")
_DESELECTED = Reason(Loss.SKIPPED, "its test was deselected, and not on the command line")
_NOT_REACHED = Reason(Loss.UNSEEN, "the test session ended before its test")
_STOPPED = Reason(Loss.FAILED, _NOT_REACHED.text)
_NOT_MERGED = Reason(
    Loss.NOT_MERGED, "the reference has added it since this branch diverged, so merge the reference"
)


class Unrun(NamedTuple):
    """A baseline whose gate did not run, and why."""

    path: Path
    record: Record | None
    """None if the file cannot be read."""
    golden_name: str
    why: Reason


class ExpectedGates:
    """The gates that a test session should run: one for each baseline of the tests it chose.

    Args:
        config: of the test session.
        watched: which tests it collected and ran.
        exit_status: of the test session; one that was stopped need not run all gates.
    """

    def __init__(self, config: pytest.Config, watched: WatchedTests, exit_status: int) -> None:
        self._config, self._watched, self._exit_status = config, watched, exit_status
        self._start = Path(os.path.realpath(config.invocation_params.dir))
        self._reference = baseline_settings(config).reference
        self._command = command_line(config)
        by_file = groupby(sorted(watched.collected), key=lambda test: test.file)
        self._tests = {self._real(file): [*tests] for file, tests in by_file}
        """The tests by their file."""
        self._files = {self._real(file): reason for file, reason in watched.files.items()}
        """The test files that were collected; why, if they skipped themselves."""

    def _real(self, file: str) -> Path:
        return real_file(Path(os.path.normpath(self._config.rootpath / file)))

    # --- what should run ---------------------------------------------------------------------

    @cached_property
    def _chosen(self) -> Sequence[Path]:
        """What the command line chose to run, also with links resolved.

        Without a choice, the folder where pytest was started; without a reference, what the project
        chose.
        """
        start = [str(self._start)] if self._reference else self._config.args
        paths = [self._path_of(word) for word in self._command.file_or_dir or start]
        real = (real_file(path) if path.is_file() else path.resolve() for path in paths)
        return list(dict.fromkeys([*paths, *real]))

    def _path_of(self, argument: str) -> Path:
        """Return the file or folder that an argument of pytest names."""
        name = argument.partition("::")[0]
        with suppress(ImportError, ValueError):
            spec = find_spec(name) if self._command.pyargs else None
            if spec is not None and spec.origin is not None:
                origin = Path(spec.origin)
                return origin.parent if spec.submodule_search_locations else origin
        return Path(os.path.normpath(self._start / name))

    @cached_property
    def folders(self) -> Sequence[Path]:
        """The folders below which all gates should run."""
        return [path if path.is_dir() else path.parent for path in self._chosen]

    def _paths(self) -> Sequence[Path]:
        """Return the baselines of the tests that should run: those of the reference, if any."""
        if self._reference is not None:
            return sorted(self._reference.baselines(self.folders))
        unsearched = self._config.getini("norecursedirs")
        folders = {folder.resolve() for folder in self.folders}
        return sorted({path for each in folders for path in baselines_under(each, unsearched)})

    # --- what did not run, and why -----------------------------------------------------------

    def unrun(self, ran: Collection[Path], caught: Collection[Path]) -> Iterator[Unrun]:
        """Yield the baselines whose gates did not run and that are not retired.

        Args:
            ran: the files whose gates ran.
            caught: the files whose gates failed in tests that passed nevertheless.
        """
        differing = self._reference.differing(self.folders) if self._reference else frozenset()
        for path in self._paths():
            if path in ran:
                continue
            # To read the file here is faster than to ask git for each.
            is_here = path.is_file() and path not in differing
            text = path.read_text("utf-8", "replace") if is_here else None
            if self._reference is not None and text is None:
                text = self._reference.text(path)
            if text is None or is_foreign(text):
                continue
            record = readable_record(text)
            if record is not None and record.retired is not None:
                continue
            name = record.golden_set.name if record else golden_name_of(path)
            why = _CAUGHT if path in caught else self._why(path, name)
            yield Unrun(path, record, name, why)

    def _why(self, path: Path, golden_name: str) -> Reason:
        if self._reference and not path.exists() and self._reference.is_behind(path, None):
            return _NOT_MERGED
        file = test_file_of(path)
        if file is None:
            return Reason(Loss.GONE, "its test file is gone")
        chosen = self._command.file_or_dir
        words = [each for each in chosen if real_file(self._path_of(each)) == file]
        tests = self.tests_of(path, golden_name)
        if tests:
            why = self._why_of(tests)
            is_part = why is _NOT_COMPARED and "[" in "".join(words)
            configured = map(shown_name, self._config.stash[CONFIG].golden)
            # Their environment variables are not set.
            left_out = ", ".join(self._config.stash[CONFIG].left_out)
            is_unmeasured = why is _NOT_COMPARED and golden_name not in configured
            if is_unmeasured and self._has("rankcheck_golden"):
                return NOT_CHOSEN
            if is_unmeasured and left_out:
                return Reason(Loss.LEFT_OUT, "its golden set was left out", left_out)
            return NOT_CHOSEN if is_part else why  # such as one of two golden sets
        if "::" in "".join(words) or self._has("lf") or self._is_left_out(file):
            return NOT_CHOSEN
        if file not in self._files:
            return Reason(Loss.UNSEEN, "its test file exists, but was not collected")
        reason = self._files[file]
        if reason is not None:
            return Reason(Loss.SKIPPED, "its test file skips itself", reason)
        return Reason(Loss.GONE, "its test is gone")

    def tests_of(self, path: Path, golden_name: str) -> Sequence[Collected]:
        """Return the collected tests that a baseline belongs to."""
        return [
            test
            for file, tests in self._tests.items()
            if baseline_folder(file) == path.parent
            for test in tests
            if baseline_path(file, test.key, golden_name) == path
        ]

    def _is_left_out(self, file: Path) -> bool:
        """Whether the command line left out a test file."""
        ignored = map(self._path_of, self._command.ignore or ())
        patterns = (str(self._start / text) for text in self._command.ignore_glob or ())
        is_chosen = any(map(file.is_relative_to, self._chosen))
        is_ignored = any(map(file.is_relative_to, ignored))
        return not is_chosen or is_ignored or any(fnmatch(str(file), each) for each in patterns)

    def _why_of(self, tests: Sequence[Collected]) -> Reason:
        """Return why the gate of tests that exist did not run."""
        outcomes = [self._watched.outcomes.get(test.id) for test in tests]
        ended: dict[str, Outcome] = {each.word: each for each in outcomes if each is not None}
        if "skipped" in ended:
            return Reason(Loss.SKIPPED, "its test was skipped", ended["skipped"].reason)
        if "xfailed" in ended:
            why = "its test is expected to fail (xfail)"
            return Reason(Loss.SKIPPED, why, ended["xfailed"].reason)
        if any(test.is_deselected for test in tests):
            options = ("keyword", "markexpr", "deselect", "lf", "stepwise")
            return NOT_CHOSEN if self._has(*options) else _DESELECTED
        if "failed" in ended:
            return FAILED
        if None not in outcomes:
            return _NOT_COMPARED
        return _STOPPED if self._exit_status else _NOT_REACHED

    def _has(self, *options: str) -> bool:
        """Whether the command line has one of these options of pytest and its plugins."""
        return any(getattr(self._command, name, None) for name in options)
