"""The key of kept answers: everything known that they depend on.

Answers are reused only if every part of the key is the same, so that last week's rankings are never
mistaken for this week's.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.files.git_error import GitError
from pytest_rankcheck.files.work_tree import WorkTree, tracked_files, work_tree
from pytest_rankcheck.golden.fingerprint import visible_fingerprint
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.package_version import package_version
from pytest_rankcheck.rankers.execution.code_elsewhere import code_elsewhere
from pytest_rankcheck.rankers.execution.undeclared_inputs import InputRule, Inputs

__all__ = ["ResumeKey", "ResumeScope", "differences"]

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ResumeScope:
    """The origin of a ranking, apart from its golden set and depth."""

    folder: Path
    """The folder of the kept answers."""
    key: str | None = None
    """The user's ``resume_key=``, which covers everything that the rankings depend on."""
    origin: str | None = None
    """A description of the ranker that is the same in every session; None if the ranker is an
    object that exists only in this process."""
    root: Path = field(default_factory=Path.cwd)
    """A folder of the repository with the code."""
    world: Mapping[str, str] = field(default_factory=dict)
    """The content of ``rankcheck_world``."""
    declared: frozenset[str] = frozenset()
    """The resolved paths of the files that ``rankcheck_world`` declares."""
    read: Sequence[Inputs] = ()
    """The inputs that the ranker read while it was made, in this process."""
    apart: Path | None = None
    """A folder whose files do not count as changes of the work tree; None: `folder`."""
    when_complete: Callable[[Callable[[], None]], None] | None = None
    """Receives a function that deletes a complete run's answers; None: they are deleted at once."""


@dataclass(frozen=True, slots=True)
class ResumeKey:
    """Everything that kept answers depend on."""

    version: str
    golden: str
    depth: int
    ranker: str
    commit: str
    changes: Mapping[str, str]
    code: Mapping[str, str]
    """The digest of code that the commit does not cover, by its folder or file."""
    world: Mapping[str, str]
    packages: Mapping[str, str]
    resume_key: str | None

    @classmethod
    def of(
        cls, scope: ResumeScope, golden: GoldenSet, depth: int, name: str
    ) -> tuple[ResumeKey, InputRule | None]:
        """Return the key of a ranking, and the inputs that its ranker may read.

        Without a ``resume_key``, the code must be in git, and the ranker must have a name.

        Args:
            scope: the origin of the ranking.
            golden: the golden set.
            depth: how many documents are requested.
            name: the ranker's name in messages.

        Raises:
            ConfigurationError: a ``resume_key`` is needed; the message says why.
        """
        tree, why = _tree(scope)
        if tree is None and scope.key is None:
            raise ConfigurationError(
                f"resume={quoted(scope.folder, 200)}: {why}, so no commit identifies the code "
                f"behind the rankings; {_REMEDY}"
            )
        if scope.origin is None and scope.key is None:
            raise ConfigurationError(
                f"resume={quoted(scope.folder, 200)}: ranker '{quoted(name)}' is an object, whose "
                "state is in no commit; give it by name, as in rank('package.module:name', ...), "
                f"or {_REMEDY}"
            )
        top = None if tree is None else tree.top.resolve()
        covered = frozenset[str]() if tree is None else tracked_files(tree)
        key = cls(
            version=package_version(),
            golden=visible_fingerprint(golden.fingerprint, golden),
            depth=depth,
            ranker=scope.origin or name,
            commit=tree.commit if tree else "",
            changes=tree.changes if tree else {},
            code=code_elsewhere(scope.origin, top, covered, scope.root.resolve()),
            world=dict(sorted(scope.world.items())),
            packages=_packages(),
            resume_key=scope.key,
        )
        if scope.key is not None or tree is None:
            return key, None
        rule = InputRule(covered, scope.declared)
        for inputs in scope.read:
            rule.check(inputs)
        return key, rule

    @property
    def values(self) -> dict[str, Any]:
        """The key as plain data."""
        return asdict(self)

    @property
    def digest(self) -> str:
        """A short digest of all parts of the key."""
        return hashlib.sha256(repr(sorted(self.values.items())).encode()).hexdigest()[:32]


_REMEDY = "give resume_key= (--rankcheck-resume-key), a text that changes when rankings may change"


def _tree(scope: ResumeScope) -> tuple[WorkTree | None, str]:
    try:
        return work_tree(scope.root, without=scope.apart or scope.folder), ""
    except GitError as error:
        return None, f"{quoted(scope.root, 200)} is not in a git repository with a commit ({error})"


def _packages() -> Mapping[str, str]:
    """Return the versions of Python and of all installed packages."""
    versions = {"python": sys.version.split()[0]}
    for distribution in distributions():
        name = distribution.metadata["Name"]
        if name:
            versions.setdefault(name.lower(), distribution.version)
    return dict(sorted(versions.items()))


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield the differences between the key of kept answers and the present key, as text."""
    words = {
        "version": "pytest-rankcheck",
        "golden": "the golden set (its fingerprint)",
        "depth": "the depth",
        "ranker": "the ranker",
        "commit": "the commit",
        "resume_key": "resume_key",
    }
    for name, text in words.items():
        if then.get(name) != now.get(name):
            yield f"{text} was {_shown(then.get(name))} and is {_shown(now.get(name))}"
    for name, text in (
        ("changes", "changed files (let git ignore files that no ranker reads)"),
        ("code", "code that is not in this repository"),
        ("world", "rankcheck_world"),
        ("packages", "installed packages"),
    ):
        before, after = then.get(name) or {}, now.get(name) or {}
        changed = [
            each for each in sorted({*before, *after}) if before.get(each) != after.get(each)
        ]
        if changed:
            shown = ", ".join(_change(each, before, after, name) for each in changed[:_SHOWN])
            rest = f" and {len(changed) - _SHOWN:,} more" if len(changed) > _SHOWN else ""
            yield f"{text}: {shown}{rest}"


def _shown(value: object) -> str:
    return "not given" if value in (None, "") else f"'{quoted(value, 80)}'"


def _change(name: str, before: Mapping[str, str], after: Mapping[str, str], kind: str) -> str:
    if kind == "changes":
        if name not in before:
            how = "has been changed or added since"
        elif name not in after:
            how = "no longer differs from the commit, or was deleted"
        else:
            how = "has been changed again"
        return f"'{quoted(name, 200)}' {how}"
    return f"'{quoted(name, 200)}' {before.get(name, '-')} -> {after.get(name, '-')}"
