"""The two sides of a merge conflict in a baseline, and which of them is the target branch.

Git calls the commit that is checked out "ours" and the one that comes in "theirs". In a rebase,
ours is the branch that the commits are moved onto. The target is the branch that is merged into,
whose records count for a pull request.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pytest_rankcheck.errors import BaselineError, quoted
from pytest_rankcheck.files.git_commands import git, git_line
from pytest_rankcheck.files.git_error import GitError
from pytest_rankcheck.files.text_files import text_of

__all__ = ["Side", "conflict_texts", "data_in_commits", "is_unmerged", "target_side"]

_MERGED_COMMIT = re.compile(r"GITHEAD_([0-9a-f]{40,64})")
"""The variable in which git tells a merge driver what is merged."""
_SQUASHED_COMMIT = re.compile(r"^commit ([0-9a-f]{40,64})$", re.MULTILINE)
_HEADS = ("HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "ORIG_HEAD")
_USUAL_TARGETS = ("main", "master", "trunk")


class Side(StrEnum):
    """A side of a conflict, as git calls it."""

    OURS = "ours"
    THEIRS = "theirs"

    @property
    def other(self) -> Side:
        """The other side."""
        return Side.THEIRS if self is Side.OURS else Side.OURS


def conflict_texts(path: Path) -> dict[Side, str]:
    """Return the text of each side of a file in conflict.

    Git keeps both until the conflict is resolved. Without them, they are taken from the conflict
    markers in the file.

    Raises:
        BaselineError: the file is missing or not in conflict, or one side has deleted it.
    """
    if not path.exists():
        raise BaselineError(f"{quoted(path)} is missing; name a baseline with a merge conflict")
    if not is_unmerged(path):
        return _texts_between_markers(path)
    folder, name = path.resolve().parent, path.resolve().name
    texts = {}
    for stage, side in ((2, Side.OURS), (3, Side.THEIRS)):
        try:
            texts[side] = git(folder, "show", f":{stage}:./{name}")
        except GitError:
            raise BaselineError(
                f"{quoted(path)}: one branch has deleted this baseline ({side}), and the other "
                "has changed it; keep it with git add, or delete it with git rm"
            ) from None
    return texts


def is_unmerged(path: Path) -> bool:
    """Return whether git has a file in conflict."""
    resolved = path.resolve()
    return git_line(resolved.parent, "ls-files", "--unmerged", "--", resolved.name) is not None


def _texts_between_markers(path: Path) -> dict[Side, str]:
    text = text_of(path, BaselineError)
    lines: dict[Side, list[str]] = {Side.OURS: [], Side.THEIRS: []}
    inside: tuple[Side, ...] = tuple(Side)
    conflicts = 0
    for line in text.splitlines(keepends=True):
        marker = line[:7] if line[7:8] in (" ", "\n", "\r", "") else ""
        if marker == "<" * 7:
            inside = (Side.OURS,)
            conflicts += 1
        elif marker == "|" * 7:
            inside = ()
        elif marker == "=" * 7:
            inside = (Side.THEIRS,)
        elif marker == ">" * 7:
            inside = tuple(Side)
        else:
            for side in inside:
                lines[side].append(line)
    if not conflicts:
        raise BaselineError(f"{quoted(path)} has no merge conflict; nothing was changed")
    return {side: "".join(part) for side, part in lines.items()}


@dataclass(frozen=True, slots=True)
class _Merge:
    """A merge in progress in a repository."""

    folder: Path
    commit: str
    """The commit that comes in."""

    def target(self) -> Side | None:
        """Return the side of the branch that is merged into; None if it is unknown."""
        upstream = git_line(self.folder, "rev-parse", "--verify", "--quiet", "@{upstream}")
        if upstream is not None and self._contains(upstream, self.commit):
            return Side.THEIRS
        targets = list(_target_branches(self.folder))
        current = git_line(self.folder, "symbolic-ref", "--quiet", "HEAD")
        if current in targets:
            return Side.OURS
        if any(self._contains(branch, self.commit) for branch in targets):
            return Side.THEIRS
        if any(self._contains(branch, "HEAD") for branch in targets):
            return Side.OURS
        return None

    def _contains(self, branch: str, commit: str) -> bool:
        base = git_line(self.folder, "merge-base", branch, commit)
        return base is not None and base == git_line(
            self.folder, "rev-parse", f"{commit}^{{commit}}"
        )


def target_side(folder: Path, *, is_driver: bool = False) -> Side | None:
    """Return the side of the target branch in the conflict of a repository; None if unknown.

    Args:
        folder: a folder of the repository.
        is_driver: whether git is running a merge driver; it has not noted the merge then.
    """
    if any(_git_path(folder, name).exists() for name in ("rebase-merge", "rebase-apply")):
        return Side.OURS
    merged = _commits_of_driver() if is_driver else _commits_of_repository(folder)
    if len(merged) == 1:
        return _Merge(folder, merged[0]).target()
    if merged:
        return None  # an octopus
    # Cherry-picking, reverting and applying a stash bring a change to the branch checked out.
    is_in_progress = is_driver or bool(git_line(folder, "ls-files", "--unmerged"))
    return Side.OURS if is_in_progress else None


def _commits_of_driver() -> list[str]:
    """Return the commits that are being merged while git runs a merge driver."""
    return [match[1] for match in map(_MERGED_COMMIT.fullmatch, os.environ) if match]


def _commits_of_repository(folder: Path) -> list[str]:
    """Return the commits whose merge has stopped with a conflict; empty without a conflict."""
    merge, squash = _git_path(folder, "MERGE_HEAD"), _git_path(folder, "SQUASH_MSG")
    if merge.is_file():
        return merge.read_text("ascii").split()
    # A squash notes only what it merges, newest first.
    newest = (
        _SQUASHED_COMMIT.search(squash.read_text("utf-8", "replace")) if squash.is_file() else None
    )
    return [newest[1]] if newest else []


def data_in_commits(path: Path) -> Iterator[bytes]:
    """Yield what a data file has in the commits that are merged, and in those of all branches.

    A merge can have changed the file itself: git takes the data files of two branches for one
    file that both have renamed, and puts their lines together. The commits have them unchanged.
    A test that was renamed on one side has another name there, but the digest is the same.
    """
    folder, ending = path.parent, path.name[path.name.rindex(".", 0, -len(path.suffix)) :]
    added = ("log", "--all", "--diff-filter=AM", "--format=%H", "--", path.name)
    for commit in _commits_at_hand(folder):
        names = git_line(folder, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit) or ""
        for name in names.split("\0"):
            if name.endswith(ending):
                yield git(folder, "show", f"{commit}:{name}").encode("utf-8")
    for commit in (git_line(folder, *added) or "").split():
        yield git(folder, "show", f"{commit}:./{path.name}").encode("utf-8")


def _commits_at_hand(folder: Path) -> Iterator[str]:
    """Yield the commits whose files are merged, picked, reverted or moved onto another commit."""
    for name in _HEADS:
        commit = git_line(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if commit is not None:
            yield commit
    yield from _commits_of_driver()
    yield from _commits_of_repository(folder)


def _git_path(folder: Path, name: str) -> Path:
    return folder / (git_line(folder, "rev-parse", "--git-path", name) or "no-repository")


def _target_branches(folder: Path) -> Iterator[str]:
    """Yield the refs of the branch that is usually merged into, here and at the remote."""
    remote = git_line(folder, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
    if remote is not None:
        names: tuple[str, ...] = (remote.removeprefix("refs/remotes/origin/"),)
    else:
        default = git_line(folder, "config", "init.defaultBranch")
        names = tuple(dict.fromkeys(filter(None, (default, *_USUAL_TARGETS))))
    for name in names:
        for ref in (f"refs/heads/{name}", f"refs/remotes/origin/{name}"):
            if git_line(folder, "rev-parse", "--verify", "--quiet", ref) is not None:
                yield ref
