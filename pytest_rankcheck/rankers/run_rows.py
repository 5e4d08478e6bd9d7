"""Rows of a table of rankings, in columns, and the rankings that they form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn, NumberIds, TextIds
from pytest_rankcheck.files.id_runs import joined_ids, run_starts
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns, SplitQueryError
from pytest_rankcheck.rankers.ranking import RankingRules, has_all_ranks, refuse_incomplete_ranks

__all__ = ["RunRows", "joined_rows", "no_number"]


@dataclass(frozen=True, slots=True)
class RunRows:
    """Some rows of a table, n of them; the arrays have the shape ``[n]``."""

    numbers: IntArray
    """The number of each row, for messages."""
    queries: IdColumn
    documents: IdColumn
    scores: FloatArray | None
    """NaN where a cell is empty."""
    ranks: FloatArray | None
    """NaN where a cell is empty; None also if scores decide in all rows."""

    def at(self, rows: IntArray) -> RunRows:
        """Return some rows, in this order."""
        return RunRows(
            self.numbers[rows],
            self.queries.reordered(rows),
            self.documents.reordered(rows),
            None if self.scores is None else self.scores[rows],
            None if self.ranks is None else self.ranks[rows],
        )

    def part(self, start: int, end: int) -> RunRows:
        """Return the rows from ``start`` to before ``end``."""
        return RunRows(
            self.numbers[start:end],
            self.queries.part(start, end),
            self.documents.part(start, end),
            None if self.scores is None else self.scores[start:end],
            None if self.ranks is None else self.ranks[start:end],
        )

    def ranked(
        self, rules: RankingRules, numbering: Numbering, *, are_whole: bool
    ) -> RankedColumns:
        """Return the rankings of these rows.

        Args:
            rules: how to order documents where the scores leave it open.
            numbering: how messages name the rows.
            are_whole: whether these are all rows of each query.

        Raises:
            RunError: a query has empty scores or ranks, or ranks that are incomplete.
            SplitQueryError: ranks are incomplete, but more rows may follow.
        """
        begins = run_starts(self.queries)
        starts = np.append(begins, len(self.queries))
        query_ids = self.queries.texts(begins)
        order = _Order(self, query_ids, starts, rules, numbering, are_whole)
        scores, by_rank = order.decided()
        documents = _documents(self.documents, starts)
        return RankedColumns(query_ids, starts, documents, scores, rules, by_rank=by_rank)


def _documents(documents: IdColumn, starts: IntArray) -> TextIds | NumberIds | HeldDocuments:
    """Return a column of documents in the form that rankings use."""
    if isinstance(documents, (TextIds, NumberIds)):
        return documents
    assert isinstance(documents, HeldIds)
    return HeldDocuments([documents.ids[start:end] for start, end in pairwise(starts.tolist())])


def joined_rows(parts: Sequence[RunRows]) -> RunRows:
    """Return the rows of all parts, one after another."""
    scores = [part.scores for part in parts if part.scores is not None]
    ranks = [  # a part's ranks were not read if all of its rows have scores
        np.full(len(part.queries), np.nan) if part.ranks is None else part.ranks for part in parts
    ]
    has_ranks = any(part.ranks is not None for part in parts)
    return RunRows(
        np.concatenate([part.numbers for part in parts]),
        joined_ids([part.queries for part in parts]),
        joined_ids([part.documents for part in parts]),
        np.concatenate(scores) if scores else None,
        np.concatenate(ranks) if has_ranks else None,
    )


@dataclass(frozen=True, slots=True)
class _Order:
    """How the rows of each query are ordered: by the scores, the ranks, or as they come."""

    rows: RunRows
    query_ids: Sequence[str]
    starts: IntArray
    rules: RankingRules
    numbering: Numbering
    are_whole: bool

    def decided(self) -> tuple[FloatArray | None, BoolArray | None]:
        """Return the scores to sort by (or negated ranks), and which queries have ranks."""
        scores, ranks = self.rows.scores, self.rows.ranks
        if ranks is None:
            if scores is not None:
                self._refuse("score", np.isnan(scores))
            return scores, None
        by_rank = np.ones(len(self.query_ids), dtype=np.bool_)
        if scores is not None:
            is_given = np.concatenate([[0], np.cumsum(~np.isnan(scores))])
            by_rank = is_given[self.starts[1:]] == is_given[self.starts[:-1]]
        of_row = np.repeat(by_rank, np.diff(self.starts))
        if scores is not None:
            self._refuse("score", np.isnan(scores) & ~of_row)
        if not by_rank.any():
            return scores, None
        self._refuse("rank", np.isnan(ranks) & of_row)
        self._refuse("rank", np.isinf(ranks) & of_row, "not a finite number")
        if self.rules.incomplete_ranks == "error":
            self._refuse_incomplete(ranks, by_rank)
        return np.where(of_row, -ranks, -ranks if scores is None else scores), by_rank

    def _refuse(self, role: str, is_wrong: BoolArray, problem: str | None = None) -> None:
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            problem = problem or ("empty or NaN" if self.numbering.is_table else "empty")
            where = self.numbering.place(int(self.rows.numbers[row]))
            raise no_number(role, where, self.rows.documents, row, problem)

    def _refuse_incomplete(self, ranks: FloatArray, by_rank: BoolArray) -> None:
        """Check that the ranks of each query are 1, 2, 3, ... or 0, 1, 2, ... in some order."""
        places = np.flatnonzero(by_rank)
        firsts = ranks[self.starts[:-1]]
        lengths = np.diff(self.starts)
        expected = np.arange(len(ranks)) - np.repeat(self.starts[:-1] - firsts, lengths)
        wrong = np.concatenate([[0], np.cumsum(ranks != expected)])
        in_order = (wrong[self.starts[1:]] == wrong[self.starts[:-1]]) & np.isin(firsts, (0, 1))
        for place in places[~in_order[places]].tolist():
            start, end = self.starts[place : place + 2].tolist()
            listed = ranks[start:end].tolist()
            if not self.are_whole and not has_all_ranks(listed):
                raise SplitQueryError
            refuse_incomplete_ranks(listed, self.query_ids[place])


def no_number(role: str, where: str, documents: IdColumn, row: int, problem: str) -> RunError:
    """Return the error for a row whose score or rank is not a number."""
    doc_id = documents.texts(np.array([row]))[0]
    return RunError(f"{where}: the {role} of document '{quoted(doc_id)}' is {problem}")
