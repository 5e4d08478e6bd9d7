"""A cause of a fall: what the queries that fell have in common, as counts that can be checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.rank_changes import TOP
from pytest_rankcheck.errors import listed, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK

LEVEL = 0.01
"""The level of all tests."""
_LEAST_SHARE = 1 / 3
"""A cause is named if the queries that have it account for a third of the whole fall."""
_SHOWN = 3
"""How many documents are named."""

Rankings = Sequence[Sequence[str]]


class CauseKind(StrEnum):
    """What the queries that fell have in common."""

    IDS = "ids"
    """Documents that they lost now have ids of another form."""
    GONE = "gone"
    """They lost documents that are no longer in the catalogue."""
    MISSING = "missing"
    """They lost documents that no query returns any more."""
    NO_ANSWER = "no-answer"
    """They have no documents now, or hardly any."""
    REVERSED = "reversed"
    """Their rankings are in the reverse order, or most of each is."""
    WORLD = "world"
    """The changes of the declared world, which are not about single queries."""
    SLICE = "slice"
    """They have the same value of an attribute."""
    WORDS = "words"
    """Their texts contain the same word, or have the same number of words."""
    NEWCOMER = "newcomer"
    """The same document is new in their first places."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that queries that fell have in common: where and what, never why."""

    kind: CauseKind
    queries: tuple[str, ...]
    """The queries that fell and have it, in the golden set's order."""
    fallen: int
    """How many queries fell."""
    shared: int
    """How many of all queries have it."""
    compared: int
    """How many queries were compared; for reversed rankings, those long enough to tell."""
    names: tuple[str, ...] = ()
    """What it is about: an attribute and its value, a word, documents, an id before and now, or
    how the world changed, in sentences."""
    number: int | None = None
    """Depending on the kind: the number of words of the queries; the number that their rankings are
    shorter than (1: they are empty); the number of first places in which a document is new; or the
    depth to which the rankings that lack documents are known (None: to the end)."""
    before: int = 0
    """How many of all queries had it before."""

    @property
    def text(self) -> str:
        """The cause in words, as one line."""
        of = f"{len(self.queries):,} of {self.fallen:,}"
        counts = f"{self.shared:,} of all {self.compared:,}"
        share = f"{self.shared / max(self.compared, 1):.0%} of all"
        have = "has" if len(self.queries) == 1 else "have"
        number, shown = self.number, listed(self.names, _SHOWN)
        first, last = (quoted(name, 60) for name in (*self.names, "", "")[:2])
        few = "no answer" if number == 1 else f"fewer than {number} documents"
        length = "one word" if number == 1 else f"{number} words"
        words = f'contain "{first}"' if first else f"have {length}"
        returns = f"has in its top {number}" if number else "returns"
        changed = f"changed their form: {first} became {last}"
        enough = f"{self.shared:,} of the {self.compared:,} long enough to tell"
        reverse = f"{of} {have} a ranking in the reverse order, or nearly ({enough})"
        if self.shared == self.compared:
            reverse = "all rankings are in the reverse order, or nearly"
        return {
            CauseKind.IDS: f"in {of} the ids that are ranked {changed}",
            CauseKind.GONE: f"{of} lost documents that are no longer in the catalogue: {shown}",
            CauseKind.MISSING: f"{of} lost documents that no query {returns} any more: {shown}",
            CauseKind.NO_ANSWER: f"{of} {have} {few} now ({counts}; {self.before:,} before)",
            CauseKind.REVERSED: reverse,
            CauseKind.WORLD: f"world: {'; '.join(self.names)}",
            CauseKind.SLICE: f"{of} are {first}={last} ({share} are)",
            CauseKind.WORDS: f"{of} {words} ({share} do)",
            CauseKind.NEWCOMER: f"in {of} the same document is new in the top {number}: {first}",
        }[self.kind]


class Fall:
    """The fall of a metric, whose causes are to be found.

    Args:
        evaluation: what is measured now.
        other: what it is compared with.
        values: the values of the metric on both sides, of the same queries.
    """

    def __init__(self, evaluation: Evaluation, other: Measured, values: ComparedValues) -> None:
        self.golden, self.query_ids = evaluation.golden, values.query_ids
        self.k = values.metric.cutoff or TOP
        """How many documents count as the top."""
        self.fell, self.rose = values.gains < -SLACK, values.gains > SLACK
        """``[Q]`` which queries fell, and which rose."""
        self._losses = np.where(self.fell, -values.gains, 0.0)
        self.sides = sides = (other, evaluation)
        """What is known before, and now."""
        self.has_rankings = (
            values.metric.kind.is_of_documents
            and other.known_depth != 0
            and all(side.averaged(values.metric).count == 1 for side in sides)
        )
        """Whether the rankings of both sides are known, and the values come from them."""
        self.before, self.now = map(self._rankings, sides)
        """``[Q]`` the ranking of each query on both sides, as far as it is known."""

    def _rankings(self, side: Measured) -> Rankings:
        known = side.tops() if self.has_rankings else {}
        return [known.get(query_id, ()) for query_id in self.query_ids]

    def cause(
        self, kind: CauseKind, has_it: BoolArray | Sequence[int], **details: Any
    ) -> Cause | None:
        """Return a cause; None if the queries that have it explain too little of the fall.

        Args:
            kind: what it is.
            has_it: which of all queries have it, ``[Q]``, or the places of those that do.
            details: further fields of the `Cause`.
        """
        has = np.zeros(len(self.fell), dtype=np.bool_)
        has[has_it] = True
        if self._losses[has].sum() < _LEAST_SHARE * self._losses.sum():
            return None
        queries = tuple(compress(self.query_ids, (has & self.fell).tolist()))
        return Cause(kind, queries, int(self.fell.sum()), int(has.sum()), len(has), **details)
