"""Answers as they were given: most of their documents are never looked at one by one.

An evaluation wants the ranks of a few documents. A few calls check an answer as a whole, and it is
put in order, or copied, only when somebody asks for the ranking. Until then it has to stay as it
is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pytest_rankcheck.rankers.query_hits import Found, found_in_order
from pytest_rankcheck.rankers.ranking import Ranking, Ties, is_list_of_ids, ranking_as_given
from pytest_rankcheck.rankers.score_ranks import ranks_of

__all__ = ["Listed", "Scored", "unread"]


_LONGEST_NUMBER = 30
"""Digits: an id of more is no number that anyone counts with."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The answer ``{doc_id: score}`` for a query, as it was given; in no order."""

    scores: Mapping[str, float]
    ties: Ties

    @classmethod
    def of(cls, answer: object, ties: Ties) -> Scored | None:
        """Return the answer if it is a dict of text and floats, all finite; else None.

        A few calls check all scores. Of the ids the first and the last are looked at here, and
        those that are judged when they are looked for.
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

    def found(self, wanted: Collection[str]) -> Found | None:
        """Return where the wanted documents are; None where ids of two kinds are mixed."""
        scores = self.scores
        ordered = sorted(scores.values())
        pairs = ranks_of(
            wanted, scores.get, scores, scores.values(), ordered=ordered, ties=self.ties
        )
        if len(pairs) < len(wanted) and any(map(self._has_number, wanted)):
            return None
        return Found(len(ordered), [rank for rank, _ in pairs], [doc for _, doc in pairs])

    def ranking(self, query_id: str) -> Ranking:
        """Return the documents in the order of their scores.

        Raises:
            RunError: an id is neither text nor a whole number.
        """
        return ranking_as_given(self.scores, query_id, self.ties)

    def _has_number(self, doc_id: str) -> bool:
        """Whether a document is there under the number that its id spells."""
        if len(doc_id) > _LONGEST_NUMBER or not doc_id.isdecimal():
            return False
        number: object = int(doc_id)
        return number in self.scores.keys()  # noqa: SIM118 - a mapping of text, to type checkers

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class Listed:
    """The answer ``[doc_id, ...]`` for a query, best first."""

    doc_ids: Sequence[str]

    @classmethod
    def of(cls, answer: object) -> Listed | None:
        """Return the answer if it is a list of distinct text; else None."""
        return cls(answer) if is_list_of_ids(answer) else None

    def found(self, wanted: Collection[str]) -> Found:
        """Return where the wanted documents are."""
        return found_in_order(self.doc_ids, wanted)

    def ranking(self, query_id: str) -> Ranking:
        """Return the documents as they are listed."""
        return Ranking(tuple(self.doc_ids))

    def __len__(self) -> int:
        return len(self.doc_ids)


def unread(answer: object, ties: Ties) -> Scored | Listed | None:
    """Return an answer in one of the forms that need not be read yet; None if it has to be."""
    return Scored.of(answer, ties) if isinstance(answer, dict) else Listed.of(answer)
