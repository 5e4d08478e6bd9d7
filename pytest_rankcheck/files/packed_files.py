"""Opening files; gzip and Zstandard files, known by their first bytes, are unpacked.

Only regular files are opened, and no more is unpacked than their size explains: a pipe or a device
may never end, and a packed file of a megabyte may hold many gigabytes.
"""

from __future__ import annotations

import errno
import io
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, cast

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.remedies import install

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_WILDCARD = re.compile(r"[*?]")
_GZIP_ENDINGS = (".gz", ".gzip")
_ZSTD_ENDINGS = (".zst", ".zstd")
_RATIO = 50
"""How many times its own size a packed file may unpack to; tables and runs reach 5 to 50."""
max_unpacked = 64 << 20
"""What any packed file may unpack to, in bytes."""
_BUFFER = 1 << 20
LARGE_FILE = 4 << 20
"""The size in bytes from which polars reads a text file; importing it costs 0.1 s."""
_PACKING = 4
"""How many times smaller a packed file is, at least."""


def opened(path: Path) -> BinaryIO:
    """Open a file for reading; a packed file is unpacked on the fly.

    Raises:
        OSError: the file cannot be opened or is not a regular file; or, while reading, it unpacks
            to far more than its size explains.
        ModuleNotFoundError: it is packed with Zstandard, and no Zstandard library is installed.
    """
    raw = _opened_regular(path)
    start = raw.peek(len(_ZSTD))
    if start.startswith(_GZIP):
        raw.close()
        import gzip

        return _bounded(cast("BinaryIO", gzip.open(path, "rb")), path)
    if start.startswith(_ZSTD):
        raw.close()
        return _bounded(_zstd().open(path, "rb"), path)
    return raw


def _opened_regular(path: Path) -> io.BufferedReader:
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        problem = "it is a pipe or a device; save what it gives as a file, and name that"
        raise OSError(errno.EINVAL, problem)
    return path.open("rb")


def _bounded(unpacked: BinaryIO, path: Path) -> BinaryIO:
    """Return the content of a packed file as a stream that raises if it is far too large."""
    bounded = _Bounded(unpacked, path.stat().st_size)
    return cast("BinaryIO", io.BufferedReader(bounded, _BUFFER))


class _Bounded(io.RawIOBase):
    """Counts what is read from a stream."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        self._limit = self._left = max(max_unpacked, _RATIO * size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        count: int = self._stream.readinto(buffer)  # type: ignore[attr-defined]
        self._left -= count
        if self._left < 0:
            raise OSError(
                errno.EFBIG,
                f"it unpacks to more than {self._limit >> 20:,} MiB, over {_RATIO} times its "
                f"{self._size:,} bytes; if that is right, unpack it and name the unpacked file",
            )
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()


def _zstd() -> ModuleType:
    is_in_python = find_spec("compression") is not None  # in the standard library since 3.14
    return import_module("compression.zstd" if is_in_python else "backports.zstd")


@contextmanager
def failures_named(path: Path, error: type[RankcheckError]) -> Iterator[None]:
    """Turn failures to open, unpack or read the file into ``error``, with a message naming it."""
    try:
        yield
    except FileNotFoundError:
        raise error(f"{path}: no such file") from None
    except IsADirectoryError:
        raise error(f"{path} is a folder; name a file in it") from None
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith("backports"):
            raise
        raise error(f"{path} is packed with Zstandard: {install('zstd')}") from None
    except OSError as failure:
        raise error(f"{path}: cannot be read: {failure.strerror or failure}") from None
    except Exception as failure:
        # The module of ZstdError may not be installed.
        if (
            not isinstance(failure, (EOFError, zlib.error))
            and type(failure).__name__ != "ZstdError"
        ):
            raise
        raise error(
            f"{path}: the packed file is truncated or damaged ({quoted(failure)}); copy it again"
        ) from None


def is_packed(path: Path) -> bool:
    """Whether a file is packed, by its first bytes.

    Raises:
        OSError: the file cannot be opened.
    """
    with _opened_regular(path) as file:
        start = file.read(len(_ZSTD))
    return start.startswith((_GZIP, _ZSTD))


def polars_should_read(path: Path) -> bool:
    """Whether a text file is large enough for polars, and polars is installed.

    If polars is already loaded, a smaller file is large enough.

    Raises:
        OSError: the file cannot be opened.
    """
    size = path.stat().st_size * (_PACKING if is_packed(path) else 1)
    least = LARGE_FILE // 2 if sys.modules.get("polars") else LARGE_FILE
    return size >= least and find_spec("polars") is not None


def first_bytes(path: Path, count: int, error: type[RankcheckError]) -> bytes:
    """Return the first bytes of a file, after unpacking.

    Raises:
        error: the file cannot be read.
    """
    with failures_named(path, error), opened(path) as file:
        return file.read(count)


def require_packer(path: Path, error: type[RankcheckError]) -> None:
    """Check that the library needed to pack a file is installed.

    Raises:
        error: it is missing; the message says what to install.
    """
    if path.suffix in _ZSTD_ENDINGS:
        with failures_named(path, error):
            _zstd()


def packed_as_named(path: Path, data: bytes) -> bytes:
    """Return ``data``, packed if the name of the target file ends in ``.gz`` or ``.zst``.

    Raises:
        ModuleNotFoundError: no Zstandard library is installed.
    """
    if path.suffix in _GZIP_ENDINGS:
        import gzip

        return gzip.compress(data, mtime=0)  # no timestamp, so the bytes are reproducible
    if path.suffix in _ZSTD_ENDINGS:
        return cast("bytes", _zstd().compress(data))
    return data


def shown_name(path: Path) -> str:
    """Return a file's name without its endings: the default name of the set it contains.

    For a pattern such as ``logs/2026-11-*.jsonl``, it is the part before the first wildcard
    (``2026-11``), or else the name of the folder.
    """
    stem = path.name.partition(".")[0] or path.name
    if "*" not in stem and "?" not in stem:
        return stem
    before = _WILDCARD.split(stem)[0].rstrip("-_ ")
    return before or (shown_name(path.parent) if path.parent.name else "files")


def unpacked_suffix(path: Path) -> str:
    """Return a file's suffix, ignoring that of its packing: ``.run.gz`` is ``.run``."""
    is_packed = path.suffix in _GZIP_ENDINGS + _ZSTD_ENDINGS
    return Path(path.stem).suffix if is_packed else path.suffix
