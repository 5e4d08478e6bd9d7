"""Scanning TREC run files for an evaluation: only what it needs from each query.

The file is read once, in blocks of whole queries, so that memory does not grow with it. For each
query, the ranks of its judged documents and the top of its ranking are kept; no objects are created
for other documents. Large files are read by a columnar engine if it is installed. It leaves every
block in an unusual form to the plain reader, so that both give the same values and errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec

from pytest_rankcheck.rankers.query_hits import QueryHits, RunSource, Wanted, hits_by_score
from pytest_rankcheck.rankers.scanning.interleaved_queries import grouped_lines
from pytest_rankcheck.rankers.scanning.query_blocks import LineBlock, blocks_of_queries
from pytest_rankcheck.rankers.scanning.trec_lines import lines_of_block, queries_of_block

__all__ = ["scan_trec"]

BLOCK_BYTES = 1 << 18
"""Small enough that the words of a block stay in the processor's cache."""

LARGE_FILE_BYTES = 16 << 20
"""From this size on, the columnar engine is worth its import time."""

Results = Iterator[tuple[str, QueryHits | None]]
"""Each query of the run with its hits; None for unwanted queries."""


class _Interleaved(Exception):  # noqa: N818 - switches to another way of reading, not an error
    """The lines of a query are not consecutive."""


def scan_trec(source: RunSource, wanted: Wanted) -> Results:
    """Yield each query of a TREC run with its hits; None for unwanted queries.

    Raises:
        RunError: a line is malformed, or a document is duplicated; the message names it.
    """
    hits_by_query: dict[str, QueryHits | None] = {}
    with suppress(_Interleaved):
        for query_id, result in _results(source, wanted):
            if query_id in hits_by_query:
                raise _Interleaved
            hits_by_query[query_id] = result
        yield from hits_by_query.items()
        return
    for query, docs, scores in grouped_lines(source.path, BLOCK_BYTES):
        yield _query_hits(source, wanted, query, docs, scores)


def _results(source: RunSource, wanted: Wanted) -> Results:
    if source.path.stat().st_size >= LARGE_FILE_BYTES and find_spec("polars"):
        from pytest_rankcheck.rankers.scanning.polars_scan import scan_trec_columns

        for block, results in scan_trec_columns(source, wanted):
            yield from results if results is not None else _plainly(block, source, wanted)
        return
    for block in blocks_of_queries(source.path, BLOCK_BYTES):
        yield from _plainly(block, source, wanted)


def _plainly(block: LineBlock, source: RunSource, wanted: Wanted) -> Results:
    lines = lines_of_block(block)
    for query, start, end in queries_of_block(lines):
        yield _query_hits(source, wanted, query, lines.docs[start:end], lines.scores[start:end])


def _query_hits(
    source: RunSource, wanted: Wanted, query: bytes, docs: list[bytes], scores: list[float]
) -> tuple[str, QueryHits | None]:
    query_id = query.decode()
    judged = wanted(query_id)
    hits = hits_by_score(source, query_id, docs, scores, [_utf8(doc) for doc in judged or ()])
    return query_id, None if judged is None else hits


def _utf8(doc_id: str) -> bytes:
    """Return an id as UTF-8; a lone surrogate, which files cannot hold, never matches."""
    return doc_id.encode("utf-8", "surrogatepass")
