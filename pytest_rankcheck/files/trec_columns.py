"""TREC files as tables: words separated by ASCII white space, of one line or many at once.

Lines that begin with ``#`` are comments. A block of a large file is split by polars if it is
installed (the extra ``[fast]``), any other one with a few calls for many lines. A block in an
unusual form (comments, a last column of two words) is read line by line, which is slower and says
what is wrong.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.id_columns import HeldIds, WordIds
from pytest_rankcheck.files.packed_files import failures_named, polars_should_read, size_of
from pytest_rankcheck.files.table_batches import (
    NO_ROWS,
    Batch,
    Column,
    IdCells,
    NumberCells,
    Table,
    batches_of_rows,
)
from pytest_rankcheck.files.text_files import (
    PEEKED,
    Numbering,
    begins_json,
    blocks_of_lines,
    decode_utf8,
    other_kind,
)
from pytest_rankcheck.files.whole_files import check_encodable

BLOCK_BYTES = 1 << 18
"""Small enough that the words of a block stay in the processor's cache."""
LARGE_BLOCK_BYTES = 1 << 23
"""The size of the blocks that polars splits, at most."""

_RANK, _SCORE, _TAG = "rank", "score", "tag"
"""Columns: one that is seldom asked for, one of numbers, and one that may have several words."""
Columns = Callable[[int], Column]
"""Returns a column."""

_ASCII_SPACE = " \t\n\r\f\v"
_SPACES = re.compile(f"[{_ASCII_SPACE}]+")
_MARK = b"\0"
"""Marks line ends while a text is split into words."""


def columns_of(line: str) -> list[str]:
    """Split a line at ASCII white space, as C does: a no-break space may be part of an id."""
    return _SPACES.split(line.strip(_ASCII_SPACE))


def trec_table(path: Path, header: Sequence[str], what: str, error: type[RankcheckError]) -> Table:
    """Return the lines of a TREC file as a table.

    Args:
        path: the file.
        header: the names of the columns.
        what: what has such lines, for messages.
        error: the exception type to raise.
    """
    are_open = header[-1] == _TAG

    def read(wanted: Sequence[int], _: int) -> Iterator[Batch]:
        with failures_named(path, error):
            is_large, size = polars_should_read(path), BLOCK_BYTES
            if is_large:  # smaller blocks take less memory; in a small file, that is what counts
                least = LARGE_BLOCK_BYTES // 4
                size = min(LARGE_BLOCK_BYTES, max(size_of(path) // 8, least))
        for first, text in blocks_of_lines(path, error, size):
            yield from batches_of(first, text, wanted if is_large else ())

    def batches_of(first: int, text: bytes, of_polars: Sequence[int]) -> Iterable[Batch]:
        column = _polars_columns(text, header, of_polars) if of_polars else None
        column = column or _columns_of_words(text, len(header))
        if column is None:
            return batches_of_rows(header, rows(first, text))
        return [Batch(header, range(first, first + len(column(0))), column)]

    def rows(first: int, text: bytes) -> Iterator[tuple[int, list[str]]]:
        for number, raw in enumerate(text.split(b"\n"), start=first):
            if raw.startswith(b"#") or not raw.strip():
                continue
            where = f"{path}:{number}"
            line = decode_utf8(raw, where, error)
            columns = columns_of(line)
            if len(columns) < len(header) or (len(columns) > len(header) and not are_open):
                raise error(
                    f"{where}: {len(columns)} columns, not {len(header)}: "
                    f"'{quoted(line.rstrip(), 60)}'; a line of {what} is: {' '.join(header)}"
                )
            yield number, columns[: len(header)]

    return Table(list(header), Numbering(str(path)), read)


def _polars_columns(text: bytes, header: Sequence[str], wanted: Sequence[int]) -> Columns | None:
    """Return the columns of lines in which one white space, always the same, separates words."""
    from pytest_rankcheck.files.polars_columns import PolarsColumn, frame_of_lines

    if text.startswith(codecs.BOM_UTF8) or not _is_utf8(text):
        return None
    count, separator = len(header), "\t" if b"\t" in text[: text.find(b"\n")] else " "
    often = [at for at in wanted if header[at] != _RANK]
    numbers = [at for at in often if header[at] == _SCORE]
    read = partial(frame_of_lines, text, separator, count, numbers=numbers)
    frame = read(wanted=often)
    if frame is None or any(frame.null_count().row(0)):
        return None
    if frame.to_series(0).str.starts_with("#").any():
        return None
    if not all(frame[str(at)].is_finite().all() for at in numbers):
        return None
    # One more for each line is the line feed. Any other white space separates words too, and two
    # in a row are one separator, where polars would see an empty column.
    codes = np.frombuffer(text, dtype=np.uint8)
    is_white = codes <= ord(" ")
    is_usual = np.count_nonzero(codes == ord(separator)) == (count - 1) * frame.height
    is_usual &= np.count_nonzero(is_white) == count * frame.height
    if not is_usual or (is_white[1:] & is_white[:-1]).any():
        return None

    def column(at: int) -> Column:
        found = frame if at in often else read(wanted=[at])
        assert found is not None
        return PolarsColumn(found[str(at)])

    return column


def _columns_of_words(text: bytes, count: int) -> Columns | None:
    """Return the columns of a text; None if any line has another number of words.

    None also for comments, blank lines and invalid UTF-8, so that the caller reads line by line.
    """
    if _MARK in text or text.startswith(b"#") or b"\n#" in text or not _is_utf8(text):
        return None
    # Bytes are split in half the time of text.
    words = text.replace(b"\n", b" \0 ").split()
    lines, step = text.count(b"\n"), count + 1
    if len(words) != step * lines or words[count::step].count(_MARK) != lines:
        return None
    columns = [_WordColumn(words[at::step], repeats=not at) for at in range(count)]
    return columns.__getitem__


class _WordColumn(Column):
    """A column of words in UTF-8, none of them empty."""

    def __init__(self, words: list[bytes], *, repeats: bool) -> None:
        self._words = words
        self._repeats = repeats
        """Whether many rows have the same word."""

    @cached_property
    def values(self) -> Sequence[object]:  # type: ignore[override]
        return b"\n".join(self._words).decode().split("\n")

    def __len__(self) -> int:
        return len(self._words)

    def ids(self) -> IdCells:
        ids = WordIds(self._words) if self._repeats else HeldIds(self.values)  # type: ignore[arg-type]
        return IdCells(ids, NO_ROWS)

    def numbers(self) -> NumberCells:
        try:
            values = np.array(list(map(float, self._words)))
        except ValueError:
            return super().numbers()
        if np.isfinite(values).all() and b"_" not in b"".join(self._words):
            return NumberCells(values, NO_ROWS)
        return super().numbers()


def _is_utf8(text: bytes) -> bool:
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
