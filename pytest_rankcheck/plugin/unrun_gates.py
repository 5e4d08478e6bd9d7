"""The search for the baselines whose gates did not run in a test session, and for the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

from pytest_rankcheck.baselines.baseline_path import (
    baseline_folder,
    baseline_path,
    test_file_of,
)
from pytest_rankcheck.baselines.data_file import DataFiles
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_contents import FORMAT_NAME
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.plugin.expected_gates import ExpectedGates
from pytest_rankcheck.plugin.unrun_baseline import ExpectedRecord, Unrun, Why
from pytest_rankcheck.plugin.watched_tests import (
    Collection,
    LeftOut,
    Outcome,
    is_given,
)

__all__ = ["UnrunGates"]


class UnrunGates:
    """The baselines whose gates did not run, and why.

    Args:
        expected: the gates that should have run.
    """

    def __init__(self, expected: ExpectedGates) -> None:
        self._expected = expected
        self._config, self._root = expected.config, expected.root
        self._reference = expected.reference
        self._collection: Collection = expected.watched.collection
        self._outcomes: Mapping[str, Outcome] = expected.watched.outcomes

    def found(self, ran: set[Path], exit_status: int) -> Iterator[Unrun]:
        """Yield the baselines whose gates did not run, except those of retired ones.

        Args:
            ran: the files whose gates ran.
            exit_status: of the test session; nobody expects all of one that was stopped.
        """
        for path in self._expected.record_paths():
            if path in ran:
                continue
            text = self._text(path)
            if text is None or FORMAT_NAME not in text:
                continue  # not a baseline
            expected = self.record_in(path, text)
            why, detail = self._why(path, expected.golden_name)
            if why is Why.NOT_STARTED and exit_status:
                why = Why.NOT_CHOSEN
            yield Unrun(expected, why, detail)

    def record_in(self, path: Path, text: str | None) -> ExpectedRecord:
        """Return the baseline with a text, which need not be readable."""
        try:
            files = DataFiles(path) if self._reference is None else self._reference.data_files(path)
            record = None if text is None else Record.from_text(text, path.name, files)
        except BaselineError:
            record = None
        return ExpectedRecord(path, Path(os.path.relpath(path, self._root)).as_posix(), record)

    @cached_property
    def _differing(self) -> Set[Path]:
        """The baselines whose text here is not that at the reference."""
        return self._reference.differing(self._root) if self._reference else frozenset()

    def _text(self, path: Path) -> str | None:
        # To read the file here is faster than to ask git for each.
        if self._reference is not None and (path in self._differing or not path.is_file()):
            return self._reference.text(path)
        return path.read_text("utf-8", "replace")

    def _why(self, path: Path, golden_name: str) -> tuple[Why, str]:
        """Return why the gate of a baseline did not run, and the reason that the project gives."""
        if self._reference and not path.exists() and self._reference.is_untouched(path, None):
            return Why.ADDED_SINCE, ""
        module = self._module(path)
        if module is None:
            return self._why_not_collected(path)
        keys = self._collection.modules[module]
        file = self._root / module
        ids = next(
            (ids for key, ids in keys.items() if baseline_path(file, key, golden_name) == path),
            None,
        )
        if ids is None:
            is_chosen = file in self._expected.chosen_tests or self._expected.reruns_failures
            return (Why.NOT_CHOSEN if is_chosen else Why.TEST_GONE), ""
        return self._why_of_tests(ids)

    def _module(self, path: Path) -> str | None:
        """Return the collected test file that a baseline belongs to; None without one."""
        folders = {baseline_folder(self._root / file): file for file in self._collection.modules}
        return folders.get(path.parent)

    def _why_not_collected(self, path: Path) -> tuple[Why, str]:
        for skipped, reason in self._collection.skipped_files.items():
            if baseline_folder(self._root / skipped) == path.parent:
                return Why.FILE_SKIPPED, reason
        file = test_file_of(path)
        if file is None:
            return Why.FILE_GONE, ""
        ignored = [
            *(self._config.option.ignore or ()),
            *(self._config.option.ignore_glob or ()),
        ]
        by_user = [
            text for text in ignored if is_given(self._config, text, "--ignore", "--ignore-glob")
        ]
        paths = [self._expected.path_of(text) for text in by_user]
        if self._expected.reruns_failures or any(
            file.is_relative_to(path) or fnmatch(str(file), str(path)) for path in paths
        ):
            return Why.NOT_CHOSEN, ""
        return Why.NOT_COLLECTED, ""

    def _why_of_tests(self, ids: Sequence[str]) -> tuple[Why, str]:
        """Return why the gate of tests that exist did not run."""
        outcomes = [self._outcomes.get(test) for test in ids]
        for word, why in (("skipped", Why.SKIPPED), ("xfailed", Why.XFAILED)):
            for outcome in outcomes:
                if outcome is not None and outcome.word == word:
                    return why, outcome.reason
        left_out = {self._collection.left_out.get(test) for test in ids}
        for who, why in (
            (LeftOut.PROJECT, Why.LEFT_OUT),
            (LeftOut.MARKER, Why.EXCLUDED),
            (LeftOut.USER, Why.DESELECTED),
        ):
            if who in left_out:
                return why, ""
        if any(outcome is not None and outcome.word == "failed" for outcome in outcomes):
            return Why.FAILED, ""
        return (Why.NOT_STARTED if None in outcomes else Why.NOT_COMPARED), ""
