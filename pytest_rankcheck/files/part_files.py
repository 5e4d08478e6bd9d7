"""Folders of parts, as clusters write them: the files of one table, possibly partitioned.

Files and folders whose names begin with ``_`` or ``.`` are not parts: Spark, Hadoop and others use
them for their own records. A folder named ``key=value`` (Hive) adds a column to all rows below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, takewhile
from pathlib import Path
from urllib.parse import unquote

from pytest_rankcheck.errors import RankcheckError, listed, quoted
from pytest_rankcheck.files.file_patterns import is_pattern, matching_paths, natural_order
from pytest_rankcheck.files.packed_files import failures_named, size_of
from pytest_rankcheck.files.table_batches import Batch, JoinedNumbering, Table
from pytest_rankcheck.files.table_columns import Column

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
    roots = [path] if path.is_dir() else matching_paths(path)
    if not roots:
        raise error(f"no file matches '{quoted(path, 300)}'; correct the pattern, or give a folder")
    is_folder = path.is_dir()
    named = takewhile(lambda part: is_folder or set("*?[").isdisjoint(part), path.parts)
    base, files = Path(*named), dict[Path, None]()
    # "**" matches a folder and also its contents.
    for entry in chain.from_iterable([root, *root.rglob("*")] for root in roots):
        names = entry.relative_to(base).parts
        if _UNFINISHED in names:
            raise error(
                f"{base.joinpath(*names[: names.index(_UNFINISHED)])}: the job that writes it has "
                f"not finished: {_UNFINISHED} still exists; wait for the job, or run it again"
            )
        if not any(name.startswith(_NOT_PARTS) for name in names) and not entry.is_dir():
            files[entry] = None
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
    return sorted(files, key=natural_order)


def partition_columns(path: Path, root: Path | None = None) -> dict[str, str]:
    """Return the columns that a file's folders add to it: ``{"date": "2026-11-21"}``.

    Args:
        path: the file.
        root: only folders below this one count; None: all folders of the path.
    """
    folders = (path if root is None else path.relative_to(root)).parent.parts
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    return {unquote(key): "" if value == _NO_VALUE else unquote(value) for key, _, value in pairs}


def with_columns(table: Table, columns: Mapping[str, str]) -> Table:
    """Return a table with added columns that have the same text in every row.

    A column that the table already has is kept.
    """

    def column(batch: Batch, own: int, texts: Sequence[str], index: int) -> Column:
        if index < own:
            return batch.column(index)
        return Column([texts[index - own]] * len(batch))

    def read(wanted: Sequence[int], rows: int) -> Iterator[Batch]:
        for batch in table.batches([at for at in wanted if at < len(table.header)], rows):
            known = table.header or batch.header  # JSON lines by layout have no common header
            added = lacking(known)
            texts = [columns[name] for name in added]
            cells = partial(column, batch, len(known), texts)
            yield Batch([*known, *added], batch.numbers, cells)

    def lacking(header: Sequence[str]) -> list[str]:
        return [name for name in columns if name not in header]

    return Table([*table.header, *lacking(table.header)], table.numbering, read)


def joined_tables(tables: Sequence[tuple[Path, Table]], error: type[RankcheckError]) -> Table:
    """Return the rows of several files as one table.

    Raises:
        error: two files have different columns.
    """
    first, model = tables[0]
    for path, table in tables[1:]:
        if table.header != model.header:
            raise error(
                f"the parts {first} and {path} have different columns: "
                f"{listed(model.header, 10)}; {listed(table.header, 10)}. Write all parts with the "
                "same columns, in the same order"
            )
    numbering = JoinedNumbering(str(first.parent), model.numbering.is_table)

    def read(wanted: Sequence[int], rows: int) -> Iterator[Batch]:
        before = 0
        numbering.parts.clear()
        numbering.empty.clear()
        for _, table in tables:
            numbering.parts.append((before, table.numbering))
            last = 0
            for batch in table.batches(wanted, rows):
                last = max([last, *batch.numbers[-1:]])
                yield replace(batch, numbers=_shifted(batch.numbers, before))
            if not last:
                numbering.empty.append(table.numbering.source)
            before += last

    return Table(list(model.header), numbering, read)


def _shifted(numbers: Sequence[int], by: int) -> Sequence[int]:
    if isinstance(numbers, range):
        return range(numbers.start + by, numbers.stop + by)
    return [number + by for number in numbers]
