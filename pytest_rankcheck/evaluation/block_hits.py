"""The judged hits of a block of rankings: which judged document is at which rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from operator import getitem, itemgetter
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.evaluation.held_matches import held_matched
from pytest_rankcheck.evaluation.hit_ranks import (
    disordered,
    ranks_by_score,
    rows_by_score,
)
from pytest_rankcheck.evaluation.judged_matches import Matches, ids_matched
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn
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
        """Return the query, the rank, the judged document and the score of each hit, best first."""
        matches, scores = self._matches(), self.columns.ordering_scores
        starts = self.columns.starts
        if matches.are_all and scores is not None and not self.exact:
            rows, is_tied = rows_by_score(scores, starts, np.arange(len(self.codes)))
            if not is_tied.any():
                ranks = np.arange(1, len(rows) + 1) - starts[matches.places]
                return matches.places, ranks, matches.judged[rows], scores[rows]
        places, ranks, judged, own = self._with_exact(matches, self._ranks(matches))
        order = np.argsort(starts[places] + ranks)
        return places[order], ranks[order], judged[order], own[order]

    @cached_property
    def has_rows(self) -> bool:
        """Whether the rows of judged documents are known, or only their grades."""
        return self.top > 0 or not isinstance(self.columns.documents, HeldDocuments)

    def _matches(self) -> Matches:
        columns, codes, judgments = self.columns, self.codes, self.judgments
        if isinstance(columns.documents, HeldDocuments):
            matches = held_matched(columns, codes, judgments, as_rows=self.has_rows)
        else:
            matches = ids_matched(columns, codes, judgments)
        doubtful = set(matches.doubtful)
        if self.columns.rules.ties == "error" and self.columns.ordering_scores is not None:
            doubtful.update(np.flatnonzero(self.is_disordered).tolist())
        for place in sorted(doubtful):
            self.exact[place] = self.columns.ranking(place)
            self.retrieved[place] = len(self.exact[place])
        return matches.without(self.exact)

    @cached_property
    def is_disordered(self) -> BoolArray:
        """``[S]`` whether a query's rows are not in the order of its scores."""
        if self.columns.ordering_scores is None:
            return np.zeros(len(self.columns), dtype=np.bool_)
        return disordered(self.columns.ordering_scores, self.columns.starts)

    def _ranks(self, matches: Matches) -> IntArray:
        """Return the rank of each match."""
        starts, scores = self.columns.starts, self.columns.ordering_scores
        ranks = matches.rows - starts[matches.places] + 1
        if scores is None or matches.scores is None:
            return ranks
        open_hits = np.flatnonzero(self.is_disordered[matches.places] | (matches.rows < 0))
        places, own = matches.places[open_hits], matches.scores[open_hits]
        ranks[open_hits], is_tied = ranks_by_score(scores, starts, places, own)
        tied = open_hits[is_tied]
        of_queries = groupby(
            zip(matches.places[tied].tolist(), tied.tolist(), strict=True), itemgetter(0)
        )
        for place, hits in of_queries:
            doc_ids, start = self.columns.doc_ids(place), int(starts[place])
            scores_here = scores[start : int(starts[place + 1])]
            orders = dict[float, Mapping[str, int]]()
            for _, hit in hits:
                row, score = int(matches.rows[hit]), float(matches.scores[hit])
                if score not in orders:
                    alike = np.flatnonzero(scores_here == score).tolist()
                    group = [doc_ids[each] for each in alike]
                    by_id = self.columns.rules.ties == "doc_id"
                    group = sorted(group, reverse=True) if by_id else group
                    orders[score] = {doc_id: above for above, doc_id in enumerate(group)}
                doc_id = matches.docs[-1 - row] if row < 0 else doc_ids[row - start]
                ranks[hit] += orders[score][doc_id]
        return ranks

    def _with_exact(
        self, matches: Matches, ranks: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return `_in_order` unsorted, with the queries that are read one by one.

        A hit without a score has NaN.
        """
        places, found, judged, own = [], [], [], []
        for place, ranking in self.exact.items():
            code = int(self.codes[place])
            known = self.judgments.rows_of if self.has_rows else self.judgments.of_query
            lookup: Mapping[str, float] = {} if code < 0 else known(code)
            for doc_id, rank in first_ranks(ranking.doc_ids).items():
                if doc_id in lookup:
                    places.append(place)
                    found.append(rank)
                    judged.append(lookup[doc_id])
                    own.append(ranking.scores[rank - 1] if ranking.scores else np.nan)
        scores = np.full(len(ranks), np.nan) if matches.scores is None else matches.scores
        return (
            np.concatenate([matches.places, np.array(places, dtype=np.int64)]),
            np.concatenate([ranks, np.array(found, dtype=np.int64)]),
            np.concatenate([matches.judged, np.array(judged, dtype=np.float64)]),
            np.concatenate([scores, np.array(own, dtype=np.float64)]),
        )

    def _tops(self) -> tuple[IdColumn, IntArray]:
        """Return the first documents of each judged query's ranking, and where each begins."""
        columns, begins, by_score = self.columns, self.columns.starts, self.is_disordered.copy()
        by_score[list(self.exact)] = False
        rows = np.arange(begins[-1])
        if columns.ordering_scores is not None:
            wanted = np.flatnonzero(by_score & (self.codes >= 0))
            rows, is_tied = rows_by_score(columns.ordering_scores, begins, wanted, self.top + 1)
            for place in np.flatnonzero(is_tied).tolist():
                self.exact[place] = columns.ranking(place)
        most = np.where(self.codes >= 0, min(self.top, columns.depth or self.top), 0)
        counts = np.minimum(self.retrieved, most)
        starts = np.concatenate([[0], np.cumsum(counts)])
        offsets = np.repeat(begins[:-1] - starts[:-1], counts)
        tops = rows[np.arange(starts[-1]) + offsets]
        if isinstance(columns.documents, HeldDocuments):
            lists: Any = columns.documents.groups  # no dicts: their tops are not kept
            if columns.ordering_scores is None and not self.exact:
                firsts = map(getitem, lists, map(slice, counts.tolist()))
                return HeldIds(list(chain.from_iterable(firsts))), starts
            places = np.repeat(np.arange(len(counts)), counts)
            cells = zip(places.tolist(), (tops - begins[places]).tolist(), strict=True)
            listed = [lists[place][row] for place, row in cells]
            for place, ranking in self.exact.items():
                listed[starts[place] : starts[place + 1]] = ranking.doc_ids[: counts[place]]
            return HeldIds(listed), starts
        for place, ranking in self.exact.items():
            row_of = first_ranks(columns.doc_ids(place))
            best = [begins[place] + row_of[doc] - 1 for doc in ranking.doc_ids[: counts[place]]]
            tops[starts[place] : starts[place + 1]] = best
        return columns.documents.reordered(tops), starts
