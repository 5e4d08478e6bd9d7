"""Scanning Parquet runs, some whole queries at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.parquet_files import scan_of
from pytest_rankcheck.rankers.query_hits import QueryHits, RunSource, Wanted, hits_by_score
from pytest_rankcheck.rankers.rank_order import refuse_incomplete_ranks
from pytest_rankcheck.rankers.run_columns import run_columns
from pytest_rankcheck.rankers.scanning.polars_scan import one_ahead, results_of_columns

__all__ = ["batches_of", "scan_parquet"]

BATCH_ROWS = 1_000_000

Results = Iterator[tuple[str, QueryHits | None]]


class _Interleaved(Exception):  # noqa: N818 - switches to another way of reading, not an error
    """The rows of a query are not consecutive."""


def scan_parquet(source: RunSource, wanted: Wanted) -> Results:
    """Yield each query with its hits; None for unwanted queries.

    Raises:
        RunError: the file is not a Parquet file, lacks a column, or has a row without an id or a
            finite score; or has incomplete ranks and no scores; or a document is duplicated.
    """
    needs_all_ranks = source.incomplete_ranks == "error" and rank_decides(source)
    hits_by_query: dict[str, QueryHits | None] = {}
    with suppress(_Interleaved):
        for rows in one_ahead(_whole_queries(batches_of(source))):
            if needs_all_ranks and _incomplete(rows).height:
                raise _Interleaved
            for query_id, result in _results(rows, source, wanted):
                if query_id in hits_by_query:
                    raise _Interleaved
                hits_by_query[query_id] = result
        yield from hits_by_query.items()
        return
    rows = pl.concat(batches_of(source)).sort("query", maintain_order=True)
    if needs_all_ranks:
        for query_id, ranks in _incomplete(rows).iter_rows():
            refuse_incomplete_ranks(ranks, query_id, source.incomplete_ranks)
    yield from _results(rows, source, wanted)


def rank_decides(source: RunSource) -> bool:
    """Whether a file has ranks and no scores."""
    _, columns = scan_of(source.path, RunError)
    return "score" not in run_columns(columns.names(), source.columns, str(source.path))


def _incomplete(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the queries whose ranks have a gap or a repeat, with their ranks."""
    rank = -pl.col("score")
    first, count = rank.min(), pl.len()
    has_all = (
        first.is_in([0.0, 1.0])
        & (rank.max() == first + count - 1)
        & (rank == rank.floor()).all()
        & (rank.n_unique() == count)
    )
    queries = rows.group_by("query", maintain_order=True)
    return queries.agg(ranks=rank, has_all=has_all).filter(~pl.col("has_all")).drop("has_all")


def batches_of(source: RunSource) -> Iterator[pl.DataFrame]:
    """Yield ``query``, ``doc`` and ``score`` of some rows at a time, in file order.

    Raises:
        RunError: as in `scan_parquet`, except for duplicate documents.
    """
    path = source.path
    table, columns = scan_of(path, RunError)
    names = columns.names()
    place = run_columns(names, source.columns, str(path))
    for id_column in (names[place["query_id"]], names[place["doc_id"]]):
        kind = columns[id_column]
        if not (kind in (pl.String, pl.Categorical) or kind.is_integer()):
            raise RunError(
                f"{path}: the column {quoted(id_column)} is {kind}; ids are text or whole numbers"
            )
    query = pl.col(names[place["query_id"]]).cast(pl.String).alias("query")
    if "score" in place:
        score = _numbers(table, names[place["score"]], path)
        if "rank" in place and table.select(score.fill_nan(None).has_nulls()).collect().item():
            rank = _numbers(table, names[place["rank"]], path)
            unscored = _unscored(table.select(query, score=score, rank=rank), source)
            score = pl.when(query.is_in(unscored)).then(-rank).otherwise(score)
    else:
        score = -_numbers(table, names[place["rank"]], path)
    rows = table.select(
        query,
        pl.col(names[place["doc_id"]]).cast(pl.String).alias("doc"),
        score.alias("score"),
    )
    start = 0
    while (batch := rows.slice(start, BATCH_ROWS).collect()).height:
        _refuse_gaps(batch, path, start)
        yield batch
        start += batch.height


def _numbers(table: pl.LazyFrame, column: str, path: Path) -> pl.Expr:
    """Return a column of numbers; an empty one may have any type.

    Raises:
        RunError: it holds something else.
    """
    kind, cells = table.collect_schema()[column], pl.col(column)
    if kind.is_numeric():
        return cells.cast(pl.Float64)
    if table.select(cells.is_null().all()).collect().item():
        return pl.lit(None, pl.Float64)
    raise RunError(f"{path}: the column {quoted(column)} is {kind}, not numbers")


def _unscored(rows: pl.LazyFrame, source: RunSource) -> list[str]:
    """Return the queries without any score, in which the rank decides.

    Raises:
        RunError: a query without scores has incomplete ranks.
    """
    rows = rows.with_columns(pl.col("score").fill_nan(None))
    queries = rows.group_by("query", maintain_order=True)
    has_none = queries.agg("rank", scores=pl.col("score").count()).filter(scores=0).collect()
    for query_id, ranks in has_none.select("query", "rank").iter_rows():
        if None not in ranks:  # a row without a number is an error that names the row
            refuse_incomplete_ranks(ranks, query_id, source.incomplete_ranks)
    return has_none["query"].to_list()


def _refuse_gaps(batch: pl.DataFrame, path: Path, start: int) -> None:
    """Reject rows without an id or a finite score."""
    empty = pl.any_horizontal(pl.col("query", "doc").is_null() | (pl.col("query", "doc") == ""))
    bad = batch.select(
        (empty | pl.col("score").is_null() | ~pl.col("score").is_finite()).arg_true()
    ).to_series()
    if len(bad):
        row = batch.row(int(bad[0]))
        raise RunError(
            f"{path}, row {start + int(bad[0]) + 1}: query '{quoted(row[0])}', document "
            f"'{quoted(row[1])}', score {row[2]}; each row needs two ids and a finite number"
        )


def _whole_queries(batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the same rows in batches of whole queries, if their rows are consecutive."""
    rest: pl.DataFrame | None = None
    for batch in batches:
        rows = batch if rest is None else pl.concat([rest, batch])
        last = int(rows["query"].rle().struct.field("len")[-1])
        rest = rows.tail(last)
        if last < rows.height:
            yield rows.head(rows.height - last)
    if rest is not None:
        yield rest


def _results(rows: pl.DataFrame, source: RunSource, wanted: Wanted) -> Results:
    results = results_of_columns(rows, source, wanted)
    yield from results if results is not None else _one_by_one(rows, source, wanted)


def _one_by_one(rows: pl.DataFrame, source: RunSource, wanted: Wanted) -> Results:
    """Yield the hits of each query, where documents may be duplicated."""
    start = 0
    for run in rows["query"].rle().to_list():
        query_id, length = run["value"], run["len"]
        docs = rows["doc"][start : start + length].to_list()
        scores = rows["score"][start : start + length].to_list()
        judged = wanted(query_id)
        hits = hits_by_score(source, query_id, docs, scores, judged or ())
        yield query_id, None if judged is None else hits
        start += length
