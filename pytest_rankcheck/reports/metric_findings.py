"""Findings about one metric: its mean, what a gate decided about it, and what reports show of that.

They follow the rules of `findings`: built-in types, enums and other such classes in every field.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.baseline_age import BaselineAge
from pytest_rankcheck.gates.explanations import (
    Fragility,
    GroupEvidence,
    MixEffect,
    OtherRuling,
    ReplayEvidence,
    TieEffect,
)
from pytest_rankcheck.reports.findings import ReportedFinding

__all__ = [
    "DecisionDetail",
    "GapDetail",
    "GateDetail",
    "GateFinding",
    "MetricFinding",
    "SlideDetail",
    "UnjudgedDetail",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFinding(ReportedFinding):
    """The mean of a metric on a golden set; as such it is shown and decides nothing."""

    golden_set: str
    metric: str
    now: float
    baseline: float | None = None
    best: float | None = None
    """The best mean that was ever approved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFinding(MetricFinding):
    """A metric that an assertion compared with a baseline, or with a fixed bound."""

    verdict: str
    """What the assertion decided, in a word or two."""
    failed: bool = False
    reached: bool = True
    """Whether the test reached the assertion before it stopped."""
    test: str = ""
    """The id of the test, or the two files that were compared."""
    approved: tuple[Approval, ...] = ()
    """The reasons on this branch that let it pass, though it fails at the reference commit."""
    baseline_file: str | None = None
    """The baseline file as messages show it."""
    age: BaselineAge | None = None
    """How old the approved lines of the baseline are; filled in when the test session ends."""
    detail: GateDetail | None = None
    """Only if a report is written."""

    def with_test(self, test: str) -> Self:
        """Return it with the test that made it, unless it has one."""
        return self if self.test else replace(self, test=test)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDetail:
    """What a report shows of a gate. Numbers are rounded to six decimals; None is unknown."""

    higher_is_better: bool
    gate: str
    """The rule that decided, as the configuration writes it, or the bound."""
    outcome: str
    overall: DecisionDetail
    slices: tuple[DecisionDetail, ...] = ()
    measurement: str = ""
    """The key of the measurement that it is about."""
    text: str | None = None
    """The failure text; None if it passed."""
    limit: float | None = None
    """The fixed bound."""
    margin: float | None = None
    noise: float | None = None
    gaps: tuple[GapDetail, ...] = ()
    query_drops: tuple[str, ...] = ()
    ties: TieEffect | None = None
    unjudged: UnjudgedDetail | None = None
    fragility: Fragility | None = None
    """The few queries that a failing or inconclusive verdict depends on; None if it does not."""
    other_rulings: tuple[OtherRuling, ...] = ()
    """If a fall failed under a gate that allows none: what other gates would have decided."""
    mixes: tuple[MixEffect, ...] = ()
    """The effect of slices that grew or shrank, for each attribute where there is one."""
    groups: GroupEvidence | None = None
    """Of two groups in one log: their sizes."""
    replay: ReplayEvidence | None = None
    """On a replayed log: other propensities, and documents that were never shown."""
    suspicions: tuple[str, ...] = ()
    slide: SlideDetail | None = None
    """Only if the mean is lower than in the baseline, and the number of changes is known."""
    approvals: tuple[Approval, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlideDetail:
    """How far a mean is below the best that was approved, and what noise explains of it."""

    distance: float | None
    approved: float | None
    """The part of the distance that was approved with a reason."""
    budget: float | None
    """How far noise lets the mean fall over as many changes."""
    steps: int
    """The number of changes since the best was approved."""
    level: float
    exceeds: bool
    since: str | None
    """The commit that approved the best, abbreviated; None if it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionDetail:
    """What a gate decided on all queries (an empty label) or on a slice."""

    label: str
    queries: int
    now: float | None
    outcome: str = ""
    paired: bool = True
    """Whether the values before are of the same queries."""
    before: float | None = None
    difference: float | None = None
    interval: tuple[float, float] | None = None
    """The 95% confidence interval of the difference."""
    guaranteed: float | None = None
    """The bound of the difference that holds for any values; None without test="guaranteed"."""
    p: float | None = None
    effect: float | None = None
    detectable: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    allowed: float | None = None
    tested: float | None = None
    """What was compared with a fixed bound: the mean, or its confidence bound."""


@dataclass(frozen=True, slots=True)
class GapDetail:
    """The distance between two slices."""

    lowest: str
    highest: str
    before: float | None
    now: float | None
    is_too_wide: bool


@dataclass(frozen=True, slots=True)
class UnjudgedDetail:
    """How much of a difference unjudged documents could explain."""

    k: int
    documents: int
    """How many are new in the top k."""
    left: int
    """How many left the top k."""
    judged_before: float
    judged_now: float
    if_irrelevant: float | None
    if_relevant: float | None
    """The difference if the new ones had the highest grade."""
    if_left_relevant: float | None
    """The difference if those that left had the highest grade."""
    relevant_share: float | None
    """The share of the judged documents at the top that are relevant."""
    needed: int | None
    """How many of the new ones would have to be relevant for the fall to vanish."""
    could_explain_fall: bool
    """Whether that is no larger a share than among the judged documents."""
