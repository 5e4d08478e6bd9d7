"""Folders of parts, as clusters write them: the files of one table, possibly partitioned.

Files and folders whose names begin with ``_`` or ``.`` are not parts: Spark, Hadoop and others use
them for their own records. A folder named ``key=value`` (Hive) adds a column to all rows below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from pytest_rankcheck.errors import RankcheckError, listed, quoted
from pytest_rankcheck.files.file_patterns import is_pattern, matching_paths
from pytest_rankcheck.files.packed_files import failures_named
from pytest_rankcheck.files.regular_files import size_of
from pytest_rankcheck.files.row_numbering import JoinedNumbering
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.table_columns import CellColumn, Column

__all__ = ["are_parts", "files_of_parts", "joined_tables", "partition_columns", "with_columns"]

_NOT_PARTS = ("_", ".")
_UNFINISHED = "_temporary"
"""The folder that Hadoop and Spark keep until a job has written all its parts."""
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def are_parts(path: Path) -> bool:
    """Whether a path is a folder, or a pattern such as ``runs/part-*.parquet``."""
    try:
        return path.is_dir() or is_pattern(path)
    except (OSError, ValueError):  # an invalid name is reported when the file is opened
        return False


def files_of_parts(path: Path, error: type[RankcheckError]) -> list[Path]:
    """Return the parts in a folder and its subfolders, or those that match a pattern.

    A pattern may match files and folders; all parts in a matching folder are included.

    Raises:
        error: there are no parts, one is empty, or the job that writes them has not finished.
    """
    roots = [path] if path.is_dir() else _matches(path, error)
    # "**" matches a folder and also its contents.
    files = list(dict.fromkeys(file for root in roots for file in _below(root, error)))
    if not files:
        raise error(
            f"{path} has no parts; files and folders whose names begin with _ or . do not count"
        )
    for file in files:
        with failures_named(file, error):
            if not size_of(file):
                raise error(
                    f"{file} is empty: was it written to the end? Write it again, or delete it if "
                    "it has no rows"
                )
    return files


def _matches(pattern: Path, error: type[RankcheckError]) -> list[Path]:
    """Return the files and folders that match a pattern, without those that are not parts."""
    fixed = next(place for place, name in enumerate(pattern.parts) if set("*?[") & set(name))
    found = []
    for path in matching_paths(pattern):
        names = path.parts[fixed:]
        if _UNFINISHED in names:
            raise _unfinished(Path(*path.parts[: fixed + names.index(_UNFINISHED)]), error)
        if not any(name.startswith(_NOT_PARTS) for name in names):
            found.append(path)
    if not found:
        raise error(
            f"no file matches '{quoted(pattern, 300)}'; correct the pattern, or give a folder"
        )
    return found


def _below(root: Path, error: type[RankcheckError]) -> Iterator[Path]:
    """Yield the parts in a folder, in the order of their names; for a file, the file."""
    if not root.is_dir():
        yield root
        return
    for entry in sorted(root.iterdir()):
        if entry.name == _UNFINISHED:
            raise _unfinished(root, error)
        if not entry.name.startswith(_NOT_PARTS):
            yield from _below(entry, error)


def _unfinished(root: Path, error: type[RankcheckError]) -> RankcheckError:
    return error(
        f"{root}: the job that writes it has not finished: {_UNFINISHED} still exists; wait for "
        "the job, or run it again"
    )


def partition_columns(path: Path, root: Path | None = None) -> dict[str, str]:
    """Return the columns that a file's folders add to it: ``{"date": "2026-11-21"}``.

    Args:
        path: the file.
        root: only folders below this one count; None: all folders of the path.
    """
    folders = (path if root is None else path.relative_to(root)).parent.parts
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    return {unquote(key): "" if value == _NO_VALUE else unquote(value) for key, _, value in pairs}


def with_columns(
    table: Table, columns: Mapping[str, str], error: type[RankcheckError] | None = None
) -> Table:
    """Return a table with added columns that have the same text in every row.

    A column that the table already has is kept.

    Args:
        table: the table.
        columns: the text of each column.
        error: the error to raise when a column is read that the table already has with another
            value; None: the table's own value counts.
    """
    added = {name: text for name, text in columns.items() if name not in table.header}
    checked = partial(_checked, table, columns, error) if error else None
    read = partial(_read_more, table, added, checked)
    return Table([*table.header, *added], table.numbering, read)


def _checked(
    table: Table,
    columns: Mapping[str, str],
    error: type[RankcheckError],
    batch: Batch,
    index: int,
) -> None:
    """Check that a file's own column has the value in its folder's name."""
    name = batch.header[index]
    if name not in columns:
        return
    coded = batch.column(index).coded()
    for code, value in enumerate(coded.values):
        rows = np.flatnonzero(coded.codes == code)
        if len(rows) and not _is_same(value, columns[name]):
            raise error(
                f"{table.numbering.place(batch.numbers[int(rows[0])])}: {name} is "
                f"'{quoted(value, 40)}', but its folder is {name}={quoted(columns[name], 40)}; "
                "move the file, or remove the column or the folder"
            )


def _is_same(value: object, text: str) -> bool:
    if value is None or str(value) == text:
        return value is not None or not text
    if isinstance(value, float):
        with suppress(ValueError):
            return value == float(text)
    return False


def _read_more(
    table: Table,
    added: Mapping[str, str],
    check: Callable[[Batch, int], None] | None,
    wanted: Sequence[int],
    rows: int,
) -> Iterator[Batch]:
    own = len(table.header)
    of_table = [index for index in wanted if index < own]
    for batch in table.batches(of_table, rows):
        if check is not None:
            for index in of_table:
                check(batch, index)
        missing = {name: text for name, text in added.items() if name not in batch.header}
        header = [*batch.header, *missing]
        yield replace(batch, header=header, column=partial(_column, batch, list(missing.values())))


def _column(batch: Batch, texts: Sequence[str], index: int) -> Column:
    own = len(batch.header)
    return batch.column(index) if index < own else CellColumn([texts[index - own]] * len(batch))


def joined_tables(tables: Sequence[tuple[Path, Table]], error: type[RankcheckError]) -> Table:
    """Return the rows of several files as one table.

    Raises:
        error: two files have different columns.
    """
    first, model = tables[0]
    for path, table in tables[1:]:
        if set(table.header) != set(model.header):
            only = [
                f"only {file} has {listed(sorted(set(own.header) - set(other.header)))}"
                for file, own, other in ((first, model, table), (path, table, model))
                if set(own.header) - set(other.header)
            ]
            raise error(
                f"the parts {first} and {path} have different columns: {', and '.join(only)}; "
                "write all parts with the same columns"
            )
    numbering = JoinedNumbering(str(first.parent), model.numbering.is_table)
    read = partial(_read_all, [table for _, table in tables], model.header, numbering)
    return Table(list(model.header), numbering, read)


def _read_all(
    tables: Sequence[Table],
    header: Sequence[str],
    numbering: JoinedNumbering,
    wanted: Sequence[int],
    rows: int,
) -> Iterator[Batch]:
    before = 0
    numbering.parts.clear()
    numbering.empty.clear()
    for table in tables:
        places = {index: table.header.index(header[index]) for index in wanted}
        numbering.parts.append((before, table.numbering))
        last = 0
        for batch in table.batches(sorted(places.values()), rows):
            numbers = batch.numbers
            if len(numbers):
                last = max(last, numbers[-1])
            shifted = (
                range(numbers.start + before, numbers.stop + before)
                if isinstance(numbers, range)
                else [number + before for number in numbers]
            )
            column = partial(_column_of, batch, places)
            yield Batch(list(header), shifted, column)
        if not last:
            numbering.empty.append(table.numbering.source)
        before += last


def _column_of(batch: Batch, places: Mapping[int, int], index: int) -> Column:
    return batch.column(places[index])
