"""Reading text files, by numbered lines, in blocks of lines, or as a whole; naming places.

An error about another kind of file, such as an Excel workbook, says what it is.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.packed_files import failures_named, opened

_BLOCK = 1 << 20
_MANY_BYTES = 1 << 21
_DECODED = 1 << 16
"""Few bytes, because the first line shows the format of a file."""
_JSON = re.compile(r'\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[\[{"\]]|-?[\d.]+\s*,|$))')
OnBroken = Callable[[int, str, str], None]
"""Called for a broken row with its line number, the kind of problem and a description."""

PEEKED = 1024
"""How many bytes are enough to recognise another kind of file."""

_WITH_PANDAS = "save its sheet as 'CSV UTF-8', or read it with pandas and use from_frame"
_UTF_16 = "UTF-16 text; save it as UTF-8 (in Excel: 'CSV UTF-8')"
_WEB_PAGE = "an HTML page (of a login or an error?); download the file itself"

_KINDS = {
    b"\xd0\xcf\x11\xe0": f"an old Excel workbook (.xls); {_WITH_PANDAS}",
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
    b"bzh91ay&sy": "compressed with bzip2; decompress it, or use gzip",
    b"\xfd7zxz": "compressed with xz; decompress it, or use gzip",
    b"par1\x15": "a Parquet file; give format='parquet'",
    b"arrow1": "an Arrow or Feather file; save it as Parquet",
    b"version https://git-lfs": "a Git LFS pointer; get the file itself with: git lfs pull",
    b"<!doctype html": _WEB_PAGE,
    b"<html": _WEB_PAGE,
}
"""The first bytes in lower case; what the file is, and what to do."""


def opened_text(path: Path, error: type[RankcheckError]) -> BinaryIO:
    """Open a text file for reading bytes; a packed file is unpacked on the fly.

    A byte order mark is dropped. If carriage returns alone end its lines, they are read as line
    feeds.

    Raises:
        OSError: the file cannot be opened.
        error: it is not a text file; the message says what it is.
    """
    with ExitStack() as stack:
        file = stack.enter_context(opened(path))
        start: bytes = file.peek(PEEKED)[:PEEKED]  # type: ignore[attr-defined]
        kind = other_kind(start, path)
        if kind is not None:
            raise error(f"{path} is {kind}")
        if start.startswith(codecs.BOM_UTF8):
            file.read(len(codecs.BOM_UTF8))
        if b"\r" in start[:-1] and b"\n" not in start:
            text = file.read()
            return BytesIO(text if b"\n" in text else text.replace(b"\r", b"\n"))
        stack.pop_all()  # the caller closes the file
    return file


def other_kind(start: bytes, path: Path | None = None) -> str | None:
    """Return what a file is and what to do, if it begins unlike UTF-8 text."""
    if start.startswith(b"PK\x03\x04"):
        suffix = path.suffix if path else ""
        is_workbook = b"[Content_Types].xml" in start or suffix in (".xlsx", ".xlsm")
        if is_workbook:
            return f"an Excel workbook; {_WITH_PANDAS}"
        return "a ZIP archive; unpack it"
    lowered = start.lstrip().lower()
    for magic, kind in _KINDS.items():
        if lowered.startswith(magic):
            return kind
    return None


def numbered_lines(path: Path, error: type[RankcheckError]) -> Iterator[tuple[int, str]]:
    """Yield all lines of a UTF-8 text file with their ends and their 1-based numbers.

    Only a line feed ends a line (a form feed or U+2028 may be part of an id). A byte order mark is
    dropped.

    Raises:
        error: the file is missing, a folder or unreadable, or a line is not UTF-8.
    """
    for first, block in blocks_of_lines(path, error, _DECODED):
        yield from lines_of_block(path, first, block, error)


def lines_of_block(
    path: Path, first: int, block: bytes, error: type[RankcheckError]
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a block with their ends and their numbers.

    Raises:
        error: a line is not UTF-8; the message names it.
    """
    lines: Iterable[str]
    try:
        lines = block.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raws = enumerate(block.removesuffix(b"\n").split(b"\n"), first)
        lines = (decode_utf8(raw, path, number, error) for number, raw in raws)
    for number, line in enumerate(lines, first):
        yield number, f"{line}\n"


def lines_of(path: Path, error: type[RankcheckError]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, without their line ends.

    Raises:
        error: as in `numbered_lines`.
    """
    for number, line in numbered_lines(path, error):
        if line.strip():
            yield number, line.rstrip("\r\n")


def blocks_of_lines(
    path: Path, error: type[RankcheckError], size: int = _BLOCK
) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of complete lines as bytes, each with the number of its first line.

    Args:
        path: the file.
        error: the exception type to raise.
        size: about how many bytes a block has.

    Raises:
        error: as in `numbered_lines`, except that the caller must check for valid UTF-8.
    """
    number = 1
    for text in whole_lines(path, error, size):
        yield number, text
        number += line_count(text)


def whole_lines(path: Path, error: type[RankcheckError], size: int) -> Iterator[bytes]:
    """Yield blocks of complete lines, as `blocks_of_lines`, without counting the lines."""
    with failures_named(path, error), opened_text(path, error) as file:
        yield from iter(partial(_read_lines, file, size), b"")


def _read_lines(file: BinaryIO, size: int) -> bytes:
    """Return about ``size`` bytes, up to the end of a line; none at the end of the file."""
    if file.seekable():  # a large text is read at once, so that it need not be copied
        start = file.tell()
        file.seek(start + size - 1)
        size += len(file.readline()) - 1
        file.seek(start)
        text = file.read(size)
    else:
        text = file.read(size)
        text += b"" if text.endswith(b"\n") else file.readline()
    return text if text.endswith(b"\n") or not text else text + b"\n"


def line_count(text: bytes) -> int:
    """Return how many line feeds a text has."""
    if len(text) < _MANY_BYTES:
        return text.count(b"\n")
    import numpy as np  # counts faster, but takes longer to import

    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))


def text_of(path: Path, error: type[RankcheckError]) -> str:
    """Return a whole UTF-8 text file, without a byte order mark.

    Raises:
        error: as in `numbered_lines`.
    """
    with failures_named(path, error), opened_text(path, error) as file:
        return decode_utf8(file.read(), path, 1, error)


def decode_utf8(text: bytes, path: Path, first: int, error: type[RankcheckError]) -> str:
    """Decode lines of a UTF-8 file.

    Args:
        text: the lines.
        path: the file.
        first: the number of the first line.
        error: the exception type to raise.

    Raises:
        error: a line is not UTF-8; the message names it.
    """
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as failure:
        *above, before = text[: failure.start].split(b"\n")
        raise error(
            f"{path}:{first + len(above)}: byte {len(before) + 1} is not UTF-8; save the file as "
            "UTF-8"
        ) from None


def first_line(path: Path, error: type[RankcheckError]) -> tuple[int, str]:
    """Return the number and the text of the first line with content; (0, "") without one.

    Raises:
        error: as in `numbered_lines`.
    """
    return next((each for each in lines_of(path, error) if not is_preamble(each[1])), (0, ""))


def is_preamble(line: str) -> bool:
    """Whether a line has no content: it is blank or a comment."""
    return not line.strip() or line.startswith("#")


def begins_json(line: str) -> bool:
    """Whether a line looks like the beginning of JSON, and not like an id in braces."""
    return _JSON.match(line) is not None


def is_whole_json(line: str) -> bool:
    """Whether JSON that begins with this line is one value, not one object per line."""
    return line.lstrip().startswith("[") or line.rstrip().endswith(("{", "[", ":", ","))


@dataclass(frozen=True, slots=True)
class Numbering:
    """How messages name the lines or rows of a source; both are counted from 1."""

    source: str
    is_table: bool = False
    """Whether it has rows (a DataFrame, a Parquet file) instead of lines."""

    def place(self, number: int) -> str:
        """Return a place as text: ``web.qrels:17`` or ``judgments, row 3``."""
        return f"{self.source}, row {number}" if self.is_table else f"{self.source}:{number}"


@dataclass(frozen=True, slots=True)
class JoinedNumbering(Numbering):
    """Names the rows of several sources that are read one after the other."""

    parts: list[tuple[int, Numbering]] = field(default_factory=list)
    """The number of the last row before each source, ascending, and how its rows are named."""

    def place(self, number: int) -> str:
        """Return a place as text, in the source that has the row."""
        index = bisect_right(self.parts, number - 1, key=lambda part: part[0]) - 1
        before, numbering = self.parts[index]
        return numbering.place(number - before)
