"""One reader of tables for golden sets, runs and session logs, and the formats of their files.

A table is a file (separated text, JSON lines or an array, Parquet, packed or not) or a
frame (pandas, polars or Arrow). Its rows come in batches of columns, and a column is read by its
role: as ids, as numbers, or as plain cells. All sources with the same content give equal columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.delimited_tables import DelimitedTable, table_of, table_text
from pytest_rankcheck.files.file_patterns import are_parts, files_of_parts
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.frame_tables import (
    failures_of_library,
    frames_of_scan,
    is_parquet,
    parquet_of,
    require_library,
    scan_of,
    table_of_frame,
)
from pytest_rankcheck.files.json_files import table_of_json, table_of_rows
from pytest_rankcheck.files.packed_files import first_bytes, polars_should_read
from pytest_rankcheck.files.table_batches import Batch, Table, batches_of_rows
from pytest_rankcheck.files.text_files import Numbering, OnBroken
from pytest_rankcheck.files.whole_files import write_whole

TableKind = Literal["delimited", "JSON", "Parquet"]

_KEYED_BYTES = 1 << 16
_KEY = re.compile(r'"([^"\\]+)"\s*:|(?:^[\s-]*|[{,]\s*)([\w-]+):(?:\s|$)', re.MULTILINE)
"""A key of JSON or YAML."""


def read_table(
    source: object,
    error: type[RankcheckError],
    *,
    name: str = "the table",
    kind: TableKind | None = None,
    on_broken: OnBroken | None = None,
    columns: Collection[str] | None = None,
) -> Table:
    """Read a table.

    Args:
        source: a path; or a DataFrame of pandas, a DataFrame or LazyFrame of polars, or a Table,
            RecordBatch or RecordBatchReader of pyarrow.
        error: the exception type to raise.
        name: what messages call a frame.
        kind: the kind of a file; without it, the content decides.
        on_broken: called for each broken line of a text file with its number, the kind of problem
            (``"broken row"``, ``"not JSON"``, ``"no object"``) and a description; the line is then
            skipped. Without it, such a line is an error.
        columns: the wanted names, which may be dotted. JSON is then read whole and has one header.

    Raises:
        error: the file is missing, empty, damaged or of another kind, or needs a library that is
            not installed.
    """
    if not isinstance(source, Path):
        return table_of_frame(source, error, name)
    kind = kind or kind_of_table(source, error)
    if kind == "JSON" and columns is not None:
        return table_of_rows(source, error, columns)
    if kind == "JSON":
        return table_of_json(source, error, on_broken)
    if kind == "delimited":
        return _table_of_text(source, table_of(source, error, on_broken=on_broken), error)
    return _table_of_parquet(source, error)


def column_names(path: Path) -> list[str]:
    """Return the columns of a table, or of its parts, and the first keys of JSON or YAML."""
    with suppress(RankcheckError):
        file = files_of_parts(path, RankcheckError)[0] if are_parts(path) else path
        start = first_bytes(file, _KEYED_BYTES, RankcheckError).decode(errors="replace")
        keys = map("".join, _KEY.findall(start))
        return [*keys, *read_table(file, RankcheckError).header]
    return []


def kind_of_table(path: Path, error: type[RankcheckError]) -> TableKind:
    """Return the kind of a file by its content; text is separated text or JSON."""
    sample = FileSample(path, error)
    if is_parquet(sample.start):
        return "Parquet"
    return "JSON" if sample.is_json else "delimited"


def _table_of_text(path: Path, text: DelimitedTable, error: type[RankcheckError]) -> Table:
    def read(*_: object) -> Iterator[Batch]:
        if not text.body or not polars_should_read(path):
            return batches_of_rows(text.header, text.rows)
        from pytest_rankcheck.files.polars_columns import batches_of_blocks

        return batches_of_blocks(path, text, error)

    return Table(text.header, Numbering(str(path)), read)


def _table_of_parquet(path: Path, error: type[RankcheckError]) -> Table:
    scan, columns = scan_of(path, error)
    from pytest_rankcheck.files.polars_columns import batches_of_frames

    header = columns.names()

    def read(wanted: Sequence[int], rows: int) -> Iterator[Batch]:
        frames = frames_of_scan(scan.select([header[index] for index in wanted]), rows, path, error)
        return batches_of_frames(frames, header, wanted, rows)

    return Table(header, Numbering(str(path), is_table=True), read)


# --- formats of files -----------------------------------------------------------------------------

T = TypeVar("T")
Rows = Callable[[Any], tuple[Sequence[str], Sequence[Sequence[object]]]]
"""Returns the column names and the rows to write."""


def table_formats(
    read: Callable[..., T],
    has_columns: Callable[[Sequence[str]], bool],
    *,
    columns: str,
    error: type[RankcheckError],
    rows: Rows,
) -> tuple[Format[T], ...]:
    """Return the formats of a table: CSV, TSV and Parquet.

    Args:
        read: reads a table of the given ``kind=``.
        has_columns: whether a header of normalised names is that of such a table.
        columns: an example of the header, such as "query_id,doc_id,score".
        error: the exception type to raise while writing.
        rows: the content as a table, for writing.
    """

    def text_format(name: str, delimiter: str, description: str) -> Format[T]:
        return Format(
            name=name,
            description=description,
            recognises=lambda sample: (
                has_columns(sample.header) and ("\t" in sample.line) == (delimiter == "\t")
            ),
            read=partial(read, kind="delimited"),
            write=partial(_write_text, rows, error, delimiter),
            endings=(f".{name}",),
            cannot_hold=("expected texts", "expectations", "lists"),
            is_vague=True,
        )

    header = f"comma-separated with a header such as {columns}; map other names with columns=..."
    return (
        text_format("csv", ",", header),
        text_format("tsv", "\t", "the same, tab-separated"),
        Format(
            name="parquet",
            description="Parquet with the same columns",
            recognises=lambda sample: is_parquet(sample.start),
            read=partial(read, kind="Parquet"),
            write=partial(_write_parquet, rows, error),
            endings=(".parquet", ".pq"),
            cannot_hold=("expected texts", "expectations"),
            is_first=True,
        ),
    )


def _write_text(
    rows: Rows, error: type[RankcheckError], delimiter: str, content: object, path: Path
) -> None:
    write_whole(path, table_text(*rows(content), error, delimiter))


def _write_parquet(rows: Rows, error: type[RankcheckError], content: object, path: Path) -> None:
    require_library(path, error)
    hint = "give each attribute values of one type, or save as jsonl"
    with failures_of_library(str(path), error, f"cannot be written as a table; {hint}"):
        data = parquet_of(*rows(content))
    write_whole(path, data)
