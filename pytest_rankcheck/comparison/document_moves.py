"""The documents that moved between two rankings of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.evaluation.evaluation import Evaluation

__all__ = ["Move", "moves_between"]


@dataclass(frozen=True, slots=True)
class Move:
    """A document whose rank differs between two rankings of one query."""

    doc_id: str
    grade: float | None
    """None: unjudged."""
    before: int | None
    """Its rank before; None: it was not in the known part of the ranking."""
    after: int | None
    """Its rank now; None: it is not in the known part of the ranking."""
    k: int
    """The number of documents that count as the top."""

    @property
    def entered(self) -> bool:
        """Whether it is in the top now and was not before."""
        return self._in_top(self.after) and not self._in_top(self.before)

    @property
    def left(self) -> bool:
        """Whether it was in the top before and is not now."""
        return self._in_top(self.before) and not self._in_top(self.after)

    def _in_top(self, rank: int | None) -> bool:
        return rank is not None and rank <= self.k


def moves_between(evaluation: Evaluation, other: Measured, query_id: str, k: int) -> Sequence[Move]:
    """Return the documents in a query's top k, then or now, whose rank differs.

    What explains a change comes first; see `Comparison.moved`.
    """
    for side in (evaluation, other):
        side.read_rankings(k)
    grades = evaluation.golden.grades(query_id)
    then, now = other.ranking(query_id), evaluation.ranking(query_id)
    before, after = other.ranks(query_id), evaluation.ranks(query_id)
    in_a_top = dict.fromkeys((*then[:k], *now[:k]))
    moves = [
        Move(doc_id, grades.get(doc_id), before.get(doc_id), after.get(doc_id), k)
        for doc_id in in_a_top
        if before.get(doc_id) != after.get(doc_id)
    ]
    return sorted(moves, key=_importance)


def _importance(move: Move) -> tuple[bool, float, float, float]:
    """Sort what explains a change first: relevant documents, high grades, long falls."""
    beyond = 1e9
    before, after = move.before or beyond, move.after or beyond
    grade = move.grade or 0
    if grade <= 0:
        return (True, 0, after, before)
    return (False, -grade, before - after, after)
