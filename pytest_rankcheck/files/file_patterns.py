"""Several files for one thing: lists of paths, patterns, and folders of parts.

The parts of a folder, as clusters write them, are the files of one table. Files and folders whose
names begin with ``_`` or ``.`` are not parts: Spark, Hadoop and others use them for their own
records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from glob import glob
from itertools import chain, takewhile
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.packed_files import failures_named

_DIGITS = re.compile(r"(\d+)")
_NOT_PARTS = ("_", ".")
_UNFINISHED = "_temporary"
"""The folder that Hadoop and Spark keep until a job has written all its parts."""


def is_pattern(path: Path) -> bool:
    """Whether a path has wildcards (``*``, ``?``, ``[...]``) and no file has exactly that name."""
    text = str(path)
    return ("*" in text or "?" in text or ("[" in text and "]" in text)) and not _exists(path)


def matches_any(path: Path) -> bool:
    """Whether a path, or a file that a pattern matches, exists."""
    return bool(_matches(path)) if is_pattern(path) else path.exists()


def matching_files(given: Iterable[Path], error: type[RankcheckError]) -> list[Path]:
    """Return the files of some paths and patterns, in the order of their names.

    Numbers in names are compared as numbers, so that ``day-9`` comes before ``day-10``; the order
    in which the paths are given does not matter. ``**`` matches folders at any depth. A
    wildcard matches no name that begins with ``_``, such as ``_SUCCESS``.

    Raises:
        error: no file matches a pattern, or a file is given twice.
    """
    files: list[Path] = []
    for path in given:
        found = _matches(path) if is_pattern(path) else [path]
        if not found:
            raise error(
                f"no file matches '{quoted(path, 300)}'; correct the pattern, or give the names of "
                "the files"
            )
        files += found
    twice = next((path for place, path in enumerate(files) if path in files[:place]), None)
    if twice is not None:
        raise error(f"{twice} is given twice; give each file once")
    return sorted(files, key=_natural_order)


def _matching_paths(pattern: Path) -> list[Path]:
    """Return the files and folders that match a pattern, in the order of their names."""
    # Path.glob takes no absolute pattern.
    return sorted(map(Path, glob(str(pattern), recursive=True)), key=_natural_order)  # noqa: PTH207


def _matches(pattern: Path) -> list[Path]:
    """Return the files that match; names such as ``_SUCCESS`` only if the pattern starts with _."""
    hidden = () if pattern.name.startswith("_") else ("_",)
    return [
        path
        for path in _matching_paths(pattern)
        if not path.is_dir() and not path.name.startswith(hidden)
    ]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # the name is too long, or has a null character
        return True  # opening the file reports the error


def _natural_order(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Return a key that sorts paths by name, with numbers in them as numbers."""
    parts = _DIGITS.split(str(path))
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], str(path)


def are_parts(path: Path) -> bool:
    """Whether a path is a folder, or a pattern such as ``runs/part-*.parquet``."""
    try:
        return path.is_dir() or is_pattern(path)
    except (OSError, ValueError):  # an invalid name is reported when the file is opened
        return False


def files_of_parts(path: Path, error: type[RankcheckError]) -> list[Path]:
    """Return the parts in a folder and its subfolders, or those that match a pattern.

    A pattern may match files and folders; all parts in a matching folder are included.

    Raises:
        error: there are no parts, one is empty, or the job that writes them has not finished.
    """
    roots = [path] if path.is_dir() else _matching_paths(path)
    is_folder = path.is_dir()
    named = takewhile(lambda part: is_folder or set("*?[").isdisjoint(part), path.parts)
    base, files = Path(*named), dict[Path, None]()
    # "**" matches a folder and also its contents.
    for entry in chain.from_iterable([root, *root.rglob("*")] for root in roots):
        names = entry.relative_to(base).parts
        if _UNFINISHED in names:
            raise error(
                f"{base.joinpath(*names[: names.index(_UNFINISHED)])}: the job that writes it has "
                f"not finished: {_UNFINISHED} still exists; wait for the job, or run it again"
            )
        if not any(name.startswith(_NOT_PARTS) for name in names) and not entry.is_dir():
            files[entry] = None
    if not files:
        raise error(
            f"no parts match '{quoted(path, 300)}'; names that begin with _ or . do not count"
        )
    for file in files:
        with failures_named(file, error):
            if not file.stat().st_size:
                raise error(
                    f"{file} is empty: was it written to the end? Write it again, or delete it if "
                    "it has no rows"
                )
    return sorted(files, key=_natural_order)
