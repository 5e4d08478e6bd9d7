"""Tables with one row per judgment: ``query_id,doc_id,relevance``, in CSV, TSV, Parquet or Arrow.

The separator of a CSV file (comma, tab, semicolon or bar) is detected from the header. Other usual
column names are recognised (``qid``, ``docno``, ``query-id``, ``corpus-id``, ``label``, ``rating``,
``grade``). Without a ``query_id``, the text of the query, in the column ``query``, is its id.

Parquet and Arrow need the extra ``[fast]``. Their ids may be text or whole numbers; attributes and
features keep their types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import GoldenSetError
from pytest_rankcheck.files.table_formats import TableWriter, table_formats
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.judgment_columns import may_have_judgments

if TYPE_CHECKING:
    from pytest_rankcheck.files.tables import TableKind

__all__ = ["FORMATS"]


def read(source: Source, kind: TableKind) -> Contents:
    """Read a table."""
    from pytest_rankcheck.files.tables import read_table
    from pytest_rankcheck.golden.judgment_batches import add_table

    contents = Contents(source)
    add_table(contents, read_table(source.file, GoldenSetError, kind=kind))
    return contents


def rows(contents: Contents) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
    """Return a golden set as a table."""
    from pytest_rankcheck.golden.contents_table import table_of_contents

    return table_of_contents(contents)


FORMATS = table_formats(
    read,
    may_have_judgments,
    columns="query_id,query,doc_id,relevance",
    writer=TableWriter(rows, GoldenSetError),
)
