"""The world: what a ranking was made with, as far as the project declares it.

Files by their hashes, packages by their versions. Nothing that is not declared is recorded, so the
same results give the same record on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pytest_rankcheck.errors import ConfigurationError, RankcheckError, quoted

__all__ = [
    "World",
    "WorldChange",
    "WorldComparison",
    "compared_worlds",
    "declared_files",
    "declared_world",
]

World = Mapping[str, str]
"""By name: the hash of a file, the version of a package, or a text of the project's own."""

_INI = "rankcheck_world"
_PACKAGE = "package:"
_MAGIC = frozenset("*?[")
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class WorldChange:
    """An entry of the world that differs from the one in a record."""

    name: str
    before: str | None
    """None: it is not in the record."""
    now: str | None
    """None: it is no longer declared."""


@dataclass(frozen=True, slots=True)
class WorldComparison:
    """The world of a record, and the world now."""

    changes: tuple[WorldChange, ...] = ()
    problem: str | None = None
    """Why the world now is unknown."""


def declared_world(lines: Iterable[str], root: Path) -> World:
    """Return the hashes and versions of what a project declares.

    A file has the hash of its bytes. A folder or a pattern has one hash of all its files and their
    names, and their number.

    Args:
        lines: a file, folder or pattern relative to ``root``, or ``package:name``.
        root: the root folder of the project.

    Raises:
        ConfigurationError: a file is missing or cannot be read, or a package is not installed.
    """
    return {line: _entry(line, root) for line in (line.strip() for line in lines)}


def declared_files(lines: Iterable[str], root: Path) -> frozenset[str]:
    """Return the resolved paths of all files that a project declares; see `declared_world`."""
    paths = (line.strip() for line in lines if not line.strip().startswith(_PACKAGE))
    names = (root / name for line in paths for name in (line, *_names(line, root)))
    return frozenset(str(path.resolve()) for path in names if path.is_file())


def compared_worlds(recorded: World, world_now: Callable[[], World]) -> WorldComparison:
    """Compare the world of a record with the world now, sorted by name.

    Args:
        recorded: the world of the record.
        world_now: returns the world now; what it refuses becomes the problem.
    """
    try:
        now = world_now()
    except RankcheckError as error:
        return WorldComparison(problem=str(error))
    changes = (
        WorldChange(name, recorded.get(name), now.get(name)) for name in sorted({**recorded, **now})
    )
    return WorldComparison(tuple(change for change in changes if change.before != change.now))


def _entry(line: str, root: Path) -> str:
    if line.startswith(_PACKAGE):
        return _version(line.removeprefix(_PACKAGE).strip(), line)
    if Path(line).is_absolute():
        raise ConfigurationError(
            f"{_INI}: '{quoted(line, 200)}' is an absolute path, which other machines do not have; "
            "give a path relative to the root of the project"
        )
    path = root / line
    try:
        if path.is_file():
            return _hash_of(path)
        names = _names(line, root)
        if names:
            return _joint_hash(names, root)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{_INI}: {quoted(line, 200)} cannot be read: {error}") from None
    name, folder = f"'{quoted(line, 200)}'", quoted(root, 200)
    is_pattern = _MAGIC & set(line)
    problem = f"no file in {folder} matches {name}" if is_pattern else f"{name} is not in {folder}"
    raise ConfigurationError(f"{_INI}: {problem}; build it before the tests, or correct the line")


def _version(package: str, line: str) -> str:
    try:
        return version(package)
    except (PackageNotFoundError, ValueError):
        raise ConfigurationError(
            f"{_INI}: the package of '{quoted(line, 200)}' is not installed; install it, or "
            "correct the line"
        ) from None


def _names(line: str, root: Path) -> Sequence[str]:
    """Return the files in a folder or of a pattern, relative to the root, sorted."""
    folder = root / line
    paths = folder.rglob("*") if folder.is_dir() else root.glob(line)
    return sorted({path.relative_to(root).as_posix() for path in paths if path.is_file()})


def _joint_hash(names: Sequence[str], root: Path) -> str:
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{_hash_of(root / name)} {name}\n".encode("utf-8", "surrogateescape"))
    files = "1 file" if len(names) == 1 else f"{len(names)} files"
    return f"{digest.hexdigest()[:_DIGITS]} ({files})"


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]
