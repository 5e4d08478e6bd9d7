"""The world: what a ranking was made with, if the project declares it.

Files by their hashes, packages by their versions. Nothing that is not declared is recorded, so the
same results give the same record on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pytest_rankcheck.errors import ConfigurationError, listed, quoted

World = Mapping[str, str]
"""By name: the hash of a file, the version of a package, or a text of the project."""

_INI = "rankcheck_world"
_PACKAGE = "package:"
_DIGITS = 16
_NAMED = 10
"""How many names that changed in the same way are shown."""

MODEL_FEATURES = "model:features"
"""Declares the features of a ranker of ``rankers.model``, which only the test session knows."""


def declared_world(lines: Iterable[str], root: Path) -> World:
    """Return the hashes and versions of what a project declares.

    A file has the hash of its bytes. A folder or a pattern has one hash of all its files and their
    names, and their number.

    Args:
        lines: a file, folder or pattern relative to ``root``, or ``package:name``. The line
            `MODEL_FEATURES` is left to the caller.
        root: the root folder of the project.

    Raises:
        ConfigurationError: a file is missing or cannot be read, or a package is not installed.
    """
    names = (line.strip() for line in lines)
    return {line: _entry(line, root) for line in names if line != MODEL_FEATURES}


def world_changes(recorded: World, now: World) -> Iterator[str]:
    """Yield in words how the world differs from that of a record, sorted by name.

    Things that changed in the same way, such as several features, share a sentence.
    """
    changed: dict[tuple[str | None, str | None], list[str]] = {}
    for entry in sorted({**recorded, **now}):
        if recorded.get(entry) != now.get(entry):
            changed.setdefault((recorded.get(entry), now.get(entry)), []).append(entry)
    for states, entries in changed.items():
        before, after = ("not there" if state is None else quoted(state) for state in states)
        yield f"{listed(entries, _NAMED)} changed since the baseline: {before} -> {after}"


def _entry(line: str, root: Path) -> str:
    if line.startswith(_PACKAGE):
        try:
            return version(line.removeprefix(_PACKAGE).strip())
        except (PackageNotFoundError, ValueError):
            raise ConfigurationError(
                f"{_INI}: the package of '{quoted(line, 200)}' is not installed; install it, or "
                "correct the line"
            ) from None
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
    raise ConfigurationError(
        f"{_INI}: '{quoted(line, 200)}' is not in {quoted(root, 200)}; build it before the tests, "
        "or correct the line"
    )


def _names(line: str, root: Path) -> Sequence[str]:
    """Return the files of a folder or a pattern, relative to the root, sorted."""
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
