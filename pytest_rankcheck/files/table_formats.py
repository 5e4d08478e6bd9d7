"""The formats of tables, which golden sets, runs and session logs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.delimited_tables import table_text
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.parquet_files import (
    is_arrow,
    is_parquet,
    library_errors,
    parquet_of,
    require_library,
)
from pytest_rankcheck.files.whole_files import write_whole

if TYPE_CHECKING:
    from pytest_rankcheck.files.tables import TableKind


TABLE_KINDS: Mapping[str, TableKind] = {
    "csv": "delimited",
    "tsv": "delimited",
    "parquet": "Parquet",
    "arrow": "Arrow",
}
"""The kind of table in each of these formats."""

T = TypeVar("T")
Rows = Callable[[Any], tuple[Sequence[str], Sequence[Sequence[object]]]]
"""Returns the column names and the rows to write."""


def table_formats(
    read: Callable[..., T],
    has_columns: Callable[[Sequence[str]], bool],
    *,
    columns: str,
    error: type[RankcheckError],
    rows: Rows | None = None,
) -> tuple[Format[T], ...]:
    """Return the formats of a table: CSV, TSV, Parquet and Arrow.

    Args:
        read: reads a table of the given ``kind=``.
        has_columns: whether a header of normalised names is that of such a table.
        columns: an example of the header, such as "query_id,doc_id,score".
        error: the exception type to raise while writing.
        rows: the content as a table; None if such tables are only read.
    """

    def text_format(name: str, delimiter: str, description: str) -> Format[T]:
        return Format(
            name=name,
            description=description,
            recognises=lambda sample: (
                has_columns(sample.header) and ("\t" in sample.line) == (delimiter == "\t")
            ),
            read=partial(read, kind="delimited"),
            write=partial(_write_text, rows, error, delimiter) if rows else None,
            endings=(f".{name}",),
            cannot_hold=("expectations", "lists"),
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
            write=partial(_write_parquet, rows, error) if rows else None,
            endings=(".parquet", ".pq"),
            cannot_hold=("expectations",),
            is_first=True,
        ),
        Format(
            name="arrow",
            description="an Arrow file (Feather) with the same columns",
            recognises=lambda sample: is_arrow(sample.start),
            read=partial(read, kind="Arrow"),
            is_first=True,
        ),
    )


def _write_text(
    rows: Rows, error: type[RankcheckError], delimiter: str, content: object, path: Path
) -> None:
    write_whole(path, table_text(*rows(content), error, delimiter))


def _write_parquet(rows: Rows, error: type[RankcheckError], content: object, path: Path) -> None:
    require_library(path, error)
    header, cells = rows(content)
    try:
        data = parquet_of(header, cells)
    except UnicodeEncodeError:
        raise error("a text cannot be written as UTF-8; save as jsonl") from None
    except library_errors() as failure:
        raise error(
            f"the set cannot be written as a table: {quoted(failure, 300)}; give each "
            "attribute values of one type, or save as jsonl"
        ) from None
    write_whole(path, data)
