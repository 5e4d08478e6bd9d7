"""Detecting workers with other code than this process: imported or deployed some time ago.

A worker of a cluster imports a module once. If the file is edited later, or another version is
deployed, the worker still has the old code and would rank with it. A worker on another machine may
also have other files.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pytest_rankcheck.errors import RankerError, listed
from pytest_rankcheck.rankers.execution.undeclared_inputs import installed_folders

__all__ = ["project_code", "refuse_other_code", "refuse_stale_modules"]

_LEFT_OUT = ("__main__", "__mp_main__", "pytest_rankcheck")
"""Modules that differ between processes, and our own package, whose version is compared."""

_SEEN: dict[str, tuple[object, int]] = {}
"""The project's modules by name: how each was found, and when its file was last changed."""


def refuse_stale_modules() -> None:
    """Refuse to rank if a module's file changed since this process first saw the module.

    Modules of installed packages are not checked. A reloaded module counts as new.

    Raises:
        RankerError: naming the files.
    """
    stale: list[str] = []
    for name, found, file, changed in _project_modules():
        before = _SEEN.get(name)
        if before is None or before[0] is not found:
            _SEEN[name] = (found, changed)
        elif before[1] != changed:
            stale.append(file)
    if stale:
        raise RankerError(
            f"files have changed since this worker imported them: {listed(sorted(stale), 3)}. It "
            "would rank with the old code; restart the workers"
        )


def _project_modules() -> Iterator[tuple[str, object, str, int]]:
    """Yield each module of the project: name, spec, file, and when the file was changed."""
    for name, module in list(sys.modules.items()):
        found = getattr(module, "__spec__", None)
        file = getattr(found, "origin", None)
        if not isinstance(file, str) or not file.endswith(".py"):
            continue
        if os.path.realpath(file).startswith(installed_folders()):
            continue
        try:
            changed = os.stat(file).st_mtime_ns  # noqa: PTH116 - of hundreds of files
        except OSError:  # the file was deleted
            continue
        yield name, found, file, changed


def project_code() -> Mapping[str, str]:
    """Return a digest of the source of each project module that this process has imported."""
    code: dict[str, str] = {}
    for name, _, file, _ in _project_modules():
        if name.partition(".")[0] not in _LEFT_OUT:
            with suppress(OSError):
                code[name] = _digest(Path(file))
    return code


def refuse_other_code(there: Mapping[str, str], place: str) -> None:
    """Refuse the answers of a worker whose modules have a different source from those here.

    Modules that are not found here are not compared.

    Args:
        there: the result of `project_code` on the worker.
        place: what messages call the worker.

    Raises:
        RankerError: naming the files here.
    """
    others: list[str] = []
    for name, digest in there.items():
        file = _file_of(name)
        with suppress(OSError):
            if file is not None and _digest(file) != digest:
                others.append(str(file))
    if others:
        raise RankerError(
            f"{place} has another version of {listed(sorted(others), 3)} than this process. Deploy "
            "the code that you test, and restart the workers"
        )


def _digest(file: Path) -> str:
    source = file.read_bytes().replace(b"\r\n", b"\n")  # as git may write it on Windows
    return hashlib.sha256(source).hexdigest()[:16]


def _file_of(name: str) -> Path | None:
    """Return the file of a module without importing the module; None if it is not found."""
    top, _, rest = name.partition(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    below = Path(*rest.split(".")) if rest else Path()
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    files = [Path(spec.origin)] if spec.origin and not rest else []
    for folder in folders if rest else ():
        files += [folder / below / "__init__.py", (folder / below).with_suffix(".py")]
    return next((file for file in files if file.is_file()), None)
