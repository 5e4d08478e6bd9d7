"""Opening text files; other kinds, such as Excel workbooks, are named for what they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.packed_files import failures_named, opened
from pytest_rankcheck.files.parquet_files import is_parquet

__all__ = ["opened_text"]

_PEEKED = 1024
_ALTERNATING = 8

_WITH_PANDAS = "save its sheet as 'CSV UTF-8', or read it with pandas and use from_frame"
_UTF_16 = "UTF-16 text; save it as UTF-8 (in Excel: 'CSV UTF-8')"
_WEB_PAGE = "an HTML page (of a login or an error?); download the file itself"

_KINDS = {
    b"\xd0\xcf\x11\xe0": f"an old Excel workbook (.xls); {_WITH_PANDAS}",
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
    b"bzh91ay&sy": "compressed with bzip2; decompress it, or use gzip",
    b"\xfd7zxz": "compressed with xz; decompress it, or use gzip",
    b"arrow1": "an Arrow or Feather file; save it as Parquet",
    b"version https://git-lfs": "a Git LFS pointer; get the file itself with: git lfs pull",
    b"<!doctype html": _WEB_PAGE,
    b"<html": _WEB_PAGE,
}
"""The first bytes in lower case, what the file is, and what to do."""


@contextmanager
def opened_text(path: Path, error: type[RankcheckError]) -> Iterator[BinaryIO]:
    """Open a text file for reading bytes; a packed file is unpacked on the fly.

    Raises:
        error: the file cannot be read or unpacked, or it is not text; the message says what it is.
    """
    with failures_named(path, error), opened(path) as file:
        kind = _kind_of(path, file.peek(_PEEKED)[:_PEEKED])  # type: ignore[attr-defined]
        if kind is not None:
            raise error(f"{path} is {kind}")
        yield file


def _kind_of(path: Path, start: bytes) -> str | None:
    """Return what a file is and what to do, if it begins like another kind than UTF-8 text."""
    if start.startswith(b"PK\x03\x04"):
        is_workbook = b"[Content_Types].xml" in start or path.suffix in (".xlsx", ".xlsm")
        return f"an Excel workbook; {_WITH_PANDAS}" if is_workbook else "a ZIP archive; unpack it"
    if is_parquet(start):
        return "a Parquet file; give format='parquet'"
    lowered = start.lstrip().lower()
    kind = next((kind for magic, kind in _KINDS.items() if lowered.startswith(magic)), None)
    return _UTF_16 if kind is None and _alternates(start[:_ALTERNATING]) else kind


def _alternates(start: bytes) -> bool:
    """Whether every other byte is 0, as in UTF-16 without a byte order mark."""
    halves = (start[::2], start[1::2])
    empty = b"\0" * (_ALTERNATING // 2)
    return empty in halves and any(b"\0" not in half for half in halves)
