"""JSON: a whole file, one object on each line, or one array; and objects as the rows of a table.

Nothing in it is dropped silently. The columns of a table are the keys of its objects.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.delimited_tables import DOC_ID, normalised_name
from pytest_rankcheck.files.packed_files import failures_named, polars_should_read
from pytest_rankcheck.files.table_batches import Batch, Column, Table
from pytest_rankcheck.files.text_files import (
    Numbering,
    OnBroken,
    blocks_of_lines,
    first_line,
    is_whole_json,
    lines_of_block,
    numbered_lines,
    text_of,
)

Values = Iterable[tuple[int, object]]
"""Values with their numbers: of their lines, or from 1."""


class _RefusedError(ValueError):
    """JSON that Python would read, but that loses a value or has a number that is not finite."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        for key, value in pairs:
            if value != values[key]:
                raise _RefusedError(
                    f"duplicate key '{quoted(key)}', with the values {quoted(value)} and "
                    f"{quoted(values[key])}; keep one of them"
                )
    return values


def _not_finite(token: str) -> NoReturn:
    raise _RefusedError(f"{token} is not a finite number")


_TOO_DEEP = "nested more than 100 deep; flatten it"
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_not_finite)
_SCAN: Callable[[str, int], tuple[object, int]] = _DECODER.scan_once  # type: ignore[attr-defined]
"""Decodes a value without the surrounding steps, which take as long."""


def read_json(path: Path, error: type[RankcheckError]) -> object:
    """Return the JSON value that a file contains.

    Raises:
        error: the file cannot be read or is not JSON, or is nested too deeply; an object has a
            duplicate key with different values; or a number is NaN, infinite or too long. The
            message names the place.
    """
    above = max(first_line(path, error)[0] - 1, 0)  # comments
    text = "\n" * above + text_of(path, error).split("\n", above)[-1]
    try:
        return json_value(text.rstrip())
    except ValueError as failure:
        line = f":{failure.lineno}" if isinstance(failure, json.JSONDecodeError) else ""
        raise error(f"{path}{line}: {_broken(failure)}") from None


def values_of(path: Path, error: type[RankcheckError]) -> tuple[Numbering, Values]:
    """Return the values in a JSON file, and how messages name them.

    These are the elements of its array (as a list), its one object, or the values of its lines.

    Raises:
        error: as in `read_json`; or while reading, as in `numbered_lines`.
    """
    number, line = first_line(path, error)
    if not is_whole_json(line):
        return Numbering(str(path)), values_of_lines(numbered_lines(path, error))
    value = read_json(path, error)
    if isinstance(value, list):
        return Numbering(str(path), is_table=True), list(enumerate(value, start=1))
    return Numbering(str(path)), [(number, value)]


def values_of_lines(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, object]]:
    """Yield the JSON value of each line, or the ValueError that says what is wrong with it.

    Blank lines and lines that begin with ``#`` are skipped.
    """
    for number, line in lines:
        if line.strip() and not line.startswith("#"):
            try:
                yield number, json_value(line.rstrip("\r\n"))
            except ValueError as failure:
                yield number, failure


def objects_among(
    values: Values,
    numbering: Numbering,
    error: type[RankcheckError],
    on_broken: OnBroken | None = None,
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield the objects among numbered values.

    Args:
        values: the values; a ValueError stands for a broken line.
        numbering: how messages name them.
        error: the exception type to raise.
        on_broken: called for each value that is not an object, which is then skipped; without it,
            such a value is an error.

    Raises:
        error: a value is not an object; the message names the place.
    """
    for number, value in values:
        if isinstance(value, Mapping):
            yield number, value
            continue
        reason, problem = "no object", f"not an object but {quoted(value, 40)}"
        if isinstance(value, ValueError):
            reason, problem = "not JSON", _broken(value)
        if on_broken is None:
            raise error(f"{numbering.place(number)}: {problem}")
        on_broken(number, reason, problem)


def objects_of(path: Path, error: type[RankcheckError]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a JSON file, as `values_of`, with their places.

    Raises:
        error: as in `values_of` and `objects_among`.
    """
    numbering, values = values_of(path, error)
    for number, entry in objects_among(values, numbering, error):
        yield numbering.place(number), dict(entry)


def queries_of(
    path: Path, error: type[RankcheckError], key: str, kinds: tuple[type, ...]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a JSON file, each of which is about a query.

    An object such as ``{"q1": {"d3": 2}, "q2": {}}`` gives one for each query: the id becomes the
    ``query_id``, and its value, if of one of these kinds, gets the ``key``.

    Raises:
        error: as in `objects_of`.
    """
    for where, entry in objects_of(path, error):
        inner = [each for each in entry.values() if isinstance(each, kinds)]
        is_other = not entry or len(inner) < len(entry) or any(map(is_nested, inner))
        if is_other or key in entry or DOC_ID.among([*map(normalised_name, entry)]):
            yield where, entry  # or the columns of a DataFrame
            continue
        for query_id, each in entry.items():
            yield f"{where}: {quoted(query_id)}", {"query_id": query_id, key: each}


def first_of(value: object) -> Mapping[str, object]:
    """Return the first of a list of objects; empty for anything else."""
    first = value[0] if isinstance(value, list) and value else None
    return first if isinstance(first, dict) else {}


def is_nested(value: object) -> bool:
    """Whether a value is an object, or a list of objects, with more than ids and grades."""
    inner = first_of(value) or value
    items = inner.values() if isinstance(inner, dict) and "id" not in inner else ()
    return any(isinstance(item, (str, list, dict)) for item in items)


def json_value(text: str) -> object:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is not JSON, or one that loses a value, or is nested more than 100 deep.
    """
    try:
        value, end = _SCAN(text, len(text) - len(text.lstrip()))
    except StopIteration:  # no value begins like this
        end = -1
    except RecursionError:
        raise _RefusedError(_TOO_DEEP) from None
    if end != len(text):
        value = _DECODER.decode(text)  # raises the error, if any
    level: list[Any] = [value] if text.count("[") + text.count("{") > 100 else []
    for _ in range(101):
        if not level:
            return value
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for each in chain.from_iterable(inner) if isinstance(each, (dict, list))]
    raise _RefusedError(_TOO_DEEP)


def _broken(failure: ValueError) -> str:
    if isinstance(failure, json.JSONDecodeError):
        return f"not JSON: {failure.msg}, column {failure.colno}; each line or file is one value"
    return str(failure) if isinstance(failure, _RefusedError) else f"not JSON: {quoted(failure)}"


# --- keys within objects: ``event_attributes.object.object_id`` -----------------------------------


def with_nested(columns: dict[str, Column], wanted: Iterable[str]) -> dict[str, Column]:
    """Return columns, including the wanted dotted names that a row has.

    A column whose own name has the dots takes precedence. An object may also be JSON text. A row
    without the name has an empty cell.
    """
    found = dict(columns)
    for name in wanted:
        for outer, path in _splits(name):
            if name not in found and outer in columns:
                cells = [value_at(cell, path) for cell in columns[outer].cells()]
                if any(cell is not None for cell in cells):
                    found[name] = Column(cells)
    return found


def with_named(entry: Mapping[str, object], wanted: Iterable[str]) -> dict[str, object]:
    """Return an object with the wanted dotted names that it contains as further keys."""
    return {**entry, **{name: got for name in wanted if (got := value_at(entry, name)) is not None}}


def value_at(cell: object, path: str) -> object:
    """Return the value of an object at a path, such as ``object.object_id``; None if missing.

    Its keys may have dots too, as in flattened logs; the longest key counts. The keys of a list are
    the places of its items, from 0.
    """
    if isinstance(cell, list):
        cell = {str(place): item for place, item in enumerate(cell)}
    inner = object_in(cell) or {}
    if path in inner:
        return inner[path]
    for key, rest in _splits(path):
        if (found := value_at(inner.get(key), rest)) is not None:
            return found
    return None


def _splits(name: str) -> list[tuple[str, str]]:
    """Return the parts before and after each dot of a name, the last dot first."""
    places = [place for place, char in enumerate(name) if char == "."]
    return [(name[:place], name[place + 1 :]) for place in reversed(places)]


def object_in(cell: object) -> Mapping[str, object] | None:
    """Return a cell that is an object, or the JSON text of one; None for anything else."""
    if isinstance(cell, str) and cell.startswith("{"):
        with suppress(ValueError):
            cell = json_value(cell)
    return cell if isinstance(cell, Mapping) else None


_BLOCK = 8 << 20


def table_of_json(path: Path, error: type[RankcheckError], on_broken: OnBroken | None) -> Table:
    """Return the objects of a JSON file as a table without a header; its batches have one.

    Where polars is installed, it reads large files of JSON lines.

    Args:
        path: the file.
        error: the exception type to raise.
        on_broken: as in `objects_among`.
    """
    numbering, values = values_of(path, error)

    def batches_of(values: Values) -> Iterator[Batch]:
        return _by_layout(objects_among(values, numbering, error, on_broken))

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
            from pytest_rankcheck.files import polars_columns

            batches = polars_columns.layouts_of_block(first, block)
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
    on_broken: OnBroken | None = None,
) -> Table:
    """Return objects that are in memory as a table with a row for each, numbered from 1.

    Raises:
        error: an element is not an object; see `objects_among`.
    """
    found = objects_among(enumerate(objects, start=1), numbering, error, on_broken)
    return Table([], numbering, lambda *_: _by_layout(found))
