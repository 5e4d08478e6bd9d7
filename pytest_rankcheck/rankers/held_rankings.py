"""Rankings in memory: the answers of a ranker as it gave them, or columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from pytest_rankcheck.files.id_runs import starts_of
from pytest_rankcheck.rankers.ranked_columns import (
    HeldDocuments,
    RankedColumns,
    RankingRules,
    SplitQueryError,
    unsplit,
)
from pytest_rankcheck.rankers.ranking import Ranking, Ties
from pytest_rankcheck.rankers.ranking_forms import is_list_of_ids, ranking_as_given

__all__ = ["Answer", "HeldAnswers", "HeldColumns", "HeldRankings", "has_ties", "raw_answer"]

Answer = Ranking | dict[str, float] | Sequence[str]
"""A query's ranking, or an answer that is not sorted or copied yet: scores, or ids best first."""

_BLOCK_QUERIES, _BLOCK_ROWS = 4096, 1_000_000
"""How much of a run is joined with the judgments at once."""


def raw_answer(answer: object, ties: Ties) -> dict[str, float] | Sequence[str] | None:
    """Return an answer if it need not be parsed before it is looked at; otherwise None.

    A few calls check an answer as a whole: a list of distinct text ids; or a dict of finite floats,
    whose first and last keys are text. The other keys are checked when judged ids are missing.
    """
    if type(answer) is not dict:
        return answer if is_list_of_ids(answer) else None
    if not answer or ties == "error":
        return None
    first, last = next(iter(answer)), next(reversed(answer))
    if type(first) is not str or type(last) is not str or not isinstance(answer[first], float):
        return None
    if None in answer or "" in answer:
        return None
    try:
        total = sum(answer.values())
    except (TypeError, OverflowError):
        return None
    return answer if isinstance(total, float) and math.isfinite(total) else None


class HeldAnswers:
    """What a ranker answered, by query: sorted only when someone asks."""

    def __init__(self, answers: Mapping[str, Answer], rules: RankingRules) -> None:
        self._answers = dict(answers)
        self._rules = rules

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._answers

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def documents(self) -> int:
        """The number of ranked documents of all queries."""
        return sum(map(len, self._answers.values()))

    def ranking(self, query_id: str) -> Ranking:
        """Return a query's ranking in order.

        Raises:
            KeyError: the query is unknown.
            RunError: an id of a dict is neither text nor a whole number.
        """
        answer = self._answers[query_id]
        if not isinstance(answer, Ranking):
            answer = ranking_as_given(answer, query_id, self._rules.ties)
            self._answers[query_id] = answer
        return answer

    def has_ties(self, query_id: str) -> bool:
        """Return whether two documents of a query have the same score.

        Raises:
            KeyError: the query is unknown.
        """
        answer = self._answers[query_id]
        return has_ties(answer) if isinstance(answer, Ranking) else _repeats_a_score(answer)

    def columns(self) -> Iterator[RankedColumns]:
        """Yield all rankings in columns, those with unsorted scores apart from the others."""
        scored, listed = _Block(self._rules), _Block(self._rules)
        for query_id, answer in self._answers.items():
            block = scored if isinstance(answer, dict) else listed
            block.add(query_id, answer)
            if block.is_full:
                yield block.columns()
        yield from (block.columns() for block in (scored, listed) if block.query_ids)


class _Block:
    """Answers of one kind, collected until they fill a block."""

    def __init__(self, rules: RankingRules) -> None:
        self._rules = rules
        self._clear()

    def _clear(self) -> None:
        self.query_ids: list[str] = []
        self._groups: list[Sequence[str] | dict[str, float]] = []
        self._rows = 0
        self._are_distinct = True

    def add(self, query_id: str, answer: Answer) -> None:
        if isinstance(answer, Ranking):
            self._are_distinct &= not answer.repeated
            answer = answer.doc_ids
        self.query_ids.append(query_id)
        self._groups.append(answer)
        self._rows += len(answer)

    @property
    def is_full(self) -> bool:
        return self._rows >= _BLOCK_ROWS or len(self.query_ids) >= _BLOCK_QUERIES

    def columns(self) -> RankedColumns:
        """Return the collected answers, and begin anew."""
        groups = self._groups
        scores = None
        if isinstance(groups[0], dict):
            values = chain.from_iterable(map(dict.values, groups))  # type: ignore[arg-type]
            scores = np.fromiter(values, np.float64, self._rows)
        columns = RankedColumns(
            self.query_ids,
            starts_of(list(map(len, groups))),
            HeldDocuments(groups, self._are_distinct),
            scores,
            self._rules,
        )
        self._clear()
        return columns


class HeldColumns:
    """Rankings in columns, as a table or a file gives them."""

    def __init__(self, blocks: Iterable[RankedColumns]) -> None:
        self._blocks = list(blocks)
        self._rankings: dict[str, Ranking] = {}

    @cached_property
    def _places(self) -> Mapping[str, tuple[RankedColumns, int]]:
        return {
            query_id: (block, place)
            for block in self._blocks
            for place, query_id in enumerate(block.query_ids)
        }

    @classmethod
    def read(cls, columns: Callable[..., Iterator[RankedColumns]]) -> HeldColumns:
        """Return all rankings of a file or a table.

        Args:
            columns: yields its blocks; with ``together=True``, after bringing the rows of each
                query together.

        Raises:
            RunError: a row is malformed, a document is a duplicate or scores are tied where that
                is an error.
        """
        try:
            held = cls(unsplit(columns()))
        except SplitQueryError:
            held = cls(columns(together=True))
        held.check()
        return held

    def check(self) -> None:
        """Check all rankings.

        Raises:
            RunError: a document is a duplicate or scores are tied, where that is an error.
        """
        for block in self._blocks:
            block.check()

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._places

    def __len__(self) -> int:
        return len(self._places)

    @property
    def documents(self) -> int:
        """The number of ranked documents of all queries."""
        return sum(int(block.starts[-1]) for block in self._blocks)

    def ranking(self, query_id: str) -> Ranking:
        """Return a query's ranking in order.

        Raises:
            KeyError: the query is unknown.
        """
        ranking = self._rankings.get(query_id)
        if ranking is None:
            block, place = self._places[query_id]
            ranking = self._rankings[query_id] = block.ranking(place)
        return ranking

    def has_ties(self, query_id: str) -> bool:
        """Return whether two documents of a query have the same score.

        Raises:
            KeyError: the query is unknown.
        """
        return has_ties(self.ranking(query_id))

    def columns(self) -> Iterator[RankedColumns]:
        """Yield all rankings in columns, in blocks."""
        return iter(self._blocks)


HeldRankings = HeldAnswers | HeldColumns


def has_ties(ranking: Ranking) -> bool:
    """Return whether two different documents of a ranking have the same score."""
    scores = ranking.scores
    if scores is None or len(set(scores)) == len(scores):
        return False
    return len(set(scores)) < len(set(zip(scores, ranking.doc_ids, strict=True)))


def _repeats_a_score(answer: dict[str, float] | Sequence[str]) -> bool:
    return isinstance(answer, dict) and len(set(answer.values())) < len(answer)
