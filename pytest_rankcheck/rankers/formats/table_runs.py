"""Runs in columns: TREC, and tables with a column for query, document, and score or rank.

TREC has lines of ``query_id Q0 doc_id rank score tag``, separated by any white space. As in
trec_eval, the score decides, but ranks that oppose it in all queries are refused. The tag may have
several words.


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
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.table_batches import Table, joined_tables
from pytest_rankcheck.files.tables import TableKind, read_table, table_formats
from pytest_rankcheck.files.trec_columns import columns_of, trec_table, trec_text
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.rankers.ranked_columns import RankedColumns
from pytest_rankcheck.rankers.ranking import COLUMNS, Rankings, ranked_rows
from pytest_rankcheck.rankers.run_tables import columns_of_table, may_have_ranking

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.run_files import RunFiles

_TREC = ("query_id", "Q0", "doc_id", "rank", "score", "tag")


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


def _read_trec(run: RunFiles, *, together: bool = False) -> Iterator[RankedColumns]:
    """Yield the rankings of a TREC run."""

    def opened(file: Path) -> Table:
        return trec_table(file, _TREC, "a run", RunError)

    return columns_of_files(run, opened, {}, together=together)


def _write_trec(rankings: Rankings, path: Path) -> None:
    """Write a run from which every evaluator reads the same order.

    Scores are kept if, with ties by document id, they give the ranking's order; otherwise the
    scores written count down from the number of documents.
    """
    rows = (
        (query_id, "Q0", doc_id, str(rank), repr(score), "rankcheck")
        for query_id, doc_id, rank, score in ranked_rows(rankings)
    )
    write_whole(path, trec_text(rows, RunError))


FORMATS = (
    *table_formats(
        read,
        may_have_ranking,
        columns="query_id,doc_id,score (or rank)",
        error=RunError,
        rows=rows,
    ),
    Format(
        name="trec",
        description="TREC runs, lines of: query_id Q0 doc_id rank score tag",
        recognises=lambda sample: len(columns_of(sample.line)) >= len(_TREC),
        read=_read_trec,
        write=_write_trec,
        endings=(".run", ".txt"),
        is_vague=True,
    ),
)
