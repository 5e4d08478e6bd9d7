"""Since when a baseline has had its best value: from git's history, along first parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.reference_commit import Reference
from pytest_rankcheck.baselines.succession import raises_best
from pytest_rankcheck.errors import BaselineError, ConfigurationError, quoted
from pytest_rankcheck.files.git_commands import git, repository
from pytest_rankcheck.files.git_error import GitError
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["BestApproval", "BestHistory", "UnknownHistoryError"]

_MOST_VERSIONS = 100
"""How many versions of a file are looked at; the best is at least as old as the last of them."""


class UnknownHistoryError(Exception):
    """Git cannot say when the best value was approved; the text says why."""


@dataclass(frozen=True, slots=True)
class BestApproval:
    """When the best value of a metric was approved."""

    changes: int
    """How many changes there were since then, with the one under test, at least 1."""
    commit: str | None = None
    """The commit that approved it, abbreviated; None: it is not committed yet."""
    date: str = ""
    """The day on which it was committed, such as ``2024-05-01``."""
    until: str = "HEAD"
    """The commit up to which the changes were counted, as it was given."""


class _Version(NamedTuple):
    """A commit that changed the file."""

    commit: str
    short: str
    date: str


class BestHistory:
    """The versions of one baseline file. Git is asked when it is used, and once.

    Args:
        path: the file.
        reference: the commit where the history starts; None: the one that is checked out.
    """

    def __init__(self, path: Path, reference: Reference | None) -> None:
        self._path = path
        self._given = reference
        self._records: dict[str, Record | None] = {}

    def since(self, record: Record, metric: Metric) -> BestApproval:
        """Return when the best value that a record has of a metric was approved.

        A file that was renamed starts a new history, as for its age.

        Raises:
            UnknownHistoryError: there is no git or no repository, or a shallow clone does not go
                back far enough.
        """
        try:
            return self._since(record, metric)
        except (GitError, ConfigurationError) as error:
            why = "the project is not in a git repository"
            if "not a git repository" not in str(error):
                why = f"git cannot show the history of baselines: {quoted(error, 200)}"
            raise UnknownHistoryError(why) from None

    def _since(self, record: Record, metric: Metric) -> BestApproval:
        newer, approved_by = record, None
        for version in self._versions:
            older = self._record(version.commit)
            if older is None or raises_best(older, newer, metric):
                break
            newer, approved_by = older, version
        else:
            if approved_by is not None and approved_by.commit in self._boundary:
                raise UnknownHistoryError(
                    "the clone is shallow and does not go back to the commit that approved the "
                    "best value; fetch the whole history: git fetch --unshallow, or fetch-depth: 0 "
                    "for actions/checkout"
                )
        under_test = self._given is not None
        if approved_by is None:
            return BestApproval(1)
        between = f"{approved_by.commit}..{self._start.commit}"
        count = git(self._start.root, "rev-list", "--first-parent", "--count", between)
        return BestApproval(
            max(1, int(count) + under_test),
            approved_by.short,
            approved_by.date,
            self._start.name,
        )

    @cached_property
    def _repository(self) -> tuple[Path, frozenset[str]]:
        """The top folder of the repository, and where a shallow clone ends."""
        folder = next(each for each in self._path.parents if each.is_dir())
        return repository(folder)

    @property
    def _boundary(self) -> frozenset[str]:
        return self._repository[1]

    @cached_property
    def _start(self) -> Reference:
        """The commit where the history starts."""
        return self._given or Reference("HEAD", "HEAD", self._repository[0])

    @cached_property
    def _versions(self) -> Sequence[_Version]:
        """The commits along first parents that changed the file, the newest first."""
        start = self._start
        inside = start.inside(self._path)
        if inside is None:
            raise GitError("not a git repository")
        lines = git(
            start.root,
            *("log", "--first-parent", f"--max-count={_MOST_VERSIONS}", "--format=%H %h %cs"),
            *(start.commit, "--", inside),
        ).splitlines()
        return [_Version(*line.split()) for line in lines]

    def _record(self, commit: str) -> Record | None:
        """Return the record at a commit; None if it has none that can be read."""
        if commit not in self._records:
            version = replace(self._start, commit=commit)
            text = version.text(self._path)
            files = version.data_files(self._path)
            try:
                self._records[commit] = None if text is None else Record.from_text(text, data=files)
            except BaselineError:  # such as of another format version
                self._records[commit] = None
        return self._records[commit]
