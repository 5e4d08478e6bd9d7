"""Rankings in memory, in columns; the ranking of a query is made when someone asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from pytest_rankcheck.rankers.ranked_columns import (
    Answer,
    RankedColumns,
    SplitQueryError,
    blocks_of,
    unsplit,
)
from pytest_rankcheck.rankers.ranking import Ranking, RankingRules

__all__ = ["HeldColumns"]


class HeldColumns:
    """Rankings in columns, as a ranker, a table or a file gives them."""

    def __init__(self, blocks: Iterable[RankedColumns]) -> None:
        self._blocks = list(blocks)
        self._query_ids: Iterable[str] = ()  # if their order is not that of the blocks
        self._rankings: dict[str, Ranking] = {}

    @classmethod
    def of(cls, answers: Mapping[str, Answer], rules: RankingRules) -> HeldColumns:
        """Return what a ranker answered, by query."""
        rankings = {each: got for each, got in answers.items() if isinstance(got, Ranking)}
        repeated = {each: ranking for each, ranking in rankings.items() if ranking.repeated}
        held = cls(blocks_of(answers, rules, are_distinct=not repeated))
        held._query_ids, held._rankings = tuple(answers), repeated
        return held

    @cached_property
    def _places(self) -> Mapping[str, tuple[RankedColumns, int]]:
        places = {
            query_id: (block, place)
            for block in self._blocks
            for place, query_id in enumerate(block.query_ids)
        }
        return {each: places[each] for each in self._query_ids or places}

    @classmethod
    def read(cls, columns: Callable[..., Iterator[RankedColumns]]) -> HeldColumns:
        """Return all rankings of a file or a table, whose blocks ``columns`` yields.

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

    def top(self, depth: int) -> HeldColumns:
        """Return the rankings cut to the first documents of each query."""
        held = HeldColumns(replace(block, depth=depth) for block in self._blocks)
        held._query_ids = self._query_ids
        held._rankings = {each: ranking.top(depth) for each, ranking in self._rankings.items()}
        return held

    def check(self) -> None:
        """Check that no document is a duplicate and no scores are tied, where that is an error."""
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
        return sum(int(np.diff(each.starts).clip(0, each.depth).sum()) for each in self._blocks)

    def ranking(self, query_id: str) -> Ranking:
        """Return a query's ranking in order."""
        ranking = self._rankings.get(query_id)
        if ranking is None:
            block, place = self._places[query_id]
            ranking = self._rankings[query_id] = block.ranking(place)
        return ranking

    def has_ties(self, query_id: str) -> bool:
        """Return whether two different documents of a query have the same score."""
        block, place = self._places[query_id]
        unsorted = block.unsorted(place)
        if unsorted is not None and block.depth is None:
            return len(set(unsorted.values())) < len(unsorted)
        ranking = self.ranking(query_id)
        scores = ranking.scores
        if scores is None or len(set(scores)) == len(scores):
            return False
        return len(set(scores)) < len(set(zip(scores, ranking.doc_ids, strict=True)))

    def columns(self, *, together: bool = False) -> Iterator[RankedColumns]:
        """Yield all rankings in columns, in blocks; the rows of each query are together."""
        return map(RankedColumns.with_scores, self._blocks)
