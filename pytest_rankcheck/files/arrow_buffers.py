"""The sizes that a compressed Arrow file states for its buffers, checked before polars reads it.

Each compressed buffer begins with its size in bytes after decompression. Polars allocates that
much; if a damaged file states an impossible size, the process ends. The places of the buffers are
in flatbuffers (Arrow columnar format 1.5, "IPC File Format", and File.fbs and Message.fbs there).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap

__all__ = ["has_possible_sizes"]

_MAGIC = b"ARROW1"
_LARGEST_RATIO = 1 << 16
"""Zstandard packs equal bytes about 30,000 times smaller."""
_HEADER, _FOOTER_DICTIONARIES, _FOOTER_BATCHES = 2, 2, 3
_NODES_BUFFERS, _COMPRESSION, _DICTIONARY_DATA = 2, 3, 1


def has_possible_sizes(file: bytes | mmap) -> bool:
    """Whether the buffers of an Arrow file can have the sizes that it states."""
    try:
        return all(
            stated == -1 or 0 <= stated <= length * _LARGEST_RATIO
            for stated, length in _stated_sizes(file)
        )
    except (struct.error, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of a flatbuffer: its fields are found by a table of offsets."""

    file: bytes | mmap
    start: int

    def field(self, number: int) -> int | None:
        """Return where a field is; None if the table does not have it."""
        fields = self.start - _number("<i", self.file, self.start)
        place = 4 + 2 * number
        if place >= _number("<H", self.file, fields):
            return None
        offset = _number("<H", self.file, fields + place)
        return self.start + offset if offset else None

    def table(self, number: int) -> _Table | None:
        """Return the table that a field refers to."""
        place = self.field(number)
        if place is None:
            return None
        return _Table(self.file, place + _number("<I", self.file, place))

    def structs(self, number: int, size: int) -> Iterator[int]:
        """Yield where the structs of a list begin."""
        place = self.field(number)
        if place is None:
            return
        begin = place + _number("<I", self.file, place)
        count = _number("<I", self.file, begin)
        if count * size > len(self.file):
            raise ValueError("the list is longer than the file")
        yield from range(begin + 4, begin + 4 + count * size, size)


def _stated_sizes(file: bytes | mmap) -> Iterator[tuple[int, int]]:
    """Yield the stated size of each compressed buffer, and its size in the file."""
    end = len(file) - len(_MAGIC) - 4
    start = end - _number("<i", file, end)
    footer = _Table(file, start + _number("<I", file, start))
    for number in (_FOOTER_DICTIONARIES, _FOOTER_BATCHES):
        for block in footer.structs(number, 24):
            offset, length = _number("<q", file, block), _number("<i", file, block + 8)
            is_marked = file[offset : offset + 4] == b"\xff\xff\xff\xff"
            root = offset + (8 if is_marked else 4)
            batch = _Table(file, root + _number("<I", file, root)).table(_HEADER)
            if batch is not None and number == _FOOTER_DICTIONARIES:
                batch = batch.table(_DICTIONARY_DATA)
            if batch is None or batch.field(_COMPRESSION) is None:
                continue
            for buffer in batch.structs(_NODES_BUFFERS, 16):
                begin, size = _number("<q", file, buffer), _number("<q", file, buffer + 8)
                if size > 0:
                    yield _number("<q", file, offset + length + begin), size


def _number(kind: str, file: bytes | mmap, place: int) -> int:
    """Return the number at a place.

    Raises:
        struct.error: the place is beyond the file.
        ValueError: the place is before it.
    """
    if place < 0:
        raise ValueError("a place before the file")
    number: int = struct.unpack_from(kind, file, place)[0]
    return number
