"""The columns of TREC files: words separated by ASCII white space, of one line or many at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.table_columns import CellColumn, Column
from pytest_rankcheck.files.text_files import PEEKED, begins_object, other_kind
from pytest_rankcheck.files.whole_files import check_encodable

__all__ = ["columns_of", "columns_of_lines", "is_utf8", "trec_text", "words_of_lines"]

_ASCII_SPACE = " \t\n\r\f\v"
_SPACES = re.compile(f"[{_ASCII_SPACE}]+")
_MARK = b"\0"
"""Marks line ends while a text is split into words."""


def columns_of(line: str) -> list[str]:
    """Split a line at ASCII white space, as C does: a no-break space may be part of an id."""
    return _SPACES.split(line.strip(_ASCII_SPACE))


def columns_of_lines(
    text: bytes, count: int, first_line: int, *, is_large: bool
) -> tuple[range | IntArray, Sequence[Column]] | None:
    """Return the lines that are not comments or blank, and their columns; None if one is malformed.

    Args:
        text: complete lines.
        count: how many columns there are.
        first_line: the number of the first line.
        is_large: whether to read ordinary lines with polars, which must be installed then.
    """
    lines = text.count(b"\n")
    columns: Sequence[Column] | None = None
    if is_large and _may_be_ordinary(text, count, lines):
        columns = _polars_columns(text, count, lines)
    if columns is None:
        words = words_of_lines(text, count)
        if words is None:
            return _columns_by_line(text, count, first_line)
        columns = [CellColumn(b"\n".join(column).decode().split("\n"), True) for column in words]
    return range(first_line, first_line + lines), columns


def _may_be_ordinary(text: bytes, count: int, lines: int) -> bool:
    """Whether each line has as many white spaces as words are wanted, and none is a comment."""
    if text.startswith(b"#") or b"\n#" in text or not is_utf8(text):
        return False
    codes = np.frombuffer(text, dtype=np.uint8)
    white = np.flatnonzero(codes <= ord(" "))
    is_end = codes[white[count - 1 :: count]] == ord("\n")
    return len(white) == count * lines and bool(is_end.all())


def _polars_columns(text: bytes, count: int, lines: int) -> Sequence[Column] | None:
    import polars as pl

    from pytest_rankcheck.files.polars_columns import PolarsColumn

    separator = "\t" if b"\t" in text[: text.find(b"\n")] else " "
    if text.count(separator.encode()) != (count - 1) * lines:
        return None
    schema = {str(column): pl.String for column in range(count)}
    try:
        table = pl.read_csv(
            text, has_header=False, separator=separator, quote_char=None, schema=schema
        )
    except pl.exceptions.PolarsError:
        return None
    is_whole = table.height == lines and not any(table.null_count().row(0))
    return [PolarsColumn(column) for column in table] if is_whole else None


def _columns_by_line(
    text: bytes, count: int, first_line: int
) -> tuple[IntArray, Sequence[Column]] | None:
    if not is_utf8(text):
        return None
    numbers, rows = [], []
    for number, line in enumerate(text.decode().split("\n"), start=first_line):
        if line.startswith("#") or not line.strip(_ASCII_SPACE):
            continue
        rows.append(columns_of(line))
        numbers.append(number)
        if len(rows[-1]) != count:
            return None
    columns = zip(*rows, strict=True) if rows else [()] * count
    return np.array(numbers, np.int64), [CellColumn(column) for column in columns]


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
    is_misread = line.startswith(("#", "\ufeff")) or begins_object(line)
    if columns_of(line) != list(columns) or is_misread:
        named = next((word for word in columns if columns_of(word) != [word]), columns[0])
        raise error(
            f"'{quoted(named)}' cannot be an id in TREC files: it has white space, or the line "
            "would be read as a comment or as JSON; save as jsonl"
        )
    check_encodable(line, error)
    return line
