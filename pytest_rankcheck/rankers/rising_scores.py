"""Lists that should be best first, but whose scores rise."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from pytest_rankcheck.errors import plural, quoted

__all__ = ["RisingScores"]

_SHOWN = 3


class RisingScores:
    """Counts the queries whose scores rise down a list that should be best first.

    The lists are in the wrong order if in more than half of the queries with different scores the
    scores never fall, unless there is only one rise in the whole run. So single inversions are
    allowed: a pinned document, a diversified list, a list of two documents.
    """

    def __init__(self) -> None:
        self._with_different_scores = 0
        self._rising = 0
        self._rises = 0
        self._example = ""

    def add(self, query_id: str, doc_ids: Sequence[str], scores: Sequence[float] | None) -> None:
        """Count the ranking of one query, in the order in which it was given."""
        if not scores or (scores[0] == scores[-1] and min(scores) == max(scores)):
            return
        self._with_different_scores += 1
        if scores[0] < scores[-1] and list(scores) == sorted(scores):
            self._rising += 1
            self._rises += sum(before < after for before, after in itertools.pairwise(scores))
            self._example = self._example or _shown(query_id, doc_ids, scores)

    @property
    def problem(self) -> str | None:
        """What is wrong with the lists and what to do, as text; None if nothing is."""
        if self._rises < 2 or 2 * self._rising <= self._with_different_scores:
            return None
        queries = plural(self._with_different_scores, "query", "queries")
        return (
            f"the scores rise down the list in {self._rising:,} of {queries}, such as "
            f"{self._example}; a list is best first. If the highest score is best, sort the lists "
            "by falling scores; if the lowest is best, as with distances, negate the scores; if "
            "the scores do not give the order, leave them out"
        )


def _shown(query_id: str, doc_ids: Sequence[str], scores: Sequence[float]) -> str:
    pairs = zip(doc_ids[:_SHOWN], scores[:_SHOWN], strict=True)
    documents = ", ".join(f"{quoted(doc_id)} {score:g}" for doc_id, score in pairs)
    rest = ", ..." if len(doc_ids) > _SHOWN else ""
    return f"'{quoted(query_id)}' ({documents}{rest})"
