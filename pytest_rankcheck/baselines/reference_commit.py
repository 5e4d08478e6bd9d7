"""The records at another commit: what was approved on the branch to merge into."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_rankcheck.baselines.baseline_path import is_baseline_path
from pytest_rankcheck.baselines.data_file import DataFiles
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.files.git_commands import git, git_line
from pytest_rankcheck.files.git_error import GitError

__all__ = ["Change", "Reference"]

_OPTION = "--rankcheck-baseline-ref"


@dataclass(frozen=True, slots=True)
class Change:
    """A baseline file that this branch adds, changes or removes."""

    path: Path
    before: str | None
    """Its text at the reference commit; None if it is not there."""
    after: str | None
    """Its text now; None if it is gone."""
    data: DataFiles
    """Where the data files of both are."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A commit, the name that was given for it, and its repository."""

    name: str
    commit: str
    root: Path
    """The top folder of the repository."""
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
            root = Path(git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))
        except GitError as error:
            if "not a git repository" not in str(error):
                raise ConfigurationError(
                    f"{_OPTION} {quoted(name)}: git cannot be run: {quoted(error, 200)}; install "
                    "git, or leave out the option to compare with the files as they are"
                ) from None
            raise ConfigurationError(
                f"{_OPTION} {quoted(name)}: {folder} is not in a git repository; run pytest in a "
                "clone, or leave out the option to compare with the files as they are"
            ) from None
        if _is_ambiguous(root, name):
            raise ConfigurationError(
                f"{_OPTION} {quoted(name)}: the repository has a branch and a tag of this name; "
                f"write refs/heads/{quoted(name)} or refs/tags/{quoted(name)}"
            )
        # A name that git would read as an option must not reach it.
        commit = None if name.startswith("-") else _commit(root, name)
        if commit is None:
            raise ConfigurationError(f"{_OPTION} {quoted(name)}: {_unknown(root, name)}")
        return cls(name, commit, root, git_line(root, "merge-base", commit, "HEAD"))

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

    def data_files(self, path: Path) -> DataFiles:
        """Return where the data file of a record is: here, or at the commit."""

        def at_commit(data_path: Path) -> Iterator[bytes]:
            text = self.text(data_path)
            if text is not None:
                yield text.encode("utf-8")
                with suppress(GitError):  # what git itself has may be a pointer of git-lfs
                    path = f"{self.commit}:{self.inside(data_path)}"
                    yield git(self.root, "cat-file", "--filters", path).encode("utf-8")

        return DataFiles(path, at_commit)

    def baselines(self, folder: Path) -> Sequence[Path]:
        """Return the baseline files that the commit has under a folder."""
        inside = self.inside(folder)
        if inside is None:
            return []
        within = [] if inside == "." else ["--", f"{inside}/"]
        names = git(self.root, "ls-tree", "-r", "--name-only", "-z", self.commit, *within)
        paths = (folder / os.path.relpath(name, inside) for name in names.split("\0") if name)
        return [path for path in paths if is_baseline_path(path)]

    def differing(self, folder: Path) -> Set[Path]:
        """Return the baseline files of the commit or of git's index that differ or are gone."""
        inside = self.inside(folder) or "."
        names = git(
            self.root, "diff", "--name-only", "--no-renames", "-z", self.commit, "--", inside
        )
        paths = {folder / os.path.relpath(name, inside) for name in names.split("\0") if name}
        return set(filter(is_baseline_path, paths))

    def changes(self, folder: Path) -> Iterator[Change]:
        """Yield the baseline files under a folder that differ from the commit."""
        inside = self.inside(folder) or "."
        others = git(self.root, "ls-files", "--others", "--exclude-standard", "-z", "--", inside)
        new = {folder / os.path.relpath(name, inside) for name in others.split("\0") if name}
        for path in sorted({*self.differing(folder), *filter(is_baseline_path, new)}):
            after = path.read_text("utf-8", "replace") if path.is_file() else None
            before = self.text(path)
            if before != after and not self.is_untouched(path, after):
                yield Change(path, before, after, self.data_files(path))

    def inside(self, path: Path) -> str | None:
        """Return a path relative to the repository; None if it is outside."""
        try:
            relative = os.path.relpath(os.path.realpath(path), os.path.realpath(self.root))
        except ValueError:  # on another drive
            return None
        return None if relative.startswith("..") else Path(relative).as_posix()


def _commit(root: Path, name: str) -> str | None:
    return git_line(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")


def _is_ambiguous(root: Path, name: str) -> bool:
    """Whether a name means both a branch and a tag: git would take the tag, and only warn."""
    kinds = ("heads", "tags")
    return all(
        git_line(root, "rev-parse", "--verify", "--quiet", f"refs/{kind}/{name}") for kind in kinds
    )


def _unknown(root: Path, name: str) -> str:
    """Return why git does not find a commit, and what to do."""
    remote, slash, branch = name.partition("/")
    fetch = f"git fetch {remote} {branch}" if slash else "git fetch --all"
    if git_line(root, "rev-parse", "--is-shallow-repository") == "true":
        return (
            f"this is a shallow clone without that commit; fetch it first, with {fetch} "
            "--depth=1, or make a full clone (actions/checkout: fetch-depth: 0)"
        )
    return f"git does not find it; check the name, or fetch it first, with {fetch}"
