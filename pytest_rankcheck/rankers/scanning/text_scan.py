"""Reading a run file for an evaluation: what it needs of each query, and nothing else.

The file is read once, in blocks of whole queries, so that memory does not grow with it. Of each
query are kept the ranks of its judged documents and the top of its ranking; nothing is made of
the other documents. Large files are read by a columnar engine where it is installed; it leaves
every block that is not in the ordinary form to the way that needs no library, so that both give
the same values and the same errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec

from pytest_rankcheck.rankers.query_hits import Found, Reading, Wanted, found_by_score
from pytest_rankcheck.rankers.scanning.interleaved_queries import grouped_lines
from pytest_rankcheck.rankers.scanning.query_blocks import Block, blocks_of_queries
from pytest_rankcheck.rankers.scanning.trec_lines import lines_of_block, queries_of_block

__all__ = ["scanned"]

BLOCK_BYTES = 1 << 18
"""Small enough that the words of a block stay in the processor's cache."""

LARGE_FILE_BYTES = 16 << 20
"""From this size on the columnar engine is worth the time of its import."""

Results = Iterator[tuple[str, Found | None]]
"""Each query of the run with what was found of it; None for one that is not wanted."""


class _Interleaved(Exception):  # noqa: N818 - a turn to another way of reading, not an error
    """The lines of a query do not stand together."""


def scanned(reading: Reading, wanted: Wanted) -> Results:
    """Yield each query of a TREC run with what was found of it; None for one not wanted.

    Raises:
        RunError: a line is malformed, or a document stands twice; it is named.
    """
    found: dict[str, Found | None] = {}
    with suppress(_Interleaved):
        for query_id, result in _results(reading, wanted):
            if query_id in found:
                raise _Interleaved
            found[query_id] = result
        yield from found.items()
        return
    for query, docs, scores in grouped_lines(reading.path, BLOCK_BYTES):
        yield _found(reading, wanted, query, docs, scores)


def _results(reading: Reading, wanted: Wanted) -> Results:
    if reading.path.stat().st_size >= LARGE_FILE_BYTES and find_spec("polars"):
        from pytest_rankcheck.rankers.scanning.polars_scan import scanned_in_columns

        for block, results in scanned_in_columns(reading, wanted):
            yield from results if results is not None else _plainly(block, reading, wanted)
        return
    for block in blocks_of_queries(reading.path, BLOCK_BYTES):
        yield from _plainly(block, reading, wanted)


def _plainly(block: Block, reading: Reading, wanted: Wanted) -> Results:
    lines = lines_of_block(block)
    for query, start, end in queries_of_block(lines):
        yield _found(reading, wanted, query, lines.docs[start:end], lines.scores[start:end])


def _found(
    reading: Reading, wanted: Wanted, query: bytes, docs: list[bytes], scores: list[float]
) -> tuple[str, Found | None]:
    query_id = query.decode()
    judged = wanted(query_id)
    found = found_by_score(reading, query_id, docs, scores, [_utf8(doc) for doc in judged or ()])
    return query_id, None if judged is None else found


def _utf8(doc_id: str) -> bytes:
    """Return an id as files have it; a lone surrogate, which they cannot have, finds nothing."""
    return doc_id.encode("utf-8", "surrogatepass")
