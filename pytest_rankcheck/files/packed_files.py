"""Opening files; gzip and Zstandard files, known by their first bytes, are unpacked."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, cast

from pytest_rankcheck.errors import RankcheckError, install_hint, quoted
from pytest_rankcheck.files.regular_files import bounded, opened_regular

__all__ = [
    "failures_named",
    "first_bytes",
    "is_packed",
    "opened",
    "packed_as_named",
    "require_packer",
    "shown_name",
    "unpacked_suffix",
]

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_WILDCARD = re.compile(r"[*?]")
_GZIP_ENDINGS = (".gz", ".gzip")
_ZSTD_ENDINGS = (".zst", ".zstd")


def opened(path: Path) -> BinaryIO:
    """Open a file for reading; a packed file is unpacked on the fly.

    Raises:
        OSError: the file cannot be opened or is not a regular file; or, while reading, it unpacks
            to far more than its size explains.
        ModuleNotFoundError: it is packed with Zstandard, and no Zstandard library is installed.
    """
    raw = opened_regular(path)
    start = raw.peek(len(_ZSTD))
    if start.startswith(_GZIP):
        raw.close()
        import gzip

        return bounded(cast("BinaryIO", gzip.open(path, "rb")), path)
    if start.startswith(_ZSTD):
        raw.close()
        return bounded(_zstd().open(path, "rb"), path)
    return raw


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
    except (EOFError, zlib.error) as failure:
        raise error(
            f"{path}: the packed file is truncated or damaged ({quoted(failure)}); copy it again"
        ) from None
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith("backports"):
            raise
        raise error(f"{path} is packed with Zstandard: {install_hint('zstd')}") from None
    except OSError as failure:
        raise error(f"{path}: cannot be read: {failure.strerror or failure}") from None
    except Exception as failure:
        if type(failure).__name__ != "ZstdError":  # its module may not be installed
            raise
        raise error(
            f"{path}: the packed file is damaged ({quoted(failure)}); copy it again"
        ) from None


def is_packed(path: Path) -> bool:
    """Whether a file is packed, by its first bytes.

    Raises:
        OSError: the file cannot be opened.
    """
    with opened_regular(path) as file:
        start = file.read(len(_ZSTD))
    return start.startswith((_GZIP, _ZSTD))


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

    Of a pattern such as ``logs/2026-11-*.jsonl``, it is what comes before the first wildcard
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
