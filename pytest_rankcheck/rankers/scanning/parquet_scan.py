"""Scanning Parquet runs, some whole queries at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.parquet_files import scan_of
from pytest_rankcheck.rankers.query_hits import QueryHits, RunSource, Wanted, hits_by_score
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
            finite score; or a document is duplicated.
    """
    hits_by_query: dict[str, QueryHits | None] = {}
    with suppress(_Interleaved):
        for rows in one_ahead(_whole_queries(batches_of(source))):
            for query_id, result in _results(rows, source, wanted):
                if query_id in hits_by_query:
                    raise _Interleaved
                hits_by_query[query_id] = result
        yield from hits_by_query.items()
        return
    rows = pl.concat(batches_of(source)).sort("query", maintain_order=True)
    yield from _results(rows, source, wanted)


def batches_of(source: RunSource) -> Iterator[pl.DataFrame]:
    """Yield ``query``, ``doc`` and ``score`` of some rows at a time, in file order.

    Raises:
        RunError: as in `scan_parquet`, except for duplicate documents.
    """
    path = source.path
    table, columns = scan_of(path, RunError)
    names = columns.names()
    place = run_columns(names, source)
    for id_column in (names[place["query_id"]], names[place["doc_id"]]):
        kind = columns[id_column]
        if not (kind in (pl.String, pl.Categorical) or kind.is_integer()):
            raise RunError(
                f"{path}: the column {quoted(id_column)} is {kind}; ids are text or whole numbers"
            )
    order = names[place["score"] if "score" in place else place["rank"]]
    if not columns[order].is_numeric():
        raise RunError(f"{path}: the column {quoted(order)} is {columns[order]}, not numbers")
    score = pl.col(order).cast(pl.Float64)
    rows = table.select(
        pl.col(names[place["query_id"]]).cast(pl.String).alias("query"),
        pl.col(names[place["doc_id"]]).cast(pl.String).alias("doc"),
        (score if "score" in place else -score).alias("score"),
    )
    start = 0
    while (batch := rows.slice(start, BATCH_ROWS).collect()).height:
        _refuse_gaps(batch, path, start)
        yield batch
        start += batch.height


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
