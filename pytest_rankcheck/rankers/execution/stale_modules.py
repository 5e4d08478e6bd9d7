"""Workers that live on between test sessions, and the modules that they have imported before.

A worker of a cluster imports a module once. If the file is edited later, or another version is
deployed, the worker still has the old code, and would rank with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from pytest_rankcheck.errors import RankerError, listed
from pytest_rankcheck.rankers.execution.undeclared_inputs import installed_folders

__all__ = ["refuse_stale_modules"]

_SEEN: dict[str, tuple[object, int]] = {}
"""The modules of projects by name: how each was found, and when its file was changed last."""


def refuse_stale_modules() -> None:
    """Refuse to rank if a module's file has changed since this process saw it for the first time.

    Modules of installed packages are not looked at. A module that was reloaded is new.

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
    """Yield the name of each module of a project, its spec, its file and when that was changed."""
    for name, module in list(sys.modules.items()):
        found = getattr(module, "__spec__", None)
        file = getattr(found, "origin", None)
        if not isinstance(file, str) or not file.endswith(".py"):
            continue
        if os.path.realpath(file).startswith(installed_folders()):
            continue
        try:
            changed = os.stat(file).st_mtime_ns  # noqa: PTH116 - of hundreds of files
        except OSError:  # it is gone
            continue
        yield name, found, file, changed
