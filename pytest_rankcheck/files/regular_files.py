"""Opening only what is a file, and unpacking no more than its size explains.

A pipe or a device may never end, and a packed file of a megabyte may hold many gigabytes.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["bounded", "opened_regular", "size_of"]

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
_ALWAYS = 64 << 20
"""In bytes: what any packed file may unpack to."""
_RATIO = 200
"""How many times its own size a larger packed file may unpack to; tables and runs reach 5 to 50."""
_BUFFER = 1 << 20


def opened_regular(path: Path) -> io.BufferedReader:
    """Open a regular file for reading.

    Raises:
        OSError: the path is missing, or not a regular file; the message says what it is.
    """
    kind = _KINDS.get(stat.S_IFMT(_status(path).st_mode))
    if kind is not None:
        raise OSError(errno.EINVAL, f"it is {kind}; save what it gives as a file, and name that")
    return path.open("rb")


def size_of(path: Path) -> int:
    """Return the size of a file in bytes.

    Raises:
        OSError: the path is missing, or no file can have it.
    """
    return _status(path).st_size


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except ValueError as failure:  # the path has a null character or a lone surrogate
        raise OSError(errno.EINVAL, str(failure)) from None


def bounded(unpacked: BinaryIO, path: Path) -> BinaryIO:
    """Return a stream that unpacks a file, and raises where it would unpack to far too much.

    Args:
        unpacked: what is in the file.
        path: the packed file.

    Raises:
        OSError: while reading: there is more than 64 MiB and 200 times the size of the file.
    """
    limit = max(_ALWAYS, _RATIO * size_of(path))
    return cast("BinaryIO", io.BufferedReader(_Bounded(unpacked, limit), _BUFFER))


class _Bounded(io.RawIOBase):
    """Counts what is read from a stream."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream = stream
        self._left = limit
        self._limit = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        count: int = self._stream.readinto(buffer)  # type: ignore[attr-defined]
        self._left -= count
        if self._left < 0:
            raise OSError(
                errno.EFBIG,
                f"it unpacks to more than {self._limit >> 20:,} MiB, over {_RATIO} times its size; "
                "if that is right, unpack it and name the unpacked file",
            )
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()
