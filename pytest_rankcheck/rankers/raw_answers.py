"""Raw answers, whose documents are mostly never looked at one by one.

An evaluation needs the ranks of a few documents. A few calls check an answer as a whole; it is
sorted or copied only when the ranking is requested. Until then, the caller must not change it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pytest_rankcheck.rankers.query_hits import QueryHits, hits_in_order
from pytest_rankcheck.rankers.ranking import Ranking, Ties
from pytest_rankcheck.rankers.ranking_forms import is_list_of_ids, ranking_as_given
from pytest_rankcheck.rankers.score_ranks import ranks_of

__all__ = ["ListedAnswer", "ScoredAnswer", "raw_answer"]


_LONGEST_NUMBER = 30
"""Digits: a longer id is not converted to a number."""


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """The raw answer ``{doc_id: score}`` for a query, not sorted."""

    scores: Mapping[str, float]
    ties: Ties

    @classmethod
    def of(cls, answer: object, ties: Ties) -> ScoredAnswer | None:
        """Return the answer if it is a dict of text and finite floats, otherwise None.

        A few calls check all scores. Of the ids, only the first and the last are checked here, and
        the judged ones when they are looked up.
        """
        if type(answer) is not dict or not answer or ties == "error":
            return None
        first, last = next(iter(answer)), next(reversed(answer))
        if type(first) is not str or type(last) is not str or type(answer[first]) is not float:
            return None
        if None in answer or "" in answer:
            return None
        try:
            total = sum(answer.values())
        except TypeError:
            return None
        return cls(answer, ties) if type(total) is float and math.isfinite(total) else None

    def found(self, wanted: Collection[str]) -> QueryHits | None:
        """Return the ranks of the wanted documents; None if text and number ids are mixed."""
        scores = self.scores
        ordered = sorted(scores.values())
        pairs = ranks_of(
            wanted, scores.get, scores, scores.values(), ordered=ordered, ties=self.ties
        )
        if len(pairs) < len(wanted) and any(map(self._has_number, wanted)):
            return None
        return QueryHits(len(ordered), [rank for rank, _ in pairs], [doc for _, doc in pairs])

    def ranking(self, query_id: str) -> Ranking:
        """Return the documents sorted by score.

        Raises:
            RunError: an id is neither text nor a whole number.
        """
        return ranking_as_given(self.scores, query_id, self.ties)

    def _has_number(self, doc_id: str) -> bool:
        """Whether the answer has a document under the number that an id spells."""
        if len(doc_id) > _LONGEST_NUMBER or not doc_id.isdecimal():
            return False
        number: object = int(doc_id)
        return number in self.scores.keys()  # noqa: SIM118 - a mapping of text, to type checkers

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """The answer ``[doc_id, ...]`` for a query, best first."""

    doc_ids: Sequence[str]

    @classmethod
    def of(cls, answer: object) -> ListedAnswer | None:
        """Return the answer if it is a list of distinct text ids, otherwise None."""
        return cls(answer) if is_list_of_ids(answer) else None

    def found(self, wanted: Collection[str]) -> QueryHits:
        """Return the ranks of the wanted documents."""
        return hits_in_order(self.doc_ids, wanted)

    def ranking(self, query_id: str) -> Ranking:
        """Return the documents in the order of the list."""
        return Ranking(tuple(self.doc_ids))

    def __len__(self) -> int:
        return len(self.doc_ids)


def raw_answer(answer: object, ties: Ties) -> ScoredAnswer | ListedAnswer | None:
    """Return an answer in a form that need not be parsed yet; None if it must be parsed."""
    return ScoredAnswer.of(answer, ties) if isinstance(answer, dict) else ListedAnswer.of(answer)
