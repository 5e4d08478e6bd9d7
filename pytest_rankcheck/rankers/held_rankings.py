"""Rankings in memory, in columns; a query's ranking is made when someone asks for it.

What a user gives as a dict is kept as it is where possible, otherwise parsed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, chain, count
from typing import Any

import numpy as np

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranked_columns import (
    Answer,
    RankedColumns,
    SplitQueryError,
    blocks_of,
    unsplit,
)
from pytest_rankcheck.rankers.ranking import Ranking, RankingRules, Ties
from pytest_rankcheck.rankers.ranking_forms import (
    given_twice,
    is_list_of_ids,
    query_id_of,
    ranking_of,
)

__all__ = ["HeldColumns", "answers_of"]


class HeldColumns:
    """Rankings in columns, as a ranker, a table or a file gives them."""

    def __init__(self, blocks: Iterable[RankedColumns]) -> None:
        self._blocks = list(blocks)
        self._query_ids: Iterable[str] = ()  # if their order is not that of the blocks
        self._rankings: dict[str, Ranking] = {}

    @classmethod
    def of(cls, answers: Mapping[str, Answer], rules: RankingRules) -> HeldColumns:
        """Return what a ranker answered, by query."""
        repeated = {
            query_id: answer
            for query_id, answer in answers.items()
            if isinstance(answer, Ranking) and answer.repeated
        }
        held = cls(blocks_of(answers, rules, are_distinct=not repeated))
        held._query_ids, held._rankings = tuple(answers), repeated
        return held

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The place of each query among those of all blocks, in the order of the run."""
        places = dict(zip(chain.from_iterable(each.query_ids for each in self._blocks), count()))
        return {each: places[each] for each in self._query_ids} if self._query_ids else places

    @cached_property
    def _starts(self) -> Sequence[int]:
        """The place of the first query of each block."""
        return [0, *accumulate(map(len, self._blocks))]

    def _block_of(self, query_id: str) -> tuple[RankedColumns, int]:
        """Return the block with a query, and its place there."""
        place = self._places[query_id]
        number = bisect_right(self._starts, place) - 1
        return self._blocks[number], place - self._starts[number]

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
            block, place = self._block_of(query_id)
            ranking = self._rankings[query_id] = block.ranking(place)
        return ranking

    def has_ties(self, query_id: str) -> bool:
        """Return whether two different documents of a query have the same score."""
        block, place = self._block_of(query_id)
        unsorted = block.unsorted(place)
        if unsorted is not None and block.depth is None:  # so it need not be sorted
            return len(set(unsorted.values())) < len(unsorted)
        ranking = self.ranking(query_id)
        scores = ranking.scores
        if scores is None or len(set(scores)) == len(scores):
            return False
        return len(set(scores)) < len(set(zip(scores, ranking.doc_ids, strict=True)))

    def columns(self, *, together: bool = False) -> Iterator[RankedColumns]:
        """Yield all rankings in columns, in blocks; the rows of each query are together."""
        return map(RankedColumns.with_scores, self._blocks)


def answers_of(
    rankings: Mapping[Any, object], rules: RankingRules, depth: int | None, name: str
) -> Mapping[str, Answer]:
    """Return the answers of ``Run.from_dict``, each in one of the forms of `Answer`."""
    may_be_kept = depth is None and rules.to_id is None
    misread = MisreadScores()
    answers: dict[str, Answer] = {}
    is_kept = may_be_kept and _need_no_parsing(rankings, rules.ties)
    if is_kept:
        misread.add_as_given(rankings)
    else:
        for given, answer in rankings.items():
            query_id = query_id_of(given)
            if query_id in answers:
                raise given_twice(query_id)
            if may_be_kept and _need_no_parsing({query_id: answer}, rules.ties):
                answers[query_id] = answer  # type: ignore[assignment]
                misread.add_as_given({query_id: answer})
                continue
            ranking = ranking_of(answer, query_id, rules)
            misread.add(query_id, answer, ranking.doc_ids, ranking.scores)
            answers[query_id] = ranking if depth is None else ranking.top(depth)
    if misread.problem:
        raise RunError(f"run '{quoted(name)}': {misread.problem}")
    return rankings if is_kept else answers  # type: ignore[return-value]


def _need_no_parsing(rankings: Mapping[Any, object], ties: Ties) -> bool:
    """Whether no answer of a whole run need be parsed.

    Some calls check all answers at once: lists of distinct text ids; or dicts of finite floats
    whose first and last keys are text. The other keys are checked when judged ids are missing.
    """
    if "" in rankings or not set(map(type, rankings)) <= {str}:
        return False
    answers = rankings.values()
    if set(map(type, answers)) <= {dict}:
        return ties != "error" and _hold_scores(answers)  # type: ignore[arg-type]
    return all(map(is_list_of_ids, answers))


def _hold_scores(answers: Collection[dict[Any, Any]]) -> bool:
    """Whether dicts seem to be ``{id: score}``: an unusual answer would have to be parsed."""
    if not all(answers):
        return False
    ends = chain(map(next, map(iter, answers)), map(next, map(reversed, answers)))
    if not set(map(type, ends)) <= {str}:
        return False
    if any(None in answer or "" in answer for answer in answers):
        return False
    firsts = map(next, map(iter, map(dict.values, answers)))
    try:
        totals = list(map(sum, map(dict.values, answers)))
    except (TypeError, OverflowError):
        return False
    kinds = {*map(type, firsts), *map(type, totals)}
    return all(issubclass(kind, float) for kind in kinds) and bool(np.isfinite(totals).all())
