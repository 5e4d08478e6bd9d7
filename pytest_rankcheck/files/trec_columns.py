"""The columns of TREC files: words separated by ASCII white space, of one line or many at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.files.text_files import PEEKED, begins_json, other_kind
from pytest_rankcheck.files.whole_files import check_encodable

_ASCII_SPACE = " \t\n\r\f\v"
_SPACES = re.compile(f"[{_ASCII_SPACE}]+")
_MARK = b"\0"
"""Marks line ends while a text is split into words."""


def columns_of(line: str) -> list[str]:
    """Split a line at ASCII white space, as C does: a no-break space may be part of an id."""
    return _SPACES.split(line.strip(_ASCII_SPACE))


def columns_of_lines(text: bytes, count: int, *, is_large: bool) -> Sequence[Column] | None:
    """Return the columns of some lines; None if one is malformed, blank or a comment.

    Args:
        text: complete lines.
        count: how many columns there are.
        is_large: whether to read ordinary lines with polars, which must be installed then.
    """
    columns = _polars_columns(text, count) if is_large else None
    if columns is None and (words := words_of_lines(text, count)) is not None:
        columns = []
        for column in words:
            texts = b"\n".join(column).decode().split("\n")
            columns.append(Column(texts, are_words=True))
    return columns


def _polars_columns(text: bytes, count: int) -> Sequence[Column] | None:
    """Return the columns of lines in which one white space, always the same, separates words."""
    from pytest_rankcheck.files.polars_columns import PolarsColumn, frame_of_lines

    if text.startswith(b"#") or b"\n#" in text or not is_utf8(text):
        return None
    lines = text.count(b"\n")
    separator = "\t" if b"\t" in text[: text.find(b"\n")] else " "
    codes = np.frombuffer(text, dtype=np.uint8)
    white = codes[codes <= ord(" ")]
    is_usual = len(white) == count * lines and (white[count - 1 :: count] == ord("\n")).all()
    if not is_usual or text.count(separator.encode()) != (count - 1) * lines:
        return None
    frame = frame_of_lines(text, separator, count)
    if frame is None or any(frame.null_count().row(0)):
        return None
    return [PolarsColumn(column) for column in frame]


def words_of_lines(text: bytes, count: int) -> list[list[bytes]] | None:
    """Return the ``count`` columns of a text; None if any line has another number of columns.

    None also for comments, blank lines and invalid UTF-8, so that the caller reads line by line.
    """
    if _MARK in text or text.startswith(b"#") or b"\n#" in text or not is_utf8(text):
        return None
    # Bytes are split in half the time of text.
    words = text.replace(b"\n", b" \0 ").split()
    lines, step = text.count(b"\n"), count + 1
    if len(words) != step * lines or words[count::step].count(_MARK) != lines:
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


def trec_text(rows: Iterable[Sequence[str]], error: type[RankcheckError]) -> str:
    """Return the text of a TREC file, whose lines `columns_of` splits into these columns.

    Raises:
        error: a column has ASCII white space; the text would be read as a comment, as JSON, without
            a byte order mark or as a file of another kind; or a character (a lone surrogate) cannot
            be written as UTF-8.
    """
    text = "".join(_line_of(columns, error) for columns in rows)
    kind = other_kind(text[:PEEKED].encode())
    if kind is not None:
        raise error(
            f"the file would begin with '{quoted(text[:20])}' and be taken for {kind.split(';')[0]}"
            "; save as jsonl"
        )
    return text


def _line_of(columns: Sequence[str], error: type[RankcheckError]) -> str:
    line = f"{' '.join(columns)}\n"
    is_misread = line.startswith(("#", "\ufeff")) or begins_json(line)
    if columns_of(line) != list(columns) or is_misread:
        named = next((word for word in columns if columns_of(word) != [word]), columns[0])
        raise error(
            f"'{quoted(named)}' cannot be an id in TREC files: it has white space, or the line "
            "would be read as a comment or as JSON; save as jsonl"
        )
    check_encodable(line, error)
    return line
