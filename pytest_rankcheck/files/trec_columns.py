"""The columns of TREC files: words separated by ASCII white space, of one line or many at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn, TextIds
from pytest_rankcheck.files.text_files import begins_object
from pytest_rankcheck.files.whole_files import check_encodable

__all__ = ["columns_of", "columns_of_lines", "is_utf8", "line_of", "words_of_lines"]

_ASCII_SPACE = " \t\n\r\f\v"
_SPACES = re.compile(f"[{_ASCII_SPACE}]+")
_MARK = b"\0"
"""Marks line ends while a text is split into words."""


def columns_of(line: str) -> list[str]:
    """Split a line at ASCII white space, as C does: a no-break space may be part of an id."""
    return _SPACES.split(line.strip(_ASCII_SPACE))


def columns_of_lines(
    text: bytes, count: int, first_line: int, *, is_large: bool
) -> tuple[range | IntArray, Sequence[IdColumn]] | None:
    """Return the lines that are not comments or blank, and their columns; None if one is malformed.

    Args:
        text: complete lines.
        count: how many columns there are.
        first_line: the number of the first line.
        is_large: whether to read ordinary lines with polars, which must be installed then.
    """
    columns = _polars_columns(text, count) if is_large else None
    if columns is None:
        words = words_of_lines(text, count)
        if words is None:
            return _columns_by_line(text, count, first_line)
        columns = [HeldIds(b"\n".join(column).decode().split("\n")) for column in words]
    return range(first_line, first_line + len(columns[0])), columns


def _polars_columns(text: bytes, count: int) -> Sequence[IdColumn] | None:
    """Return the columns of ordinary lines, with one separator between two words."""
    import polars as pl

    separator = "\t" if b"\t" in text[: text.find(b"\n")] else " "
    schema = {str(column): pl.String for column in range(count)}
    try:
        table = pl.read_csv(
            text, has_header=False, separator=separator, quote_char=None, schema=schema
        )
    except pl.exceptions.PolarsError:
        return None
    codes = np.frombuffer(text, dtype=np.uint8)
    separators = np.count_nonzero(codes == ord(separator))
    # One more per line is the line feed. Any other white space separates columns too.
    white = np.count_nonzero(codes <= ord(" "))
    if separators != (count - 1) * table.height or white != count * table.height:
        return None
    has_comment = table["0"].str.starts_with("#").any()
    if has_comment or any(table.null_count().row(0)) or not is_utf8(text):
        return None
    return [TextIds(column) for column in table]


def _columns_by_line(
    text: bytes, count: int, first_line: int
) -> tuple[IntArray, Sequence[IdColumn]] | None:
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
    return np.array(numbers, np.int64), [HeldIds(column) for column in columns]


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
        error: a column has ASCII white space; the line would be read as a comment, as JSON or
            without a byte order mark; or a character (a lone surrogate) cannot be written as UTF-8.
    """
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
