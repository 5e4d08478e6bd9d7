"""Tables with a column for the query, the document, and the score or the rank.

The highest ``score`` is best; in a query without scores, the lowest ``rank``. Other usual column
names are recognised (``qid``, ``docno``, ``position``), and other columns are ignored. In text
files, the separator (comma, tab, semicolon or bar) is detected from the header. Parquet and Arrow
files need polars (the extra ``[fast]``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.delimited_tables import table_text
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.parquet_files import (
    is_arrow,
    is_parquet,
    require_polars,
    write_table,
)
from pytest_rankcheck.files.tables import TableKind
from pytest_rankcheck.files.whole_files import write_whole
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


def write_text(rankings: Rankings, path: Path, *, delimiter: str) -> None:
    """Write a run, with ranks and with scores that give the same order.

    Raises:
        RunError: an id cannot be encoded.
    """
    rows = [
        [query_id, doc_id, rank, repr(score)]
        for query_id, doc_id, rank, score in ranked_rows(rankings)
    ]
    header = ["query_id", "doc_id", "rank", "score"]
    write_whole(path, table_text(header, rows, RunError, delimiter))


def write_parquet(rankings: Rankings, path: Path) -> None:
    """Write a run, with ranks and with scores that give the same order.

    Raises:
        RunError: polars is not installed, or an id cannot be encoded.
    """
    require_polars(path, RunError)
    import polars as pl

    schema = {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64, "score": pl.Float64}
    try:
        table = pl.DataFrame(list(ranked_rows(rankings)), schema=schema, orient="row")
    except UnicodeEncodeError:
        raise RunError("an id cannot be written as UTF-8; save as jsonl") from None
    write_table(table, path)


def _is_text_table(sample: FileSample, delimiter: str) -> bool:
    return may_have_ranking(sample.header) and ("\t" in sample.line) == (delimiter == "\t")


FORMATS = (
    Format(
        name="csv",
        description="comma-separated with a header such as query_id,doc_id,score",
        recognises=partial(_is_text_table, delimiter=","),
        read=partial(read, kind="delimited"),
        write=partial(write_text, delimiter=","),
        endings=(".csv",),
    ),
    Format(
        name="tsv",
        description="the same, tab-separated",
        recognises=partial(_is_text_table, delimiter="\t"),
        read=partial(read, kind="delimited"),
        write=partial(write_text, delimiter="\t"),
        endings=(".tsv",),
    ),
    Format(
        name="parquet",
        description="Parquet with the columns query_id, doc_id, and score or rank",
        recognises=lambda sample: is_parquet(sample.start),
        read=partial(read, kind="Parquet"),
        write=write_parquet,
        endings=(".parquet", ".pq"),
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
