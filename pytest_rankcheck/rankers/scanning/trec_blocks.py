"""TREC runs in columns, read in blocks of whole queries, so that memory does not grow with them.

A block of a large file is split by polars if it is installed (the extra ``[fast]``). Every block in
an unusual form is left to the plain reader, so that both give the same values and errors.
"""

from __future__ import annotations

import tempfile
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

import numpy as np

from pytest_rankcheck.files.id_runs import starts_of, starts_of_runs
from pytest_rankcheck.files.trec_columns import is_utf8
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns, RunSource
from pytest_rankcheck.rankers.scanning.query_blocks import blocks_of_queries
from pytest_rankcheck.rankers.scanning.trec_lines import COLUMNS, Lines, lines_of_block

if TYPE_CHECKING:
    import polars as pl

__all__ = ["one_ahead", "trec_blocks"]

BLOCK_BYTES = 1 << 18
"""Small enough that the words of a block stay in the processor's cache."""

LARGE_BLOCK_BYTES = 1 << 23
"""The size of the blocks that polars splits, at most."""

LARGE_FILE_BYTES = 4 << 20
"""From this size on, polars is worth its import time."""

_PART_BYTES = 32 << 20
_MOST_PARTS = 256
_SPACE, _TAB = 32, 9

Item = TypeVar("Item")


def trec_blocks(source: RunSource, *, together: bool = False) -> Iterator[RankedColumns]:
    """Yield the rankings of a TREC run."""
    if together:
        for lines in _brought_together(source.path):
            yield _columns_of_lines(lines, source)
    elif (size := source.path.stat().st_size) >= LARGE_FILE_BYTES and find_spec("polars"):
        # Smaller blocks take less memory; in a small file, that is what counts.
        block_bytes = min(LARGE_BLOCK_BYTES, max(size // 8, LARGE_BLOCK_BYTES // 4))
        blocks = blocks_of_queries(source.path, block_bytes)
        for block, table in one_ahead((block, _table_of(block.text)) for block in blocks):
            columns = None if table is None else _columns_of_table(table, source)
            yield columns or _columns_of_lines(lines_of_block(block), source)
    else:
        for block in blocks_of_queries(source.path, BLOCK_BYTES):
            yield _columns_of_lines(lines_of_block(block), source)


def _brought_together(path: Path) -> Iterator[Lines]:
    """Yield parts of the lines of a run, those of each query together, in the order of the file.

    A hash of its query assigns each line to a temporary file, so that each holds whole queries and
    fits into memory.
    """
    parts = min(path.stat().st_size // _PART_BYTES + 1, _MOST_PARTS)
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(parts)]
        for block in blocks_of_queries(path, BLOCK_BYTES):
            lines = lines_of_block(block)
            for place, query in enumerate(lines.queries):
                score = repr(lines.scores[place]).encode()
                files[crc32(query) % parts].write(b"%s %s %s\n" % (query, lines.docs[place], score))
        for file in files:
            file.seek(0)
            yield _grouped(file.read())


def _grouped(text: bytes) -> Lines:
    """Return the lines of a part, those of each query together."""
    words = text.split()
    queries, docs, scores = words[0::3], words[1::3], list(map(float, words[2::3]))
    codes: dict[bytes, int] = {}
    of_lines = [codes.setdefault(query, len(codes)) for query in queries]
    order = np.argsort(of_lines, kind="stable").tolist()
    return Lines(
        [queries[line] for line in order],
        [docs[line] for line in order],
        [scores[line] for line in order],
    )


def one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items; the next one is prepared in another thread while one is processed."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(lambda: next(items, None))
        while (item := ahead.result()) is not None:
            ahead = pool.submit(lambda: next(items, None))
            yield item


def _columns_of_lines(lines: Lines, source: RunSource) -> RankedColumns:
    bounds = [*starts_of_runs(lines.queries), len(lines.queries)]
    doc_ids = b"\n".join(lines.docs).decode().split("\n")
    return RankedColumns(
        [lines.queries[start].decode() for start in bounds[:-1]],
        np.array(bounds),
        HeldDocuments([doc_ids[start:end] for start, end in pairwise(bounds)]),
        np.array(lines.scores),
        source.rules,
    )


def _table_of(text: bytes) -> pl.DataFrame | None:
    """Return query, document and score of each line; None unless all lines have six columns."""
    import polars as pl

    if text.startswith(BOM_UTF8):  # polars would drop it, which only the first block may
        return None
    texts = dict.fromkeys(("query", "q0", "doc", "rank"), pl.String)
    schema = {**texts, "score": pl.Float64, "tag": pl.String}
    separator = "\t" if b"\t" in text[: text.find(b"\n")] else " "
    try:
        table = pl.read_csv(
            text,
            has_header=False,
            separator=separator,
            quote_char=None,
            columns=[0, 2, 4],
            schema=schema,
        )
    except pl.exceptions.PolarsError:
        return None
    codes = np.frombuffer(text, dtype=np.uint8)
    separators = np.count_nonzero(codes == (_TAB if separator == "\t" else _SPACE))
    # One more per line is the line feed. Any other white space separates columns too, and two in a
    # row are one separator, where polars would see an empty column.
    is_white = codes <= _SPACE
    is_usual = separators == (COLUMNS - 1) * table.height
    is_usual &= np.count_nonzero(is_white) == COLUMNS * table.height
    is_usual = is_usual and not (is_white[1:] & is_white[:-1]).any()
    return table if is_usual and is_utf8(text) else None


def _columns_of_table(table: pl.DataFrame, source: RunSource) -> RankedColumns | None:
    """Return a block that polars split; None if it must be read line by line."""
    from pytest_rankcheck.files.id_columns import TextIds

    docs, scores = table["doc"], table["score"].to_numpy()
    runs = table["query"].rle().struct
    query_ids: list[str | None] = runs.field("value").to_list()
    is_odd = any(query_id is None or query_id.startswith("#") for query_id in query_ids)
    if is_odd or docs.null_count() or not np.isfinite(scores).all():
        return None
    return RankedColumns(
        [query_id for query_id in query_ids if query_id],
        starts_of(runs.field("len").to_numpy()),
        TextIds(docs),
        scores,
        source.rules,
    )
