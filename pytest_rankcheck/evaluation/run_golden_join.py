"""Joining a run with a golden set into judged hits: done once, for every metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise, repeat
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.evaluation.block_hits import BlockHits, BlockJoin
from pytest_rankcheck.files.id_columns import (
    HeldIds,
    counts_of,
    joined_ids,
    numbered,
    rows_of_groups,
    starts_of,
)
from pytest_rankcheck.files.table_batches import collector_paused
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.metrics.judged_hits import JudgedHits, padded_columns
from pytest_rankcheck.metrics.metric_inputs import ABSENT
from pytest_rankcheck.rankers.ranked_columns import (
    TOP,
    HeldDocuments,
    RankedColumns,
    SplitQueryError,
)
from pytest_rankcheck.rankers.ranking import RankingRules
from pytest_rankcheck.rankers.run import Run

BLOCK = 4096
"""Queries per block, at most."""
_CELLS = 1 << 16
"""The size of the padded matrices of a block; few cells, so that memory is reused."""


@dataclass(frozen=True, slots=True)
class QueryHits:
    """The judged hits of one query, and the top of its ranking."""

    retrieved: int
    """How many documents were ranked."""
    ranks: Sequence[int]
    """The ranks of the judged documents that were retrieved, from 1, best first."""
    doc_ids: Sequence[str]
    """The same documents; empty if the whole ranking is kept."""
    top: Sequence[str]
    """The first documents; empty if the whole ranking is kept."""
    tied: Sequence[bool] = ()
    """Whether each judged document has the score of the one before it."""


class Joined:
    """The judged hits of a run: H hits of the Q queries of a golden set."""

    def __init__(self, judgments: Judgments, blocks: Sequence[BlockHits], extra: Sequence[str]):
        self._judgments, self._blocks = judgments, blocks
        self._begins = starts_of([len(block.codes) for block in blocks])
        self.extra = extra
        """The queries of the run without judgments."""
        codes = np.concatenate([np.zeros(0, np.int64), *(block.codes for block in blocks)])
        self._segments = np.full(len(judgments.query_ids), -1, dtype=np.int64)
        is_judged = codes >= 0
        self._segments[codes[is_judged]] = np.flatnonzero(is_judged)
        self.missing = tuple(compress(judgments.query_ids, (~self.is_ranked).tolist()))
        """The judged queries that the run lacks."""
        counts = [np.diff(block.starts) for block in blocks]
        ends = starts_of(np.concatenate([np.zeros(0, np.int64), *counts]))
        of_segments = np.append(np.diff(ends), 0)  # segment -1 has no hits
        self.starts = starts_of(of_segments[self._segments])
        """``[Q + 1]`` where the hits of each query begin, and where the last ones end."""
        ranked = self._segments[self._segments >= 0]
        self._rows = None  # usually the blocks are in order already
        if len(ranked) < len(ends) - 1 or (ranked[1:] < ranked[:-1]).any():
            self._rows = rows_of_groups(ends, self._segments)[0]
        self.ranks: IntArray = self._in_order([block.ranks for block in blocks], np.int64)
        """``[H]`` from 1, best first within each query."""
        self.grades: FloatArray = self._in_order([block.grades for block in blocks], np.float64)
        """``[H]``"""
        self.tied: BoolArray = self._in_order([block.tied for block in blocks], np.bool_)
        """``[H]`` whether a hit has the score of the hit before it."""
        retrieved = np.concatenate([np.zeros(0, np.int64), *(block.retrieved for block in blocks)])
        self.retrieved = np.append(retrieved, 0)[self._segments]
        """``[Q]`` how many documents were ranked."""

    def _in_order(self, parts: Sequence[Any], kind: type) -> Any:
        """Return the values of each block's hits, in the golden set's order of queries."""
        values: Any = np.concatenate([np.zeros(0, kind), *parts], dtype=kind)
        return values if self._rows is None else values[self._rows]

    def with_others(self, other: Joined) -> Joined:
        """Return these hits, with those of the queries of another run replaced by its hits."""
        # A query in several blocks has the hits of the last one.
        return Joined(self._judgments, (*self._blocks, *other._blocks), self.extra)

    @property
    def is_ranked(self) -> BoolArray:
        """``[Q]`` whether the run has the query."""
        return self._segments >= 0

    @property
    def has_hits(self) -> BoolArray:
        """``[Q]`` whether a judged document is ranked."""
        return np.diff(self.starts) > 0

    @property
    def lacks_relevant(self) -> BoolArray:
        """``[Q]`` whether a relevant document is not ranked."""
        found = counts_of(self.grades > 0, self.starts)
        return found < self._judgments.counts(self._judgments.grades > 0)

    @property
    def judged(self) -> IntArray:
        """``[H]`` the row of each hit among the judgments, if the tops are kept."""
        rows = [block.judged for block in self._blocks if block.judged is not None]
        judged: IntArray = self._in_order(rows, np.int64)
        return judged

    def tops(self) -> tuple[IntArray, Sequence[str]]:
        """Return the number of each document at the top, and the id of each number.

        The numbers are ``[Q, D]``; -1 past the end.
        """
        known: dict[str, int] = {}
        tops = [block.tops for block in self._blocks if block.tops is not None]
        numbers = numbered(joined_ids([ids for ids, _ in tops]), known)
        counts = [np.zeros(0, np.int64), *(np.diff(starts) for _, starts in tops)]
        rows, starts = rows_of_groups(starts_of(np.concatenate(counts)), self._segments)
        top = padded_columns(numbers[rows], starts)
        return np.nan_to_num(top, nan=ABSENT).astype(np.int64), list(known)

    def first_documents(self, k: int | None) -> Mapping[str, Sequence[str]]:
        """Return the first documents of each query, as far as they are kept."""
        firsts: list[tuple[str, ...]] = []
        for block in self._blocks:
            ids, starts = block.tops or (HeldIds([]), np.zeros(len(block.codes) + 1, np.int64))
            texts = ids.texts()
            firsts += [tuple(texts[start:end][:k]) for start, end in pairwise(starts.tolist())]
        firsts.append(())  # of the segment -1
        of_queries = map(firsts.__getitem__, self._segments.tolist())
        return dict(zip(self._judgments.query_ids, of_queries, strict=True))

    def of_query(self, code: int) -> QueryHits:
        """Return the hits of one query, given its place in the golden set."""
        segment = int(self._segments[code])
        if segment < 0:
            return QueryHits(0, (), (), ())
        start, end = self.starts[code : code + 2].tolist()
        ranks = self.ranks[start:end].tolist()
        tied = self.tied[start:end].tolist()
        number = int(np.searchsorted(self._begins, segment, side="right")) - 1
        block, place = self._blocks[number], segment - int(self._begins[number])
        doc_ids: Sequence[str] = ()
        top: Sequence[str] = ()
        if block.judged is not None:
            first, last = block.starts[place : place + 2].tolist()
            doc_ids = self._judgments.documents.texts(block.judged[first:last])
        if block.tops is not None:
            first, last = block.tops[1][place : place + 2].tolist()
            top = block.tops[0].part(first, last).texts()
        return QueryHits(int(self.retrieved[code]), ranks, doc_ids, top, tied)


def join(run: Run, golden: GoldenSet, top: int | None = None) -> Joined:
    """Find the judged documents in a run.

    Args:
        run: the run.
        golden: the judged queries.
        top: how many of the first documents of each ranking to keep; by default, none of a run
            that is in memory, and a few of one in a file.

    Raises:
        RunError: the run is in a file with a malformed line, or a document is a duplicate or scores
            are tied where that is an error.
    """
    if top is None:
        top = 0 if run.is_in_memory else TOP
    with collector_paused():
        try:
            return _joined(run.columns(), golden.columns, top)
        except SplitQueryError:
            return _joined(run.columns(together=True), golden.columns, top)


def _joined(columns: Iterable[RankedColumns], judgments: Judgments, top: int) -> Joined:
    blocks: list[BlockHits] = []
    extra: list[str] = []
    for block in columns:
        known = map(judgments.codes.get, block.query_ids, repeat(-1))
        codes = np.fromiter(known, np.int64, len(block))
        extra += [block.query_ids[place] for place in np.flatnonzero(codes < 0).tolist()]
        blocks.append(BlockJoin(block, codes, judgments, top=top).hits())
    return Joined(judgments, blocks, tuple(extra))


def joined_parts(
    hits: Mapping[str, QueryHits], judgments: Judgments, extra: Sequence[str]
) -> Joined:
    """Return hits that were found query by query as the hits of one run."""
    codes = [judgments.codes[query_id] for query_id in hits]
    judged = [
        judgments.rows_of(code)[doc_id]
        for code, found in zip(codes, hits.values(), strict=True)
        for doc_id in found.doc_ids
    ]
    found, rows = list(hits.values()), np.array(judged, np.int64)
    tops = HeldIds(list(chain.from_iterable(each.top for each in found)))
    block = BlockHits(
        np.array(codes, np.int64),
        np.array([each.retrieved for each in found], np.int64),
        starts_of([len(each.ranks) for each in found]),
        np.array([rank for each in found for rank in each.ranks], np.int64),
        judgments.grades[rows],
        rows,
        np.array([each for of_query in found for each in of_query.tied], np.bool_),
        (tops, starts_of([len(each.top) for each in found])),
    )
    return Joined(judgments, [block], extra)


def block_size(judgments: Judgments) -> int:
    """Return how many queries share one matrix of hits, so that it stays small."""
    widest = int(np.diff(judgments.starts).max(initial=1))
    return min(BLOCK, max(1, _CELLS // widest))


def judged_hits(joined: Joined, golden: GoldenSet, block: int) -> Iterator[JudgedHits]:
    """Yield the judged hits of all queries of ``golden``, in its order, in blocks.

    A query that the run lacks has an empty ranking.
    """
    for start in range(0, len(golden), block):
        yield _hits_of_queries(joined, golden.columns, golden.scale, start, start + block)


def _hits_of_queries(
    joined: Joined, judgments: Judgments, max_grade: float, start: int, end: int
) -> JudgedHits:
    hits, rows = joined.starts[start : end + 1], judgments.starts[start : end + 1]
    return JudgedHits(
        ranks=padded_columns(joined.ranks, hits),
        grades=padded_columns(joined.grades, hits),
        retrieved=joined.retrieved[start:end].astype(np.float64),
        ideal=-np.sort(-padded_columns(judgments.grades, rows), axis=1),
        max_grade=max_grade,
        tied=padded_columns(joined.tied, hits) if joined.tied[hits[0] : hits[-1]].any() else None,
    )


def hits_of_lists(
    rankings: Sequence[Sequence[str]], judged: Sequence[Mapping[str, float]], max_grade: float
) -> JudgedHits:
    """Return the judged hits of some rankings, each with its own judgments.

    Args:
        rankings: document ids, best first; only the first place of a duplicate document counts.
        judged: the grades of all judged documents of each.
        max_grade: the scale of the golden set.
    """
    of_query = {str(place): grades for place, grades in enumerate(judged)}
    judgments = Judgments.of_dicts(of_query)
    columns = RankedColumns(
        judgments.query_ids,
        starts_of(list(map(len, rankings))),
        HeldDocuments(rankings),
        rules=RankingRules(duplicates="keep_places"),
    )
    joined = _joined([columns], judgments, 0)
    return _hits_of_queries(joined, judgments, max_grade, 0, len(judged))
