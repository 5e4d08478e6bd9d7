"""What reports show of a gate besides its finding: its decisions as numbers, and what is behind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.unjudged_documents import Unjudged
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.explanation.bounds import Bounded
from pytest_rankcheck.gates.verdict import (
    Decision,
    Gap,
    GroupEvidence,
    MixEffect,
    ReplayEvidence,
    TieEffect,
    Verdict,
)
from pytest_rankcheck.metrics.metric_names import Metric

NOT_IN_JSON = {"json": False}
"""Marks what texts say and the JSON report has not."""
NOT_REACHED = "not reached"
"""The outcome of a gate whose assertion was not reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What was decided on all queries, or on a slice; what is not known is NaN or None."""

    label: str = ""
    queries: int
    earlier: int | None = field(default=None, metadata=NOT_IN_JSON)
    """Of two samples, how many there were before."""
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
    """A gate as numbers: the fields that the JSON report has of it besides its finding."""

    higher_is_better: bool
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
    unjudged: Unjudged | None = None
    mixes: tuple[MixEffect, ...] = ()
    groups: GroupEvidence | None = None
    replay: ReplayEvidence | None = None
    approvals: tuple[Approval, ...] = ()
    measurement: str = ""
    """The key of its measurement."""


def verdict_numbers(
    verdict: Verdict,
    comparison: Comparison,
    approvals: Sequence[Approval] = (),
    *,
    label: str = "",
    in_full: bool = True,
) -> GateNumbers:
    """Return the numbers of a verdict, or of one of its slices, which has a row of its own.

    Args:
        verdict: what the gate decided.
        comparison: what it decided from.
        approvals: why the baseline was allowed to fall, so far.
        label: the slice; empty for all queries.
        in_full: whether with intervals and unjudged documents.
    """
    parts = (verdict.overall, *verdict.slices)
    part = next(each for each in parts if each.label == label)
    noise, higher = part.pairs.noise, verdict.metric.higher_is_better
    of_part = GateNumbers(
        higher_is_better=higher,
        gate=verdict.gate,
        outcome=part.outcome if label else verdict.outcome,
        overall=decided(part, verdict, in_full=in_full),
        margin=verdict.margin,
        noise=None if noise is None else noise.deviation,
    )
    if label:
        return of_part
    return replace(
        of_part,
        slices=tuple(decided(each, verdict, in_full=in_full) for each in verdict.slices),
        gaps=tuple(gap_numbers(gap, is_too_wide=gap in verdict.wide_gaps) for gap in verdict.gaps),
        query_drops=verdict.query_drops,
        ties=verdict.ties,
        unjudged=comparison.unjudged_in(verdict.overall.pairs) if in_full else None,
        mixes=verdict.mixes,
        groups=verdict.groups,
        replay=verdict.replay,
        approvals=tuple(approvals),
    )


def bound_numbers(
    metric: Metric, limit: float, words: str, parts: Sequence[Bounded]
) -> GateNumbers:
    """Return the numbers of a bound on a slice; or on all queries, with the slices after.

    Args:
        metric: the metric.
        limit: the bound.
        words: the bound as messages name it.
        parts: all queries, then slices; or a slice.
    """
    overall, *slices = (
        Decided(
            label=part.label,
            queries=part.queries,
            now=part.mean,
            tested=part.tested,
            outcome="not gated" if not part.gated else "passed" if part.holds else "failed",
        )
        for part in parts
    )
    return GateNumbers(
        higher_is_better=metric.higher_is_better,
        gate=words,
        outcome=overall.outcome,
        overall=overall,
        slices=tuple(slices),
        limit=limit,
    )


def new_numbers(metric: Metric, evaluation: Evaluation) -> GateNumbers:
    """Return the numbers of a metric that cannot be compared with a baseline."""
    overall = Decided(queries=len(evaluation.query_ids), now=evaluation.mean(metric))
    return GateNumbers(higher_is_better=metric.higher_is_better, overall=overall)


def gap_numbers(gap: Gap, *, is_too_wide: bool) -> GapNumbers:
    """Return how far apart two slices are."""
    labels = gap.lowest.label, gap.highest.label
    return GapNumbers(*labels, gap.before, gap.now, is_too_wide)


def decided(decision: Decision, verdict: Verdict, *, in_full: bool) -> Decided:
    """Return the numbers of a decision; the interval and the power only in full."""
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
