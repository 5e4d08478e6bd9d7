"""Remedies: the commands that messages print, each with what it will do.

They are quoted for a POSIX shell. ``tests/adversary/test_remedies.py`` runs each of them in the
situation that prints it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_PACKAGES = {
    "datasets": "ir-datasets",
    "fast": "polars",
    "http": "httpx jmespath",
    "report": "jinja2",
    "yaml": "pyyaml",
    "zstd": "backports.zstd",
}
"""The packages that the extras of this distribution install; pip cannot install an extra without
knowing where this distribution came from."""
_APPROVE = "--rankcheck-approve"
_WHY, _WHY_GONE = "why this is acceptable", "why it is no longer needed"
"""The placeholder for a reason in printed commands."""


def is_placeholder(reason: str) -> bool:
    """Return whether a reason is the placeholder of a printed command."""
    return reason.strip().strip(".").lower() in (_WHY, _WHY_GONE)


@dataclass(frozen=True, slots=True)
class Remedy:
    """A command that fixes something, and its purpose."""

    purpose: str
    """Its purpose, such as "to approve"."""
    command: str
    tests: str | None = None
    """The arguments of pytest that choose the tests; None if it is not a single run of pytest."""
    options: str = ""
    """The other arguments."""

    @classmethod
    def of_tests(cls, purpose: str, tests: str, options: str) -> Remedy:
        """Return a run of some tests; an empty text chooses all."""
        return cls(purpose, " ".join(filter(None, ("pytest", tests, options))), tests, options)

    def __str__(self) -> str:
        return f"{self.purpose}: {self.command}"


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a record in messages, and the remedies for it."""

    file: str
    test: str
    """The arguments of pytest that run the test again on what it measures now."""
    reference: str | None = None
    """The commit whose baselines count, as it was given; None: those of the working tree."""
    is_there: bool = False
    """Whether the record that counts is the one at the reference."""

    def __str__(self) -> str:
        return f"{self.file} at {self.reference}" if self.is_there else self.file

    def update(self, purpose: str, replicates: int = 0) -> Remedy:
        """Return the update, which records what is missing or better.

        Args:
            purpose: what it will do.
            replicates: the number of replicates; 0: as many as are configured.
        """
        several = f" --rankcheck-replicates {replicates}" if replicates else ""
        return Remedy.of_tests(purpose, self.test, f"--snapshot-update{several}")

    def approve(self, purpose: str = "to approve") -> Remedy:
        """Return the approval, which records what is measured now."""
        ref = f"--rankcheck-baseline-ref={shlex.quote(self.reference)} " if self.reference else ""
        return Remedy.of_tests(purpose, self.test, f'{ref}{_APPROVE} "{_WHY}"')

    def restore(self, commit: str = "") -> Remedy:
        """Return how to undo the changes of the record and update it again.

        Args:
            commit: the commit whose record is restored; empty: the reference, or HEAD.
        """
        checkout = restore(self.file, commit or self.reference or "HEAD")
        return Remedy(checkout.purpose, f"{checkout.command} && {self.update('').command}")

    def remove(self) -> Remedy:
        """Return how to record again a file that no commit has."""
        command = f"{delete(self.file).command} && {self.update('').command}"
        return Remedy("to record it anew", command)


def joined(remedies: Iterable[Remedy]) -> Sequence[Remedy]:
    """Return the remedies joined: other commands first, then one run for all tests.

    An approval also does what an update does.
    """
    distinct = list(dict.fromkeys(remedies))
    runs = {each: each.tests for each in distinct if each.tests is not None}
    others = [each for each in distinct if each not in runs]
    if not runs:
        return others
    words = dict.fromkeys(word for tests in runs.values() for word in shlex.split(tests))
    ordered = sorted(words, key=lambda word: word.startswith("-"))
    tests = shlex.join(ordered) if all(runs.values()) else ""
    options = next((each.options for each in runs if _APPROVE in each.options), distinct[0].options)
    purpose = "; ".join(dict.fromkeys(each.purpose for each in runs))
    return [*others, Remedy.of_tests(purpose, tests, options)]


def merge(reference: str) -> Remedy:
    """Return how to merge what the reference has changed since."""
    return Remedy("to bring this branch up to date", f"git merge {shlex.quote(reference)}")


def fetch(name: str, remotes: Sequence[str], *, is_shallow: bool) -> Remedy | None:
    """Return how to fetch a branch that git does not know; None if the name is not a branch."""
    if not re.fullmatch(r"[\w.][\w./-]*", name):
        return None
    remote, _, branch = name.partition("/")
    kind = "remotes"
    if not branch or remote not in remotes:
        remote, branch, kind = remotes[0], name, "heads"
    depth = "--depth=1 " if is_shallow else ""
    return Remedy("to fetch it", f"git fetch {depth}{remote} {branch}:refs/{kind}/{name}")


def fetch_history(remote: str) -> Remedy:
    """Return how to complete a shallow clone."""
    purpose = "to fetch the history (in CI: fetch-depth: 0)"
    return Remedy(purpose, f"git fetch --unshallow {shlex.quote(remote)}")


def restore(path: str, commit: str) -> Remedy:
    """Return how to restore a file or a folder from a commit."""
    command = f"git checkout {shlex.quote(commit)} -- {shlex.quote(path)}"
    return Remedy("to restore it", command)


def measure_noise() -> Remedy:
    """Return how to measure how much metrics vary between replicates."""
    return Remedy("to measure it", "pytest --snapshot-update --rankcheck-replicates 5")


def delete(file: str) -> Remedy:
    """Return how to delete a record that another one replaces."""
    return Remedy("to delete it", f"git rm -qf -- {shlex.quote(file)}")


def retire(file: str, reference: str | None = None) -> Remedy:
    """Return how to retire a baseline, which may exist only at the reference."""
    ref = f"--baseline-ref={shlex.quote(reference)} " if reference else ""
    command = f"python -m pytest_rankcheck retire {shlex.quote(file)} {ref}"
    return Remedy("to retire it", f'{command}--reason "{_WHY_GONE}"')


def add_ignored(files: Sequence[str]) -> Remedy:
    """Return how to commit files that git ignores."""
    return Remedy("to add them all the same", f"git add --force -- {shlex.join(files)}")


def install(extra: str) -> str:
    """Return the command that installs the packages of an extra of this distribution."""
    return f"pip install {_PACKAGES[extra]}"
