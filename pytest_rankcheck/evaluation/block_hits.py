"""The judged hits of a block of rankings: the judged documents and their ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.evaluation.judged_matches import HeldJoin, Matches, RowOrder, ids_matched
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn, starts_of
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns
from pytest_rankcheck.rankers.ranking import Ranking, first_ranks


@dataclass(frozen=True, slots=True)
class BlockHits:
    """The judged hits of some rankings: H hits of S queries."""

    codes: IntArray
    """``[S]`` the place of each query in the golden set; -1 for a query that it lacks."""
    retrieved: IntArray
    """``[S]`` how many documents were ranked."""
    starts: IntArray
    """``[S + 1]`` where the hits of each query begin, and where the last ones end."""
    ranks: IntArray
    """``[H]`` from 1, best first within each query."""
    grades: FloatArray
    """``[H]``"""
    judged: IntArray | None
    """``[H]`` the rows of the documents among the judgments, if tops are kept."""
    tied: BoolArray
    """``[H]`` whether a hit has the score of the hit before it."""
    tops: tuple[IdColumn, IntArray] | None
    """The first documents of all rankings and where each query's begin, ``[S + 1]``, if they are
    kept."""


class BlockJoin:
    """A block of rankings, and the judgments that they are joined with.

    Args:
        columns: the rankings.
        codes: ``[S]`` the place of each query in the golden set; -1 for a query not in it.
        judgments: the judgments of the golden set.
        top: how many of the first documents of each ranking to keep; 0 if the rankings are kept.
    """

    def __init__(
        self, columns: RankedColumns, codes: IntArray, judgments: Judgments, *, top: int
    ) -> None:
        self.columns, self.codes, self.judgments = columns, codes, judgments
        self.top = top
        self.retrieved = np.diff(columns.starts)
        self.exact: dict[int, Ranking] = {}
        """The rankings of the queries that are read one by one."""

    def hits(self) -> BlockHits:
        """Return the judged hits.

        Raises:
            RunError: a document is a duplicate or scores are tied, if the conventions forbid it.
        """
        places, ranks, judged, scores = self._in_order()
        tied = np.zeros(len(ranks), dtype=np.bool_)
        tied[1:] = (scores[1:] == scores[:-1]) & (places[1:] == places[:-1])
        depth = self.columns.depth
        if depth is not None:
            kept = ranks <= depth
            places, ranks, judged, tied = places[kept], ranks[kept], judged[kept], tied[kept]
            self.retrieved = np.minimum(self.retrieved, depth)
        rows = judged.astype(np.int64) if self.has_rows else None
        return BlockHits(
            self.codes,
            self.retrieved,
            np.searchsorted(places, np.arange(len(self.columns) + 1)),
            ranks,
            judged if rows is None else self.judgments.grades[rows],
            rows,
            tied,
            self._tops() if self.top else None,
        )

    def _in_order(self) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return the query, the rank, the judged document and the score of each hit, best first.

        A hit without a score has NaN.
        """
        matches, scores, starts = self._matches(), self.columns.scores, self.columns.starts
        self.order.settle_ties(self.order.positions(matches.rows))
        ranks = self.order.positions(matches.rows) - starts[matches.places] + 1
        own = np.full(len(ranks), np.nan) if scores is None else scores[matches.rows]
        hits = places, ranks, judged, own = self._with_exact(matches, ranks, own)
        best_first = starts[places] + ranks
        if (best_first[1:] > best_first[:-1]).all():
            return hits
        order = np.argsort(best_first)
        return places[order], ranks[order], judged[order], own[order]

    @cached_property
    def order(self) -> RowOrder:
        """The order of the rows of the judged queries, or of all if no scores may be tied."""
        return RowOrder(self.columns, (self.codes >= 0) | (self.columns.rules.ties == "error"))

    @cached_property
    def has_rows(self) -> bool:
        """Whether the rows of judged documents are known, or only their grades."""
        return self.top > 0 or not isinstance(self.columns.documents, HeldDocuments)

    def _matches(self) -> Matches:
        columns, codes, judgments = self.columns, self.codes, self.judgments
        if isinstance(columns.documents, HeldDocuments):
            join = HeldJoin(columns, codes, judgments, self.order, as_rows=self.has_rows)
            matches = join.matches()
        else:
            matches = ids_matched(columns, codes, judgments)
        doubtful = set(matches.doubtful)
        if columns.rules.ties == "error":
            doubtful.update(np.flatnonzero(self.order.has_ties).tolist())
        for place in sorted(doubtful):
            self.exact[place] = columns.ranking(place)
            self.retrieved[place] = len(self.exact[place])
        return matches.without(self.exact)

    def _with_exact(
        self, matches: Matches, ranks: IntArray, own: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return the hits together with those of the queries that are read one by one."""
        if not self.exact:
            return matches.places, ranks, matches.judged, own
        exact = list[tuple[int, int, float, float]]()
        for place, ranking in self.exact.items():
            code = int(self.codes[place])
            known = self.judgments.rows_of if self.has_rows else self.judgments.of_query
            lookup: Mapping[str, float] = {} if code < 0 else known(code)
            for doc_id, rank in first_ranks(ranking.doc_ids).items():
                if doc_id in lookup:
                    score = ranking.scores[rank - 1] if ranking.scores else np.nan
                    exact.append((place, rank, lookup[doc_id], score))
        more = np.array(exact, np.float64).reshape(-1, 4).T
        return (
            np.concatenate([matches.places, more[0].astype(np.int64)]),
            np.concatenate([ranks, more[1].astype(np.int64)]),
            np.concatenate([matches.judged, more[2]]),
            np.concatenate([own, more[3]]),
        )

    def _tops(self) -> tuple[IdColumn, IntArray]:
        """Return the first documents of each judged query's ranking, and where each begins."""
        columns, begins = self.columns, self.columns.starts
        most = np.where(self.codes >= 0, min(self.top, columns.depth or self.top), 0)
        counts = np.minimum(self.retrieved, most)
        starts = starts_of(counts)
        positions = np.arange(starts[-1]) + np.repeat(begins[:-1] - starts[:-1], counts)
        self.order.settle_ties(positions)
        column, rows = columns.column_with(self.order.at(positions))
        tops = column.reordered(rows)
        if self.exact:
            listed = list(tops.texts())
            for place, ranking in self.exact.items():
                listed[starts[place] : starts[place + 1]] = ranking.doc_ids[: counts[place]]
            tops = HeldIds(listed)
        return tops, starts
