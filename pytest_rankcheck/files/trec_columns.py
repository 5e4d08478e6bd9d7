"""The columns of TREC files: words separated by ASCII white space, of one line or many at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.whole_files import check_encodable

__all__ = ["columns_of", "is_utf8", "line_of", "words_of_lines"]

_ASCII_SPACE = " \t\n\r\f\v"
_SPACES = re.compile(f"[{_ASCII_SPACE}]+")
_MARK = b"\0"
"""Marks line ends while a text is split into words."""


def columns_of(line: str) -> list[str]:
    """Split a line at ASCII white space, as C does: a no-break space may be part of an id."""
    return _SPACES.split(line.strip(_ASCII_SPACE))


def words_of_lines(text: bytes, count: int) -> list[list[bytes]] | None:
    """Return the ``count`` columns of a text; None if any line has another number of columns.

    None also for comments, blank lines and invalid UTF-8, so that the caller reads line by line.
    """
    if _MARK in text or text.startswith(b"#") or b"\n#" in text or not is_utf8(text):
        return None
    marked = text.replace(b"\n", b" \0 ")
    words = marked.split()
    step = count + 1
    lines = len(words) // step
    line_feeds = (len(marked) - len(text)) // 2
    if len(words) % step or line_feeds != lines:
        return None
    if words[count::step].count(_MARK) != lines:
        return None
    return [words[column::step] for column in range(count)]


def is_utf8(text: bytes) -> bool:
    """Whether ``text`` is UTF-8, as files of golden sets and runs must be."""
    if text.isascii():
        return True
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def line_of(columns: Sequence[str], error: type[RankcheckError]) -> str:
    """Return the line of a TREC file that `columns_of` splits into these columns.

    Raises:
        error: a column has ASCII white space, the line would be read as a comment, or a character
            (a lone surrogate) cannot be written as UTF-8.
    """
    line = f"{' '.join(columns)}\n"
    if columns_of(line) != list(columns) or line.startswith("#"):
        named = next((word for word in columns if columns_of(word) != [word]), columns[0])
        raise error(
            f"'{quoted(named)}' cannot be an id in TREC files (white space, or # at the start); "
            "save as jsonl"
        )
    check_encodable(line, error)
    return line
