"""Rankings in columns, which every source of a run makes and an evaluation reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.id_columns import (
    HeldIds,
    IdColumn,
    NumberIds,
    TextIds,
    counts_of,
    starts_of,
)
from pytest_rankcheck.rankers.ranking import (
    Ranking,
    RankingRules,
    by_score,
    duplicates_settled,
)
from pytest_rankcheck.rankers.ranking_forms import PairedScores, ids_of, ranking_as_given

_BLOCK_ROWS = 1 << 16
"""How many documents are joined with the judgments at once; few, so that memory is reused."""

Answer = Ranking | dict[str, float] | Sequence[str]
"""A query's ranking, or an answer that is not sorted or copied yet: scores, or ids best first."""

TOP = 20
"""How many documents of each ranking are kept to show what moved, if not all are."""


class SplitQueryError(Exception):
    """The rows of a query are not together, so the file must be read in another way."""


@dataclass(frozen=True, slots=True)
class HeldDocuments:
    """The documents of each query in a list, a tuple, or the keys of a dict of scores.

    They belong to the caller, who must not change them.
    """

    groups: Sequence[Sequence[str] | dict[str, float]]
    are_distinct: bool = False
    """Whether documents are known to be distinct."""


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
    by_rank: bool = False
    """Whether ``scores`` are negated ranks."""
    depth: int | None = None
    """How many documents of each ranking count; None: all."""
    where: str = ""
    """The file that the rankings are in, for messages."""

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def retrieved(self) -> IntArray:
        """``[S]`` how many documents are ranked for each query, duplicates included."""
        return np.diff(self.starts).clip(0, self.depth)

    def unsorted(self, place: int) -> dict[str, float] | None:
        """Return the documents of the query at a place, if they are in a dict of scores."""
        documents = self.documents
        group = documents.groups[place] if isinstance(documents, HeldDocuments) else None
        return group if isinstance(group, dict) and not self.is_ordered else None

    @property
    def are_dicts(self) -> bool:
        """Whether the documents are in dicts of scores."""
        return len(self) > 0 and self.unsorted(0) is not None

    def with_scores(self) -> RankedColumns:
        """Return the same rankings with the scores of dicts in a column."""
        if not self.are_dicts:
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

    def without_own_documents(self) -> RankedColumns:
        """Return the same rankings without the documents whose id is that of their query."""
        block = self.with_scores()
        pairs = [(block.doc_ids(place), own) for place, own in enumerate(self.query_ids)]
        kept = np.array([doc_id != own for group, own in pairs for doc_id in group], np.bool_)
        scores = None if block.scores is None else block.scores[kept]
        documents = HeldDocuments([tuple(filter(own.__ne__, group)) for group, own in pairs])
        starts = starts_of(counts_of(kept, self.starts))
        return replace(block, starts=starts, documents=documents, scores=scores)

    @property
    def ordering_scores(self) -> FloatArray | None:
        """The scores by which documents are sorted; None if the rows are in order."""
        return None if self.is_ordered else self.scores

    def column_with(self, rows: IntArray) -> tuple[IdColumn, IntArray]:
        """Return a column with the documents of some rows, and the place of each in it.

        The rows of a query must be together, as in these columns.
        """
        if not isinstance(self.documents, HeldDocuments):
            return self.documents, rows
        counts = np.diff(np.searchsorted(rows, self.starts))
        places = np.flatnonzero(counts)
        held = chain.from_iterable(map(self.documents.groups.__getitem__, places.tolist()))
        begins = starts_of(np.diff(self.starts)[places])[:-1]
        return HeldIds(list(held)), rows + np.repeat(begins - self.starts[places], counts[places])

    def doc_ids(self, place: int) -> Sequence[str]:
        """Return the documents of the query at a place, in the order of the rows."""
        if isinstance(self.documents, HeldDocuments):
            return ids_of(self.documents.groups[place], self.query_ids[place])
        start, end = self.starts[place : place + 2].tolist()
        return tuple(self.documents.part(start, end).texts())

    def ranking(self, place: int) -> Ranking:
        """Return the ranking of the query at a place.

        Raises:
            RunError: a document is a duplicate or scores are tied, if that is an error.
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
        return Ranking(ranking.doc_ids) if self.by_rank else ranking

    def check(self) -> None:
        """Check that no document is a duplicate and no scores are tied, if that is an error."""
        places: Sequence[int] = ()
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
        from pytest_rankcheck.files.id_columns import keys_of, rows_with_equal_keys

        queries = np.repeat(np.arange(len(self)), np.diff(self.starts))
        first, second = rows_with_equal_keys(keys_of(self.documents), queries)
        places: list[int] = np.unique(queries[np.concatenate([first, second])]).tolist()
        return places


def columns_of(
    answers: Iterable[tuple[str, Answer]], rules: RankingRules, *, are_distinct: bool = False
) -> Iterator[RankedColumns]:
    """Yield answers in columns, in their order; a block has dicts of scores only, or none.

    Args:
        answers: each query and its answer.
        rules: how to order documents if the answers leave it open.
        are_distinct: whether documents are known to be distinct.
    """
    block: dict[str, Answer] = {}
    form, rows = "", 0
    for query_id, answer in answers:
        own = "scores" if type(answer) is dict else _form(answer)
        own = form if form and not answer else own
        if block and (own != form or rows >= _BLOCK_ROWS):
            yield _block_of(block, form, rules, are_distinct)
            block, rows = {}, 0
        block[query_id], form, rows = answer, own, rows + len(answer)
    if block:
        yield _block_of(block, form, rules, are_distinct)


def _form(answer: Answer) -> str:
    if isinstance(answer, Ranking):
        return "ids" if answer.scores is None else "scored ids"
    if isinstance(answer, PairedScores):
        return "scored ids"
    return "scores" if isinstance(answer, dict) else "ids"


def _block_of(
    answers: Mapping[str, Answer], form: str, rules: RankingRules, are_distinct: bool
) -> RankedColumns:
    """Return answers of one form in columns; empty ones may have any form."""
    groups = [got.doc_ids if isinstance(got, Ranking) else got for got in answers.values()]
    starts, scores = starts_of(list(map(len, groups))), None
    if form == "scores":
        groups = [group or {} for group in groups]
    if form == "scored ids":
        given = (got.scores if isinstance(got, Ranking) else got for got in answers.values() if got)
        values = (got.values() if isinstance(got, dict) else got for got in given if got)
        scores = np.fromiter(chain.from_iterable(values), np.float64, int(starts[-1]))
    documents, is_ordered = HeldDocuments(groups, are_distinct), form != "scores"
    return RankedColumns(list(answers), starts, documents, scores, rules, is_ordered)


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


def held_blocks(columns: Callable[..., Iterator[RankedColumns]]) -> list[RankedColumns]:
    """Return all rankings of a file or a table, whose blocks ``columns`` yields.

    Raises:
        RunError: a row is malformed, a document is a duplicate or scores are tied where that is an
            error.
    """
    try:
        blocks = list(unsplit(columns()))
    except SplitQueryError:
        blocks = list(columns(together=True))
    for block in blocks:
        block.check()
    return blocks
