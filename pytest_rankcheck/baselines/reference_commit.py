"""The records at another commit: what was approved on the branch to merge into.

Paths are those of git, from the top of the repository; links in them are resolved by the caller.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

from pytest_rankcheck.baselines.baseline_path import FOLDER, is_baseline_path
from pytest_rankcheck.baselines.record_file import is_foreign, with_line_feeds
from pytest_rankcheck.errors import ConfigurationError, GitError, quoted
from pytest_rankcheck.files.git_commands import git, git_line
from pytest_rankcheck.remedies import Remedy, fetch, fetch_history, restore

_OPTION = "baseline-ref"
_NO_FOLDERS = {"120000": "a symbolic link", "160000": "a submodule"}
"""What git may have instead of a folder or a file, by mode."""
_TEST_MODULE = re.compile(r"(^|/)test_[^/]*\.(py|rank\.toml)$|_test\.py$")
"""The names of test modules, unless ``python_files`` says otherwise."""


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
    bases: tuple[str, ...] = ()
    """The best common ancestors with HEAD; empty if none is known, as in a shallow clone."""

    @classmethod
    def of(cls, name: str, folder: Path) -> Self:
        """Return the commit that ``name`` means in the repository of a folder.

        Raises:
            ConfigurationError: git, the repository or the commit is missing, or the name has two
                meanings; the message says what to do.
        """
        try:
            root = Path(os.path.realpath(git(folder, "rev-parse", "--show-toplevel").rstrip("\n")))
        except GitError as error:
            raise ConfigurationError(
                f"{_OPTION} {quoted(name)}: git cannot be used in {folder}: {quoted(error, 200)}; "
                "install git and run pytest in a clone, or leave out the option to compare with "
                "the files as they are"
            ) from None
        refs = _refs(root, name)
        if len(refs) > 1:  # git would take the first, and only warn
            raise ConfigurationError(
                f"{_OPTION} {quoted(name)}: the repository has {len(refs)} refs of this name; "
                f"write {' or '.join(map(quoted, refs))}"
            )
        # A name that git would read as an option must not reach it.
        verify = "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"
        commit = None if name.startswith("-") else git_line(root, *verify)
        if commit is None:
            raise ConfigurationError(f"{_OPTION} {quoted(name)}: {_unknown(root, name)}")
        bases = git_line(root, "merge-base", "--all", commit, "HEAD") or ""
        # A shallow clone of a pull request's merge commit names its parents, and has none.
        is_merged = f"\nparent {commit}\n" in (git_line(root, "cat-file", "commit", "HEAD") or "")
        return cls(name, commit, root, (commit,) if is_merged else tuple(bases.split()))

    # --- one file ----------------------------------------------------------------------------

    def text(self, path: Path, commit: str | None = None) -> str | None:
        """Return the text of a file at this or another commit; None if the commit lacks it.

        Raises:
            ConfigurationError: git has the file but cannot give it, as in a partial clone.
        """
        inside = self._inside(path)
        try:
            return _text_at(self.root, commit or self.commit, inside)
        except GitError as error:
            raise ConfigurationError(
                f"{_OPTION} {quoted(self.name)}: git cannot show {inside}: {quoted(error, 200)}"
            ) from None

    def refuse_elsewhere(self, path: Path) -> None:
        """Refuse a baseline file that is not in the repository.

        Raises:
            ConfigurationError: it is outside, behind a symbolic link, or in another repository,
                such as a submodule.
        """
        real = Path(os.path.realpath(path))
        top = next((each for each in real.parents if (each / ".git").exists()), None)
        if real == path and top == self.root:
            return
        shown, remedy = os.path.relpath(path.parent.parent), ""
        where = f"behind a symbolic link, at {real}" if real != path else f"not in {self.root}"
        if path.is_relative_to(self.root) and self.text(path) is not None:
            remedy = f"\n  {restore(shown, self.name)}"
        raise ConfigurationError(
            f"{_OPTION} {quoted(self.name)}: {quoted(path, 300)} is {where}, so that commit says "
            f"nothing about it; keep records in the repository of their tests{remedy}"
        )

    def obstacle(self, path: Path) -> str | None:
        """Return what the commit has instead of a baseline file or one of its folders, if anything.

        Git does not follow links, so the intended record cannot be read there.
        """
        places = (each for each in (path, *path.parents) if self.root in each.parents)
        return next(self._obstacles(self._modes(*map(self._inside, places))), None)

    def has_moved(self, path: Path) -> bool:
        """Return whether the reference has changed a file since this branch diverged."""
        before = [self.text(path, base) for base in self.bases]
        return bool(before) and self.text(path) not in before

    def is_behind(self, path: Path, text: str | None) -> bool:
        """Return whether the reference has changed a file since then, and this branch has not.

        Then the branch has an earlier version of the reference; merging the reference loses
        nothing.

        Args:
            path: the file.
            text: its text here; None if it is not there.
        """
        if not self.has_moved(path) or self.text(path) == text:
            return False
        before = [self.text(path, base) for base in self.bases]
        if text is None:
            return all(each is None for each in before)
        if text in before:
            return True
        # A branch that continues after a squash merge has an intermediate version of the reference.
        blob = git(self.root, "hash-object", "--stdin", input=text).strip()
        since = [f"^{base}" for base in self.bases]
        changes = ("log", "--format=", "--raw", "--no-abbrev", "--no-renames", self.commit, *since)
        return blob in git(self.root, *changes, "--", self._inside(path))

    def _inside(self, path: Path) -> str:
        """Return a path of the repository as git names it."""
        return path.relative_to(self.root).as_posix()

    # --- all files ---------------------------------------------------------------------------

    def baselines(self, folders: Iterable[Path]) -> Set[Path]:
        """Return the baseline files that the commit has under some folders."""
        return self._listed(folders, "ls-tree", "-r", "--name-only", "-z", self.commit)

    def obstacles(self, folders: Iterable[Path]) -> Sequence[str]:
        """Return what the commit has beside test modules instead of folders of baselines."""
        inside = self._all_inside(folders)
        modes = self._modes("-r", *inside) if inside else {}
        with_tests = {Path(name).parent for name in modes if _TEST_MODULE.search(name)}
        beside = [f"{folder.as_posix()}/{FOLDER}".removeprefix("./") for folder in with_tests]
        return [*self._obstacles({name: modes[name] for name in beside if name in modes})]

    def differing(self, folders: Iterable[Path]) -> Set[Path]:
        """Return the baseline files of the commit or of git's index that differ or are gone."""
        return self._listed(folders, "diff", "--name-only", "--no-renames", "-z", self.commit)

    def changes(self) -> Iterator[ChangedFile]:
        """Yield the baseline files of the repository that differ from the commit."""
        new = self._listed([self.root], "ls-files", "--others", "--exclude-standard", "-z")
        for path in sorted(self.differing([self.root]) | new):
            before, after = self.text(path), None
            if path.is_file():
                after = with_line_feeds(path.read_text("utf-8", "replace"))
            is_ours = any(text is not None and not is_foreign(text) for text in (before, after))
            if is_ours and before != after and not self.is_behind(path, after):
                yield ChangedFile(path, before, after)

    @property
    def missing_history(self) -> Remedy | None:
        """How to get the history of a shallow clone that lacks a common ancestor with HEAD."""
        remotes = git(self.root, "remote").split()
        is_cut = remotes and not self.bases and _is_shallow(self.root)
        return fetch_history(remotes[0]) if is_cut else None

    def _listed(self, folders: Iterable[Path], *command: str) -> Set[Path]:
        """Return the baseline files under some folders that a command of git lists."""
        inside = self._all_inside(folders)
        names = git(self.root, *command, "--", *inside).split("\0") if inside else ()
        return frozenset(filter(is_baseline_path, (self.root / name for name in names if name)))

    def _all_inside(self, folders: Iterable[Path]) -> Sequence[str]:
        return [self._inside(each) for each in folders if each.is_relative_to(self.root)]

    def _modes(self, *arguments: str) -> Mapping[str, str]:
        """Return the modes of what ``ls-tree`` lists, by name."""
        listed = git(self.root, "ls-tree", "-z", self.commit, *arguments).split("\0")
        return {name: entry[:6] for entry in listed for name in entry.split("\t", 1)[1:]}

    def _obstacles(self, modes: Mapping[str, str]) -> Iterator[str]:
        for name, mode in modes.items():
            if mode in _NO_FOLDERS:
                yield f"{quoted(name, 300)} is {_NO_FOLDERS[mode]} at {quoted(self.name)}"


@lru_cache(maxsize=8)  # one file is compared at several commits
def _text_at(root: Path, commit: str, inside: str) -> str | None:
    """Return the text of a file at a commit, with the line ends that we write."""
    if not git(root, "ls-tree", commit, "--", inside):
        return None
    return with_line_feeds(git(root, "show", f"{commit}:{inside}"))


def _refs(root: Path, name: str) -> Sequence[str]:
    """Return the refs that git may mean by a name."""
    kinds = ("refs", "refs/tags", "refs/heads", "refs/remotes")
    meant = [f"{kind}/{name}" for kind in kinds] + [f"refs/remotes/{name}/HEAD"]
    there = git(root, "for-each-ref", "--format=%(refname)", *meant).splitlines()
    return [ref for ref in meant if ref in there]


def _is_shallow(root: Path) -> bool:
    return git_line(root, "rev-parse", "--is-shallow-repository") == "true"


def _unknown(root: Path, name: str) -> str:
    """Return why git does not find a commit, and what to do."""
    if not name or name.endswith("/"):
        return "it names no branch; variables such as GITHUB_BASE_REF are set in pull requests only"
    remotes, is_shallow = git(root, "remote").split(), _is_shallow(root)
    remedy = fetch(name, remotes, is_shallow=is_shallow) if remotes else None
    why = "git does not find it; check the name"
    if is_shallow:
        why = "this is a shallow clone without that commit (actions/checkout: fetch-depth: 0)"
    return f"{why}, or fetch it\n  {remedy}" if remedy else why
