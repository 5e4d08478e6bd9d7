"""JSON objects as the rows of a table: the columns are the keys of the objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.json_files import (
    OnBroken,
    no_object,
    objects_of_lines,
    read_json,
)
from pytest_rankcheck.files.packed_files import failures_named, polars_should_read
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.files.text_files import blocks_of_lines, lines_of_block

BATCH_ROWS = 1 << 13
_BLOCK = 8 << 20

Objects = Sequence[Mapping[str, object]]
NumberedObjects = Iterator[tuple[int, Mapping[str, object]]]
Chunk = tuple[Sequence[int], Objects]
"""The line of each row, and the rows."""


def table_of_json_lines(
    path: Path,
    error: type[RankcheckError],
    *,
    what: str,
    by_layout: bool,
    on_broken: OnBroken | None,
) -> Table:
    """Return a file of JSON lines as a table, whose rows are read some thousands at a time.

    By layout, polars reads large files where it is installed.

    Args:
        path: the file.
        error: the exception type to raise.
        what: what the rows belong to, such as "log", for messages.
        by_layout: whether the rows come in batches with the same keys, instead of in the order of
            the file with an empty cell for a missing key; then the table has no header.
        on_broken: as in `objects_of_lines`.
    """
    rows_of = partial(objects_of_lines, path, error, what=what, on_broken=on_broken)
    if by_layout:
        return Table([], Numbering(str(path)), lambda *_: _by_layout(path, error, rows_of))
    rows = rows_of()
    first = _some(rows)
    header = _with_keys([], first[1])

    def read(*_: object) -> Iterator[Batch]:
        return _in_order(chain([first], iter(partial(_some, rows), ([], []))), header)

    return Table(header, Numbering(str(path)), read)


def _by_layout(
    path: Path, error: type[RankcheckError], rows_of: Callable[..., NumberedObjects]
) -> Iterator[Batch]:
    with failures_named(path, error):
        is_large = polars_should_read(path)
    for first, block in blocks_of_lines(path, error, _BLOCK):
        batches: Iterable[Batch] | None = None
        if is_large:
            from pytest_rankcheck.files import json_blocks

            batches = json_blocks.layouts_of_block(first, block)
        if batches is None:
            rows = rows_of(lines_of_block(path, first, block, error))
            batches = layouts_of_objects(*_chunk(rows))
        yield from batches


def _some(rows: NumberedObjects) -> Chunk:
    return _chunk(islice(rows, BATCH_ROWS))


def _chunk(rows: NumberedObjects) -> Chunk:
    some = list(rows)
    return [number for number, _ in some], [row for _, row in some]


def _with_keys(header: Sequence[str], objects: Objects) -> list[str]:
    """Return a header with the keys of some objects that it lacks at its end."""
    layouts = dict.fromkeys(map(tuple, objects))
    return list(dict.fromkeys(chain(header, *layouts)))


def _in_order(chunks: Iterable[Chunk], header: list[str]) -> Iterator[Batch]:
    for numbers, objects in chunks:
        header = _with_keys(header, objects)
        if numbers:
            yield Batch(tuple(header), numbers, partial(_values, header, objects))


def _values(header: Sequence[str], objects: Objects, index: int) -> Column:
    return Column([row.get(header[index]) for row in objects])


def layouts_of_objects(numbers: Sequence[int], objects: Objects) -> Iterator[Batch]:
    """Yield objects in batches with the same keys, in the order of their first rows."""
    places: dict[tuple[str, ...], list[int]] = {}
    for place, keys in enumerate(map(tuple, objects)):
        places.setdefault(keys, []).append(place)
    for keys, rows in places.items():
        chosen = objects if len(places) == 1 else [objects[row] for row in rows]
        yield Batch(keys, [numbers[row] for row in rows], partial(_values, keys, chosen))


def table_of_array(
    path: Path, error: type[RankcheckError], *, what: str, on_broken: OnBroken | None
) -> Table:
    """Return a file with a JSON array of objects as a table."""
    elements, numbering = read_json(path, error), Numbering(str(path), is_table=True)
    if not isinstance(elements, list):
        raise error(f"{path}: not a JSON array but {quoted(elements, 40)}")
    return table_of_objects(elements, numbering, error, what=what, on_broken=on_broken)


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
    rows: list[Mapping[str, object]] = []
    numbers: list[int] = []
    for number, element in enumerate(objects, start=1):
        if isinstance(element, Mapping):
            rows.append({str(key): value for key, value in element.items()})
            numbers.append(number)
        elif on_broken is None:
            raise error(f"{numbering.place(number)}: {no_object(element, what)}")
        else:
            on_broken(number, "no object", no_object(element, what))
    return Table(_with_keys([], rows), numbering, lambda *_: layouts_of_objects(numbers, rows))
