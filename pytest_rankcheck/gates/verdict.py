"""The verdict: what a gate decided, with all that it decided from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from pytest_rankcheck.comparison.compared_values import SLACK, ComparedValues
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["Decision", "Gap", "Outcome", "QueryDrop", "Verdict", "gaps_of"]


class Outcome(StrEnum):
    """How a metric came out."""

    BETTER = "better"
    EQUAL = "equal"
    LOWER = "lower"
    """Worse, inside what the gate allows."""
    REGRESSED = "regressed"
    INCONCLUSIVE = "inconclusive"
    """Neither surely within the margin nor surely below it: this golden set cannot tell."""
    NOT_GATED = "not gated"
    """A slice with too few queries: shown, but decides nothing."""

    @property
    def ruling(self) -> str:
        """What that means for the gate: passed, regressed or inconclusive."""
        return str(self) if self in (Outcome.REGRESSED, Outcome.INCONCLUSIVE) else "passed"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a gate decided on one set of queries: all, or those of one slice."""

    pairs: ComparedValues
    outcome: Outcome
    allowed: float
    """How far the mean may fall, at least 0."""
    attribute: str | None = None
    """The attribute that the slice is of; None: all queries."""
    value: str = ""
    p: float = math.nan
    """One-sided p of the fall, corrected for all decisions of the verdict; NaN without a test."""

    @property
    def label(self) -> str:
        """The slice as ``attribute=value``; empty for all queries."""
        return f"{self.attribute}={self.value}" if self.attribute else ""


@dataclass(frozen=True, slots=True)
class QueryDrop:
    """A single query that fell by more than the gate allows."""

    query_id: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class TieEffect:
    """What the order of documents with the same score decides."""

    queries: int
    """In how many queries a judged document that counts has the score of another."""
    least: float
    """The least mean over the orders of tied documents."""
    greatest: float
    """The greatest."""
    decides: bool
    """Whether the verdict depends on the order."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How far apart the slices of one attribute are: the lowest and the highest that gate."""

    lowest: Decision
    highest: Decision

    @property
    def now(self) -> float:
        """The difference of their means now."""
        return self.highest.pairs.mean_after - self.lowest.pairs.mean_after

    @property
    def before(self) -> float:
        """The difference of the means of the same two slices before."""
        return self.highest.pairs.mean_before - self.lowest.pairs.mean_before


def gaps_of(slices: Iterable[Decision]) -> Iterator[Gap]:
    """Yield the gap of each attribute that has at least two slices that gate."""
    gated = [one for one in slices if one.outcome is not Outcome.NOT_GATED]
    for attribute in dict.fromkeys(one.attribute for one in gated):
        of_it = [one for one in gated if one.attribute == attribute]
        ordered = sorted(of_it, key=lambda decision: decision.pairs.mean_after)
        if len(ordered) > 1:
            yield Gap(ordered[0], ordered[-1])


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate decided on one metric: overall, by slice, and for single queries."""

    metric: Metric
    overall: Decision
    slices: tuple[Decision, ...] = ()
    query_drops: tuple[QueryDrop, ...] = ()
    max_query_drop: float | None = None
    gaps: tuple[Gap, ...] = ()
    """How far apart the slices of each attribute are."""
    max_gap: float | None = None
    min_queries: int = 0
    gate: str = ""
    """The gate that decided, as it is written in the configuration."""
    ties: TieEffect | None = None
    """What the order of tied scores decides; None where it decides nothing."""
    margin: float | None = None
    """The fall that has to be ruled out, where the gate has one."""
    alpha: float = 0.05

    @property
    def outcome(self) -> Outcome:
        """The worst that was decided: one collapsed slice or query is a regression."""
        found = {self.overall.outcome, *(decision.outcome for decision in self.slices)}
        if self.query_drops or self.wide_gaps:
            return Outcome.REGRESSED
        for worst in (Outcome.REGRESSED, Outcome.INCONCLUSIVE, Outcome.LOWER):
            if worst in found:
                return worst
        return self.overall.outcome

    @property
    def wide_gaps(self) -> tuple[Gap, ...]:
        """The gaps between slices that are wider than allowed."""
        limit = math.inf if self.max_gap is None else self.max_gap
        return tuple(gap for gap in self.gaps if gap.now > limit + SLACK)

    @property
    def ruling(self) -> str:
        """Passed, regressed or inconclusive."""
        return self.outcome.ruling

    @property
    def regressed(self) -> bool:
        """Whether the gate blocks."""
        return self.outcome is Outcome.REGRESSED

    @property
    def inconclusive(self) -> bool:
        """Whether the golden set cannot tell."""
        return self.outcome is Outcome.INCONCLUSIVE

    @property
    def fell(self) -> tuple[Decision, ...]:
        """What is lower than before: all queries, and the gated slices."""
        gated = (d for d in (self.overall, *self.slices) if d.outcome is not Outcome.NOT_GATED)
        return tuple(decision for decision in gated if decision.pairs.gain < -SLACK)
