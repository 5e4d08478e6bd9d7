"""Tables with a column for the query, the document, and the score or the rank.

The highest ``score`` is best; without scores, the lowest ``rank``. Other usual column
names are recognised (``qid``, ``docno``, ``position``), and other columns are ignored. In text
files, the separator (comma, tab, semicolon or bar) is detected from the header. Parquet files
need polars (the extra ``[fast]``). The files of a folder are read as one table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.table_batches import Table, joined_tables
from pytest_rankcheck.files.tables import TableKind, read_table, table_formats
from pytest_rankcheck.rankers.ranked_columns import RankedColumns
from pytest_rankcheck.rankers.ranking import COLUMNS, Rankings, ranked_rows
from pytest_rankcheck.rankers.run_tables import columns_of_table, may_have_ranking

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.run_files import RunFiles


def read(run: RunFiles, *, kind: TableKind, together: bool = False) -> Iterator[RankedColumns]:
    """Yield the rankings of a run.

    Raises:
        RunError: a column is missing; a row lacks an id or a finite number (the message names file
            and line or row); scores are missing, and the ranks of a query are incomplete; or polars
            is needed and not installed.
    """

    def opened(file: Path) -> Table:
        columns = run.columns.values()
        return read_table(file, RunError, name=str(file), kind=kind, columns=columns)

    return columns_of_files(run, opened, run.columns, together=together)


def columns_of_files(
    run: RunFiles,
    opened: Callable[[Path], Table],
    columns: Mapping[str, str],
    *,
    together: bool,
) -> Iterator[RankedColumns]:
    """Yield the rankings of files, which are opened as tables.

    Args:
        run: the files.
        opened: opens one of them.
        columns: ``{meaning: column}`` for columns with unusual names.
        together: whether to group the rows by query first.
    """
    if not run.are_parts:
        yield from columns_of_table(opened(run.path), columns, run.rules, together=together)
        return
    parts = [(file, opened(file)) for file in run.files]
    joined = joined_tables(parts, RunError, str(run.path))
    yield from columns_of_table(joined, columns, run.rules, together=together)


def rows(rankings: Rankings) -> tuple[list[str], list[tuple[str, str, int, float]]]:
    """Return a run as a table, with ranks and with scores that give the same order."""
    return list(COLUMNS), list(ranked_rows(rankings))


FORMATS = table_formats(
    read,
    may_have_ranking,
    columns="query_id,doc_id,score (or rank)",
    error=RunError,
    rows=rows,
)
