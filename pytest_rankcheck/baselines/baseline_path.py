"""The path of a baseline, by its module: ``baselines/<test module>/<test>--<golden set>.json``."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

FOLDER = "baselines"

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_NAME = 150
"""The longest file name, in characters; file systems allow 255 bytes, also for temporary files."""
_LONGEST_TEST = 90
"""The longest name of a test, in characters, so that the golden set's name always fits."""
_NAME = r"[a-z0-9_.]+(?:-[a-z0-9_.]+)*"
"""Parameters and golden sets without a capital letter, and without the separator ``--``."""
_CLASS = r"(?:Test(?:[A-Z0-9_][a-z0-9_]*)?|(?!test)[a-z_][a-z0-9_]*)"
"""Class names written as usual: at most one spelling of each, apart from case."""
_PLAIN_KEY = re.compile(rf"(?:{_CLASS}::)*[a-z_][a-z0-9_]*(?:\[{_NAME}\])?")
_PLAIN_NAME = re.compile(_NAME)
_PLAIN_MODULE = re.compile(r"[a-z0-9_.-]*[a-z0-9_-](?:(?<!\.rank)\.py|\.rank\.toml)")
"""``test_x.rank.py`` is not plain, so that its folder is not that of ``test_x.rank.toml``."""


def baseline_path(test_file: Path, key: str, golden_name: str) -> Path:
    """Return the file of the baseline of a test on a golden set.

    Different tests and golden sets have different files, even if the file system ignores case or
    does not allow the characters of a name: names that could be confused end with ``~`` and a
    digest.

    Args:
        test_file: the file that has the test.
        key: what identifies the test in its file, such as ``TestShop::test_mrr[de]``.
        golden_name: the name of the golden set or session log that the test measures on.
    """
    test, bracket, rest = key.partition("[")  # TestClass.test_name-parameter--golden
    readable = test.replace("::", ".") + (f"-{rest.removesuffix(']')}" if bracket else "")
    is_plain = bool(_PLAIN_KEY.fullmatch(key) and _PLAIN_NAME.fullmatch(golden_name))
    if len(readable) > _LONGEST_TEST:
        readable, is_plain = readable[:_LONGEST_TEST], False
    name = safe_name(f"{readable}--{golden_name}", repr((key, golden_name)), is_plain=is_plain)
    return baseline_folder(test_file) / f"{name}.json"


def baseline_folder(test_file: Path) -> Path:
    """Return the folder of the baselines of a test file."""
    module = test_file.name
    is_plain = _PLAIN_MODULE.fullmatch(module) is not None
    readable = module.removesuffix(".py").removesuffix(".toml")
    return test_file.parent / FOLDER / safe_name(readable, module, is_plain=is_plain)


def real_file(file: Path) -> Path:
    """Return a file with the links of its folder resolved; baselines are beside that."""
    return Path(os.path.realpath(file.parent), file.name)


def is_baseline_path(path: Path) -> bool:
    """Return whether a file has the place and the name of a baseline."""
    is_named = path.suffix == ".json" and "--" in path.stem
    return is_named and path.parent.parent.name == FOLDER


def test_file_of(path: Path) -> Path | None:
    """Return the test file that a baseline belongs to; None if it is gone."""
    folder = path.parent.parent.parent
    is_there = folder.is_dir() and real_file(folder / path.name).parent == folder
    files = sorted(folder.iterdir()) if is_there else []
    return next((file for file in files if baseline_folder(file) == path.parent), None)


def golden_name_of(path: Path) -> str:
    """Return the golden set in the name of a baseline that cannot be read."""
    return path.stem.rpartition("--")[2].partition("~")[0]


def baselines_under(folder: Path, unsearched: Sequence[str]) -> Iterator[Path]:
    """Yield the baseline files under a folder.

    Args:
        folder: where to look.
        unsearched: patterns of folders to skip, as pytest does; virtual environments are skipped
            too.
    """
    for name, folders, files in os.walk(folder):
        here = Path(name)
        folders[:] = sorted(
            child
            for child in folders
            if not any(fnmatch(child, pattern) for pattern in unsearched)
            and not (here / child / "pyvenv.cfg").exists()
        )
        yield from filter(is_baseline_path, (here / file for file in sorted(files)))


def safe_name(readable: str, identity: str | None = None, *, is_plain: bool = True) -> str:
    """Return a name that every file system allows, and a different one for each identity.

    Args:
        readable: the name as people would write it; it is kept if possible.
        identity: what the name identifies, if that is more than ``readable``.
        is_plain: False if another identity could have the same name in another case.
    """
    safe = _UNSAFE.sub("_", readable)[:_LONGEST_NAME]
    if safe == readable and is_plain:
        return safe
    identity_bytes = (identity or readable).encode("utf-8", "surrogatepass")
    return f"{safe}~{hashlib.sha256(identity_bytes).hexdigest()[:10]}"
