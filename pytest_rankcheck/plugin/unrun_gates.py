"""The baselines whose gates should run in a test session and did not, and why.

There are four reasons: the test is gone, it ran without comparing, the project left it out, or it
was not chosen on the command line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_rankcheck.baselines.baseline_path import (
    baseline_folder,
    baseline_path,
    baselines_under,
    test_file_of,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_file import FORMAT_NAME
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.plugin.baseline_settings import baseline_settings
from pytest_rankcheck.plugin.given_options import given_options, has_value
from pytest_rankcheck.plugin.watched_tests import PROJECT, Collected, Outcome, WatchedTests

NOT_CHOSEN = "its test was not chosen on the command line"


class Reason(NamedTuple):
    """Why a gate did not run."""

    text: str
    detail: str = ""
    """Why a test was skipped or is expected to fail."""
    is_gone: bool = False
    """Whether a new baseline may take the place of this one."""
    is_excused: bool = False
    """Whether nothing that was gated is lost: it may run in another test session."""
    is_listed: bool = True
    """Whether people should know."""
    is_expected: bool = True
    """False if the project has chosen that the gate does not run."""


_GONE = Reason("its test is gone", is_gone=True)
_FILE_GONE = Reason("its test file is gone", is_gone=True)
_NOT_COMPARED = Reason("its test passed, but did not compare this golden set with it", is_gone=True)
_FILE_LEFT_OUT = Reason("its test file exists, but was not collected")
_LEFT_OUT = Reason("its test was deselected by the project")
_ENDED_BEFORE = Reason("the test session ended before its test")
_FAILED = Reason("its test failed", is_excused=True, is_listed=False)
_NOT_CHOSEN = Reason(NOT_CHOSEN, is_excused=True, is_listed=False)
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


def readable_record(text: str | None, path: Path) -> Record | None:
    """Return the record in the text of a baseline file; None if it cannot be read."""
    try:
        return None if text is None else Record.from_text(text, path.name)
    except BaselineError:
        return None


class ExpectedGates:
    """The gates that a test session should run: one for each baseline of the tests it chose.

    Args:
        config: of the test session.
        watched: which tests it collected and ran.
    """

    def __init__(self, config: pytest.Config, watched: WatchedTests) -> None:
        self._config, self._watched = config, watched
        self._root, self._start = config.rootpath, config.invocation_params.dir
        self._settings = baseline_settings(config)
        self._reference = self._settings.reference
        self._given = given_options(config)
        by_file = groupby(sorted(watched.collected), key=lambda test: test.file)
        self._tests = {baseline_folder(self._root / file): [*tests] for file, tests in by_file}
        """The tests by the folder of their baselines."""

    # --- what should run ---------------------------------------------------------------------

    @cached_property
    def _chosen_paths(self) -> Sequence[Path]:
        """What the user chose to run: files and folders; without a choice, what the project has."""
        chosen = [argument for argument in self._config.args if argument in self._given.words]
        paths = [self._path_of(argument) for argument in chosen or self._config.args]
        if chosen or self._reference is None:
            return paths
        testpaths = self._settings.words_at_reference("testpaths")
        if self._start != self._root:
            testpaths = ()  # pytest uses them only in the root
        return [
            *paths,
            *([path for word in testpaths for path in self._start.glob(word)] or [self._start]),
        ]

    def _path_of(self, argument: str) -> Path:
        """Return the file or folder that an argument of pytest names."""
        return Path(os.path.normpath(self._start / argument.partition("::")[0]))

    def _paths(self) -> Sequence[Path]:
        """Return the baselines of the tests that should run: those of the reference, if any."""
        chosen = self._chosen_paths
        if self._reference is not None:
            paths = list(self._reference.baselines(self._root))
        else:
            unsearched = self._config.getini("norecursedirs")
            folders = dict.fromkeys(path if path.is_dir() else path.parent for path in chosen)
            paths = [path for folder in folders for path in baselines_under(folder, unsearched)]
        return sorted(
            path
            for path in set(paths)
            if path.parent in map(baseline_folder, chosen)
            or any(map(path.parent.parent.parent.is_relative_to, chosen))
        )

    # --- what did not run, and why -----------------------------------------------------------

    def unrun(self, ran: set[Path], exit_status: int) -> Iterator[Unrun]:
        """Yield the baselines whose gates did not run, and that were not given up.

        Args:
            ran: the files whose gates ran.
            exit_status: of the test session; nobody expects all of one that was stopped.
        """
        differing = self._reference.differing(self._root) if self._reference else frozenset()
        for path in self._paths():
            if path in ran:
                continue
            # To read the file here is faster than to ask git for each.
            is_here = path.is_file() and path not in differing
            text = path.read_text("utf-8", "replace") if is_here else None
            if self._reference is not None and (text is None or FORMAT_NAME not in text):
                text = self._reference.text(path)
            if text is not None and FORMAT_NAME in text:
                record = readable_record(text, path)
                if record is not None and record.retired is not None:
                    continue
                name = record.golden_set.name if record else path.stem.rpartition("--")[2]
                why = self._why(path, name, exit_status)
                if why.is_gone and self._is_awaited(name):
                    why = why._replace(is_excused=True)
                yield Unrun(path, record, name, why)

    def _why(self, path: Path, golden_name: str, exit_status: int) -> Reason:
        if self._reference and not path.exists() and self._reference.is_untouched(path, None):
            return _NOT_MERGED
        beside = self._tests.get(path.parent)
        if beside is None:
            return self._why_not_collected(path)
        file = self._root / beside[0].file
        tests = [test for test in beside if baseline_path(file, test.key, golden_name) == path]
        chosen = [each for each in self._given.words if self._path_of(each) == file]
        if tests:
            why = self._why_of(tests, exit_status)
            is_part = why is _NOT_COMPARED and any("[" in each for each in chosen)
            return _NOT_CHOSEN if is_part else why  # such as one of two golden sets
        is_whole = not any("::" in each for each in chosen)
        return _GONE if is_whole and not self._reruns_failures else _NOT_CHOSEN

    def _is_awaited(self, golden_name: str) -> bool:
        """Whether a test failed that has no baseline yet: it may be the one that is gone."""
        outcomes = self._watched.outcomes
        return any(
            test.id in outcomes
            and outcomes[test.id].word == "failed"
            and not baseline_path(self._root / test.file, test.key, golden_name).exists()
            for test in self._watched.collected
        )

    def _why_not_collected(self, path: Path) -> Reason:
        for skipped, reason in self._watched.skipped_files.items():
            if baseline_folder(self._root / skipped) == path.parent:
                return Reason("its test file skips itself", reason)
        file = test_file_of(path)
        if file is None:
            return _FILE_GONE
        option = self._config.option
        is_ignored = any(
            self._is_given(text, "--ignore", "--ignore-glob")
            and (
                file.is_relative_to(self._path_of(text))
                or fnmatch(str(file), str(self._path_of(text)))
            )
            for text in (*(option.ignore or ()), *(option.ignore_glob or ()))
        )
        return _NOT_CHOSEN if is_ignored or self._reruns_failures else _FILE_LEFT_OUT

    def _why_of(self, tests: Sequence[Collected], exit_status: int) -> Reason:
        """Return why the gate of tests that exist did not run."""
        outcomes = [self._watched.outcomes.get(test.id) for test in tests]
        ended: dict[str, Outcome] = {each.word: each for each in outcomes if each is not None}
        if "skipped" in ended:
            return Reason("its test was skipped", ended["skipped"].reason)
        if "xfailed" in ended:
            return Reason("its test is expected to fail (xfail)", ended["xfailed"].reason)
        left_out = {test.left_out for test in tests if test.left_out}
        if left_out:
            return self._why_deselected(tests, left_out)
        if "failed" in ended:
            return _FAILED
        if None not in outcomes:
            return _NOT_COMPARED
        return _NOT_CHOSEN if exit_status else _ENDED_BEFORE

    def _why_deselected(self, tests: Sequence[Collected], left_out: set[str]) -> Reason:
        """Return who deselected tests: the project, also with ``addopts``, or the user."""
        option = self._config.option
        prefixes = [text for text in option.deselect or () if tests[0].id.startswith(text)]
        by_user = PROJECT not in left_out and (
            any(map(self._given.has, chain.from_iterable(map(self._options_of, left_out))))
            or ("-k" in left_out and self._is_given(option.keyword, "-k"))
            or ("-m" in left_out and self._is_given(option.markexpr, "-m"))
            or any(self._is_given(prefix, "--deselect") for prefix in prefixes)
        )
        if by_user:  # a reviewer should know: a branch may have given its test another mark
            return _NOT_CHOSEN._replace(is_listed=self._reference is not None)
        if left_out != {"-m"}:
            return _LEFT_OUT
        addopts = self._settings.words_at_reference("addopts")
        is_usual = self._reference is None or has_value(addopts, option.markexpr, "-m")
        why = "its test was excluded by a marker in addopts"
        return Reason(why, is_excused=is_usual, is_expected=not is_usual)

    @property
    def _reruns_failures(self) -> bool:
        """Whether the user runs only what failed before, which pytest leaves out unseen."""
        return self._given.has("--lf", "--last-failed")

    def _is_given(self, value: str, *flags: str) -> bool:
        return has_value(self._given.words, value, *flags)

    def _options_of(self, module: str) -> Sequence[str]:
        """Return the options that the plugin declares to which a module belongs."""
        package = module if module.startswith("_pytest.") else module.partition(".")[0]
        declaring = (each.function for each in self._config.hook.pytest_addoption.get_hookimpls())
        return [
            constant
            for function in declaring
            if f"{function.__module__}.".startswith(f"{package}.")
            for constant in function.__code__.co_consts
            if isinstance(constant, str) and constant.startswith("-")
        ]
