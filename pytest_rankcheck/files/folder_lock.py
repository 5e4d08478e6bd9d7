"""A lock on a folder, and the removal of what killed writers have left in it."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_rankcheck.files.whole_files import temporary_files

__all__ = ["FolderBusyError", "locked_folder"]


class FolderBusyError(Exception):
    """Another process holds the lock of a folder."""


@contextmanager
def locked_folder(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a folder, so that only one process on this machine writes there.

    Temporary files of earlier processes are removed first, since none of these holds the lock now.

    Args:
        folder: the folder.
        wait: whether to wait while another process holds the lock.

    Raises:
        OSError: the lock cannot be made.
        FolderBusyError: another process holds it, and ``wait`` is false.
    """
    from filelock import (
        FileLock,
        Timeout,
    )  # takes milliseconds to import, and most sessions write nothing

    # Beside the files, a lock would be committed with them.
    digest = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogatepass")).hexdigest()
    locks = Path(tempfile.gettempdir()) / "pytest-rankcheck-locks"
    locks.mkdir(exist_ok=True)
    with suppress(OSError):  # it belongs to another user, who has done this
        locks.chmod(0o1777)
    lock = FileLock(locks / f"{digest[:24]}.lock", mode=0o666)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except Timeout:
        raise FolderBusyError(str(folder)) from None
    try:
        for leftover in temporary_files(folder):
            with suppress(OSError):
                leftover.unlink()
        yield
    finally:
        lock.release()
