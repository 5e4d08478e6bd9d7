"""TREC files as tables: words separated by ASCII white space, of one line or many at once.

Lines that begin with ``#`` are comments. If polars is installed (the extra ``[fast]``), it splits
the blocks of a large file; any other block is split with a few calls for many lines. A block in an
unusual form (comments, a last column of two words) is read line by line, which is slower and finds
what is wrong.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path

import numpy as np

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.id_columns import HeldIds, RunIds, starts_of_runs
from pytest_rankcheck.files.packed_files import failures_named, polars_should_read
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
    Numbering,
    begins_json,
    decode_utf8,
    line_count,
    whole_lines,
)
from pytest_rankcheck.files.whole_files import check_encodable

BLOCK_BYTES = 1 << 18
"""Small enough that the words of a block stay in the processor's cache."""
LARGE_BLOCK_BYTES = 1 << 23
"""The largest size of the blocks that polars splits."""

_RANK, _SCORE, _TAG = "rank", "score", "tag"
"""Columns: one that is seldom needed, one of numbers, and one that may have several words."""
Columns = Callable[[int], Column]
"""Returns a column."""

_CHECKED = 1 << 18
"""How many bytes are examined together."""

_ASCII_SPACE = " \t\n\r\f\v"
_SPACES = re.compile(f"[{_ASCII_SPACE}]+")
_NO_SPACES = bytes(range(ord(" ") + 1, 256))
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
        what: what consists of such lines, for messages.
        error: the exception type to raise.
    """
    are_open = header[-1] == _TAG

    def read(wanted: Sequence[int], _: int) -> Iterator[Batch]:
        with failures_named(path, error):
            is_large, size = polars_should_read(path), BLOCK_BYTES
            if not is_large:
                return batches((), size)
            # Smaller blocks take less memory; in a small file, that is what counts.
            size = min(LARGE_BLOCK_BYTES, max(path.stat().st_size // 8, LARGE_BLOCK_BYTES // 8))
            return _one_ahead(batches(wanted, size))

    def batches(of_polars: Sequence[int], size: int) -> Iterator[Batch]:
        first = 1
        for text in whole_lines(path, error, size):
            whole = in_columns(first, text, of_polars)
            if whole:
                first += len(whole[0])
                yield whole.pop()  # not kept here, so that its memory is soon used again
            else:
                yield from batches_of_rows(header, rows(first, text))
                first += line_count(text)

    def in_columns(first: int, text: bytes, of_polars: Sequence[int]) -> list[Batch]:
        column = _polars_columns(text, header, of_polars) if of_polars else None
        column = column or _columns_of_words(text, len(header))
        if column is None:
            return []
        return [Batch(header, range(first, first + len(column(0))), column)]

    def rows(first: int, text: bytes) -> Iterator[tuple[int, list[str]]]:
        for number, raw in enumerate(text.split(b"\n"), start=first):
            if raw.startswith(b"#") or not raw.strip():
                continue
            line = decode_utf8(raw, path, number, error)
            columns = columns_of(line)
            if len(columns) < len(header) or (len(columns) > len(header) and not are_open):
                raise error(
                    f"{path}:{number}: {len(columns)} columns, not {len(header)}: "
                    f"'{quoted(line.rstrip(), 60)}'; a line of {what} is: {' '.join(header)}"
                )
            yield number, columns[: len(header)]

    return Table(list(header), Numbering(str(path)), read)


def _one_ahead(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Yield the batches; another thread splits the next one while one is used."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    try:
        ahead = pool.submit(next, batches, None)
        while (batch := ahead.result()) is not None:
            ahead = pool.submit(next, batches, None)
            yield batch
    finally:
        pool.shutdown(wait=False)  # after an error, this may run in the thread of the pool


def _polars_columns(text: bytes, header: Sequence[str], wanted: Sequence[int]) -> Columns | None:
    """Return the columns of lines in which words are separated by one constant white space."""
    from pytest_rankcheck.files.polars_columns import PolarsColumn, frame_of_lines

    if text.startswith(codecs.BOM_UTF8) or not _is_utf8(text):
        return None
    count, separator = len(header), "\t" if b"\t" in text[: text.find(b"\n")] else " "
    often = [at for at in wanted if header[at] != _RANK]
    numbers = [at for at in often if header[at] == _SCORE]
    frame = frame_of_lines(text, separator, count, wanted=often, numbers=numbers)
    if frame is None or any(frame.null_count().row(0)):
        return None
    if b"#" in text and frame.to_series(0).str.starts_with("#").any():
        return None
    if not all(np.isfinite(frame[str(at)].to_numpy()).all() for at in numbers):
        return None
    lines = frame.height
    if not _has_words(text, separator, count, lines):
        return None
    return lambda at: PolarsColumn(frame[str(at)]) if at in often else _LateColumn(text, at)


def _has_words(text: bytes, separator: str, count: int, lines: int) -> bool:
    """Whether a text has this many lines of this many words, with one separator between words.

    Any other white space separates words too, and two in a row are one separator, where polars
    would see an empty column. It would also accept a short line if another one is too long.
    """
    white = text.translate(None, _NO_SPACES)
    if white != (separator * (count - 1) + "\n").encode() * lines:
        return False
    codes = np.frombuffer(text, np.uint8)
    for start in range(0, len(codes), _CHECKED):  # a part at a time, whose memory is used again
        is_white = codes[start : start + _CHECKED + 1] <= ord(" ")
        if (is_white[1:] & is_white[:-1]).any():
            return False
    return True


def _columns_of_words(text: bytes, count: int) -> Columns | None:
    """Return the columns of a text; None if the number of words in a line differs.

    Also None for comments, blank lines and invalid UTF-8, so that the caller reads line by line.
    """
    has_comments = b"#" in text and (text.startswith(b"#") or b"\n#" in text)
    if _MARK in text or has_comments or not _is_utf8(text):
        return None
    # Bytes are split in half the time of text.
    marked = text.replace(b"\n", b" \0 ")
    lines, step = (len(marked) - len(text)) // 2, count + 1
    words = marked.split()
    if len(words) != step * lines or words[count::step].count(_MARK) != lines:
        return None
    is_plain = b"_" not in text
    queries = words[::step]
    starts = starts_of_runs(queries)
    texts = _texts(queries[start] for start in starts)
    runs = RunIds(texts, np.array([*starts, lines]))

    def column(at: int) -> Column:
        return _WordColumn(words[at::step], is_plain=is_plain, runs=None if at else runs)

    return column


class _LateColumn(Column):
    """A column whose lines are split into words one by one, and only when needed."""

    def __init__(self, text: bytes, at: int) -> None:
        self._text, self._at = text, at

    def __iter__(self) -> Iterator[object]:
        return (line.split()[self._at].decode() for line in BytesIO(self._text))

    @cached_property
    def values(self) -> Sequence[object]:  # type: ignore[override]
        return list(iter(self))  # the length is that of the list


class _WordColumn(Column):
    """A column of words in UTF-8, none of them empty."""

    def __init__(self, words: list[bytes], *, is_plain: bool, runs: RunIds | None = None) -> None:
        self._words = words
        self._runs = runs
        """The words as ids, if most equal the word of the row before."""
        self._is_plain = is_plain
        """Whether no word has an underscore, which Python would read as part of a number."""

    @cached_property
    def values(self) -> Sequence[object]:  # type: ignore[override]
        return _texts(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def ids(self) -> IdCells:
        return IdCells(self._runs or HeldIds(_texts(self._words)), NO_ROWS)

    def numbers(self) -> NumberCells:
        try:
            values = np.fromiter(map(float, self._words), np.float64, len(self._words))
        except ValueError:
            return super().numbers()
        is_odd = not self._is_plain and b"_" in b"".join(self._words)
        if is_odd or not np.isfinite(values).all():
            return super().numbers()
        return NumberCells(values, NO_ROWS)


def _texts(words: Iterable[bytes]) -> list[str]:
    return b"\n".join(words).decode().split("\n")


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
        error: a column has ASCII white space; a line would be read as a comment, as JSON or without
            a byte order mark; or a character (a lone surrogate) cannot be written as UTF-8.
    """
    return "".join(_line_of(columns, error) for columns in rows)


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
