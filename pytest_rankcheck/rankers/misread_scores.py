"""Misread scores: those that rise down a list, and those that are ranks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from operator import le
from typing import Any

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.rankers.ranking_forms import PairedScores, ScoredDocuments

_SHOWN = 3

_FEW_RANKS = 10
"""With fewer documents in the whole run, scores may be 1, 2, 3 without being ranks."""


class MisreadScores:
    """Looks for misread scores, over all queries of a run.

    Lists of (id, score) pairs are in the wrong order if in more than half of the queries whose
    first and last scores differ the scores never fall, unless there is only one rise in the whole
    run. So single inversions are allowed: a pinned document, a diversified list, a list of two
    documents.

    Dicts ``{id: score}`` are sorted by score. They may hold distances, so dicts of at least three
    documents are checked like lists; two documents may be in rising order, or have the scores 0 and
    1, by chance. They hold ranks if in more than half of these queries the scores are 1, 2, 3, ...
    or 0, 1, 2, ... in the order of the dict, and these have at least ten documents together.
    """

    def __init__(self) -> None:
        self.lists = self.rising = self._rises = 0
        self._dicts = self._ranked = self._ranked_documents = 0
        self.example = self._ranked_example = ""

    @property
    def all_rise(self) -> bool:
        """Whether the scores of all lists rise."""
        return self.rising == self.lists

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
            self._dicts += not are_pairs and len(answer) > 2
            self.lists += first > last and (are_pairs or len(answer) > 2)

    def add_list(self, query_id: str, doc_ids: Iterable[object], scores: Sequence[Any]) -> None:
        """Count the scores of (id, score) pairs."""
        if scores[0] == scores[-1]:  # usually all are equal, which shows nothing
            return
        self.lists += 1
        if scores[0] < scores[-1] and all(itertools.starmap(le, itertools.pairwise(scores))):
            self.rising += 1
            self._rises += sum(before < after for before, after in itertools.pairwise(scores))
            self.example = self.example or _shown(query_id, doc_ids, scores)

    def _add_dict(self, query_id: str, doc_ids: Iterable[object], scores: Sequence[Any]) -> None:
        if len(scores) < 3:
            return
        self._dicts += 1
        self.add_list(query_id, doc_ids, scores)
        first = scores[0]
        may_be_ranks = first in (0, 1) and first < scores[-1] and isinstance(first, Real)
        if may_be_ranks and list(scores) == list(range(int(first), int(first) + len(scores))):
            self._ranked += 1
            self._ranked_documents += len(scores)
            self._ranked_example = self._ranked_example or _shown(query_id, doc_ids, scores)

    @property
    def problem(self) -> str | None:
        """What is wrong with the scores and what to do, as text; None for valid scores."""
        if self._ranked_documents >= _FEW_RANKS and 2 * self._ranked > self._dicts:
            return (
                f"the scores of {{id: score}} are ranks in {self._ranked:,} of "
                f"{plural(self._dicts, 'query', 'queries')}, such as {self._ranked_example}; a "
                "dict is sorted by score, highest first. If they are ranks, give a list of ids, "
                "best first; if the highest number is best, give (id, score) pairs, sorted by "
                "falling scores"
            )
        if self._rises > 1 and 2 * self.rising > self.lists:
            return (
                f"the scores rise down the list in {self.rising:,} of "
                f"{plural(self.lists, 'query', 'queries')}, such as {self.example}; a list "
                "is best first, a dict highest score first. If the highest score is best, sort the "
                "lists and dicts by falling scores; if "
                "the lowest is best, as with distances, negate the scores; if the scores do not "
                "give the order, leave them out"
            )
        return None


def _shown(query_id: str, doc_ids: Iterable[object], scores: Sequence[Any]) -> str:
    pairs = itertools.islice(zip(doc_ids, scores, strict=True), _SHOWN)
    documents = ", ".join(f"{quoted(doc_id)} {score:g}" for doc_id, score in pairs)
    rest = ", ..." if len(scores) > _SHOWN else ""
    return f"'{quoted(query_id)}' ({documents}{rest})"
