"""The records at another commit: what was approved on the branch to merge into."""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_rankcheck.baselines.baseline_path import is_baseline_path
from pytest_rankcheck.errors import ConfigurationError, GitError, quoted
from pytest_rankcheck.files.git_commands import git, git_line
from pytest_rankcheck.remedies import fetch

_OPTION = "--rankcheck-baseline-ref"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A baseline file that this branch adds, changes or removes."""

    path: Path
    before: str | None
    """Its text at the reference commit; None if it is not there."""
    after: str | None
    """Its text now; None if it is gone."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A commit, the name that was given for it, and its repository."""

    name: str
    commit: str
    root: Path
    """The top folder of the repository."""
    folder: Path
    """The folder in it from which paths are named."""
    prefix: str
    """That folder as git names it."""
    start: str | None = None
    """The commit that this branch started from; None if it is not known, as in a shallow clone."""

    @classmethod
    def of(cls, name: str, folder: Path) -> Reference:
        """Return the commit that ``name`` means in the repository of a folder.

        Raises:
            ConfigurationError: git, the repository or the commit is missing; the message says
                what to do.
        """
        try:
            answer = git(folder, "rev-parse", "--show-toplevel", "--show-prefix")
        except GitError as error:
            raise ConfigurationError(
                f"{_OPTION} {quoted(name)}: git cannot be used in {folder}: {quoted(error, 200)}; "
                "install git and run pytest in a clone, or leave out the option to compare with "
                "the files as they are"
            ) from None
        top, prefix, *_ = answer.split("\n")
        root = Path(top)
        # Of a branch and a tag of this name, git would take the tag, and only warn.
        if all(_commit(root, f"refs/{kind}/{name}") for kind in ("heads", "tags")):
            raise ConfigurationError(
                f"{_OPTION} {quoted(name)}: the repository has a branch and a tag of this name; "
                f"write refs/heads/{quoted(name)} or refs/tags/{quoted(name)}"
            )
        # A name that git would read as an option must not reach it.
        commit = None if name.startswith("-") else _commit(root, name)
        if commit is None:
            raise ConfigurationError(f"{_OPTION} {quoted(name)}: {_unknown(root, name)}")
        start = git_line(root, "merge-base", commit, "HEAD")
        return cls(name, commit, root, folder, prefix, start)

    def is_untouched(self, path: Path, text: str | None) -> bool:
        """Return whether this branch still has a file as it was when it left the reference.

        The reference may have changed it since: merging keeps that change.

        Args:
            path: the file.
            text: its text here; None if it is not there.
        """
        if self.start is None or self.start == self.commit:
            return False
        return replace(self, commit=self.start).text(path) == text

    def text(self, path: Path) -> str | None:
        """Return the text of a file at the commit; None if the commit does not have it.

        Raises:
            ConfigurationError: git has the file but cannot give it, as in a partial clone.
        """
        inside = self.inside(path)
        if inside is None or not git(self.root, "ls-tree", self.commit, "--", inside):
            return None
        try:
            return git(self.root, "show", f"{self.commit}:{inside}")
        except GitError as error:
            raise ConfigurationError(
                f"{_OPTION} {quoted(self.name)}: git cannot show {inside}: {quoted(error, 200)}"
            ) from None

    def baselines(self, folder: Path) -> Set[Path]:
        """Return the baseline files that the commit has under a folder."""
        return self._listed(folder, "ls-tree", "-r", "--name-only", "-z", self.commit)

    def differing(self, folder: Path) -> Set[Path]:
        """Return the baseline files of the commit or of git's index that differ or are gone."""
        return self._listed(folder, "diff", "--name-only", "--no-renames", "-z", self.commit)

    def changes(self, folder: Path) -> Iterator[ChangedFile]:
        """Yield the baseline files under a folder that differ from the commit."""
        new = self._listed(folder, "ls-files", "--others", "--exclude-standard", "-z")
        for path in sorted(self.differing(folder) | new):
            after = path.read_text("utf-8", "replace") if path.is_file() else None
            before = self.text(path)
            if before != after and not self.is_untouched(path, after):
                yield ChangedFile(path, before, after)

    def _listed(self, folder: Path, *command: str) -> Set[Path]:
        """Return the baseline files under a folder that a command of git lists."""
        inside = self.inside(folder)
        if inside is None:
            return frozenset()
        names = git(self.root, *command, "--", inside).split("\0")
        paths = (folder / os.path.relpath(name, inside) for name in names if name)
        return frozenset(filter(is_baseline_path, paths))

    def inside(self, path: Path) -> str | None:
        """Return a path as git names it, without following links; None if it is outside."""
        try:
            relative = os.path.normpath(Path(self.prefix, os.path.relpath(path, self.folder)))
        except ValueError:  # on another drive
            return None
        if relative.startswith(".."):
            return None
        return Path(relative).as_posix()


def _commit(root: Path, name: str) -> str | None:
    return git_line(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")


def _unknown(root: Path, name: str) -> str:
    """Return why git does not find a commit, and what to do."""
    is_shallow = git_line(root, "rev-parse", "--is-shallow-repository") == "true"
    remotes = git(root, "remote").split()
    remedy = fetch(name, remotes, is_shallow=is_shallow) if remotes else None
    why = "git does not find it; check the name"
    if is_shallow:
        why = "this is a shallow clone without that commit (actions/checkout: fetch-depth: 0)"
    return f"{why}, or fetch it\n  {remedy}" if remedy else why
