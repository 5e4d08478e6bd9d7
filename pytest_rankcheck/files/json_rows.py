"""JSON objects as the rows of a table: the columns are the keys of the objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.json_files import (
    Values,
    objects_among,
    values_of,
    values_of_lines,
    with_named,
)
from pytest_rankcheck.files.packed_files import failures_named, polars_should_read
from pytest_rankcheck.files.table_batches import Batch, Numbering, Table
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.files.text_files import OnBroken, blocks_of_lines, lines_of_block

_BLOCK = 8 << 20


def table_of_json(
    path: Path, error: type[RankcheckError], *, what: str, on_broken: OnBroken | None
) -> Table:
    """Return the objects of a JSON file as a table without a header; its batches have one.

    Where polars is installed, it reads large files of JSON lines.

    Args:
        path: the file.
        error: the exception type to raise.
        what: what the rows belong to, such as "log", for messages.
        on_broken: as in `objects_among`.
    """
    numbering, values = values_of(path, error)

    def batches_of(values: Values) -> Iterator[Batch]:
        return _by_layout(objects_among(values, numbering, error, what, on_broken))

    if isinstance(values, list):
        return Table([], numbering, lambda *_: batches_of(values))
    return Table([], numbering, lambda *_: _in_blocks(path, error, batches_of))


def table_of_rows(path: Path, error: type[RankcheckError], wanted: Collection[str]) -> Table:
    """Return the objects of a JSON file as a table with all their keys as its header.

    Args:
        path: the file.
        error: the exception type to raise.
        wanted: dotted names that are columns too, if an object holds them.
    """
    numbering, values = values_of(path, error)
    found = [(at, with_named(row, wanted)) for at, row in objects_among(values, numbering, error)]
    header = list(dict.fromkeys(key for _, row in found for key in row))
    rows = [(at, {**dict.fromkeys(header), **row}) for at, row in found]
    return Table(header, numbering, lambda *_: _by_layout(rows))


def _in_blocks(
    path: Path, error: type[RankcheckError], batches_of: Callable[[Values], Iterator[Batch]]
) -> Iterator[Batch]:
    with failures_named(path, error):
        is_large = polars_should_read(path)
    for first, block in blocks_of_lines(path, error, _BLOCK):
        batches: Iterable[Batch] | None = None
        if is_large:
            from pytest_rankcheck.files import polars_blocks

            batches = polars_blocks.layouts_of_block(first, block)
        if batches is None:
            batches = batches_of(values_of_lines(lines_of_block(path, first, block, error)))
        yield from batches


def _by_layout(objects: Iterable[tuple[int, Mapping[str, object]]]) -> Iterator[Batch]:
    """Yield objects in batches with the same keys, in the order of their first rows."""
    found = list(objects)
    numbers, rows = [number for number, _ in found], [row for _, row in found]
    places: dict[tuple[str, ...], list[int]] = {}
    for place, keys in enumerate(map(tuple, rows)):
        places.setdefault(keys, []).append(place)
    for keys, own in places.items():
        chosen = rows if len(places) == 1 else [rows[place] for place in own]
        yield Batch(keys, [numbers[place] for place in own], partial(_values, keys, chosen))


def _values(header: Sequence[str], objects: Sequence[Mapping[str, object]], index: int) -> Column:
    return Column([row.get(header[index]) for row in objects])


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
    found = objects_among(enumerate(objects, start=1), numbering, error, what, on_broken)
    return Table([], numbering, lambda *_: _by_layout(found))
