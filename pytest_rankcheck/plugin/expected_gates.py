"""The baselines whose gates a test session should run: those of the tests that the user chose."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.baselines.baseline_path import baseline_folder, baselines_under
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.watched_tests import WatchedTests, given_arguments

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
        self.config = config
        self.root = config.rootpath
        self.watched = watched
        self.reference = reference

    @cached_property
    def _reference_configuration(self) -> Mapping[str, object]:
        if self.reference is None:
            return {}
        from pytest_rankcheck.plugin.reference_configuration import configuration_at

        return configuration_at(self.reference, self.config)

    @property
    def mode(self) -> str:
        """What is done about gates that did not run: ``"ignore"``, ``"warn"`` or ``"fail"``.

        Against a reference its own configuration counts, so that a branch cannot change it. An
        update only warns: it is how a renamed test gets its baseline.
        """
        if self.reference is None:
            chosen = self.config.stash[CONFIG]
            return "warn" if chosen.update and chosen.unrun == "fail" else chosen.unrun
        configured = str(self._reference_configuration.get("rankcheck_unrun", "fail"))
        return configured if configured in ("ignore", "warn") else "fail"

    @cached_property
    def _chosen_paths(self) -> Sequence[Path]:
        """What the user chose to run: files and folders; without a choice, what the project has."""
        given = given_arguments(self.config)
        start = self.config.invocation_params.dir
        chosen = [argument for argument in self.config.args if argument in given]
        if chosen:
            return [self.path_of(argument) for argument in chosen]
        paths = [self.path_of(argument) for argument in self.config.args]
        if self.reference is not None and start != self.root:
            paths.append(start)
        elif self.reference is not None:
            from pytest_rankcheck.plugin.reference_configuration import words_of

            testpaths = words_of(self._reference_configuration.get("testpaths", []))
            paths += [path for word in testpaths for path in start.glob(word)] or [start]
        return paths

    @cached_property
    def chosen_tests(self) -> Sequence[Path]:
        """The test files from which the user has chosen single tests."""
        return [self.path_of(argument) for argument in self.config.args if "::" in argument]

    def path_of(self, argument: str) -> Path:
        """Return the file or folder that an argument of pytest names."""
        start = self.config.invocation_params.dir
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
        if self.reference is not None:
            paths: Sequence[Path] = self.reference.baselines(self.root)
        else:
            unsearched = self.config.getini("norecursedirs")
            folders = [path if path.is_dir() else path.parent for path in self._chosen_paths]
            paths = [
                path
                for folder in dict.fromkeys(folders)
                for path in baselines_under(folder, unsearched)
            ]
        return sorted({path for path in paths if self._is_chosen(path)})

    @property
    def is_whole(self) -> bool:
        """Whether the user has not chosen single tests."""
        return not self.chosen_tests and not self.reruns_failures

    @property
    def reruns_failures(self) -> bool:
        """Whether the user runs only what failed before, which pytest leaves out unseen."""
        return not {"--lf", "--last-failed"}.isdisjoint(given_arguments(self.config))
