"""The search for the baselines whose gates did not run in a test session, and for the reason."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.baselines.baseline_path import (
    baseline_folder,
    baseline_path,
    baselines_under,
    test_file_of,
)
from pytest_rankcheck.baselines.data_file import DataFiles
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_contents import FORMAT_NAME
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.unrun_baseline import ExpectedRecord, Unrun, Why
from pytest_rankcheck.plugin.watched_tests import (
    Collection,
    LeftOut,
    Outcome,
    WatchedTests,
    given_arguments,
    is_given,
)

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.reference_commit import Reference

__all__ = ["ExpectedGates"]


class ExpectedGates:
    """The gates that a test session should have run: one for each baseline.

    Args:
        config: of the test session.
        watched: which tests it collected and ran.
        reference: the commit whose baselines count; None: those of the working tree.
    """

    def __init__(
        self, config: pytest.Config, watched: WatchedTests, reference: Reference | None
    ) -> None:
        self._config = config
        self.root = config.rootpath
        self._collection: Collection = watched.collection
        self._outcomes: Mapping[str, Outcome] = watched.outcomes
        self._reference = reference

    # --- what was to run ---------------------------------------------------------------------

    @cached_property
    def _reference_configuration(self) -> Mapping[str, object]:
        if self._reference is None:
            return {}
        from pytest_rankcheck.plugin.reference_configuration import configuration_at

        return configuration_at(self._reference, self._config)

    @property
    def mode(self) -> str:
        """What is done about gates that did not run: ``"ignore"``, ``"warn"`` or ``"fail"``.

        Against a reference its own configuration counts, so that a branch cannot change it. An
        update only warns: it is how a renamed test gets its baseline.
        """
        if self._reference is None:
            chosen = self._config.stash[CONFIG]
            return "warn" if chosen.update and chosen.unrun == "fail" else chosen.unrun
        configured = str(self._reference_configuration.get("rankcheck_unrun", "fail"))
        return configured if configured in ("ignore", "warn") else "fail"

    @cached_property
    def _chosen_paths(self) -> Sequence[Path]:
        """What the user chose to run: files and folders; without a choice, what the project has."""
        given = given_arguments(self._config)
        start = self._config.invocation_params.dir
        chosen = [argument for argument in self._config.args if argument in given]
        if chosen:
            return [self._path_of(argument) for argument in chosen]
        paths = [self._path_of(argument) for argument in self._config.args]
        if self._reference is not None and start != self.root:
            paths.append(start)
        elif self._reference is not None:
            from pytest_rankcheck.plugin.reference_configuration import words_of

            testpaths = words_of(self._reference_configuration.get("testpaths", []))
            paths += [path for word in testpaths for path in start.glob(word)] or [start]
        return paths

    @cached_property
    def _chosen_tests(self) -> Sequence[Path]:
        """The test files from which the user has chosen single tests."""
        return [self._path_of(argument) for argument in self._config.args if "::" in argument]

    def _path_of(self, argument: str) -> Path:
        """Return the file or folder that an argument of pytest names."""
        start = self._config.invocation_params.dir
        return Path(os.path.normpath(start / argument.partition("::")[0]))

    def _is_chosen(self, path: Path) -> bool:
        """Whether the test file of a baseline is among what was to run."""
        folder, tests = path.parent, path.parent.parent.parent
        return any(
            tests.is_relative_to(chosen) or baseline_folder(chosen) == folder
            for chosen in self._chosen_paths
        )

    def record_paths(self) -> Sequence[Path]:
        """Return the baselines of the tests that should run: those of the reference, if any."""
        if self._reference is not None:
            paths: Sequence[Path] = self._reference.baselines(self.root)
        else:
            unsearched = self._config.getini("norecursedirs")
            folders = [path if path.is_dir() else path.parent for path in self._chosen_paths]
            paths = [
                path
                for folder in dict.fromkeys(folders)
                for path in baselines_under(folder, unsearched)
            ]
        return sorted({path for path in paths if self._is_chosen(path)})

    # --- what did not run --------------------------------------------------------------------

    def unrun(self, ran: set[Path], exit_status: int) -> Iterator[Unrun]:
        """Yield the baselines whose gates did not run, except those of retired ones.

        Args:
            ran: the files whose gates ran.
            exit_status: of the test session; nobody expects all of one that was stopped.
        """
        for path in self.record_paths():
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
        return ExpectedRecord(path, Path(os.path.relpath(path, self.root)).as_posix(), record)

    @property
    def is_whole(self) -> bool:
        """Whether the user has not chosen single tests."""
        return not self._chosen_tests and not self._reruns_failures

    @property
    def _reruns_failures(self) -> bool:
        """Whether the user runs only what failed before, which pytest leaves out unseen."""
        return not {"--lf", "--last-failed"}.isdisjoint(given_arguments(self._config))

    @cached_property
    def _differing(self) -> Set[Path]:
        """The baselines whose text here is not that at the reference."""
        return self._reference.differing(self.root) if self._reference else frozenset()

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
        file = self.root / module
        ids = next(
            (ids for key, ids in keys.items() if baseline_path(file, key, golden_name) == path),
            None,
        )
        if ids is None:
            is_chosen = file in self._chosen_tests or self._reruns_failures
            return (Why.NOT_CHOSEN if is_chosen else Why.TEST_GONE), ""
        return self._why_of_tests(ids)

    def _module(self, path: Path) -> str | None:
        """Return the collected test file that a baseline belongs to; None without one."""
        folders = {baseline_folder(self.root / file): file for file in self._collection.modules}
        return folders.get(path.parent)

    def _why_not_collected(self, path: Path) -> tuple[Why, str]:
        for skipped, reason in self._collection.skipped_files.items():
            if baseline_folder(self.root / skipped) == path.parent:
                return Why.FILE_SKIPPED, reason
        file = test_file_of(path)
        if file is None:
            return Why.FILE_GONE, ""
        ignored = [*(self._config.option.ignore or ()), *(self._config.option.ignore_glob or ())]
        by_user = [
            text for text in ignored if is_given(self._config, text, "--ignore", "--ignore-glob")
        ]
        paths = [self._path_of(text) for text in by_user]
        if self._reruns_failures or any(
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
