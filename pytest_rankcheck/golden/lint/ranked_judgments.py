"""The ranks of judged documents in the run that a golden set is linted with."""

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
    """The interface of a run for the linter; golden sets cannot import runs, which import them."""

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
    """How many documents were requested, or else the length of the longest ranking."""
    judgments: Judgments
    ranks: FloatArray
    """``[judgments]`` from 1; documents with equal scores share the first of their ranks.
    Infinite for an unranked document, NaN if its query was not ranked."""

    @classmethod
    def of(cls, run: RankedQueries, judgments: Judgments) -> RankedJudgments:
        """Find the judged documents in a run."""
        ranks, row = np.full(len(judgments), np.nan), 0
        for query_id, documents, _ in judgments.walk():
            if query_id in run:
                ranking = run.get(query_id)
                shared = _shared_ranks(run, query_id, len(ranking))
                # From last to first, so that the first place of a repeated document counts.
                place = dict(zip(reversed(ranking), reversed(shared), strict=True))
                ranks[row : row + len(documents)] = [place.get(each, np.inf) for each in documents]
            row += len(documents)
        return cls(run.name, depth_of(run, judgments.query_ids), judgments, ranks)

    def within(self, depth: int) -> set[str]:
        """Return the judged documents that are in the top of a query for which they are judged."""
        return set(self.judgments.documents.texts(np.flatnonzero(self.ranks <= depth)))


def depth_of(run: RankedQueries, query_ids: Iterable[str]) -> int:
    """Return how many documents were requested, or else the length of the longest ranking."""
    return run.depth or max((len(run.get(query_id)) for query_id in query_ids), default=0)


def _shared_ranks(run: RankedQueries, query_id: str, length: int) -> Sequence[int]:
    """Return the ranks in a ranking; equal scores share a rank, if scores decided the order."""
    ranks = list(range(1, length + 1))
    scores = run.scores(query_id)
    if scores is None or any(after > before for before, after in pairwise(scores)):
        return ranks
    for index in range(1, length):
        if scores[index] == scores[index - 1]:
            ranks[index] = ranks[index - 1]
    return ranks
