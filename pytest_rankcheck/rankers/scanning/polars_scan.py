"""Scanning large run files in columns, with polars (the extra ``[fast]``).

A block of lines becomes three columns at once: queries, documents, scores. Order and duplicates are
checked for the whole block; objects are created only for judged documents and the top of each
ranking. Blocks in an unusual form are not read here: the caller reads them line by line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.trec_columns import is_utf8
from pytest_rankcheck.rankers.query_hits import TOP, QueryHits, RunSource, Wanted, hits_by_score
from pytest_rankcheck.rankers.scanning.query_blocks import LineBlock, blocks_of_queries
from pytest_rankcheck.rankers.scanning.trec_lines import COLUMNS

__all__ = ["one_ahead", "results_of_columns", "scan_trec_columns"]

BLOCK_BYTES = 1 << 23

_SCHEMA = {
    "query": pl.String,
    "q0": pl.String,
    "doc": pl.String,
    "rank": pl.String,
    "score": pl.Float64,
    "tag": pl.String,
}
_SPACE, _TAB = 32, 9
_MIX = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: distinguishes the same document in two queries."""

Item = TypeVar("Item")

Results = list[tuple[str, QueryHits | None]]


def scan_trec_columns(
    source: RunSource, wanted: Wanted
) -> Iterator[tuple[LineBlock, Results | None]]:
    """Yield each block of a TREC run with its queries' hits; None if it must be read by line.

    The next block is read and split into columns while this one is processed.
    """
    blocks = blocks_of_queries(source.path, BLOCK_BYTES)
    for block, columns in one_ahead((block, _columns_of(block.text)) for block in blocks):
        yield block, None if columns is None else results_of_columns(columns, source, wanted)


def one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items; the next one is prepared in another thread while one is processed."""
    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(lambda: next(items, None))
        while (item := ahead.result()) is not None:
            ahead = pool.submit(lambda: next(items, None))
            yield item


def _columns_of(text: bytes) -> pl.DataFrame | None:
    """Return query, document and score of each line; None unless all lines have six columns."""
    separator = "\t" if b"\t" in text[: text.find(b"\n")] else " "
    try:
        columns = pl.read_csv(
            text,
            has_header=False,
            separator=separator,
            quote_char=None,
            columns=[0, 2, 4],
            schema=_SCHEMA,
        )
    except pl.exceptions.PolarsError:
        return None
    codes = np.frombuffer(text, dtype=np.uint8)
    separators = np.count_nonzero(codes == (_TAB if separator == "\t" else _SPACE))
    # One more per line is the line feed. Any other white space separates columns too.
    white = np.count_nonzero(codes <= _SPACE)
    ordinary = separators == (COLUMNS - 1) * columns.height and white == COLUMNS * columns.height
    return columns if ordinary and is_utf8(text) else None


def results_of_columns(columns: pl.DataFrame, source: RunSource, wanted: Wanted) -> Results | None:
    """Return the hits of each query of a block; None if it must be read in another way.

    Args:
        columns: ``query``, ``doc`` and ``score`` of whole queries, whose rows are consecutive.
        source: the run file and its conventions.
        wanted: the documents whose ranks are wanted.
    """
    if not columns.height:
        return []
    docs, scores = columns["doc"], columns["score"].to_numpy()
    runs = columns["query"].rle()
    query_ids: list[str] = runs.struct.field("value").to_list()
    lengths = runs.struct.field("len").to_numpy().astype(np.int64)
    if (
        docs.null_count()
        or not np.isfinite(scores).all()
        or any(query_id is None or query_id.startswith("#") for query_id in query_ids)
        or _has_repetition(docs, lengths)
    ):
        return None
    try:
        return _Rows(docs, scores, query_ids, lengths).results(source, wanted)
    except RunError:  # raised again by the reader in file order, if it gets that far
        return None


def _has_repetition(docs: pl.Series, lengths: NDArray[np.int64]) -> bool:
    """Whether a query may have a duplicate document, judging by equal hashes."""
    places = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    keys = docs.hash().to_numpy() ^ (places * _MIX)
    keys.sort()
    return bool((keys[1:] == keys[:-1]).any())


class _Rows:
    """The rows of a block, consecutive for each query."""

    def __init__(
        self,
        docs: pl.Series,
        scores: NDArray[np.float64],
        query_ids: list[str],
        lengths: NDArray[np.int64],
    ) -> None:
        self.docs = docs
        self.scores = scores
        self.query_ids = query_ids
        self.ends = np.cumsum(lengths)
        self.starts = self.ends - lengths

    def results(self, source: RunSource, wanted: Wanted) -> Results:
        """Return the hits of each query."""
        judged = [wanted(query_id) for query_id in self.query_ids]
        hits = self._hits(judged)
        disordered = self._disordered()
        results: list[QueryHits | None] = [None] * len(judged)
        in_order: list[_Ranked] = []
        for place, wanted_docs in enumerate(judged):
            if wanted_docs is None and source.ties != "error":
                continue
            ranked = self._ranked(place, hits.get(place, ()), place in disordered)
            if ranked is not None:
                in_order.append(ranked)
                continue
            query_hits = self._hits_among_ties(place, source, wanted_docs or ())
            results[place] = None if wanted_docs is None else query_hits
        for ranked, top in zip(in_order, self._texts([r.top for r in in_order]), strict=True):
            if judged[ranked.place] is not None:
                results[ranked.place] = QueryHits(ranked.retrieved, ranked.ranks, ranked.docs, top)
        return list(zip(self.query_ids, results, strict=True))

    def _hits(self, judged: list[Collection[str] | None]) -> dict[int, list[tuple[int, str]]]:
        """Return the rows of the judged documents of each query, and the documents."""
        every = {doc for wanted_docs in judged for doc in wanted_docs or () if _is_text(doc)}
        rows = self.docs.is_in(list(every)).arg_true()
        docs = self.docs.gather(rows).to_list()
        places = np.searchsorted(self.ends, rows.to_numpy(), side="right").tolist()
        hits: dict[int, list[tuple[int, str]]] = {}
        for place, row, doc in zip(places, rows.to_list(), docs, strict=True):
            if doc in (judged[place] or ()):
                hits.setdefault(place, []).append((row, doc))
        return hits

    def _disordered(self) -> frozenset[int]:
        """Return the queries whose scores do not strictly fall from row to row."""
        rising = self.scores[1:] >= self.scores[:-1]
        rising[self.ends[:-1] - 1] = False
        rows = np.flatnonzero(rising)
        return frozenset(np.searchsorted(self.ends, rows, side="right").tolist())

    def _ranked(
        self, place: int, hits: Sequence[tuple[int, str]], is_disordered: bool
    ) -> _Ranked | None:
        """Return the ranks of a query's hits; None if ties must be broken."""
        start, end = int(self.starts[place]), int(self.ends[place])
        docs = [doc for _, doc in hits]
        if not is_disordered:
            ranks = [row - start + 1 for row, _ in hits]
            return _Ranked(place, end - start, ranks, docs, range(start, min(start + TOP, end)))
        scores = self.scores[start:end]
        ordered = np.sort(scores)
        best = ordered[-TOP - 1 :]
        own = np.array([self.scores[row] for row, _ in hits])
        above = len(ordered) - np.searchsorted(ordered, own, side="right")
        tied = np.searchsorted(ordered, own, side="left") + above + 1 < len(ordered)
        if tied.any() or (best[1:] == best[:-1]).any():
            return None
        top = np.flatnonzero(scores >= best[-TOP:][0])
        top = top[np.argsort(-scores[top])] + start
        pairs = sorted(zip((above + 1).tolist(), docs, strict=True))
        ranks = [rank for rank, _ in pairs]
        return _Ranked(place, end - start, ranks, [doc for _, doc in pairs], top.tolist())

    def _hits_among_ties(self, place: int, source: RunSource, wanted: Collection[str]) -> QueryHits:
        start, end = int(self.starts[place]), int(self.ends[place])
        docs: list[str] = self.docs[start:end].to_list()
        scores: list[float] = self.scores[start:end].tolist()
        return hits_by_score(source, self.query_ids[place], docs, scores, wanted)

    def _texts(self, groups: list[Sequence[int]]) -> Iterator[list[str]]:
        """Yield the documents of each group of rows; all are converted to text at once."""
        docs = self.docs.gather(list(chain.from_iterable(groups))).to_list()
        start = 0
        for group in groups:
            yield docs[start : start + len(group)]
            start += len(group)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The ranks of a query's hits, and the rows of its top."""

    place: int
    retrieved: int
    ranks: list[int]
    docs: list[str]
    top: Sequence[int]


def _is_text(doc_id: str) -> bool:
    """Whether an id can occur in a file; one with a lone surrogate cannot."""
    try:
        doc_id.encode()
    except UnicodeEncodeError:
        return False
    return True
