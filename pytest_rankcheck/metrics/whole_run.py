"""The whole run: the tops of all rankings at once, or how long the ranker took for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray, make_read_only

ABSENT = -1
"""The document number that marks the end of a ranking."""


@dataclass(frozen=True, slots=True)
class WholeRun:
    """The rankings of Q queries, down to a depth D."""

    documents: IntArray
    """``[Q, D]`` the number of each document, the same in all rankings; -1 past the end."""

    retrieved: FloatArray
    """``[Q]`` the number of ranked documents, including those below the depth."""

    def __post_init__(self) -> None:
        make_read_only(self)

    @classmethod
    def of(cls, rankings: Sequence[Sequence[str]], retrieved: Sequence[int]) -> WholeRun:
        """Return rankings of ids with their documents numbered.

        Args:
            rankings: the documents of each query, best first, without duplicates.
            retrieved: the number of ranked documents of each query.
        """
        numbers: dict[str, int] = {}
        coded = [[numbers.setdefault(doc, len(numbers)) for doc in ranking] for ranking in rankings]
        lengths = np.fromiter(map(len, coded), dtype=np.int64, count=len(coded))
        documents = np.full((len(coded), int(lengths.max(initial=0))), ABSENT, dtype=np.int64)
        documents[np.arange(documents.shape[1]) < lengths[:, np.newaxis]] = np.fromiter(
            chain.from_iterable(coded), dtype=np.int64, count=int(lengths.sum())
        )
        return cls(documents, np.array(retrieved, dtype=np.float64))

    def top(self, cutoff: int | None) -> IntArray:
        """Return the documents of the top k, at most ``[Q, k]``."""
        return self.documents[:, :cutoff]


@dataclass(frozen=True, slots=True)
class Timings:
    """How long a ranker took for each of Q queries, asked one by one."""

    seconds: FloatArray
    """``[Q]`` in seconds; NaN if unknown."""

    order: IntArray
    """``[Q]`` how many queries were asked before it."""

    def __post_init__(self) -> None:
        make_read_only(self)
