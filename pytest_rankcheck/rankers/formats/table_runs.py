"""Tables with a column for the query, the document, and the score or the rank.

The highest ``score`` is best; in a query without scores, the lowest ``rank``. Other usual column
names are recognised (``qid``, ``docno``, ``position``), and other columns are ignored. In text
files, the separator (comma, tab, semicolon or bar) is detected from the header. Parquet and Arrow
files need polars (the extra ``[fast]``).
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.table_formats import TableWriter, table_formats
from pytest_rankcheck.files.tables import TableKind
from pytest_rankcheck.rankers.ranked_columns import RankedColumns, RunSource
from pytest_rankcheck.rankers.ranking_rows import Rankings, ranked_rows
from pytest_rankcheck.rankers.run_columns import may_have_ranking
from pytest_rankcheck.rankers.run_tables import columns_of_table

__all__ = ["FORMATS"]


def read(source: RunSource, *, kind: TableKind, together: bool = False) -> Iterator[RankedColumns]:
    """Yield the rankings of a run.

    Raises:
        RunError: a column is missing; a row lacks an id or a finite number (the message names file
            and line or row); scores are missing, and the ranks of a query are incomplete; or polars
            is needed and not installed.
    """
    return columns_of_table(source.path, source.columns, source.rules, kind=kind, together=together)


def rows(rankings: Rankings) -> tuple[list[str], list[tuple[str, str, int, float]]]:
    """Return a run as a table, with ranks and with scores that give the same order."""
    return ["query_id", "doc_id", "rank", "score"], list(ranked_rows(rankings))


FORMATS = table_formats(
    read,
    may_have_ranking,
    columns="query_id,doc_id,score (or rank)",
    writer=TableWriter(rows, RunError),
)
