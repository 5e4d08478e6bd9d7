"""The judged hits of a block of rankings: which judged document is at which rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.evaluation.held_matches import grades_matched, rows_matched
from pytest_rankcheck.evaluation.hit_ranks import (
    disordered,
    of_like_lengths,
    padded_scores,
    ranks_by_score,
    rows_in_order,
)
from pytest_rankcheck.evaluation.judged_matches import Matches, ids_matched
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns
from pytest_rankcheck.rankers.ranking import first_ranks

__all__ = ["BlockHits", "hits_of_block"]


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
    tops: tuple[IdColumn, IntArray] | None
    """The first documents of all rankings and where each query's begin, ``[S + 1]``, if they are
    kept."""


def hits_of_block(
    columns: RankedColumns, codes: IntArray, judgments: Judgments, *, top: int
) -> BlockHits:
    """Return the judged hits of some rankings.

    Args:
        columns: the rankings.
        codes: ``[S]`` the place of each query in the golden set; -1 for a query not in it.
        judgments: the judgments of the golden set.
        top: how many of the first documents of each ranking to keep; 0 if the rankings are kept.

    Raises:
        RunError: a document is a duplicate or scores are tied, if the conventions forbid it.
    """
    return _Block(columns, codes, judgments, top=top).hits()


class _Block:
    """A block of rankings, and the judgments that they are joined with."""

    def __init__(
        self, columns: RankedColumns, codes: IntArray, judgments: Judgments, *, top: int
    ) -> None:
        self.columns, self.codes, self.judgments = columns, codes, judgments
        self.top = top
        self.retrieved = np.diff(columns.starts)
        self.exact: dict[int, Sequence[str]] = {}
        """The rankings of the queries that are read one by one."""

    def hits(self) -> BlockHits:
        """Return the hits."""
        places, ranks, judged = self._in_order()
        depth = self.columns.depth
        if depth is not None:
            kept = ranks <= depth
            places, ranks, judged = places[kept], ranks[kept], judged[kept]
            self.retrieved = np.minimum(self.retrieved, depth)
        rows = judged.astype(np.int64) if self.has_rows else None
        return BlockHits(
            self.codes,
            self.retrieved,
            np.searchsorted(places, np.arange(len(self.columns) + 1)),
            ranks,
            judged if rows is None else self.judgments.grades[rows],
            rows,
            self._tops() if self.top else None,
        )

    def _in_order(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the query, the rank and the judged document of each hit, best first."""
        matches, scores = self._matches(), self.columns.ordering_scores
        if matches.are_all and scores is not None and not self.exact:
            rows = rows_in_order(scores, self.columns.starts)
            if rows is not None:
                ranks = np.arange(1, len(rows) + 1) - self.columns.starts[matches.places]
                return matches.places, ranks, matches.judged[rows]
        places, ranks, judged = self._with_exact(matches, self._ranks(matches))
        order = np.argsort(self.columns.starts[places] + ranks)
        return places[order], ranks[order], judged[order]

    @cached_property
    def has_rows(self) -> bool:
        """Whether the rows of judged documents are known, or only their grades."""
        return self.top > 0 or not isinstance(self.columns.documents, HeldDocuments)

    def _matches(self) -> Matches:
        if not isinstance(self.columns.documents, HeldDocuments):
            find = ids_matched
        else:
            find = rows_matched if self.has_rows else grades_matched
        matches = find(self.columns, self.codes, self.judgments)
        doubtful = set(matches.doubtful)
        if self.columns.rules.ties == "error" and self.columns.ordering_scores is not None:
            doubtful.update(np.flatnonzero(self.is_disordered).tolist())
        for place in sorted(doubtful):
            self.exact[place] = self.columns.ranking(place).doc_ids
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
        for place in sorted(set(matches.places[tied].tolist())):
            of_place = tied[matches.places[tied] == place]
            ranks[of_place] = self._ranks_among_ties(place, matches, of_place, ranks[of_place])
        return ranks

    def _ranks_among_ties(
        self, place: int, matches: Matches, hits: IntArray, first: IntArray
    ) -> list[int]:
        """Return the ranks of matches of one query that share their scores with others.

        Args:
            place: of the query.
            matches: all matches.
            hits: those of the query.
            first: the rank of the first document with the score of each.
        """
        assert self.columns.ordering_scores is not None
        assert matches.scores is not None
        start, end = self.columns.starts[place : place + 2].tolist()
        scores, doc_ids = self.columns.ordering_scores[start:end], self.columns.doc_ids(place)
        ordered: dict[float, dict[str, int]] = {}
        ranks = []
        for hit, rank in zip(hits.tolist(), first.tolist(), strict=True):
            score, row = float(matches.scores[hit]), int(matches.rows[hit])
            if score not in ordered:
                docs = [doc_ids[row] for row in np.flatnonzero(scores == score).tolist()]
                if self.columns.rules.ties == "doc_id":
                    docs.sort(reverse=True)
                ordered[score] = {doc: index for index, doc in enumerate(docs)}
            doc = matches.docs[-1 - row] if row < 0 else doc_ids[row - start]
            ranks.append(rank + ordered[score][doc])
        return ranks

    def _with_exact(
        self, matches: Matches, ranks: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Return places, ranks and judged documents, with the queries that are read one by one."""
        places, found, judged = [], [], []
        for place, doc_ids in self.exact.items():
            code = int(self.codes[place])
            known = self.judgments.rows_of if self.has_rows else self.judgments.of_query
            lookup: Mapping[str, float] = {} if code < 0 else known(code)
            for doc_id, rank in first_ranks(doc_ids).items():
                if doc_id in lookup:
                    places.append(place)
                    found.append(rank)
                    judged.append(lookup[doc_id])
        return (
            np.concatenate([matches.places, np.array(places, dtype=np.int64)]),
            np.concatenate([ranks, np.array(found, dtype=np.int64)]),
            np.concatenate([matches.judged, np.array(judged, dtype=np.float64)]),
        )

    def _tops(self) -> tuple[IdColumn, IntArray]:
        """Return the first documents of each judged query's ranking, and where each begins."""
        most = np.where(self.codes >= 0, min(self.top, self.columns.depth or self.top), 0)
        counts = np.minimum(self.retrieved, most)
        starts = np.concatenate([[0], np.cumsum(counts)])
        begins = self.columns.starts[:-1]
        rows = np.repeat(begins - starts[:-1], counts) + np.arange(starts[-1])
        for place, best in self._tops_by_score():
            rows[starts[place] : starts[place + 1]] = begins[place] + best[: counts[place]]
        for place, doc_ids in self.exact.items():
            listed = self.columns.doc_ids(place)
            index = first_ranks(listed)
            best = np.array([index[doc] - 1 for doc in doc_ids[: counts[place]]], dtype=np.int64)
            rows[starts[place] : starts[place + 1]] = begins[place] + best
        documents = self.columns.documents
        if not isinstance(documents, HeldDocuments):
            return documents.reordered(rows), starts
        return HeldIds(list(chain.from_iterable(self._listed(rows, starts)))), starts

    def _listed(self, rows: IntArray, starts: IntArray) -> Iterator[Sequence[str]]:
        """Yield the documents of each query that are at some rows of the block."""
        assert isinstance(self.columns.documents, HeldDocuments)
        groups, begins = self.columns.documents.groups, self.columns.starts.tolist()
        are_first = ~self.is_disordered
        are_first[list(self.exact)] = False
        bounds = pairwise(starts.tolist())
        for place, (start, end) in enumerate(bounds):
            group = groups[place]
            assert not isinstance(group, dict)  # a dict is in memory: no top is kept
            if are_first[place]:
                yield group[: end - start]
            else:
                yield [group[row - begins[place]] for row in rows[start:end].tolist()]

    def _tops_by_score(self) -> Iterator[tuple[int, IntArray]]:
        """Yield the queries that the scores order, with the rows of their first documents."""
        scores, all_starts = self.columns.ordering_scores, self.columns.starts
        wanted = np.flatnonzero(self.is_disordered & (self.codes >= 0))
        places = np.setdiff1d(wanted, list(self.exact))
        if scores is None:
            return
        for chosen in of_like_lengths(np.diff(all_starts)[places]):
            queries = places[chosen]
            matrix = padded_scores(scores, all_starts, queries)
            order = np.argsort(-matrix, axis=1)[:, : self.top + 1]
            best = np.take_along_axis(matrix, order, axis=1)
            is_tied = ((best[:, 1:] == best[:, :-1]) & np.isfinite(best[:, 1:])).any(axis=1)
            for place, rows, tied in zip(queries.tolist(), order, is_tied.tolist(), strict=True):
                if tied:
                    self.exact[place] = self.columns.ranking(place).doc_ids
                else:
                    yield place, rows
