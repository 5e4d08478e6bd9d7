"""Reading text files, by numbered lines or as a whole, and JSON documents.

Other kinds of files, such as Excel workbooks, are named for what they are.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NoReturn

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.packed_files import failures_named, opened

__all__ = [
    "LONGEST_LINE",
    "PEEKED",
    "begins_object",
    "blocks_of_lines",
    "decode_utf8",
    "decoder_of",
    "line_too_long",
    "lines_of",
    "lines_of_block",
    "numbered_lines",
    "objects_of_lines",
    "opened_text",
    "other_kind",
    "parse_json",
    "read_json",
    "text_of",
]

LONGEST_LINE = 64 << 20
"""In bytes: far longer than any line of a golden set or run, far smaller than memory."""

_BLOCK = 1 << 20
_BYTE_ORDER_MARK = "\ufeff"
_OBJECT = re.compile(r'\s*\{\s*(?:"|\}|$)')

PEEKED = 1024
"""How many bytes show what kind of file a text begins like."""
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
    b"par1\x15": "a Parquet file; give format='parquet'",
    b"arrow1": "an Arrow or Feather file; save it as Parquet",
    b"version https://git-lfs": "a Git LFS pointer; get the file itself with: git lfs pull",
    b"<!doctype html": _WEB_PAGE,
    b"<html": _WEB_PAGE,
}
"""The first bytes in lower case, what the file is, and what to do."""


def opened_text(path: Path, error: type[RankcheckError]) -> BinaryIO:
    """Open a text file for reading bytes; a packed file is unpacked on the fly.

    Raises:
        OSError: the file cannot be opened.
        error: it is not a text file; the message says what it is.
    """
    with ExitStack() as stack:
        file = stack.enter_context(opened(path))
        kind = other_kind(file.peek(PEEKED)[:PEEKED], path)  # type: ignore[attr-defined]
        if kind is not None:
            raise error(f"{path} is {kind}")
        stack.pop_all()  # the caller closes the file
    return file


def other_kind(start: bytes, path: Path | None = None) -> str | None:
    """Return what a file is and what to do, if it begins like another kind than UTF-8 text."""
    if start.startswith(b"PK\x03\x04"):
        suffix = path.suffix if path else ""
        is_workbook = b"[Content_Types].xml" in start or suffix in (".xlsx", ".xlsm")
        return f"an Excel workbook; {_WITH_PANDAS}" if is_workbook else "a ZIP archive; unpack it"
    lowered = start.lstrip().lower()
    kind = next((kind for magic, kind in _KINDS.items() if lowered.startswith(magic)), None)
    return _UTF_16 if kind is None and _alternates(start[:_ALTERNATING]) else kind


def _alternates(start: bytes) -> bool:
    """Whether every other byte is 0, as in UTF-16 without a byte order mark."""
    halves = (start[::2], start[1::2])
    empty = b"\0" * (_ALTERNATING // 2)
    return empty in halves and any(b"\0" not in half for half in halves)


def numbered_lines(path: Path, error: type[RankcheckError]) -> Iterator[tuple[int, str]]:
    """Yield all lines of a UTF-8 text file unchanged, with their 1-based numbers.

    Only a line feed ends a line (a form feed or U+2028 may be part of an id). A byte order mark is
    dropped.

    Raises:
        error: the file is missing, a folder, unreadable or not UTF-8, or a line is longer than
            64 MiB; the message names the line.
    """
    number = 0
    with failures_named(path, error), opened_text(path, error) as file:
        while raw := file.readline(LONGEST_LINE):
            number += 1
            if len(raw) == LONGEST_LINE:
                raise line_too_long(f"{path}:{number}", error)
            line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
            yield number, decode_utf8(line, f"{path}:{number}", error)


def lines_of(path: Path, error: type[RankcheckError]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, without their line ends.

    Raises:
        error: as in `numbered_lines`.
    """
    for number, line in numbered_lines(path, error):
        if line.strip():
            yield number, line.rstrip("\r\n")


def objects_of_lines(
    path: Path, error: type[RankcheckError]
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the JSON objects of a file with one object per line, each with its place in words.

    Lines that begin with ``#`` are comments.

    Raises:
        error: the file cannot be read, or a line is not an object; the message names the line.
    """
    for number, line in lines_of(path, error):
        where = f"{path}:{number}"
        if line.startswith("#"):
            continue
        try:
            entry = parse_json(line, where, error)
        except json.JSONDecodeError as failure:
            raise error(f"{where}: not JSON: {failure}; each line is one object") from None
        if not isinstance(entry, dict):
            raise error(f"{where}: not an object but {quoted(line, 40)}")
        yield where, entry


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
    number, rest = 1, b""
    with failures_named(path, error), opened_text(path, error) as file:
        while read := file.read(size):
            is_start = number == 1 and not rest
            chunk = read.removeprefix(codecs.BOM_UTF8) if is_start else read
            end = chunk.rfind(b"\n") + 1
            if not end:
                rest += chunk
                if len(rest) > LONGEST_LINE:
                    raise line_too_long(f"{path}:{number}", error)
                continue
            text, rest = rest + chunk[:end], chunk[end:]
            yield number, text
            number += text.count(b"\n")
        if rest:
            yield number, rest + b"\n"


def lines_of_block(
    path: Path, number: int, block: bytes, error: type[RankcheckError]
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a block of `blocks_of_lines` as `numbered_lines` does.

    Raises:
        error: a line is not UTF-8.
    """
    for place, line in enumerate(block.removesuffix(b"\n").split(b"\n"), start=number):
        yield place, decode_utf8(line, f"{path}:{place}", error) + "\n"


def line_too_long(where: str, error: type[RankcheckError]) -> RankcheckError:
    """Return the error for a line longer than `LONGEST_LINE`."""
    return error(
        f"{where}: the line is longer than {LONGEST_LINE >> 20} MiB; is this a text file with one "
        "record per line?"
    )


def text_of(path: Path, error: type[RankcheckError]) -> str:
    """Return a whole UTF-8 text file, without a byte order mark.

    Raises:
        error: as in `numbered_lines`, except for the length of lines.
    """
    with failures_named(path, error), opened_text(path, error) as file:
        return decode_utf8(file.read().removeprefix(codecs.BOM_UTF8), str(path), error)


def decode_utf8(raw: bytes, where: str, error: type[RankcheckError]) -> str:
    """Decode UTF-8.

    Raises:
        error: the bytes are not UTF-8.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as failure:
        raise error(
            f"{where}: byte {failure.start + 1} is not UTF-8; save the file as UTF-8"
        ) from None


def begins_object(line: str) -> bool:
    """Whether a line looks like the beginning of a JSON object, and not like an id in braces."""
    return _OBJECT.match(line) is not None


def read_json(path: Path, error: type[RankcheckError]) -> object:
    """Return the JSON value that a file contains.

    Raises:
        error: the file cannot be read or is not JSON; the message names file, line and column.
    """
    text = text_of(path, error)
    try:
        return parse_json(text, str(path), error)
    except json.JSONDecodeError as failure:
        where = f"{path}:{failure.lineno}"
        raise error(f"{where}: not JSON: {failure.msg}, column {failure.colno}") from None


def parse_json(text: str, where: str, error: type[RankcheckError]) -> object:
    """Parse a JSON text.

    Raises:
        error: as `decoder_of` says; or objects are nested too deeply, or a number is too long.
        json.JSONDecodeError: the text is not JSON.
    """
    if text.startswith(_BYTE_ORDER_MARK):  # as json.loads
        raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    try:
        value: object = decoder_of(where, error).decode(text)
    except (json.JSONDecodeError, RankcheckError):
        raise
    except (RecursionError, ValueError) as failure:
        raise error(f"{where}: not JSON: {failure}") from None
    return value


def decoder_of(where: str, error: type[RankcheckError]) -> json.JSONDecoder:
    """Return a decoder of JSON that drops nothing silently.

    It raises ``error``, naming the place, where an object has a duplicate key with different
    values, one of which json would drop, and where a number is NaN or infinite.
    """

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        values: dict[str, object] = {}
        for key, value in pairs:
            if key in values and values[key] != value:
                raise error(
                    f"{where}: duplicate key '{quoted(key)}', with the values "
                    f"{quoted(values[key])} and {quoted(value)}; keep one of them"
                )
            values[key] = value
        return values

    def not_finite(token: str) -> NoReturn:
        raise error(f"{where}: {token} is not a finite number")

    return json.JSONDecoder(object_pairs_hook=unique, parse_constant=not_finite)
