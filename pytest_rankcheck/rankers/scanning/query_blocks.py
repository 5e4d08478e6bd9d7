"""Reading run files in blocks of whole queries, so that memory does not grow with the file.

In nearly every run the lines of a query are consecutive. A block ends where a query ends; the part
of the next query that was already read begins the next block.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.packed_files import failures_named, opened
from pytest_rankcheck.files.text_files import LONGEST_LINE, line_too_long, opened_text

__all__ = ["LineBlock", "blocks_of_queries"]

_LONGEST_QUERY_ID = 1000
"""Two queries that share this many leading bytes share a block, which does no harm."""

_LEAP = 1024
_COUNTED_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Some lines of a file, each ending with a line feed."""

    path: Path
    text: bytes
    offset: int
    """The number of bytes before it in the file."""

    @property
    def first_line(self) -> int:
        """The 1-based number of the block's first line in the file; counted only when needed."""
        line, left = 1, self.offset
        with opened(self.path) as file:
            while left and (chunk := file.read(min(left, _COUNTED_BYTES))):
                line += chunk.count(b"\n")
                left -= len(chunk)
        return line


def blocks_of_queries(path: Path, size: int) -> Iterator[LineBlock]:
    """Yield the lines of a file in blocks of about ``size`` bytes that hold whole queries.

    A line's query is the text before its first white space. A query longer than ``size`` is a
    block of its own.

    Raises:
        RunError: the file cannot be read.
    """
    with failures_named(path, RunError), opened_text(path, RunError) as file:
        rest, offset = file.read(len(codecs.BOM_UTF8)), 0
        if rest == codecs.BOM_UTF8:
            rest, offset = b"", len(rest)
        while chunk := file.read(max(size, len(rest))):  # one long query: copied log n times
            first_line = chunk.find(b"\n") + 1
            end = _start_of_last_query(chunk, first_line)
            if end == first_line:  # too short to decide without the previous chunk
                chunk, rest = rest + chunk, b""
                end = _start_of_last_query(chunk, 0)
            if len(chunk) > LONGEST_LINE and chunk.find(b"\n") < 0:
                raise line_too_long(f"{path}: byte {offset + 1}", RunError)
            if end:
                text = b"".join((rest, memoryview(chunk)[:end]))
                yield LineBlock(path, text, offset)
                offset += len(text)
            rest = chunk[end:]
    if rest:
        yield LineBlock(path, rest if rest.endswith(b"\n") else rest + b"\n", offset)


def _start_of_last_query(text: bytes, begin: int) -> int:
    """Return where the last query begins, which may continue after ``text``; at least ``begin``.

    Found by leaps back and a bisection. If a query's lines are not consecutive, the place may be
    wrong; then the query occurs again in a later block, where readers notice it.
    """
    last = text.rfind(b"\n", begin, text.rfind(b"\n"))  # before the last whole line
    same = max(last + 1, begin)
    query = _query(text, same)
    if _query(text, begin) == query:
        return begin
    other, leap = begin, _LEAP
    while (line := _line_start(text, same - leap, begin)) < same and _query(text, line) == query:
        same, leap = line, 2 * leap
    if _query(text, line) != query:
        other = line
    while same - other > _LEAP:
        middle = _line_start(text, (same + other) // 2, begin)
        if not other < middle < same:
            break
        if _query(text, middle) == query:
            same = middle
        else:
            other = middle
    while other < same and _query(text, other) != query:
        other = text.find(b"\n", other) + 1
    return other


def _line_start(text: bytes, place: int, begin: int) -> int:
    """Return where the first line after ``place`` begins; ``begin`` for a place before it."""
    return begin if place <= begin else text.find(b"\n", place) + 1


def _query(text: bytes, start: int) -> list[bytes]:
    """Return a list with the first word of a line; empty for a blank line."""
    return text[start : start + _LONGEST_QUERY_ID].split(None, 1)[:1]
