"""Text files of runs in blocks that hold whole queries, so that memory does not grow with the file.

In nearly every run the lines of a query stand together. A block ends where a query ends; what was
read of the next one is the beginning of the next block.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.packed_files import failures_named, opened
from pytest_rankcheck.files.text_files import LONGEST_LINE, line_too_long

__all__ = ["Block", "blocks_of_queries"]


_LONGEST_QUERY_ID = 1000
"""Where two queries begin with the same so many bytes, they share a block, which does no harm."""


_LEAP = 1024
_COUNTED_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of a file, each ending with a line feed."""

    path: Path
    text: bytes
    offset: int
    """How many bytes of the file stand before it."""

    @property
    def first_line(self) -> int:
        """The number of the first line in the file, from 1; counted only where it is needed."""
        line, left = 1, self.offset
        with opened(self.path) as file:
            while left and (chunk := file.read(min(left, _COUNTED_BYTES))):
                line += chunk.count(b"\n")
                left -= len(chunk)
        return line


def blocks_of_queries(path: Path, size: int) -> Iterator[Block]:
    """Yield the lines of a file in blocks of about ``size`` bytes that hold whole queries.

    A query is what stands before the first white space of a line. One that is longer than
    ``size`` is a block of its own.

    Raises:
        RunError: the file cannot be read.
    """
    with failures_named(path, RunError), opened(path) as file:
        rest, offset = file.read(len(codecs.BOM_UTF8)), 0
        if rest == codecs.BOM_UTF8:
            rest, offset = b"", len(rest)
        while chunk := file.read(max(size, len(rest))):  # one long query: copied log n times
            first_line = chunk.find(b"\n") + 1
            end = _start_of_last_query(chunk, first_line)
            if end == first_line:  # too little to tell without what was read before
                chunk, rest = rest + chunk, b""
                end = _start_of_last_query(chunk, 0)
            if len(chunk) > LONGEST_LINE and chunk.find(b"\n") < 0:
                raise line_too_long(f"{path}: byte {offset + 1}", RunError)
            if end:
                text = b"".join((rest, memoryview(chunk)[:end]))
                yield Block(path, text, offset)
                offset += len(text)
            rest = chunk[end:]
    if rest:
        yield Block(path, rest if rest.endswith(b"\n") else rest + b"\n", offset)


def _start_of_last_query(text: bytes, begin: int) -> int:
    """Return where the last query begins, which may go on after ``text``; not before ``begin``.

    Found by leaps back and a bisection. Where a query's lines do not stand together the place may
    be a wrong one; then the query comes again in a later block, where readers see it.
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
    """Return where the first line begins after ``place``; ``begin`` for a place before it."""
    return begin if place <= begin else text.find(b"\n", place) + 1


def _query(text: bytes, start: int) -> list[bytes]:
    """Return the first word of a line, as a list of it, or an empty one for a blank line."""
    return text[start : start + _LONGEST_QUERY_ID].split(None, 1)[:1]
