"""Rankings in memory: the answers of a ranker as it gave them, or columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from pytest_rankcheck.files.id_runs import row_blocks, starts_of
from pytest_rankcheck.rankers.ranked_columns import (
    HeldDocuments,
    RankedColumns,
    SplitQueryError,
    unsplit,
)
from pytest_rankcheck.rankers.ranking import Ranking, RankingRules
from pytest_rankcheck.rankers.ranking_forms import ranking_as_given

__all__ = [
    "Answer",
    "HeldAnswers",
    "HeldColumns",
    "HeldRankings",
    "has_ties",
]

Answer = Ranking | dict[str, float] | Sequence[str]
"""A query's ranking, or an answer that is not sorted or copied yet: scores, or ids best first."""

_BLOCK_ROWS = 1 << 17
"""How many documents are joined with the judgments at once: few, so that memory is used again."""


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
        scored = {each: got for each, got in self._answers.items() if isinstance(got, dict)}
        yield from self._blocks(scored)
        listed = {each: got for each, got in self._answers.items() if each not in scored}
        yield from self._blocks(listed)

    def _blocks(self, answers: Mapping[str, Answer]) -> Iterator[RankedColumns]:
        """Yield answers that all have unsorted scores, or all have none, in blocks."""
        query_ids = list(answers)
        groups = [got.doc_ids if isinstance(got, Ranking) else got for got in answers.values()]
        starts = starts_of(list(map(len, groups)))
        rankings = (got for got in answers.values() if isinstance(got, Ranking))
        are_distinct = not any(ranking.repeated for ranking in rankings)
        for first, last in row_blocks(starts, _BLOCK_ROWS):
            bounds, some = starts[first : last + 1] - starts[first], groups[first:last]
            scores = None
            if isinstance(some[0], dict):
                values = chain.from_iterable(map(dict.values, some))  # type: ignore[arg-type]
                scores = np.fromiter(values, np.float64, int(bounds[-1]))
            documents = HeldDocuments(some, are_distinct)
            yield RankedColumns(query_ids[first:last], bounds, documents, scores, self._rules)


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
