"""The state of a git repository: its commit, and every file that differs from the commit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_rankcheck.files.git_commands import git
from pytest_rankcheck.files.git_error import GitError

__all__ = ["WorkTree", "tracked_files", "work_tree"]

_DELETED = "deleted"
_DIGITS = 16
_ALL_CHANGES = ("--name-only", "--no-renames", "--ignore-submodules=none")


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A commit, and how the files on disk differ from it."""

    top: Path
    """The top folder of the repository."""
    commit: str
    changes: Mapping[str, str]
    """By path relative to the top: the digest of each changed or added file, or a mark that it was
    deleted. Files that git does not check for changes (``assume-unchanged``, ``skip-worktree``)
    always have a digest. Ignored files and Python's caches are left out."""

    @property
    def digest(self) -> str:
        """A short text that differs if the commit or a change does."""
        content = repr((self.commit, sorted(self.changes.items()))).encode()
        return hashlib.sha256(content).hexdigest()[:_DIGITS]


def work_tree(folder: Path, without: Path | None = None) -> WorkTree:
    """Return the state of the repository that a folder is in.

    Args:
        folder: a folder of the repository.
        without: a folder to leave out.

    Raises:
        GitError: git is missing, the folder is not in a repository, or there is no commit yet.
    """
    top = Path(git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))
    commit = git(top, "rev-parse", "HEAD").strip()
    names = {
        *_names(git(top, "diff", *_ALL_CHANGES, "-z", "HEAD")),
        *_names(git(top, "ls-files", "--others", "--exclude-standard", "-z")),
        *_unwatched(top),
    }
    left_out = None if without is None else without.resolve()
    changes: dict[str, str] = {}
    for name in sorted(names):
        path = top / name
        is_out = left_out is not None and path.resolve().is_relative_to(left_out)
        if not is_out and "__pycache__" not in path.parts and path.suffix != ".pyc":
            changes[name] = _digest(path)
    return WorkTree(top, commit, changes)


def tracked_files(tree: WorkTree) -> frozenset[str]:
    """Return the resolved paths of all files whose content the commit and the changes determine.

    Raises:
        GitError: git failed.
    """
    top = tree.top.resolve()
    names = {*_names(git(tree.top, "ls-files", "--recurse-submodules", "-z")), *tree.changes}
    return frozenset(str(top / name) for name in names)


def _unwatched(top: Path) -> list[str]:
    """Return the existing files that git does not check for changes."""
    # an entry is a letter (small: assume-unchanged, S: skip-worktree), a space and the name
    entries = _names(git(top, "ls-files", "-v", "-z"))
    names = [entry[2:] for entry in entries if entry[0].islower() or entry[0] == "S"]
    return [name for name in names if (top / name).exists()]


def _names(output: str) -> list[str]:
    return [name for name in output.split("\0") if name]


def _digest(path: Path) -> str:
    """Return the digest of a file's content, or of the state of a nested repository."""
    if path.is_dir() and not path.is_symlink():
        try:
            return work_tree(path).digest
        except GitError as error:
            return f"unknown: {error}"
    if path.is_symlink():
        return hashlib.sha256(str(path.readlink()).encode()).hexdigest()[:_DIGITS]
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]
    except FileNotFoundError:
        return _DELETED
    except OSError as error:
        return f"unreadable: {error.strerror}"
