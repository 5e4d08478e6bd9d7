"""A cause: something that the queries that fell have in common, as counts that can be checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.unjudged_documents import top_of
from pytest_rankcheck.errors import listed, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK

_LEAST_SHARE = 1 / 3
"""Causes are named that a third of the queries that fell have."""
_SHOWN = 3

Rankings = Sequence[Sequence[str]]


class CauseKind(StrEnum):
    """What the queries that fell have in common."""

    IDS = "ids"
    """Documents that they lost have ids of another form now."""
    GONE = "gone"
    """They lost documents that are no longer in the catalogue."""
    MISSING = "missing"
    """They lost documents that no query returns any more."""
    NO_ANSWER = "no-answer"
    """They have no documents now, or hardly any."""
    REVERSED = "reversed"
    """Their rankings are in the reverse order."""
    WORLD = "world"
    """What changed of the declared world; it is not about single queries."""
    SLICE = "slice"
    """They have the same value of an attribute."""
    WORDS = "words"
    """Their texts contain the same word, or have the same number of words."""
    NEWCOMER = "newcomer"
    """The same document is new in their first places."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that queries that fell have in common. It says where and what, never why."""

    kind: CauseKind
    queries: tuple[str, ...]
    """Those of the queries that fell that have it, in the golden set's order."""
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
    """How many words the queries have; fewer than how many documents they have (1: none); how many
    documents are the top that a newcomer is in; or how far down the rankings are known in which
    documents are missing, if not to the end."""
    before: int = 0
    """How many of all queries had it before."""

    @property
    def text(self) -> str:
        """The cause in words, as one line."""
        names = self.names
        of = f"{len(self.queries):,} of {self.fallen:,}"
        have = "has" if len(self.queries) == 1 else "have"
        all_now = f"{self.shared:,} of all {self.compared:,}"
        share = f"{self.shared / max(self.compared, 1):.0%} of all"
        match self.kind:
            case CauseKind.IDS:
                old, new = map(quoted, names)
                return f"in {of} the ids that are ranked changed their form: {old} became {new}"
            case CauseKind.GONE:
                shown = listed(names, _SHOWN)
                return f"{of} lost documents that are no longer in the catalogue: {shown}"
            case CauseKind.MISSING:
                here = f"has in its top {self.number}" if self.number else "returns"
                return f"{of} lost documents that no query {here} any more: {listed(names, _SHOWN)}"
            case CauseKind.NO_ANSWER:
                few = f"fewer than {self.number} documents" if self.number != 1 else "no answer"
                return f"{of} {have} {few} now ({all_now}; {self.before:,} before)"
            case CauseKind.REVERSED if self.shared == self.compared:
                return "all rankings are in the reverse order"
            case CauseKind.REVERSED:
                return f"{of} {have} a ranking in the reverse order ({all_now})"
            case CauseKind.WORLD:
                return "; ".join(names)
            case CauseKind.SLICE:
                attribute, value = (quoted(name, 60) for name in names)
                return f"{of} are {attribute}={value} ({share} are)"
            case CauseKind.WORDS if self.number:
                words = "one word" if self.number == 1 else f"{self.number} words"
                return f"{of} have {words} ({share} do)"
            case CauseKind.WORDS:
                return f'{of} contain "{quoted(names[0], 60)}" ({share} do)'
            case CauseKind.NEWCOMER:
                document = quoted(names[0], 60)
                return f"in {of} the same document is new in the top {self.number}: {document}"


@dataclass(frozen=True)
class Fall:
    """The fall of a metric whose causes are looked for."""

    evaluation: Evaluation
    other: Measured
    values: ComparedValues
    """The values of the metric on both sides, of the same queries."""

    @cached_property
    def fell(self) -> BoolArray:
        """``[Q]`` whether each query fell."""
        return self.values.gains < -SLACK

    @cached_property
    def rose(self) -> BoolArray:
        """``[Q]`` whether each query rose."""
        return self.values.gains > SLACK

    @cached_property
    def has_rankings(self) -> bool:
        """Whether the rankings of both sides are known, and the values come from them."""
        metric = self.values.metric
        averaged = max(side.averaged(metric).count for side in (self.evaluation, self.other))
        return metric.kind.is_of_documents and averaged == 1 and self.other.known_depth != 0

    @cached_property
    def k(self) -> int:
        """How many documents count as the top."""
        return top_of(self.evaluation, self.other, self.values.metric)

    @cached_property
    def before(self) -> Rankings:
        """The ranking of each query before, ``[Q]``, as far as it is known."""
        return self._rankings(self.other)

    @cached_property
    def now(self) -> Rankings:
        """The ranking of each query now, ``[Q]``, as far as it is known."""
        return self._rankings(self.evaluation)

    def _rankings(self, side: Measured) -> Rankings:
        known: Mapping[str, Sequence[str]] = side.tops()
        return [known.get(query_id, ()) for query_id in self.values.query_ids]

    def cause(
        self,
        kind: CauseKind,
        has_it: BoolArray | IntArray,
        names: Sequence[str] = (),
        *,
        number: int | None = None,
        before: int = 0,
        compared: int | None = None,
    ) -> Cause | None:
        """Return what some of all queries have; None if too few of those that fell do.

        Args:
            kind: what it is.
            has_it: which of all queries have it, ``[Q]``, or the places of those that do.
            names: see `Cause`.
            number: see `Cause`.
            before: see `Cause`.
            compared: see `Cause`; None: all queries.
        """
        has = np.zeros(len(self.fell), dtype=np.bool_)
        has[has_it] = True
        queries = np.flatnonzero(has & self.fell).tolist()
        fallen = int(self.fell.sum())
        if not queries or len(queries) < _LEAST_SHARE * fallen:
            return None
        return Cause(
            kind,
            tuple(self.values.query_ids[place] for place in queries),
            fallen,
            int(has.sum()),
            len(has) if compared is None else compared,
            tuple(names),
            number,
            before,
        )
