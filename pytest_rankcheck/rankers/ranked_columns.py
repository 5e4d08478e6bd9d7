"""Rankings in columns: what every source of a run makes, and all that an evaluation reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.id_columns import NumberIds, TextIds
from pytest_rankcheck.files.id_runs import row_blocks, starts_of
from pytest_rankcheck.rankers.ranking import (
    Ranking,
    RankingRules,
    by_score,
    duplicates_settled,
    without_ranks,
)
from pytest_rankcheck.rankers.ranking_forms import ids_of, ranking_as_given

__all__ = [
    "TOP",
    "Answer",
    "HeldDocuments",
    "RankedColumns",
    "RunSource",
    "SplitQueryError",
    "blocks_of",
    "columns_of",
    "unsplit",
]

_BLOCK_QUERIES = 1024
_BLOCK_ROWS = 1 << 17
"""How many documents are joined with the judgments at once: few, so that memory is used again."""

Answer = Ranking | dict[str, float] | Sequence[str]
"""A query's ranking, or an answer that is not sorted or copied yet: scores, or ids best first."""

Held = TypeVar("Held", dict[str, float], Ranking)

TOP = 20
"""How many documents of each ranking are kept, if not all, to show what moved."""


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run file, and how to read it."""

    path: Path
    rules: RankingRules = field(default_factory=RankingRules)
    columns: Mapping[str, str] = field(default_factory=dict)
    """``{role: column}`` for columns of a table with unusual names."""


class SplitQueryError(Exception):
    """The rows of a query are not together, so the file must be read in another way."""


@dataclass(frozen=True, slots=True)
class HeldDocuments:
    """The documents of each query in a list, a tuple, or the keys of a dict of scores.

    They belong to the caller, who must not change them.
    """

    groups: Sequence[Sequence[str] | dict[str, float]]
    are_distinct: bool = False
    """Whether it is known that no document is a duplicate."""


@dataclass(frozen=True, slots=True)
class RankedColumns:
    """The rankings of some queries, the rows of each query together."""

    query_ids: Sequence[str]
    starts: IntArray
    """``[S + 1]`` where the rows of each query begin, and where the last ones end."""
    documents: TextIds | NumberIds | HeldDocuments
    scores: FloatArray | None = None
    """The finite score of each row; None if the rows are in order, or in dicts of scores."""
    rules: RankingRules = field(default_factory=RankingRules)
    is_ordered: bool = False
    """Whether the rows of each query are in order, best first, whatever their scores."""
    by_rank: BoolArray | None = None
    """``[S]`` whether a query has ranks, whose negatives are in ``scores``; None: none has."""
    depth: int | None = None
    """How many documents of each ranking count; None: all."""
    where: str = ""
    """The file that the rankings are in, for messages."""

    def __len__(self) -> int:
        return len(self.query_ids)

    def blocks(self, rows: int) -> Iterator[RankedColumns]:
        """Yield the rankings in blocks of about so many rows."""
        documents = self.documents
        for first, last in row_blocks(self.starts, rows):
            start, end = self.starts[[first, last]].tolist()
            yield replace(
                self,
                query_ids=self.query_ids[first:last],
                starts=self.starts[first : last + 1] - start,
                documents=(
                    replace(documents, groups=documents.groups[first:last])
                    if isinstance(documents, HeldDocuments)
                    else documents.part(start, end)
                ),
                scores=None if self.scores is None else self.scores[start:end],
                by_rank=None if self.by_rank is None else self.by_rank[first:last],
            )

    def unsorted(self, place: int) -> dict[str, float] | None:
        """Return the documents of the query at a place, if they are in a dict of scores."""
        documents = self.documents
        group = documents.groups[place] if isinstance(documents, HeldDocuments) else None
        return group if isinstance(group, dict) else None

    def with_scores(self) -> RankedColumns:
        """Return the same rankings with the scores of dicts in a column."""
        if not len(self) or self.unsorted(0) is None:
            return self
        assert isinstance(self.documents, HeldDocuments)
        values = chain.from_iterable(map(dict.values, self.documents.groups))  # type: ignore[arg-type]
        return replace(self, scores=np.fromiter(values, np.float64, int(self.starts[-1])))

    def with_mapped_ids(self) -> RankedColumns:
        """Return the same rankings with the ids that the rules map them to."""
        to_id = self.rules.to_id
        if to_id is None:
            return self
        groups = [tuple(map(to_id, self.doc_ids(place))) for place in range(len(self))]
        return replace(self, documents=HeldDocuments(groups))

    @property
    def ordering_scores(self) -> FloatArray | None:
        """The scores by which documents are sorted; None if the rows are in order."""
        return None if self.is_ordered else self.scores

    def doc_ids(self, place: int) -> Sequence[str]:
        """Return the documents of the query at a place, in the order of the rows."""
        if isinstance(self.documents, HeldDocuments):
            return ids_of(self.documents.groups[place], self.query_ids[place])
        start, end = self.starts[place : place + 2].tolist()
        return tuple(self.documents.part(start, end).texts())

    def ranking(self, place: int) -> Ranking:
        """Return the ranking of the query at a place.

        Raises:
            RunError: a document is a duplicate or scores are tied, where that is an error.
        """
        try:
            ranking = self._in_order(place)
            ranking = duplicates_settled(ranking, self.query_ids[place], self.rules.duplicates)
        except RunError as error:
            raise (RunError(f"{self.where}: {error}") if self.where else error) from None
        return ranking if self.depth is None else ranking.top(self.depth)

    def _in_order(self, place: int) -> Ranking:
        unsorted = self.unsorted(place)
        if unsorted is not None:
            return ranking_as_given(unsorted, self.query_ids[place], self.rules.ties)
        doc_ids = tuple(self.doc_ids(place))
        if self.scores is None:
            return Ranking(doc_ids)
        start, end = self.starts[place : place + 2].tolist()
        scores = self.scores[start:end].tolist()
        if self.is_ordered:
            return Ranking(doc_ids, tuple(scores))
        ranking = by_score(doc_ids, scores, self.query_ids[place], self.rules.ties)
        has_ranks = self.by_rank is not None and bool(self.by_rank[place])
        return without_ranks(ranking) if has_ranks else ranking

    def check(self) -> None:
        """Check that no document is a duplicate and no scores are tied, where that is an error."""
        places: Iterable[int] = ()
        if self.rules.ties == "error" and not self.is_ordered:
            places = range(len(self))
        elif self.rules.duplicates == "error":
            places = self._with_duplicates()
        for place in places:
            self.ranking(place)

    def _with_duplicates(self) -> Sequence[int]:
        """Return the queries that may have a duplicate document."""
        if isinstance(self.documents, HeldDocuments):
            groups = enumerate(self.documents.groups)
            return [place for place, group in groups if len(set(group)) < len(group)]
        from pytest_rankcheck.files.id_pairs import keys_of, rows_with_equal_keys

        queries = np.repeat(np.arange(len(self)), np.diff(self.starts))
        first, second = rows_with_equal_keys(keys_of(self.documents), queries)
        places: list[int] = np.unique(queries[np.concatenate([first, second])]).tolist()
        return places


def blocks_of(
    answers: Mapping[str, Answer], rules: RankingRules, *, are_distinct: bool = False
) -> Iterator[RankedColumns]:
    """Yield answers in columns: dicts of scores, rankings with scores, and then the others."""
    unsorted = _of_type(answers, dict)
    rankings = _of_type(answers, Ranking)
    scored = {each: got for each, got in rankings.items() if got.scores is not None}
    apart = unsorted.keys() | scored.keys()
    others = {each: answers[each] for each in answers if each not in apart} if apart else answers
    for some in (unsorted, scored, others):
        groups = [got.doc_ids if isinstance(got, Ranking) else got for got in some.values()]
        starts = starts_of(list(map(len, groups)))
        scores = None
        if some is scored:
            values = chain.from_iterable(ranking.scores or () for ranking in scored.values())
            scores = np.fromiter(values, np.float64, int(starts[-1]))
        documents = HeldDocuments(groups, are_distinct)
        is_ordered = some is not unsorted
        columns = RankedColumns(list(some), starts, documents, scores, rules, is_ordered)
        yield from columns.blocks(_BLOCK_ROWS)


def _of_type(answers: Mapping[str, Answer], kind: type[Held]) -> Mapping[str, Held]:
    """Return the answers of a type; a look at all types is quicker than one at each answer."""
    if not any(issubclass(found, kind) for found in set(map(type, answers.values()))):
        return {}
    return {each: got for each, got in answers.items() if isinstance(got, kind)}


def columns_of(
    rankings: Iterable[tuple[str, Ranking]], rules: RankingRules
) -> Iterator[RankedColumns]:
    """Yield rankings that are in order in columns, some of them at a time."""
    for _, group in groupby(rankings, key=lambda pair: pair[1].scores is not None):
        while some := dict(islice(group, _BLOCK_QUERIES)):
            yield from blocks_of(some, rules)


def unsplit(blocks: Iterable[RankedColumns]) -> Iterator[RankedColumns]:
    """Yield the blocks of a run.

    Raises:
        SplitQueryError: a query occurs twice, because its rows are not together.
    """
    seen: set[str] = set()
    for block in blocks:
        count = len(seen)
        seen.update(block.query_ids)
        if len(seen) < count + len(block):
            raise SplitQueryError
        yield block
