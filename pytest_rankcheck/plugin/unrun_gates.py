"""The baselines whose gates should run in a test session and did not, and why.

pytest's own outcome decides: the test is gone, ran without comparing, was skipped or deselected, or
the command line left it out. Nothing that a branch can configure excuses a gate.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from pytest_rankcheck.plugin.baseline_settings import baseline_settings
from pytest_rankcheck.plugin.given_options import command_line
from pytest_rankcheck.plugin.watched_tests import Collected, Outcome, WatchedTests


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a gate did not run."""

    text: str
    detail: str = ""
    """Why a test was skipped or is expected to fail."""
    is_gone: bool = False
    """Whether a new baseline may take the place of this one."""
    may_warn: bool = False
    """Whether the user may ask for a warning only, since the test is there."""
    is_excused: bool = False
    """Whether nothing that was gated is lost: it may run in another test session."""
    is_listed: bool = True
    """Whether people should know."""
    is_expected: bool = True
    """False if no job of this branch can run it."""


NOT_CHOSEN = Reason("its test was not chosen on the command line", is_excused=True)
_GONE = Reason("its test is gone", is_gone=True)
_FILE_GONE = Reason("its test file is gone", is_gone=True)
_NOT_COMPARED = Reason("its test passed, but did not compare this golden set with it", is_gone=True)
_CAUGHT = Reason("its gate failed, and its test went on")
_NOT_COLLECTED = Reason("its test file exists, but was not collected")
_DESELECTED = Reason("its test was deselected, and not on the command line", may_warn=True)
_ENDED_BEFORE = Reason("the test session ended before its test")
_STOPPED = Reason(_ENDED_BEFORE.text, is_excused=True, is_listed=False)
_FAILED = Reason("its test failed", is_excused=True, is_listed=False)
_NOT_MERGED = Reason(
    "the reference has added it since this branch left it, so merge the reference",
    is_excused=True,
    is_expected=False,
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
    """

    def __init__(self, config: pytest.Config, watched: WatchedTests) -> None:
        self._config, self._watched = config, watched
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
        """What the command line chose to run; without a choice, where pytest was started.

        Without a reference also what the project chose.
        """
        start = [str(self._start)] if self._reference else self._config.args
        return [self._path_of(word) for word in self._command.file_or_dir or start]

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
        """The folders below which all gates should run, also as links name them."""
        folders = [path if path.is_dir() else path.parent for path in self._chosen]
        real = (Path(os.path.realpath(folder)) for folder in folders)
        return list(dict.fromkeys([*folders, *real]))

    def _paths(self) -> Sequence[Path]:
        """Return the baselines of the tests that should run: those of the reference, if any."""
        if self._reference is not None:
            return sorted(self._reference.baselines(self.folders))
        unsearched = self._config.getini("norecursedirs")
        folders = {Path(os.path.realpath(folder)) for folder in self.folders}
        return sorted({path for each in folders for path in baselines_under(each, unsearched)})

    # --- what did not run, and why -----------------------------------------------------------

    def unrun(
        self, ran: Collection[Path], caught: Collection[Path], exit_status: int
    ) -> Iterator[Unrun]:
        """Yield the baselines whose gates did not run, and that were not given up.

        Args:
            ran: the files whose gates ran.
            caught: the files whose gates failed in tests that passed all the same.
            exit_status: of the test session; nobody expects all of one that was stopped.
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
            why = _CAUGHT if path in caught else self._why(path, name, exit_status)
            if why.is_gone and self._is_awaited(name):
                why = replace(why, is_excused=True)
            yield Unrun(path, record, name, why)

    def _why(self, path: Path, golden_name: str, exit_status: int) -> Reason:
        if self._reference and not path.exists() and self._reference.is_behind(path, None):
            return _NOT_MERGED
        file = test_file_of(path)
        if file is None:
            return _FILE_GONE
        chosen = self._command.file_or_dir
        words = [each for each in chosen if real_file(self._path_of(each)) == file]
        tests = self.tests_of(path, golden_name)
        if tests:
            why = self._why_of(tests, exit_status)
            is_part = why is _NOT_COMPARED and any("[" in each for each in words)
            return NOT_CHOSEN if is_part else why  # such as one of two golden sets
        if self._is_left_out(file) or any("::" in each for each in words):
            return NOT_CHOSEN
        if file not in self._files:
            return _NOT_COLLECTED
        reason = self._files[file]
        if reason is not None:
            return Reason("its test file skips itself", reason, may_warn=True)
        return _GONE

    def tests_of(self, path: Path, golden_name: str) -> Sequence[Collected]:
        """Return the tests that were collected to which a baseline belongs."""
        return [
            test
            for file, tests in self._tests.items()
            if baseline_folder(file) == path.parent
            for test in tests
            if baseline_path(file, test.key, golden_name) == path
        ]

    def _is_awaited(self, golden_name: str) -> bool:
        """Whether a test failed that has no baseline yet: it may be the one that is gone."""
        outcomes = self._watched.outcomes
        return any(
            test.id in outcomes
            and outcomes[test.id].word == "failed"
            and not baseline_path(file, test.key, golden_name).exists()
            for file, tests in self._tests.items()
            for test in tests
        )

    def _is_left_out(self, file: Path) -> bool:
        """Whether the command line left out a test file."""
        command = self._command
        ignored = map(self._path_of, command.ignore or ())
        patterns = (str(self._start / pattern) for pattern in command.ignore_glob or ())
        paths = [*self._chosen, *map(Path, map(os.path.realpath, self._chosen))]
        return (
            getattr(command, "lf", False)
            or not any(map(file.is_relative_to, paths))
            or any(map(file.is_relative_to, ignored))
            or any(fnmatch(str(file), pattern) for pattern in patterns)
        )

    def _why_of(self, tests: Sequence[Collected], exit_status: int) -> Reason:
        """Return why the gate of tests that exist did not run."""
        outcomes = [self._watched.outcomes.get(test.id) for test in tests]
        ended: dict[str, Outcome] = {each.word: each for each in outcomes if each is not None}
        if "skipped" in ended:
            return Reason("its test was skipped", ended["skipped"].reason, may_warn=True)
        if "xfailed" in ended:
            why = "its test is expected to fail (xfail)"
            return Reason(why, ended["xfailed"].reason, may_warn=True)
        if any(test.is_deselected for test in tests):
            return NOT_CHOSEN if self._deselects else _DESELECTED
        if "failed" in ended:
            return _FAILED
        if None not in outcomes:
            return _NOT_COMPARED
        return _STOPPED if exit_status else _ENDED_BEFORE

    @property
    def _deselects(self) -> bool:
        """Whether the command line has an option with which pytest deselects tests."""
        options = ("keyword", "markexpr", "deselect", "lf", "stepwise")
        return any(getattr(self._command, name, None) for name in options)
