"""Runs in Parquet: columns ``query_id``, ``doc_id``, and ``score`` or ``rank``. Extra ``[fast]``.

The highest ``score`` is best; in a query without scores, the lowest ``rank``. Ids may be
text or whole numbers; other columns are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.parquet_files import is_parquet, require_polars, write_table
from pytest_rankcheck.rankers.rank_order import check_ranks
from pytest_rankcheck.rankers.ranking_rows import FileRanking, FileRankings, ranked_rows

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.query_hits import QueryHits, RunSource, Wanted

__all__ = ["FORMAT"]


def read(source: RunSource) -> FileRankings:
    """Read a run.

    Raises:
        RunError: polars is not installed, or the file is not a Parquet file, lacks a column, has
            a row without an id or a finite score, or has incomplete ranks and no scores.
    """
    require_polars(source.path, RunError)
    from pytest_rankcheck.rankers.scanning.parquet_scan import batches_of, rank_decides

    rankings: FileRankings = {}
    for rows in batches_of(source):
        for query_id, doc_id, score in rows.iter_rows():
            file_ranking = rankings.get(query_id)
            if file_ranking is None:
                file_ranking = rankings[query_id] = FileRanking(score_decides=True, scores=[])
            assert file_ranking.scores is not None
            file_ranking.doc_ids.append(doc_id)
            file_ranking.scores.append(score)
    if rank_decides(source):
        check_ranks(rankings, source.incomplete_ranks)
    return rankings


def scan(source: RunSource, wanted: Wanted) -> Iterator[tuple[str, QueryHits | None]]:
    """Yield each query with its hits; None for unwanted queries.

    Raises:
        RunError: as in `read`; or a document is duplicated.
    """
    require_polars(source.path, RunError)
    from pytest_rankcheck.rankers.scanning.parquet_scan import scan_parquet

    return scan_parquet(source, wanted)


def write(rankings: FileRankings, path: Path) -> None:
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


def _recognises(sample: FileSample) -> bool:
    return is_parquet(sample.start)


FORMAT = Format(
    name="parquet",
    description="Parquet with the columns query_id, doc_id, and score or rank",
    recognises=_recognises,
    read=read,
    write=write,
    scan=scan,
    endings=(".parquet", ".pq"),
    is_binary=True,
)
