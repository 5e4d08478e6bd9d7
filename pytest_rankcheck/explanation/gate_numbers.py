"""What reports show of a gate besides its finding: its decisions as numbers, and the evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from pytest_rankcheck.baselines.change import Approval
from pytest_rankcheck.comparison.unjudged_documents import Unjudged
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.lost_answers import LostAnswers
from pytest_rankcheck.gates.verdict import (
    Decision,
    MixEffect,
    Outcome,
    ReplayEvidence,
    TieEffect,
    Verdict,
)
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.run_noise import RunNoise

NOT_IN_JSON = {"json": False}
"""Marks a field that texts use and the JSON report leaves out."""
NOT_REACHED = "not reached"
"""The outcome of a gate whose assertion was not reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What was decided on all queries, or on a slice; what is unknown is NaN or None."""

    label: str = ""
    queries: int
    earlier: int | None = field(default=None, metadata=NOT_IN_JSON)
    """For two samples, the size of the earlier one."""
    paired: bool = True
    before: float = math.nan
    now: float
    difference: float = math.nan
    interval: tuple[float, float] | None = None
    p: float = math.nan
    effect: float | None = None
    detectable: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    allowed: float = math.nan
    tested: float | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the differences of single queries show."""

    p: float
    """One-sided p of a fall, not corrected."""
    test: str
    is_same: bool
    """Whether nothing changed."""
    units: int
    of_clusters: bool
    """Whether the independent units are clusters of queries."""
    range: float
    """How far the metric can fall; infinity if that is unknown."""
    detectable: float
    """The smallest fall that would be detected with a power of 80%; NaN: unknown."""
    is_coarse: bool
    """Whether that power is less than planned."""
    bound: float
    """The lower bound of the gain."""
    effective_size: float | None
    noise: RunNoise | None
    noise_share: float
    """The share of the variance that comes from the runs, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class GapNumbers:
    """How far apart two slices are."""

    lowest: str
    highest: str
    before: float
    now: float
    is_too_wide: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GateNumbers:
    """A gate as numbers: what it decided, and what reports add to its finding."""

    metric: Metric = field(metadata=NOT_IN_JSON)
    gate: str = ""
    outcome: str = ""
    overall: Decided
    slices: tuple[Decided, ...] = ()
    limit: float | None = None
    margin: float | None = None
    noise: float | None = None
    gaps: tuple[GapNumbers, ...] = ()
    query_drops: tuple[str, ...] = ()
    ties: TieEffect | None = None
    mixes: tuple[MixEffect, ...] = field(default=(), metadata=NOT_IN_JSON)
    unjudged: Unjudged | None = None
    replay: ReplayEvidence | None = None
    approvals: tuple[Approval, ...] = ()
    measurement: str = ""
    """The key of its measurement."""
    leads: str = field(default="", metadata=NOT_IN_JSON)
    """The label of the decision that the verdict rests on: all queries, or a slice."""
    alpha: float = field(default=math.nan, metadata=NOT_IN_JSON)
    decisions: int = field(default=1, metadata=NOT_IN_JSON)
    max_query_drop: float | None = field(default=None, metadata=NOT_IN_JSON)
    max_gap: float | None = field(default=None, metadata=NOT_IN_JSON)
    lost_answers: LostAnswers | None = field(default=None, metadata=NOT_IN_JSON)
    only_loses_answers: bool = field(default=False, metadata=NOT_IN_JSON)
    evidence: Evidence | None = field(default=None, metadata=NOT_IN_JSON)
    """None for one value of the whole run, and if it is not shown."""

    @property
    def leading(self) -> Decided:
        """What the verdict rests on."""
        return next(each for each in (self.overall, *self.slices) if each.label == self.leads)

    @property
    def wide_gap(self) -> GapNumbers | None:
        """The first gap that is too wide."""
        return next((gap for gap in self.gaps if gap.is_too_wide), None)

    @property
    def least(self) -> Decided | None:
        """The decision with the smallest p; None without a test."""
        parts = (self.overall, *self.slices)
        tested = [d for d in parts if not math.isnan(d.p) and d.outcome != Outcome.NOT_GATED]
        return min(tested, key=lambda each: each.p, default=None)


def verdict_numbers(
    verdict: Verdict, *, label: str = "", in_full: bool = True, has_evidence: bool = False
) -> GateNumbers:
    """Return the numbers of a verdict, or of one of its slices, which has a row of its own.

    Args:
        verdict: what the gate decided.
        label: the slice; empty for all queries.
        in_full: whether to include intervals.
        has_evidence: whether to include the evidence.
    """
    parts = (verdict.overall, *verdict.slices)
    part = next(each for each in parts if each.label == label)
    noise, lost = part.pairs.noise, verdict.lost_answers
    of_part = GateNumbers(
        metric=verdict.metric,
        gate=verdict.gate,
        outcome=part.outcome if label else verdict.outcome,
        overall=_decided(part, verdict, in_full=in_full),
        margin=verdict.margin,
        noise=None if noise is None else noise.deviation,
    )
    if label:
        return of_part
    return replace(
        of_part,
        slices=tuple(_decided(each, verdict, in_full=in_full) for each in verdict.slices),
        gaps=tuple(
            GapNumbers(g.lowest.label, g.highest.label, g.before, g.now, g in verdict.wide_gaps)
            for g in verdict.gaps
        ),
        query_drops=verdict.query_drops,
        ties=verdict.ties,
        mixes=tuple(verdict.mixes),
        replay=verdict.replay,
        leads=verdict.leading.label,
        alpha=verdict.alpha,
        decisions=verdict.decisions,
        max_query_drop=verdict.max_query_drop,
        max_gap=verdict.max_gap,
        lost_answers=None if lost is None else replace(lost, queries=()),
        only_loses_answers=verdict.only_loses_answers,
        evidence=evidence_for(verdict) if has_evidence else None,
    )


def new_numbers(metric: Metric, evaluation: Evaluation) -> GateNumbers:
    """Return the numbers of a metric that cannot be compared with a baseline."""
    overall = Decided(queries=len(evaluation.query_ids), now=evaluation.mean(metric))
    return GateNumbers(metric=metric, overall=overall)


def _decided(decision: Decision, verdict: Verdict, *, in_full: bool) -> Decided:
    """Return the numbers of a decision; the interval and the power only ``in_full``."""
    pairs = decision.pairs
    interval = pairs.interval() if in_full else (math.nan, math.nan)
    has_interval = pairs.metric.definition.is_mean_of_values and not math.isnan(interval[0])
    counts = {"wins": pairs.wins, "ties": pairs.ties, "losses": pairs.losses}
    differences = pairs.differences
    return Decided(
        label=decision.label,
        queries=len(pairs.query_ids),
        earlier=None if pairs.is_paired else len(pairs.before),
        paired=pairs.is_paired,
        before=pairs.mean_before,
        now=pairs.mean_after,
        difference=pairs.difference,
        interval=interval if has_interval else None,
        p=decision.p,
        effect=differences.effect,
        detectable=differences.smallest_detectable(verdict.alpha) if in_full else None,
        allowed=decision.allowed,
        outcome=decision.outcome,
        **(pairs.metric.kind.for_each(counts) or {}),
    )


def evidence_for(verdict: Verdict) -> Evidence | None:
    """Return the evidence that a verdict rests on; None for one value of the whole run."""
    pairs = verdict.leading.pairs
    if not pairs.metric.definition.is_mean_of_values:
        return None
    differences, noise, share = pairs.differences, pairs.noise, 0.0
    if noise is not None and differences.error > 0:
        share = (noise.error / differences.error) ** 2
    return Evidence(
        p=pairs.p_of_fall(),
        test=pairs.test_name,
        is_same=pairs.is_same,
        units=differences.count,
        of_clusters=pairs.clusters is not None,
        range=differences.full_range,
        detectable=differences.smallest_detectable(verdict.alpha),
        is_coarse=pairs.is_coarse,
        bound=differences.lower_bound(verdict.alpha),
        effective_size=pairs.effective_size if pairs.is_paired else None,
        noise=noise,
        noise_share=share,
    )
