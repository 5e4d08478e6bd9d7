"""The verdict: what a gate decided, with the values that it decided from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.gates.lost_answers import LostAnswers


class Outcome(StrEnum):
    """How the values of a metric changed, by the gate's rule."""

    BETTER = "better"
    EQUAL = "equal"
    LOWER = "lower"
    """Worse, but within what the gate allows."""
    REGRESSED = "regressed"
    INCONCLUSIVE = "inconclusive"
    """Neither clearly within the margin nor clearly beyond it: too few queries, or too much
    noise."""
    NOT_GATED = "not gated"
    """A slice with too few queries: reported, but not gated."""

    @property
    def ruling(self) -> str:
        """The gate's verdict: passed, regressed or inconclusive."""
        if self in (Outcome.REGRESSED, Outcome.INCONCLUSIVE):
            return str(self)
        return "passed"


@dataclass(frozen=True, slots=True, repr=False)
class Decision:
    """What a gate decided on one set of queries: all, or those of one slice."""

    pairs: ComparedValues
    outcome: Outcome
    allowed: float
    """How far the mean may fall, at least 0."""
    attribute: str | None = None
    """The attribute of the slice; None: all queries."""
    value: str = ""
    p: float = math.nan
    """One-sided p of the fall, corrected for all decisions of the assertion; NaN without a test.

    Slices that are not gated are tested by sign flips, and corrected among themselves.
    """
    futility: str = ""
    """Why nothing was decided: no fall of these queries could have counted as a regression.

    A slice has this only if it fell; it passed.
    """

    def __repr__(self) -> str:
        before, now = self.pairs.mean_before, self.pairs.mean_after
        where = quoted(self.label, 60) if self.label else "all"
        return f"Decision({where}: {self.outcome}, {before:.4f} -> {now:.4f})"

    @property
    def label(self) -> str:
        """The slice as ``attribute=value``; empty for all queries."""
        return f"{self.attribute}={self.value}" if self.attribute else ""

    def left_open(self) -> Decision:
        """Return the decision as inconclusive, unless the slice is not gated."""
        if self.outcome is Outcome.NOT_GATED:
            return self
        return replace(self, outcome=Outcome.INCONCLUSIVE, futility="")


@dataclass(frozen=True, slots=True)
class Gap:
    """How far apart the slices of one attribute are: the lowest and the highest."""

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


def gaps_of(slices: Iterable[Decision], min_queries: int) -> Iterator[Gap]:
    """Yield the gap of each attribute with at least two slices of ``min_queries`` queries."""
    large = [decision for decision in slices if decision.pairs.size >= min_queries]
    for attribute in dict.fromkeys(decision.attribute for decision in large):
        of_attribute = [decision for decision in large if decision.attribute == attribute]
        ordered = sorted(of_attribute, key=lambda decision: decision.pairs.mean_after)
        if len(ordered) > 1:
            yield Gap(ordered[0], ordered[-1])


@dataclass(frozen=True, slots=True)
class TieEffect:
    """How the order of documents with the same score affects a mean."""

    queries: int
    """How many queries have a judged document in the top k that shares its score with another."""
    lowest: float
    """The lowest mean over all orders of the tied documents."""
    highest: float
    """The highest mean over all orders of the tied documents."""
    decides: bool
    """Whether the verdict depends on the order."""


@dataclass(frozen=True, slots=True)
class ReplayEvidence:
    """What a verdict on a replayed log rests on."""

    ruling: str
    """What the gate decided: passed, regressed or inconclusive."""
    k: int
    """The number of documents that count as the top."""
    unseen_now: float
    """The share of the top now that was never shown and was ranked elsewhere before, in [0, 1]."""
    unseen_before: float
    """The share of the top before that was never shown and is ranked elsewhere now."""
    max_unseen: float
    """Above this share, nothing is decided."""
    without_unseen: str = ""
    """What the gate decides if they are left out of the rankings now; empty if that is unknown."""

    @property
    def leaves_open(self) -> bool:
        """Whether too much of one of the tops was never shown for the log to decide."""
        is_fall_of_others = self.ruling == self.without_unseen == "regressed"
        is_too_much = max(self.unseen_now, self.unseen_before) > self.max_unseen
        return is_too_much and not is_fall_of_others


class MixEffect(NamedTuple):
    """How much of the difference of two logs comes from slices that grew or shrank."""

    attribute: str
    at_mix: float
    """The difference if each slice had the share that it has in the baseline."""
    mix: float
    """The rest of the difference."""


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """What a gate decided on one metric: overall, by slice, and for single queries."""

    metric: Metric
    overall: Decision
    slices: tuple[Decision, ...] = ()
    query_drops: tuple[str, ...] = ()
    """The queries that fell by more than the gate allows, the largest fall first."""
    max_query_drop: float | None = None
    lost_answers: LostAnswers | None = None
    """The queries that lost their answers; None if the gate does not look for them."""
    gaps: tuple[Gap, ...] = ()
    """The gap between the slices of each attribute."""
    max_gap: float | None = None
    min_queries: int = 0
    """A slice with fewer queries is not gated."""
    decisions: int = 1
    """How many decisions were corrected together (Holm), on all queries and on slices."""
    gate: str = ""
    """The gate that decided, as written in the configuration."""
    ties: TieEffect | None = None
    """How the order of tied scores affects the mean; None if it does not."""
    margin: float | None = None
    """The fall that must be ruled out; None if the gate has no such fall."""
    alpha: float = 0.05
    replay: ReplayEvidence | None = None
    """On a replayed log: documents that were never shown."""

    def __repr__(self) -> str:
        leading = self.leading
        where = f" in {quoted(leading.label, 60)}" if leading.label else ""
        before, now = leading.pairs.mean_before, leading.pairs.mean_after
        return (
            f"Verdict({self.metric}{where}: {self.ruling}, {before:.4f} -> {now:.4f}, {self.gate})"
        )

    @property
    def outcome(self) -> Outcome:
        """The worst outcome: a single collapsed slice or query is a regression.

        It is inconclusive if a replayed log cannot decide.
        """
        if self.replay is not None and self.replay.leaves_open:
            return Outcome.INCONCLUSIVE
        if self.breaks_limits:
            return Outcome.REGRESSED
        outcomes = [decision.outcome for decision in (self.overall, *self.slices)]
        worst = (Outcome.REGRESSED, Outcome.INCONCLUSIVE, Outcome.LOWER)
        return next((each for each in worst if each in outcomes), self.overall.outcome)

    @property
    def leading(self) -> Decision:
        """The decision that the verdict rests on: on all queries, or on the slice that fell most.

        If only a gap is too wide, it is the decision on the worse of the two slices.
        """
        if self.overall.outcome is Outcome.REGRESSED or self.query_drops or self.loses_answers:
            return self.overall
        if self.wide_gaps and all(part.outcome is not Outcome.REGRESSED for part in self.slices):
            gap = self.wide_gaps[0]
            if self.metric.higher_is_better:
                return gap.lowest
            return gap.highest
        for outcome in (Outcome.REGRESSED, Outcome.INCONCLUSIVE, Outcome.LOWER):
            slices = [decision for decision in self.slices if decision.outcome is outcome]
            if slices and self.overall.outcome is not outcome:
                return min(slices, key=lambda decision: decision.pairs.gain)
        return self.overall

    @property
    def mixes(self) -> Sequence[MixEffect]:
        """The effect of slices that grew or shrank, of each attribute that two logs have.

        It is the sum over slices of ``share before * difference`` (Kitagawa, Components of a
        difference between two rates, JASA 50, 1955). Empty for the same queries on both sides, and
        if slices overlap or are on one side only.
        """
        whole, effects = self.overall.pairs, []
        if whole.is_paired or not self.metric.definition.is_mean_of_values:
            return ()
        for attribute in dict.fromkeys(part.attribute or "" for part in self.slices):
            parts = [part.pairs for part in self.slices if part.attribute == attribute]
            at_mix = sum(len(each.before) * each.difference for each in parts) / len(whole.before)
            is_mix = sum(len(each.before) for each in parts) == len(whole.before)
            if is_mix and abs(whole.difference - at_mix) > SLACK:
                effects.append(MixEffect(attribute, at_mix, whole.difference - at_mix))
        return effects

    def left_open(self) -> Verdict:
        """Return the verdict with every decision inconclusive, because the data cannot decide."""
        return replace(
            self,
            overall=self.overall.left_open(),
            slices=tuple(part.left_open() for part in self.slices),
        )

    @property
    def wide_gaps(self) -> tuple[Gap, ...]:
        """The gaps between slices that are wider than allowed."""
        limit = math.inf if self.max_gap is None else self.max_gap
        return tuple(gap for gap in self.gaps if gap.now > limit + SLACK)

    @property
    def loses_answers(self) -> bool:
        """Whether it blocks because queries lost their answers."""
        return self.lost_answers is not None and self.lost_answers.blocks

    @property
    def futility(self) -> str:
        """Why the gate could not have failed on all queries, as so few changed; usually empty."""
        lost = self.lost_answers
        could_lose = lost is not None and self.overall.pairs.changed_units >= lost.fewest
        is_open = self.overall.outcome is Outcome.INCONCLUSIVE  # which fails, or has its own note
        return "" if could_lose or self.breaks_limits or is_open else self.overall.futility

    @property
    def only_loses_answers(self) -> bool:
        """Whether it blocks only for lost answers: no mean regressed and no limit is broken."""
        fell = any(d.outcome is Outcome.REGRESSED for d in (self.overall, *self.slices))
        return self.loses_answers and not (fell or self.query_drops or self.wide_gaps)

    @property
    def breaks_limits(self) -> bool:
        """Whether it blocks whatever the means are: for single queries, or a gap of slices."""
        return bool(self.query_drops or self.wide_gaps or self.loses_answers)

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
        """Whether neither passing nor regressing is certain enough."""
        return self.outcome is Outcome.INCONCLUSIVE

    @property
    def gated(self) -> tuple[Decision, ...]:
        """What the gate decided on: all queries first, then slices."""
        slices = (part for part in self.slices if part.outcome is not Outcome.NOT_GATED)
        return (self.overall, *slices)

    @property
    def not_gated(self) -> tuple[Decision, ...]:
        """The slices that the gate does not decide on."""
        return tuple(part for part in self.slices if part.outcome is Outcome.NOT_GATED)

    @property
    def untested(self) -> tuple[Decision, ...]:
        """The slices that fell, but in which too few queries changed for a significant fall."""
        return tuple(part for part in self.slices if part.futility)

    @property
    def ungated_falls(self) -> tuple[Decision, ...]:
        """The slices that are not gated, but fell by more than chance explains."""
        return tuple(
            part for part in self.not_gated if part.pairs.gain < -SLACK and part.p <= self.alpha
        )

    @property
    def is_settled(self) -> bool:
        """Whether no value changed, and the gate could have failed on all queries and slices."""
        is_unchanged = all(part.pairs.is_same for part in (self.overall, *self.slices))
        has_all = self.lost_answers is None or self.lost_answers.is_known
        is_undecided = self.not_gated or self.overall.futility or not has_all
        return is_unchanged and not is_undecided

    @property
    def fell(self) -> tuple[Decision, ...]:
        """The decisions whose mean is lower than before, for all queries and gated slices."""
        return tuple(decision for decision in self.gated if decision.pairs.gain < -SLACK)
