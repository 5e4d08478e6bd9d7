"""Scores that are not what they are taken for: rising down a list, or ranks in a dict."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence, Sized
from numbers import Real
from typing import Any

from pytest_rankcheck.errors import plural, quoted

__all__ = ["MisreadScores"]

_SHOWN = 3

_FEW_RANKS = 10
"""With fewer documents in the whole run, scores may be 1, 2, 3 without being ranks."""


class MisreadScores:
    """Looks for scores that are not what they are taken for, over all queries of a run.

    Lists of (id, score) pairs are in the wrong order if in more than half of the queries with
    different scores the scores never fall, unless there is only one rise in the whole run. So
    single inversions are allowed: a pinned document, a diversified list, a list of two documents.

    Dicts ``{id: score}`` are sorted by score, so their scores may rise. But they hold ranks if in
    more than half of the queries with at least two documents the scores are 1, 2, 3, ... or 0, 1,
    2, ... in the order of the dict, and these have at least ten documents together. Two documents
    may have the scores 0 and 1 for other reasons, so such queries count only if all hold ranks.
    """

    def __init__(self) -> None:
        self._lists = _ListedScores()
        self._dicts = _RanksAsScores()

    def add(
        self, query_id: str, answer: object, doc_ids: Sequence[str], scores: Sequence[float] | None
    ) -> None:
        """Count the answer to one query, and the documents and scores read from it."""
        if isinstance(answer, Mapping):
            self._dicts.add(query_id, answer)
        elif scores:
            self._lists.add(query_id, doc_ids, scores)

    def add_as_given(self, answers: Mapping[str, object]) -> None:
        """Count the answers to some queries: dicts ``{id: score}``, and lists of ids."""
        scored = {each: got for each, got in answers.items() if isinstance(got, dict)}
        firsts = map(next, map(iter, map(dict.values, scored.values())))
        if {0, 1}.isdisjoint(firsts):
            self._dicts.count(scored.values())
            return
        for query_id, answer in scored.items():
            self._dicts.add(query_id, answer)

    @property
    def problem(self) -> str | None:
        """What is wrong with the scores and what to do, as text; None for valid scores."""
        return self._lists.problem or self._dicts.problem


class _ListedScores:
    def __init__(self) -> None:
        self._queries = self._rising = self._rises = 0
        self._example = ""

    def add(self, query_id: str, doc_ids: Sequence[str], scores: Sequence[float]) -> None:
        if scores[0] == scores[-1] and min(scores) == max(scores):
            return
        self._queries += 1
        if scores[0] < scores[-1] and list(scores) == sorted(scores):
            self._rising += 1
            self._rises += sum(before < after for before, after in itertools.pairwise(scores))
            self._example = self._example or _shown(query_id, doc_ids, scores)

    @property
    def problem(self) -> str | None:
        if self._rises < 2 or 2 * self._rising <= self._queries:
            return None
        return (
            f"the scores rise down the list in {self._rising:,} of "
            f"{plural(self._queries, 'query', 'queries')}, such as {self._example}; a list is best "
            "first. If the highest score is best, sort the lists by falling scores; if the lowest "
            "is best, as with distances, negate the scores; if the scores do not give the order, "
            "leave them out"
        )


class _RanksAsScores:
    def __init__(self) -> None:
        self._queries = self._ranked = self._ranked_pairs = self._documents = 0
        self._example = ""

    def count(self, answers: Collection[Sized]) -> None:
        """Count answers whose scores are not ranks."""
        self._queries += sum(length > 1 for length in map(len, answers))

    def add(self, query_id: str, answer: Mapping[Any, Any]) -> None:
        if len(answer) < 2:
            return
        self._queries += 1
        first = next(iter(answer.values()))
        if first not in (0, 1) or not isinstance(first, Real):
            return
        scores = list(answer.values())
        start = 0 if first == 0 else 1
        if scores == list(range(start, start + len(scores))):
            self._ranked += 1
            self._ranked_pairs += len(scores) == 2
            self._documents += len(scores)
            self._example = self._example or _shown(query_id, list(answer)[:_SHOWN], scores)

    @property
    def problem(self) -> str | None:
        surely_ranked = self._ranked - self._ranked_pairs
        are_most = 2 * surely_ranked > self._queries or self._ranked == self._queries
        if self._documents < _FEW_RANKS or not are_most:
            return None
        return (
            f"the scores of {{id: score}} are ranks in {self._ranked:,} of "
            f"{plural(self._queries, 'query', 'queries')}, such as {self._example}; a dict is "
            "sorted by score, highest first. If they are ranks, give a list of ids, best first; if "
            "the highest number is best, give (id, score) pairs, sorted by falling scores"
        )


def _shown(query_id: str, doc_ids: Sequence[object], scores: Sequence[float]) -> str:
    pairs = zip(doc_ids[:_SHOWN], scores[:_SHOWN], strict=True)
    documents = ", ".join(f"{quoted(doc_id)} {score:g}" for doc_id, score in pairs)
    rest = ", ..." if len(scores) > _SHOWN else ""
    return f"'{quoted(query_id)}' ({documents}{rest})"
