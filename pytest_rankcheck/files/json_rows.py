"""JSON objects as the rows of a table: the columns are the keys of the objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
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

_BLOCK = 8 << 20

Objects = Sequence[Mapping[str, object]]
NumberedObjects = Iterator[tuple[int, Mapping[str, object]]]


def table_of_json_lines(
    path: Path, error: type[RankcheckError], *, what: str, on_broken: OnBroken | None
) -> Table:
    """Return a file of JSON lines as a table without a header; its batches have one.

    Where polars is installed, it reads large files.

    Args:
        path: the file.
        error: the exception type to raise.
        what: what the rows belong to, such as "log", for messages.
        on_broken: as in `objects_of_lines`.
    """
    rows_of = partial(objects_of_lines, path, error, what=what, on_broken=on_broken)
    return Table([], Numbering(str(path)), lambda *_: _by_layout(path, error, rows_of))


def _by_layout(
    path: Path, error: type[RankcheckError], rows_of: Callable[..., NumberedObjects]
) -> Iterator[Batch]:
    with failures_named(path, error):
        is_large = polars_should_read(path)
    for first, block in blocks_of_lines(path, error, _BLOCK):
        batches: Iterable[Batch] | None = None
        if is_large:
            from pytest_rankcheck.files import polars_blocks

            batches = polars_blocks.layouts_of_block(first, block)
        if batches is None:
            rows = list(rows_of(lines_of_block(path, first, block, error)))
            objects = [row for _, row in rows]
            batches = layouts_of_objects([number for number, _ in rows], objects)
        yield from batches


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
    elements = read_json(path, error)
    numbering = Numbering(str(path), is_table=True)
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
    return Table([], numbering, lambda *_: layouts_of_objects(numbers, rows))
