"""Reading text files, by numbered lines or as a whole, and JSON documents."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.file_kinds import opened_text

__all__ = [
    "LONGEST_LINE",
    "blocks_of_lines",
    "decode_utf8",
    "line_too_long",
    "lines_of",
    "numbered_lines",
    "parse_json",
    "read_json",
    "text_of",
]

LONGEST_LINE = 64 << 20
"""In bytes: far longer than any line of a golden set or run, far smaller than memory."""

_BLOCK = 1 << 20


def numbered_lines(path: Path, error: type[RankcheckError]) -> Iterator[tuple[int, str]]:
    """Yield all lines of a UTF-8 text file unchanged, with their 1-based numbers.

    Only a line feed ends a line (a form feed or U+2028 may be part of an id). A byte order mark is
    dropped.

    Raises:
        error: the file is missing, a folder, unreadable or not UTF-8, or a line is longer than
            64 MiB; the message names the line.
    """
    number = 0
    with opened_text(path, error) as file:
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


def blocks_of_lines(path: Path, error: type[RankcheckError]) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of complete lines as bytes, each with the number of its first line.

    Raises:
        error: as in `numbered_lines`, except that the caller must check for valid UTF-8.
    """
    number, rest = 1, b""
    with opened_text(path, error) as file:
        while read := file.read(_BLOCK):
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
    with opened_text(path, error) as file:
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
        error: an object has a duplicate key with different values, one of which json would drop
            silently; a number is NaN, infinite or too long; or objects are nested too deeply.
        json.JSONDecodeError: the text is not JSON.
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

    try:
        value: object = json.loads(text, object_pairs_hook=unique, parse_constant=not_finite)
    except (json.JSONDecodeError, RankcheckError):
        raise
    except (RecursionError, ValueError) as failure:
        raise error(f"{where}: not JSON: {failure}") from None
    return value
