"""Several files for one thing: lists of paths, and patterns such as ``logs/2026-11-*.jsonl``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from glob import glob
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError, quoted

_DIGITS = re.compile(r"(\d+)")


def is_pattern(path: Path) -> bool:
    """Whether a path has wildcards (``*``, ``?``, ``[...]``), and no file has that very name."""
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
    return sorted(files, key=natural_order)


def matching_paths(pattern: Path) -> list[Path]:
    """Return the files and folders that match a pattern, in the order of their names."""
    # Path.glob takes no absolute pattern.
    return sorted(map(Path, glob(str(pattern), recursive=True)), key=natural_order)  # noqa: PTH207


def _matches(pattern: Path) -> list[Path]:
    """Return the files that match; names such as ``_SUCCESS`` only if the pattern starts with _."""
    hidden = () if pattern.name.startswith("_") else ("_",)
    return [
        path
        for path in matching_paths(pattern)
        if not path.is_dir() and not path.name.startswith(hidden)
    ]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # the name is too long, or has a null character
        return True  # what opens the file says what is wrong


def natural_order(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Return what sorts paths by name, with numbers in them as numbers."""
    parts = _DIGITS.split(str(path))
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], str(path)
