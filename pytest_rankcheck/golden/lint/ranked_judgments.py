"""The run that a golden set is linted with: where it ranks the judged documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.golden.judgments import Judgments

__all__ = ["RankedJudgments", "RankedQueries", "depth_of"]


class RankedQueries(Protocol):
    """What the linter reads of a run. A run knows golden sets, so golden sets cannot know runs."""

    name: str
    depth: int | None

    def __contains__(self, query_id: object) -> bool:
        """Whether the query was ranked."""

    def get(self, query_id: str) -> Sequence[str]:
        """Return the documents of a query, best first; empty if it was not ranked."""

    def scores(self, query_id: str) -> Sequence[float] | None:
        """Return their scores; None without scores."""


@dataclass(frozen=True)
class RankedJudgments:
    """The ranks of judged documents in a run."""

    name: str
    """What messages call the run."""
    depth: int
    """How many documents were asked for, or else the length of the longest ranking."""
    judgments: Judgments
    ranks: FloatArray
    """``[judgments]`` from 1 on; documents with the same score share the first rank of theirs.
    Infinite for a document that was not ranked, NaN if its query was not."""

    @classmethod
    def of(cls, run: RankedQueries, judgments: Judgments) -> RankedJudgments:
        """Find the judged documents in a run."""
        ranks, row = np.full(len(judgments), np.nan), 0
        for query_id, documents, _ in judgments.walk():
            if query_id in run:
                ranking = run.get(query_id)
                shared = _shared_ranks(run, query_id, len(ranking))
                # From the last to the first, so that of two places of a document the first counts.
                place = dict(zip(reversed(ranking), reversed(shared), strict=True))
                ranks[row : row + len(documents)] = [place.get(each, np.inf) for each in documents]
            row += len(documents)
        return cls(run.name, depth_of(run, judgments.query_ids), judgments, ranks)

    def within(self, depth: int) -> set[str]:
        """Return the judged documents that are in the top of a query that judges them."""
        return set(self.judgments.documents.texts(np.flatnonzero(self.ranks <= depth)))


def depth_of(run: RankedQueries, query_ids: Iterable[str]) -> int:
    """Return how many documents were asked for, or else the length of the longest ranking."""
    return run.depth or max((len(run.get(query_id)) for query_id in query_ids), default=0)


def _shared_ranks(run: RankedQueries, query_id: str, length: int) -> Sequence[int]:
    """Return the ranks of a ranking; equal scores share one, if the scores decided the order."""
    ranks = list(range(1, length + 1))
    scores = run.scores(query_id)
    if scores is None or any(after > before for before, after in pairwise(scores)):
        return ranks
    for index in range(1, length):
        if scores[index] == scores[index - 1]:
            ranks[index] = ranks[index - 1]
    return ranks
