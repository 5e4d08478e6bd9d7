"""The formats of tables, which golden sets, runs and session logs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.delimited_tables import table_text
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.parquet_files import is_arrow, is_parquet, require_polars, write_table
from pytest_rankcheck.files.whole_files import write_whole

if TYPE_CHECKING:
    from pytest_rankcheck.files.tables import TableKind

__all__ = ["TABLE_KINDS", "TableWriter", "table_formats"]

TABLE_KINDS: Mapping[str, TableKind] = {
    "csv": "delimited",
    "tsv": "delimited",
    "parquet": "Parquet",
    "arrow": "Arrow",
}
"""The kind of table that each of these formats holds."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TableWriter:
    """Writes content as a table."""

    rows: Callable[[Any], tuple[Sequence[str], Sequence[Sequence[object]]]]
    """Returns the column names and the rows."""
    error: type[RankcheckError]
    """The exception type to raise."""

    def as_text(self, content: object, path: Path, *, delimiter: str) -> None:
        """Write separated text.

        Raises:
            error: a text is too long for a cell, or cannot be encoded.
        """
        write_whole(path, table_text(*self.rows(content), self.error, delimiter))

    def as_parquet(self, content: object, path: Path) -> None:
        """Write a Parquet file.

        Raises:
            error: polars is not installed, a text cannot be encoded, or a column has values of
                several types.
        """
        require_polars(path, self.error)
        import polars as pl

        header, rows = self.rows(content)
        try:
            table = pl.DataFrame(rows, schema=header, orient="row", infer_schema_length=None)
        except UnicodeEncodeError:
            raise self.error("a text cannot be written as UTF-8; save as jsonl") from None
        except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as failure:
            raise self.error(
                f"the set cannot be written as a table: {quoted(failure, 300)}; give each "
                "attribute values of one type, or save as jsonl"
            ) from None
        write_table(table, path)


def table_formats(
    read: Callable[..., T],
    has_columns: Callable[[Sequence[str]], bool],
    *,
    columns: str,
    writer: TableWriter | None = None,
) -> tuple[Format[T], ...]:
    """Return the formats of a table: CSV, TSV, Parquet and Arrow.

    Args:
        read: reads a table of the given ``kind=``.
        has_columns: whether a header of normalised names is that of such a table.
        columns: an example of the header, such as "query_id,doc_id,score".
        writer: writes such tables; None if they are only read.
    """

    def is_text(sample: FileSample, delimiter: str) -> bool:
        return has_columns(sample.header) and ("\t" in sample.line) == (delimiter == "\t")

    def text_format(name: str, delimiter: str, description: str) -> Format[T]:
        return Format(
            name=name,
            description=description,
            recognises=partial(is_text, delimiter=delimiter),
            read=partial(read, kind="delimited"),
            write=partial(writer.as_text, delimiter=delimiter) if writer else None,
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
            write=writer.as_parquet if writer else None,
            endings=(".parquet", ".pq"),
            cannot_hold=("expectations",),
            is_binary=True,
        ),
        Format(
            name="arrow",
            description="an Arrow file (Feather) with the same columns",
            recognises=lambda sample: is_arrow(sample.start),
            read=partial(read, kind="Arrow"),
            is_binary=True,
        ),
    )
