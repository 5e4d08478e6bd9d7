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
from pytest_rankcheck.files import failures_named

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
        with self.path.open("rb") as file:
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
    with failures_named(path, RunError), path.open("rb", buffering=0) as file:
        rest, offset = file.read(len(codecs.BOM_UTF8)), 0
        if rest == codecs.BOM_UTF8:
            rest, offset = b"", len(rest)
        while chunk := file.read(max(size, len(rest))):  # one long query: copied log n times
            text = rest + chunk if rest else chunk
            end = _end_of_whole_queries(text)
            rest = text[end:]
            if end:
                yield Block(path, text[:end], offset)
                offset += end
    if rest:
        yield Block(path, rest if rest.endswith(b"\n") else rest + b"\n", offset)


def _end_of_whole_queries(text: bytes) -> int:
    """Return where the last query of ``text`` begins, which may go on after it; 0 if at 0.

    Found by leaps back and a bisection. Where a query's lines do not stand together the place may
    be a wrong one; then the query comes again in a later block, where readers see it.
    """
    last = text.rfind(b"\n", 0, text.rfind(b"\n"))  # before the last whole line
    same = last + 1
    query = _query(text, same)
    if _query(text, 0) == query:
        return 0
    other, leap = 0, _LEAP
    while other < (line := _line_start(text, same - leap)) < same and _query(text, line) == query:
        same, leap = line, 2 * leap
    other = max(line, 0) if _query(text, line) != query else 0
    while same - other > _LEAP:
        middle = _line_start(text, (same + other) // 2)
        if not other < middle < same:
            break
        if _query(text, middle) == query:
            same = middle
        else:
            other = middle
    while other < same and _query(text, other) != query:
        other = text.find(b"\n", other) + 1
    return other


def _line_start(text: bytes, place: int) -> int:
    """Return where the first line begins after ``place``; 0 for a place before the text."""
    return 0 if place <= 0 else text.find(b"\n", place) + 1


def _query(text: bytes, start: int) -> list[bytes]:
    """Return the first word of a line, as a list of it, or an empty one for a blank line."""
    return text[start : start + _LONGEST_QUERY_ID].split(None, 1)[:1]
