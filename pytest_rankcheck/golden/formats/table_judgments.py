"""Tables with one row per judgment: ``query_id,doc_id,relevance``, in CSV, TSV, Parquet or Arrow.

The separator of a CSV file (comma, tab, semicolon or bar) is detected from the header. Other usual
column names are recognised (``qid``, ``docno``, ``query-id``, ``corpus-id``, ``label``, ``rating``,
``grade``). Without a ``query_id``, the text of the query, in the column ``query``, is its id.

Parquet and Arrow need the extra ``[fast]``. Their ids may be text or whole numbers; attributes and
features keep their types.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.delimited_tables import table_text
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.parquet_files import is_arrow, is_parquet, require_polars, write_table
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.judgment_columns import may_have_judgments

if TYPE_CHECKING:
    from pytest_rankcheck.files.tables import TableKind

__all__ = ["FORMATS"]


def read(source: Source, kind: TableKind | None = None) -> Contents:
    """Read a table.

    Raises:
        GoldenSetError: polars is needed and not installed, the file is damaged, a column is
            missing, or a row is malformed or contradicts another; the message names the line or
            row.
    """
    from pytest_rankcheck.files.tables import read_table
    from pytest_rankcheck.golden.judgment_table import add_table

    contents = Contents(source)
    add_table(contents, read_table(source.file, GoldenSetError, kind=kind))
    return contents


def write_text(contents: Contents, path: Path, *, delimiter: str) -> None:
    """Write a table as text.

    Raises:
        GoldenSetError: an attribute has the name of a column, or an id cannot be encoded.
    """
    from pytest_rankcheck.golden.contents_table import table_of_contents

    header, rows = table_of_contents(contents)
    write_whole(path, table_text(header, rows, GoldenSetError, delimiter))


def write_parquet(contents: Contents, path: Path) -> None:
    """Write a table as Parquet.

    Raises:
        GoldenSetError: polars is not installed, or an attribute has the name of a column or values
            of several types.
    """
    require_polars(path, GoldenSetError)
    import polars as pl

    from pytest_rankcheck.golden.contents_table import table_of_contents

    header, rows = table_of_contents(contents)
    try:
        table = pl.DataFrame(rows, schema=header, orient="row", infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as failure:
        raise GoldenSetError(
            f"the set cannot be written as a table: {quoted(failure, 300)}; give each attribute "
            "values of one type, or save as jsonl"
        ) from None
    write_table(table, path)


def _is_text(sample: FileSample, delimiter: str) -> bool:
    return may_have_judgments(sample.header) and ("\t" in sample.line) == (delimiter == "\t")


def _text_format(name: str, delimiter: str, description: str) -> Format[Contents]:
    return Format(
        name=name,
        description=description,
        recognises=partial(_is_text, delimiter=delimiter),
        read=partial(read, kind="delimited"),
        write=partial(write_text, delimiter=delimiter),
        endings=(f".{name}",),
        cannot_hold=("expectations", "lists"),
        is_vague=True,
    )


FORMATS = (
    _text_format(
        "csv",
        ",",
        "comma-separated with a header such as query_id,query,doc_id,relevance; other names are "
        "mapped with columns=... (rankcheck_columns)",
    ),
    _text_format("tsv", "\t", "the same, tab-separated"),
    Format(
        name="parquet",
        description="Parquet with the columns query_id, doc_id and relevance",
        recognises=lambda sample: is_parquet(sample.start),
        read=read,
        write=write_parquet,
        endings=(".parquet", ".pq"),
        cannot_hold=("expectations",),
        is_binary=True,
    ),
    Format(
        name="arrow",
        description="Arrow IPC or Feather with the same columns",
        recognises=lambda sample: is_arrow(sample.start),
        read=read,
        is_binary=True,
    ),
)
