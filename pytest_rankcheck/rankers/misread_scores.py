"""Misread scores: those that rise down a list or by rank, and those that are ranks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from operator import le
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import RunError, plural, quoted
from pytest_rankcheck.files.plain_values import finite_number
from pytest_rankcheck.rankers.ranked_columns import RankedColumns
from pytest_rankcheck.rankers.ranking_forms import PairedScores, ScoredDocuments

_SHOWN = 3

_FEW_RANKS = 10
"""With fewer documents in the whole run, scores may be 1, 2, 3 without being ranks."""


class MisreadScores:
    """Looks for misread scores, over all queries of a run.

    Lists of (id, score) pairs are in the wrong order if in more than half of the queries with
    different scores the scores never fall, unless there is only one rise in the whole run. So
    single inversions are allowed: a pinned document, a diversified list, a list of two documents.

    Dicts ``{id: score}`` are sorted by score. They may hold distances, so dicts of at least three
    documents are checked like lists; two documents may be in rising order by chance. They hold
    ranks if in more than half of the queries with at least two documents the scores are 1, 2, 3,
    ... or 0, 1, 2, ... in the order of the dict, and these have at least ten documents together.
    Two documents may have the scores 0 and 1 for other reasons, so such queries count only if all
    hold ranks.
    """

    def __init__(self) -> None:
        self._lists = self._rising = self._rises = 0
        self._dicts = self._ranked = self._ranked_pairs = self._ranked_documents = 0
        self._risen_example = self._ranked_example = ""
        self._level = list[dict[str, float]]()
        """Dicts whose first and last scores are equal. Usually all are equal, which shows nothing;
        they are checked only if other scores rise."""

    def add(
        self, query_id: str, answer: object, doc_ids: Sequence[str], scores: Sequence[float] | None
    ) -> None:
        """Count the answer to one query, and the documents and scores read from it."""
        if isinstance(answer, Mapping):
            self._add_dict(query_id, answer, tuple(answer.values()))
        elif isinstance(answer, ScoredDocuments):
            self._add_dict(query_id, answer.doc_ids, answer.scores)
        elif scores:
            self.add_list(query_id, doc_ids, scores)

    def add_dicts(self, answers: Mapping[str, dict[str, float]]) -> None:
        """Count the answers to some queries: dicts of scores, or of pairs; none is empty."""
        columns = list(map(dict.values, answers.values()))
        firsts, lasts = map(next, map(iter, columns)), map(next, map(reversed, columns))
        for (query_id, answer), first, last in zip(answers.items(), firsts, lasts, strict=True):
            are_pairs = type(answer) is PairedScores
            if first < last:  # it may hold ranks, or scores that rise
                count = self.add_list if are_pairs else self._add_dict
                count(query_id, answer, tuple(answer.values()))
                continue
            self._dicts += not are_pairs and len(answer) > 1
            if first == last:
                self._level.append(answer)
            else:
                self._lists += are_pairs or len(answer) > 2

    def add_list(self, query_id: str, doc_ids: Iterable[object], scores: Sequence[Any]) -> None:
        """Count the scores of (id, score) pairs."""
        if scores[0] == scores[-1] and scores.count(scores[0]) == len(scores):
            return
        self._lists += 1
        if scores[0] < scores[-1] and all(itertools.starmap(le, itertools.pairwise(scores))):
            self._rising += 1
            self._rises += sum(before < after for before, after in itertools.pairwise(scores))
            self._risen_example = self._risen_example or _shown(query_id, doc_ids, scores)

    def _add_dict(self, query_id: str, doc_ids: Iterable[object], scores: Sequence[Any]) -> None:
        if len(scores) < 2:
            return
        self._dicts += 1
        if len(scores) > 2:
            self.add_list(query_id, doc_ids, scores)
        first = scores[0]
        may_be_ranks = first in (0, 1) and first < scores[-1] and isinstance(first, Real)
        if may_be_ranks and list(scores) == list(range(int(first), int(first) + len(scores))):
            self._ranked += 1
            self._ranked_pairs += len(scores) == 2
            self._ranked_documents += len(scores)
            self._ranked_example = self._ranked_example or _shown(query_id, doc_ids, scores)

    @property
    def problem(self) -> str | None:
        """What is wrong with the scores and what to do, as text; None for valid scores."""
        surely_ranked = self._ranked - self._ranked_pairs
        are_most = 2 * surely_ranked > self._dicts or self._ranked == self._dicts
        if self._ranked_documents >= _FEW_RANKS and are_most:
            return (
                f"the scores of {{id: score}} are ranks in {self._ranked:,} of "
                f"{plural(self._dicts, 'query', 'queries')}, such as {self._ranked_example}; a "
                "dict is sorted by score, highest first. If they are ranks, give a list of ids, "
                "best first; if the highest number is best, give (id, score) pairs, sorted by "
                "falling scores"
            )
        lists = self._lists
        if self._rises > 1:
            lists += sum(len(set(answer.values())) > 1 for answer in self._level)
        if self._rises > 1 and 2 * self._rising > lists:
            return (
                f"the scores rise down the list in {self._rising:,} of "
                f"{plural(lists, 'query', 'queries')}, such as {self._risen_example}; a list "
                "is best first, a dict highest score first. If the highest score is best, sort the "
                "lists and dicts by falling scores; if "
                "the lowest is best, as with distances, negate the scores; if the scores do not "
                "give the order, leave them out"
            )
        return None


class OpposedRanks(MisreadScores):
    """Looks for ranks that contradict the scores beside them, in all queries of a run.

    One query with agreeing or missing ranks settles it; no further ranks are read.
    """

    is_open = True
    """Whether all queries so far are opposed or undecided."""

    def add_block(self, block: RankedColumns, ranks: Iterable[object]) -> bool:
        """Count queries and return `is_open`; ``ranks`` is read only while it is true."""
        if not self.is_open or block.scores is None:
            return self.is_open
        if all_tied(block.scores, block.starts):
            return self.is_open
        rest = iter(ranks)
        for place, query_id in enumerate(block.query_ids):
            if not self.is_open:
                break
            start, end = block.starts[place : place + 2].tolist()
            scores = block.scores[start:end].tolist()
            if scores.count(scores[0]) == len(scores):  # equal scores say nothing
                list(itertools.islice(rest, len(scores)))
                continue
            pairs = zip(block.doc_ids(place), scores, strict=True)
            rows = {finite_number(rank): pair for pair, rank in zip(pairs, rest, strict=False)}
            if block.by_rank is not None and block.by_rank[place]:
                continue  # the query has no scores
            self.is_open = len(rows) == end - start and None not in rows
            if self.is_open:
                doc_ids, ordered = zip(*(rows[rank] for rank in sorted(rows)), strict=True)  # type: ignore[type-var]
                self.add_list(query_id, doc_ids, ordered)
                self.is_open = self._rising == self._lists
        return self.is_open

    def refuse(self, where: object) -> None:
        """Refuse the run.

        Raises:
            RunError: the ranks of all queries contradict the scores.
        """
        if self.is_open and self.problem:
            raise RunError(
                f"{where}: the ranks say the opposite of the scores in all queries, such as "
                f"{self._risen_example}, in the order of the ranks; the scores decide, highest "
                "first. If they are distances, negate them, or remove their column (not from "
                "TREC), so that the ranks decide; if they are right, remove the ranks (in TREC, "
                "write 0 for each)"
            )


def all_tied(scores: FloatArray, starts: IntArray) -> bool:
    """Whether all scores of each query are equal, so that they say nothing about ranks."""
    changes = np.flatnonzero(np.diff(scores)) + 1
    return bool(np.isin(changes, starts).all())


def _shown(query_id: str, doc_ids: Iterable[object], scores: Sequence[Any]) -> str:
    pairs = itertools.islice(zip(doc_ids, scores, strict=True), _SHOWN)
    documents = ", ".join(f"{quoted(doc_id)} {score:g}" for doc_id, score in pairs)
    rest = ", ..." if len(scores) > _SHOWN else ""
    return f"'{quoted(query_id)}' ({documents}{rest})"
