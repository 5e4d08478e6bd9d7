"""TREC runs: lines of ``query_id Q0 doc_id rank score tag``, separated by any white space.

As in trec_eval, the score decides, but ranks that oppose it in all queries are refused. Lines that
begin with ``#`` are comments. Files are read in blocks of whole queries, so that memory does not
grow with them: in nearly every run the lines of a query are consecutive. A block ends where a query
ends; the part of the next query that was already read begins the next block. A
block of a large file is split by polars if it is installed (the extra ``[fast]``), any other one
with a few calls for many lines. A block in an unusual form (comments, a tag of two words, a score
that is no number) is read line by line, which is slower and says what is wrong.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.id_columns import HeldIds, TextIds
from pytest_rankcheck.files.id_runs import starts_of, starts_of_runs
from pytest_rankcheck.files.packed_files import failures_named, polars_should_read, size_of
from pytest_rankcheck.files.plain_values import finite_number
from pytest_rankcheck.files.table_batches import Numbering
from pytest_rankcheck.files.text_files import opened_text
from pytest_rankcheck.files.trec_columns import columns_of, is_utf8, trec_text, words_of_lines
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.rankers.misread_scores import OpposedRanks
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns
from pytest_rankcheck.rankers.ranking import Rankings, ranked_rows
from pytest_rankcheck.rankers.run_tables import RunRows, rows_together

if TYPE_CHECKING:
    import polars as pl

    from pytest_rankcheck.rankers.run_files import RunFiles

COLUMNS = 6
BLOCK_BYTES = 1 << 18
"""Small enough that the words of a block stay in the processor's cache."""
LARGE_BLOCK_BYTES = 1 << 23
"""The size of the blocks that polars splits, at most."""

_LONGEST_QUERY_ID = 1000
"""Two queries that share this many leading bytes share a block, which does no harm."""

_NEAR = 1024
_COUNTED_BYTES = 1 << 20

_SPACE, _TAB = 32, 9

Item = TypeVar("Item")

Lines = tuple[list[bytes], list[bytes], list[float]]
"""What is needed from some lines: query and document as UTF-8, and the score."""


def read(run: RunFiles, *, together: bool = False) -> Iterator[RankedColumns]:
    """Yield the rankings of a TREC run."""
    opposed = OpposedRanks()
    for columns, ranks in _together(run) if together else _in_blocks(run):
        opposed.add_block(columns, ranks)
        yield columns
    opposed.refuse(run.path)


def _together(run: RunFiles) -> Iterator[tuple[RankedColumns, Iterable[object]]]:
    rows = rows_together(
        _rows_of_lines(lines_of_block(block), _ranks(block))
        for file in run.files
        for block in blocks_of_queries(file, BLOCK_BYTES)
    )
    ranked = rows.ranked(run.rules, Numbering(str(run.path)), are_whole=True)
    yield ranked, () if rows.ranks is None else rows.ranks


def _in_blocks(run: RunFiles) -> Iterator[tuple[RankedColumns, Iterable[object]]]:
    """Yield the rankings of each block, with its ranks, which need not be read."""
    for file in run.files:
        if not polars_should_read(file):
            for block in blocks_of_queries(file, BLOCK_BYTES):
                yield _columns_of_lines(lines_of_block(block), run), _ranks(block)
            continue
        # Smaller blocks take less memory; in a small file, that is what counts.
        block_bytes = min(LARGE_BLOCK_BYTES, max(size_of(file) // 8, LARGE_BLOCK_BYTES // 4))
        blocks = blocks_of_queries(file, block_bytes)
        for block, table in _one_ahead((block, _table_of(block.text)) for block in blocks):
            columns = None if table is None else _columns_of_table(table, run)
            yield columns or _columns_of_lines(lines_of_block(block), run), _ranks(block)


def _ranks(block: LineBlock) -> Iterator[str]:
    lines = (line for line in BytesIO(block.text) if line.strip() and not line.startswith(b"#"))
    return (line.split()[3].decode() for line in lines)


def _one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items; the next one is prepared in another thread while one is processed."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(lambda: next(items, None))
        while (item := ahead.result()) is not None:
            ahead = pool.submit(lambda: next(items, None))
            yield item


def _columns_of_lines(lines: Lines, run: RunFiles) -> RankedColumns:
    queries, docs, scores = lines
    bounds = [*starts_of_runs(queries), len(queries)]
    doc_ids = b"\n".join(docs).decode().split("\n")
    return RankedColumns(
        [queries[start].decode() for start in bounds[:-1]],
        np.array(bounds),
        HeldDocuments([doc_ids[start:end] for start, end in pairwise(bounds)]),
        np.array(scores),
        run.rules,
    )


def _rows_of_lines(lines: Lines, ranks: Iterable[str]) -> RunRows:
    queries, docs, scores = lines
    query_ids, doc_ids = ([each.decode() for each in column] for column in (queries, docs))
    numbers, own = np.arange(len(scores)), np.array([*map(finite_number, ranks)], np.float64)
    return RunRows(numbers, HeldIds(query_ids), HeldIds(doc_ids), np.array(scores), own)


def _table_of(text: bytes) -> pl.DataFrame | None:
    """Return query, document and score of each line; None unless all lines have six columns."""
    import polars as pl

    if text.startswith(codecs.BOM_UTF8):  # polars would drop it, which only the first block may
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


def _columns_of_table(table: pl.DataFrame, run: RunFiles) -> RankedColumns | None:
    """Return a block that polars split; None if it must be read line by line."""
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
        run.rules,
    )


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Some lines of a file, each ending with a line feed."""

    path: Path
    text: bytes
    offset: int
    """The number of bytes before it in the file."""

    @property
    def first_line(self) -> int:
        """The 1-based number of the block's first line in the file; counted only when needed."""
        line, left = 1, self.offset
        with opened_text(self.path, RunError) as file:
            while left and (chunk := file.read(min(left, _COUNTED_BYTES))):
                line += chunk.count(b"\n")
                left -= len(chunk)
        return line


def blocks_of_queries(path: Path, size: int) -> Iterator[LineBlock]:
    """Yield the lines of a file in blocks of about ``size`` bytes that hold whole queries.

    A line's query is the text before its first white space. A query longer than ``size`` is a
    block of its own.

    Raises:
        RunError: the file cannot be read.
    """
    with failures_named(path, RunError), opened_text(path, RunError) as file:
        rest, offset = file.read(len(codecs.BOM_UTF8)), 0
        if rest == codecs.BOM_UTF8:
            rest, offset = b"", len(rest)
        while chunk := file.read(max(size, len(rest))):  # one long query: copied log n times
            first_line = chunk.find(b"\n") + 1
            end = _start_of_last_query(chunk, first_line)
            if end == first_line:  # too short to decide without the previous chunk
                chunk, rest = rest + chunk, b""
                end = _start_of_last_query(chunk, 0)
            if end:
                text = b"".join((rest, memoryview(chunk)[:end]))
                yield LineBlock(path, text, offset)
                offset += len(text)
            rest = chunk[end:]
    if rest:
        yield LineBlock(path, rest if rest.endswith(b"\n") else rest + b"\n", offset)


def _start_of_last_query(text: bytes, begin: int) -> int:
    """Return where the last query begins, which may continue after ``text``; at least ``begin``.

    Found by bisection. If a query's lines are not consecutive, the place may be wrong; then the
    query occurs again in a later block, where readers notice it.
    """
    last = text.rfind(b"\n", begin, text.rfind(b"\n"))  # before the last whole line
    other, same = begin, max(last + 1, begin)
    query = _query(text, same)
    if _query(text, begin) == query:
        return begin
    while same - other > _NEAR:
        middle = text.find(b"\n", (same + other) // 2) + 1
        if not other < middle < same:
            break
        if _query(text, middle) == query:
            same = middle
        else:
            other = middle
    while other < same and _query(text, other) != query:
        other = text.find(b"\n", other) + 1
    return other


def _query(text: bytes, start: int) -> list[bytes]:
    """Return a list with the first word of a line; empty for a blank line."""
    return text[start : start + _LONGEST_QUERY_ID].split(None, 1)[:1]


def lines_of_block(block: LineBlock) -> Lines:
    """Return the columns of a block.

    Raises:
        RunError: a line does not have six columns, is not UTF-8, or its score is not a finite
            number; the message names file and line.
    """
    return _quickly(block.text) or _line_by_line(block)


def _quickly(text: bytes) -> Lines | None:
    """Return the columns if every line has exactly six, otherwise None."""
    words = words_of_lines(text, COLUMNS)
    if words is None:
        return None
    queries, _, docs, _, texts, _ = words
    try:
        scores = list(map(float, texts))
    except ValueError:
        return None
    if not math.isfinite(sum(scores)) or (b"_" in text and b"_" in b"".join(texts)):
        return None  # Python would read 1_000 as a number
    return queries, docs, scores


def _line_by_line(block: LineBlock) -> Lines:
    queries, docs, scores = list[bytes](), list[bytes](), list[float]()
    for place, raw in enumerate(block.text.split(b"\n")):
        if raw.startswith(b"#") or not raw.strip():
            continue
        try:
            query_id, doc_id, score = _columns(raw)
        except ValueError as problem:
            where = f"{block.path}:{block.first_line + place}"
            raise RunError(f"{where}: {problem}") from None
        queries.append(query_id.encode())
        docs.append(doc_id.encode())
        scores.append(score)
    return queries, docs, scores


def _columns(raw: bytes) -> tuple[str, str, float]:
    """Return query, document and score of a line.

    Raises:
        ValueError: the line is invalid; the message says why.
    """
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError as failure:
        raise ValueError(f"byte {failure.start + 1} is not UTF-8; save the file as UTF-8") from None
    columns = columns_of(line)
    if len(columns) < COLUMNS:
        raise ValueError(
            f"{len(columns)} columns, not {COLUMNS}: '{quoted(line.rstrip(), 60)}'; "
            "a line of a run is: query_id Q0 doc_id rank score tag"
        )
    query_id, _, doc_id, _, text, *_ = columns  # a tag may have several words
    score = finite_number(text)
    if score is None:
        raise ValueError(
            f"the score of document '{quoted(doc_id)}' is '{quoted(text, 40)}', not a finite number"
        )
    return query_id, doc_id, score


def write(rankings: Rankings, path: Path) -> None:
    """Write a run from which every evaluator reads the same order.

    Scores are kept if, with ties by document id, they give the ranking's order; otherwise the
    scores written count down from the number of documents.
    """
    rows = (
        (query_id, "Q0", doc_id, str(rank), repr(score), "rankcheck")
        for query_id, doc_id, rank, score in ranked_rows(rankings)
    )
    write_whole(path, trec_text(rows, RunError))


FORMAT = Format(
    name="trec",
    description="TREC runs, lines of: query_id Q0 doc_id rank score tag",
    recognises=lambda sample: len(columns_of(sample.line)) >= COLUMNS,
    read=read,
    write=write,
    endings=(".run", ".txt"),
    is_vague=True,
)
