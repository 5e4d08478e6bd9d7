"""JSON lines with one object per row: the columns are the keys of the objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.large_files import polars_should_read
from pytest_rankcheck.files.packed_files import failures_named
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.table_columns import CellColumn, Column
from pytest_rankcheck.files.text_files import blocks_of_lines, lines_of_block, parse_json

if TYPE_CHECKING:
    import polars as pl

    from pytest_rankcheck.files.json_blocks import BlockColumns

__all__ = [
    "OnBroken",
    "add_keys",
    "batches_by_layout",
    "batches_of_chunks",
    "json_chunks",
    "layouts_of_objects",
    "table_of_objects",
]

BATCH_ROWS = 1 << 13
BLOCK_BYTES = 8 << 20

Objects = list[Mapping[str, object]]
Chunk: TypeAlias = "tuple[Sequence[int], Objects | BlockColumns]"
"""The line of each row, and the rows: objects, or columns of polars."""
OnBroken = Callable[[int, str, str], None]
"""Called for a broken row with its line number, the kind of problem and a description."""


def _refuse(token: str) -> None:
    raise ValueError(token)


_KEYS: list[int] = []
"""How many keys the objects of the line that is being read have."""


def _counted(row: dict[str, object]) -> dict[str, object]:
    _KEYS.append(len(row))
    return row


_DECODER = json.JSONDecoder(object_hook=_counted, parse_constant=_refuse)
_SCAN: Callable[[str, int], tuple[object, int]] = _DECODER.scan_once  # type: ignore[attr-defined]
"""Parses a value without the steps around it, which take as long."""


def json_chunks(
    path: Path, error: type[RankcheckError], *, what: str, on_broken: OnBroken | None = None
) -> Iterator[Chunk]:
    """Yield the rows of a file of JSON lines, some thousands at a time, with their lines.

    Blank lines and lines that start with ``#`` are skipped. Polars reads large and ordinary files.

    Args:
        path: the file.
        error: the exception type to raise.
        what: what the rows belong to, such as "log", for messages.
        on_broken: called for each line that is not an object, which is then skipped; without it,
            such a line is an error.

    Raises:
        error: the file cannot be read, or a line is not an object; the message names the line.
    """
    with failures_named(path, error):
        is_large = polars_should_read(path)
    for number, block in blocks_of_lines(path, error, BLOCK_BYTES):
        columns = _columns_of(block) if is_large else None
        if columns is not None:
            yield range(number, number + len(columns)), columns
            continue
        lines = iter(_lines_of_block(path, number, block, error))
        while some := list(islice(lines, BATCH_ROWS)):
            yield _objects(path, some, error, what, on_broken)


def _columns_of(block: bytes) -> BlockColumns | None:
    from pytest_rankcheck.files.json_blocks import columns_of_block

    return columns_of_block(block)


def _objects(
    path: Path,
    lines: Sequence[tuple[int, str]],
    error: type[RankcheckError],
    what: str,
    on_broken: OnBroken | None,
) -> tuple[Sequence[int], Objects]:
    plain = _plain_objects([line for _, line in lines])
    if plain is not None:
        return [number for number, _ in lines], plain
    numbers: list[int] = []
    objects: Objects = []
    for number, line in lines:
        found = _plain_objects([line])
        if found is None and (not line.strip() or line.startswith("#")):
            continue
        row: Mapping[str, object] = found[0] if found else {}
        if found is None:
            try:
                row = _checked_object(f"{path}:{number}", line, error, what)
            except _BrokenLine as broken:
                if on_broken is None:
                    raise error(f"{path}:{number}: {broken}") from None
                on_broken(number, broken.reason, str(broken))
                continue
        numbers.append(number)
        objects.append(row)
    return numbers, objects


def _lines_of_block(
    path: Path, number: int, block: bytes, error: type[RankcheckError]
) -> Iterable[tuple[int, str]]:
    """Return the lines of a block without their ends."""
    try:
        text = block.decode()
    except UnicodeDecodeError:
        lines = lines_of_block(path, number, block, error)
        return ((place, line.rstrip("\r\n")) for place, line in lines)
    text = text.replace("\r\n", "\n") if "\r" in text else text
    return zip(count(number), text.removesuffix("\n").split("\n"))


def _plain_objects(lines: Sequence[str]) -> Objects | None:
    """Return the objects in lines without duplicate keys; None if one may be something else.

    Each key ends with ``":``, and usually nothing else does. If there are as many keys in the
    objects, none is a duplicate, which json would drop silently. A key that is followed by a space
    would not be counted, so a line with a space before a colon is not plain.
    """
    _KEYS.clear()
    try:
        found = [_SCAN(line, 0) for line in lines]
    except (ValueError, StopIteration, RecursionError):
        return None
    rows = [row for row, _ in found]
    is_whole = [end for _, end in found] == list(map(len, lines))
    if not is_whole or set(map(type, rows)) != {dict}:
        return None
    text = "\n".join(lines)
    if text.count('":') != sum(_KEYS) or " :" in text or "\t:" in text:
        return None
    return rows  # type: ignore[return-value]


def _checked_object(
    where: str, line: str, error: type[RankcheckError], what: str
) -> dict[str, object]:
    """Return the object in any line.

    Raises:
        _BrokenLine: the line is not JSON, or not an object.
    """
    try:
        row = parse_json(line, where, error)
    except json.JSONDecodeError as failure:
        raise _BrokenLine("not JSON", f"not JSON: {quoted(failure)}") from None
    except error as failure:
        raise _BrokenLine("not JSON", str(failure).removeprefix(f"{where}: ")) from None
    if isinstance(row, dict):
        return row
    raise _BrokenLine("no object", _no_object(row, what))


class _BrokenLine(Exception):  # noqa: N818 - becomes an error, or is reported
    """A line is not an object."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def batches_of_chunks(chunks: Iterable[Chunk], header: list[str]) -> Iterator[Batch]:
    """Yield rows in the order of the file; keys that are not in the header are added at its end.

    A missing key is an empty cell.
    """
    for numbers, rows in chunks:
        add_keys(header, rows)
        if numbers:
            yield Batch(tuple(header), numbers, partial(_column, tuple(header), rows))


def add_keys(header: list[str], rows: Objects | BlockColumns) -> None:
    """Add the keys of some rows that are not in the header to its end."""
    known = dict.fromkeys(header)
    layouts = dict.fromkeys(map(tuple, rows)) if isinstance(rows, list) else [_names(rows)]
    for keys in layouts:
        known |= dict.fromkeys(keys)
    header[:] = known


def _names(rows: Objects | BlockColumns) -> Sequence[str]:
    return [] if isinstance(rows, list) else rows.frame.columns


def _column(header: Sequence[str], rows: Objects | BlockColumns, index: int) -> Column:
    name = header[index]
    if isinstance(rows, list):
        return CellColumn([row.get(name) for row in rows])
    from pytest_rankcheck.files.polars_columns import PolarsColumn

    if name in _names(rows):
        return PolarsColumn(rows.frame[name])
    return CellColumn([None] * len(rows))


def batches_by_layout(chunks: Iterable[Chunk]) -> Iterator[Batch]:
    """Yield rows in batches with the same keys, in the order of their first rows in a chunk."""
    for numbers, rows in chunks:
        if isinstance(rows, list):
            yield from layouts_of_objects(numbers, rows)
            continue
        for chosen, frame in rows.layouts():
            yield Batch(frame.columns, (chosen + numbers[0]).tolist(), partial(_of_frame, frame))


def _of_frame(frame: pl.DataFrame, index: int) -> Column:
    from pytest_rankcheck.files.polars_columns import PolarsColumn

    return PolarsColumn(frame.to_series(index))


def layouts_of_objects(numbers: Sequence[int], objects: Objects) -> Iterator[Batch]:
    """Yield objects in batches with the same keys, in the order of their first rows."""
    places: dict[tuple[str, ...], list[int]] = {}
    for place, keys in enumerate(map(tuple, objects)):
        places.setdefault(keys, []).append(place)
    for keys, rows in places.items():
        chosen = objects if len(places) == 1 else [objects[row] for row in rows]
        columns = list(zip(*(row.values() for row in chosen), strict=True))
        yield Batch(keys, [numbers[row] for row in rows], partial(_cells, columns))


def table_of_objects(
    objects: Iterable[object],
    numbering: Numbering,
    error: type[RankcheckError],
    *,
    what: str,
    on_broken: OnBroken | None = None,
) -> Table:
    """Return objects that are in memory as a table with a row for each.

    Args:
        objects: the rows, which are numbered from 1.
        numbering: how messages name them.
        error: the exception type to raise.
        what: what the rows belong to, such as "log", for messages.
        on_broken: called for each element that is not an object, which is then skipped; without
            it, such an element is an error.

    Raises:
        error: an element is not an object; the message names it.
    """
    rows: Objects = []
    numbers: list[int] = []
    for number, element in enumerate(objects, start=1):
        if isinstance(element, Mapping):
            rows.append({str(key): value for key, value in element.items()})
            numbers.append(number)
            continue
        text = _no_object(element, what)
        if on_broken is None:
            raise error(f"{numbering.place(number)}: {text}")
        on_broken(number, "no object", text)
    header = list(dict.fromkeys(name for row in rows for name in row))
    return Table(header, numbering, lambda *_: layouts_of_objects(numbers, rows))


def _no_object(element: object, what: str) -> str:
    return f"'{quoted(element, 60)}' is not an object with the columns of a {what}"


def _cells(columns: Sequence[Sequence[object]], index: int) -> CellColumn:
    return CellColumn(columns[index])
