"""One reader of tables for golden sets, runs and session logs.

A table is a file (separated text, JSON lines or an array, Parquet or Arrow, packed or not) or a
frame (pandas, polars or Arrow). Its rows come in batches of columns, and a column is read by its
role: as ids, as numbers, or as plain cells. All sources with the same content give equal columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.delimited_rows import table_of
from pytest_rankcheck.files.frame_tables import table_of_frame
from pytest_rankcheck.files.large_files import polars_should_read
from pytest_rankcheck.files.packed_files import first_bytes
from pytest_rankcheck.files.parquet_files import is_arrow, is_parquet, scan_of
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.files.table_batches import Batch, Table, batches_of_rows
from pytest_rankcheck.files.text_files import begins_object, lines_of

if TYPE_CHECKING:
    from pytest_rankcheck.files.json_rows import OnBroken

__all__ = ["TableKind", "read_table"]

TableKind = Literal["delimited", "json lines", "json array", "Parquet", "Arrow"]

_START_BYTES = 16


def read_table(
    source: object,
    error: type[RankcheckError],
    *,
    name: str = "the table",
    kind: TableKind | None = None,
    lone_first: bool = False,
    by_layout: bool = False,
    on_broken: OnBroken | None = None,
) -> Table:
    """Read a table.

    Args:
        source: a path; or a DataFrame of pandas, a DataFrame or LazyFrame of polars, or a Table,
            RecordBatch or RecordBatchReader of pyarrow.
        error: the exception type to raise.
        name: what messages call a frame, or the rows of a file: "judgments", "log".
        kind: the kind of a file; without it, the content decides (an array must be named).
        lone_first: whether a row of a delimited file may consist of the first column alone.
        by_layout: whether the rows of JSON lines come in batches with the same keys, instead of in
            the order of the file.
        on_broken: called for each broken line of a text file with its number, the kind of problem
            (``"broken row"``, ``"not JSON"``, ``"no object"``) and a description; the line is then
            skipped. Without it, such a line is an error.

    Raises:
        error: the file is missing, empty, damaged or of another kind, or needs a library that is
            not installed.
    """
    if not isinstance(source, Path):
        return table_of_frame(source, error, name)
    kind = kind or _kind_of(source, error)
    if kind == "json lines":
        return _table_of_objects(source, error, name, by_layout, on_broken)
    if kind == "json array":
        return _table_of_array(source, error, name, on_broken)
    if kind == "delimited":
        return _table_of_lines(source, error, lone_first, on_broken)
    return _table_of_file(source, error, kind)


def _kind_of(path: Path, error: type[RankcheckError]) -> TableKind:
    start = first_bytes(path, _START_BYTES, error)
    if is_parquet(start):
        return "Parquet"
    if is_arrow(start):
        return "Arrow"
    for _, line in lines_of(path, error):
        if not line.startswith("#"):
            return "json lines" if begins_object(line) else "delimited"
    return "delimited"


def _table_of_lines(
    path: Path, error: type[RankcheckError], lone_first: bool, on_broken: OnBroken | None
) -> Table:
    def note(number: int, problem: str) -> None:
        assert on_broken is not None
        on_broken(number, "broken row", problem)

    table = table_of(path, error, lone_first=lone_first, on_broken=note if on_broken else None)
    is_plain = len(table.header) > 1 and table.delimiter.isascii() and not table.is_spaced

    def read(*_: object) -> Iterator[Batch]:
        if not (is_plain and polars_should_read(path)):
            return batches_of_rows(table.header, table.rows)
        from pytest_rankcheck.files.delimited_blocks import Blocks

        return Blocks(path, table, error).batches()

    return Table(table.header, Numbering(str(path)), read)


def _table_of_objects(
    path: Path,
    error: type[RankcheckError],
    name: str,
    by_layout: bool,
    on_broken: OnBroken | None,
) -> Table:
    from pytest_rankcheck.files.json_rows import (
        add_keys,
        batches_by_layout,
        batches_of_chunks,
        json_chunks,
    )

    chunks = json_chunks(path, error, what=name.removeprefix("the "), on_broken=on_broken)
    header: list[str] = []
    first = next(chunks, None)
    if first is not None:
        add_keys(header, first[1])
        chunks = chain([first], chunks)

    def read(*_: object) -> Iterator[Batch]:
        return batches_by_layout(chunks) if by_layout else batches_of_chunks(chunks, list(header))

    return Table(header, Numbering(str(path)), read)


def _table_of_array(
    path: Path, error: type[RankcheckError], name: str, on_broken: OnBroken | None
) -> Table:
    from pytest_rankcheck.files.json_arrays import elements_of_array
    from pytest_rankcheck.files.json_rows import table_of_objects

    elements, lines = elements_of_array(path, error)
    numbering = Numbering(str(path), lines=lines)
    what = name.removeprefix("the ")
    return table_of_objects(elements, numbering, error, what=what, on_broken=on_broken)


def _table_of_file(path: Path, error: type[RankcheckError], kind: TableKind) -> Table:
    scan, columns = scan_of(path, error, kind)
    from pytest_rankcheck.files.polars_batches import batches_of_scan

    header = columns.names()

    def read(wanted: Sequence[int], rows: int) -> Iterator[Batch]:
        return batches_of_scan(scan, header, wanted, rows, where=str(path), error=error)

    return Table(header, Numbering(str(path), is_table=True), read)
