"""Verdicts as numbers: what a gate decided, and the evidence for it, without the values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pytest_rankcheck.comparison.compared_values import SIDES, ComparedValues, Sides
from pytest_rankcheck.comparison.unpaired_values import Unpaired
from pytest_rankcheck.explanation.gate_numbers import Decided, GapNumbers, decided, gap_numbers
from pytest_rankcheck.gates.lost_answers import LostAnswers
from pytest_rankcheck.gates.verdict import (
    GroupEvidence,
    MixEffect,
    Outcome,
    ReplayEvidence,
    TieEffect,
    Verdict,
)
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.run_noise import RunNoise


@dataclass(frozen=True, slots=True)
class Power:
    """How small a fall would be shown with a power of 80%."""

    units: int
    of_clusters: bool
    """Whether the independent units are clusters of queries."""
    detectable: float
    """NaN: unknown."""
    is_possible: bool
    """Whether a metric can fall that far."""
    is_coarse: bool
    """Whether the power is less than planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the differences of single queries show."""

    interval: tuple[float, float]
    p: float
    """One-sided p of a fall, not corrected."""
    test: str
    is_same: bool
    """Whether nothing changed."""
    has_range: bool
    """Whether it is known how far the metric can fall."""
    effect: float
    power: Power
    bound: float
    """The lower bound of the gain."""
    needed: float | None
    """How many units a fall of the margin needs, if there are too few; None: enough."""
    needed_interval: tuple[float, float] | None
    clusters: int | None
    """How many clusters are compared; None: none, or two samples."""
    effective_size: float | None
    samples: tuple[int, int] | None
    """How many clusters two samples have; None: they have none, or there is one sample."""
    design_effect: float
    noise: RunNoise | None
    noise_share: float
    """How much of the variance comes from the runs, in [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedVerdict:
    """What a gate decided on a metric, and what it rests on. The fields are those of `Verdict`."""

    metric: Metric
    gate: str
    outcome: Outcome
    only_loses_answers: bool
    leading: Decided
    overall: Decided
    has_slices: bool
    sides: Sides
    alpha: float
    margin: float | None
    decisions: int
    least: tuple[float, str] | None
    """The smallest p of all decisions, and the slice that it is of; None without a test."""
    evidence: Evidence | None
    """None for one value of the whole run, and if it is not shown."""
    query_drops: int
    max_query_drop: float | None
    gap: GapNumbers | None
    """The first gap that is too wide."""
    max_gap: float | None
    lost_answers: LostAnswers | None
    ties: TieEffect | None
    mixes: tuple[MixEffect, ...]
    standardised_by: str | None
    groups: GroupEvidence | None
    replay: ReplayEvidence | None


def explained_verdict(verdict: Verdict, *, in_full: bool) -> ExplainedVerdict:
    """Return a verdict as numbers; with the evidence if it is wanted in full."""
    pairs, gated = verdict.leading.pairs, [verdict.overall, *verdict.slices]
    tested = [
        (each.p, each.label)
        for each in gated
        if not math.isnan(each.p) and each.outcome is not Outcome.NOT_GATED
    ]
    lost, gap = verdict.lost_answers, next(iter(verdict.wide_gaps), None)
    return ExplainedVerdict(
        metric=verdict.metric,
        gate=verdict.gate,
        outcome=verdict.outcome,
        only_loses_answers=verdict.only_loses_answers,
        leading=decided(verdict.leading, verdict, in_full=in_full),
        overall=decided(verdict.overall, verdict, in_full=in_full),
        has_slices=bool(verdict.slices),
        sides=pairs.sides if isinstance(pairs, Unpaired) else SIDES,
        alpha=verdict.alpha,
        margin=verdict.margin,
        decisions=verdict.decisions,
        least=min(tested, key=lambda each: each[0], default=None),
        evidence=_evidence(verdict, pairs) if in_full else None,
        query_drops=len(verdict.query_drops),
        max_query_drop=verdict.max_query_drop,
        gap=None if gap is None else gap_numbers(gap, is_too_wide=True),
        max_gap=verdict.max_gap,
        lost_answers=None if lost is None else replace(lost, queries=()),
        ties=verdict.ties,
        mixes=verdict.mixes,
        standardised_by=verdict.standardised_by,
        groups=verdict.groups,
        replay=verdict.replay,
    )


def power_of(verdict: Verdict, pairs: ComparedValues) -> Power:
    """Return how small a fall the gate could have shown."""
    differences = pairs.differences
    detectable = differences.smallest_detectable(verdict.alpha)
    is_possible = detectable <= differences.full_range
    has_clusters = pairs.clusters is not None
    return Power(differences.count, has_clusters, detectable, is_possible, pairs.is_coarse)


def _evidence(verdict: Verdict, pairs: ComparedValues) -> Evidence | None:
    if not pairs.metric.definition.is_mean_of_values:
        return None
    differences, margin, noise = pairs.differences, verdict.margin, pairs.noise
    needed = math.nan if margin is None else differences.needed(margin, verdict.alpha)
    is_short, needed_interval = needed > differences.count and noise is None, None
    if margin is not None and is_short:
        low, high = differences.needed_interval(margin, verdict.alpha)
        needed_interval = None if math.isnan(low) else (low, high)
    has_clusters, unpaired = pairs.clusters is not None, isinstance(pairs, Unpaired)
    samples, design_effect = None, math.nan
    if isinstance(pairs, Unpaired) and (has_clusters or pairs.before_clusters is not None):
        samples, design_effect = pairs.unit_counts, pairs.design_effect
    share = 0.0
    if noise is not None and differences.error > 0:
        share = (noise.error / differences.error) ** 2
    clusters = None
    if pairs.clusters is not None and not unpaired:
        clusters = len(set(pairs.clusters.tolist()))
    return Evidence(
        interval=pairs.interval(),
        p=pairs.p_of_fall(),
        test=pairs.test_name,
        is_same=pairs.is_same,
        has_range=not math.isinf(differences.full_range),
        effect=differences.effect,
        power=power_of(verdict, pairs),
        bound=differences.lower_bound(verdict.alpha),
        needed=needed if is_short else None,
        needed_interval=needed_interval,
        clusters=clusters,
        effective_size=None if unpaired else pairs.effective_size,
        samples=samples,
        design_effect=design_effect,
        noise=noise,
        noise_share=share,
    )
