"""JSON lines with one object per row: the columns are the keys of the objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count, islice
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.table_batches import Batch
from pytest_rankcheck.files.table_columns import CellColumn
from pytest_rankcheck.files.text_files import blocks_of_lines, lines_of_block, parse_json

__all__ = ["OnBroken", "add_keys", "batches_of_objects", "json_objects", "layouts_of_objects"]

BATCH_ROWS = 1 << 14

Objects = Sequence[Mapping[str, object]]
OnBroken = Callable[[int, str, str], None]
"""Called for a broken row with its line number, the kind of problem and a description."""


def _refuse(token: str) -> None:
    raise ValueError(token)


_SCAN: Callable[[str, int], tuple[object, int]] = json.JSONDecoder(parse_constant=_refuse).scan_once  # type: ignore[attr-defined]  # parses a value without the steps around it


def json_objects(
    path: Path, error: type[RankcheckError], *, what: str, on_broken: OnBroken | None = None
) -> Iterator[tuple[list[int], list[Mapping[str, object]]]]:
    """Yield the objects of a file of JSON lines, some thousands at a time, with their lines.

    Blank lines and lines that start with ``#`` are skipped.

    Args:
        path: the file.
        error: the exception type to raise.
        what: what the rows belong to, such as "log", for messages.
        on_broken: called for each line that is not an object, which is then skipped; without it,
            such a line is an error.

    Raises:
        error: the file cannot be read, or a line is not an object; the message names the line.
    """
    lines = chain.from_iterable(
        _lines_of_block(path, number, block, error)
        for number, block in blocks_of_lines(path, error)
    )
    while some := list(islice(lines, BATCH_ROWS)):
        numbers: list[int] = []
        objects: list[Mapping[str, object]] = []
        for number, line in some:
            row = _plain_object(line)
            if row is None and (not line.strip() or line.startswith("#")):
                continue
            if row is None:
                try:
                    row = _checked_object(f"{path}:{number}", line, error, what)
                except _BrokenLine as broken:
                    if on_broken is None:
                        raise error(f"{path}:{number}: {broken}") from None
                    on_broken(number, broken.reason, str(broken))
                    continue
            numbers.append(number)
            objects.append(row)
        yield numbers, objects


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


def _plain_object(line: str) -> dict[str, object] | None:
    """Return the object in a line without nested objects and duplicate keys, otherwise None.

    In such a line, each key ends with ``":``, and nothing else does. If there are as many keys in
    the object, none is a duplicate, which json would drop silently. A key that is followed by a
    space would not be counted, so a line with a space before a colon is not plain.
    """
    try:
        row, end = _SCAN(line, 0)
    except (ValueError, StopIteration, RecursionError):
        return None
    if not isinstance(row, dict) or end != len(line) or line.count('":') != len(row):
        return None
    return None if " :" in line or "\t:" in line else row


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
    text = f"'{quoted(row, 60)}' is not an object with the columns of a {what}"
    raise _BrokenLine("no object", text)


class _BrokenLine(Exception):  # noqa: N818 - becomes an error, or is reported
    """A line is not an object."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def batches_of_objects(
    chunks: Iterator[tuple[list[int], list[Mapping[str, object]]]], header: list[str]
) -> Iterator[Batch]:
    """Yield objects as batches; keys that are not in the header yet are added to it at its end.

    A missing key is an empty cell.
    """
    for numbers, objects in chunks:
        add_keys(header, objects)
        yield _batch(tuple(header), numbers, objects)


def add_keys(header: list[str], objects: Objects) -> None:
    """Add the keys of some objects that are not in the header to its end."""
    known = dict.fromkeys(header)
    for keys in set(map(tuple, objects)):
        if not known.keys() >= set(keys):
            # in the order of the rows, which a set does not keep
            known |= dict.fromkeys(key for row in objects for key in row)
            break
    header[:] = known


def _batch(header: Sequence[str], numbers: Sequence[int], objects: Objects) -> Batch:
    def column(index: int) -> CellColumn:
        name = header[index]
        return CellColumn([row.get(name) for row in objects])

    return Batch(header, numbers, column)


def layouts_of_objects(numbers: Sequence[int], objects: Objects) -> Iterator[Batch]:
    """Yield objects in batches of rows with the same keys, in the order of their first rows."""
    places: dict[tuple[str, ...], list[int]] = {}
    for place, keys in enumerate(map(tuple, objects)):
        places.setdefault(keys, []).append(place)
    for keys, rows in places.items():
        chosen = objects if len(places) == 1 else [objects[row] for row in rows]
        columns = list(zip(*(row.values() for row in chosen), strict=True))
        yield Batch(keys, [numbers[row] for row in rows], partial(_column, columns))


def _column(columns: Sequence[Sequence[object]], index: int) -> CellColumn:
    return CellColumn(columns[index])
