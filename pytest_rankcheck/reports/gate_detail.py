"""What reports show of a gate, made from its verdict or its bound."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.slide_guard import GuardedSlide
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.unjudged_documents import unjudged_between
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.verdict import Decision, Verdict
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.measurement_detail import rounded
from pytest_rankcheck.reports.metric_findings import (
    DecisionDetail,
    GapDetail,
    GateDetail,
    SlideDetail,
    UnjudgedDetail,
)
from pytest_rankcheck.reports.text.bound_text import Bound, Bounded
from pytest_rankcheck.statistics.mean_differences import Differences

__all__ = ["bound_detail", "new_detail", "verdict_detail"]


def verdict_detail(
    verdict: Verdict,
    comparison: Comparison,
    *,
    approvals: Sequence[Approval] = (),
    suspicions: Sequence[str] = (),
    slide: GuardedSlide | None = None,
) -> GateDetail:
    """Return what a report shows of a verdict.

    Args:
        verdict: what the gate decided.
        comparison: what it decided from.
        approvals: why the baseline was allowed to fall, so far.
        suspicions: what makes an improvement look like a leak.
        slide: what the guard against the slide says.
    """
    return GateDetail(
        higher_is_better=verdict.metric.higher_is_better,
        gate=verdict.gate,
        outcome=str(verdict.outcome),
        overall=_decision(verdict.overall, verdict),
        slices=tuple(_decision(decision, verdict) for decision in verdict.slices),
        margin=verdict.margin,
        noise=rounded(verdict.overall.pairs.noise),
        gaps=tuple(
            GapDetail(
                gap.lowest.label,
                gap.highest.label,
                rounded(gap.before),
                rounded(gap.now),
                gap in verdict.wide_gaps,
            )
            for gap in verdict.gaps
        ),
        query_drops=tuple(drop.query_id for drop in verdict.query_drops),
        ties=verdict.ties,
        unjudged=_unjudged(verdict, comparison),
        fragility=verdict.fragility,
        other_rulings=verdict.other_rulings,
        mixes=verdict.mixes,
        groups=verdict.groups,
        replay=verdict.replay,
        suspicions=tuple(suspicions),
        slide=_slide(slide),
        approvals=tuple(approvals),
    )


def _slide(guarded: GuardedSlide | None) -> SlideDetail | None:
    if guarded is None or guarded.slide is None:
        return None
    slide = guarded.slide
    return SlideDetail(
        distance=rounded(slide.distance),
        approved=rounded(slide.approved),
        budget=rounded(slide.budget) if math.isfinite(slide.budget) else None,
        steps=slide.steps,
        level=slide.level,
        exceeds=slide.exceeds,
        since=guarded.since.commit if guarded.since else None,
    )


def bound_detail(metric: Metric, bound: Bound, parts: Sequence[Bounded]) -> GateDetail:
    """Return what a report shows of a metric with a fixed bound: all queries first, then slices."""
    return GateDetail(
        higher_is_better=metric.higher_is_better,
        gate=bound.words,
        limit=bound.limit,
        outcome="passed" if all(part.holds or not part.gated for part in parts) else "failed",
        overall=_bounded(parts[0]),
        slices=tuple(_bounded(part) for part in parts[1:]),
    )


def new_detail(metric: Metric, evaluation: Evaluation) -> GateDetail:
    """Return what a report shows of a metric that cannot be compared with a baseline."""
    mean = rounded(evaluation.mean(metric))
    return GateDetail(
        higher_is_better=metric.higher_is_better,
        gate="",
        outcome="",
        overall=DecisionDetail(label="", queries=len(evaluation.query_ids), now=mean),
    )


def _decision(decision: Decision, verdict: Verdict) -> DecisionDetail:
    pairs = decision.pairs
    differences = pairs.differences
    return DecisionDetail(
        label=decision.label,
        queries=len(pairs.query_ids),
        paired=pairs.is_paired,
        before=rounded(pairs.mean_before),
        now=rounded(pairs.mean_after),
        difference=rounded(pairs.difference),
        interval=_interval(pairs, differences),
        guaranteed=rounded(verdict.guaranteed_bound(pairs)),
        p=rounded(decision.p),
        effect=rounded(differences.effect),
        detectable=rounded(differences.smallest_detectable(verdict.alpha)),
        wins=pairs.wins,
        ties=pairs.ties,
        losses=pairs.losses,
        allowed=rounded(decision.allowed),
        outcome=str(decision.outcome),
    )


def _interval(pairs: ComparedValues, differences: Differences) -> tuple[float, float] | None:
    """Return the 95% interval of the difference, after minus before; None without an interval."""
    if not pairs.metric.definition.is_mean_of_values:
        return None
    low, high = differences.interval()
    if math.isnan(low):
        return None
    return (low, high) if pairs.metric.higher_is_better else (-high, -low)


def _bounded(part: Bounded) -> DecisionDetail:
    return DecisionDetail(
        label=part.label,
        queries=len(part.places),
        now=rounded(part.mean),
        tested=rounded(part.tested),
        outcome="not gated" if not part.gated else "passed" if part.holds else "failed",
    )


def _unjudged(verdict: Verdict, comparison: Comparison) -> UnjudgedDetail:
    unjudged = unjudged_between(comparison.evaluation, comparison.other, verdict.overall.pairs)
    foreign = bool(verdict.metric.definition.ir_measures)
    return UnjudgedDetail(
        k=unjudged.k,
        documents=unjudged.documents,
        left=unjudged.left,
        judged_before=unjudged.judged_before,
        judged_now=unjudged.judged_after,
        if_irrelevant=None if foreign else rounded(unjudged.if_irrelevant),
        if_relevant=None if foreign else rounded(unjudged.if_relevant),
        if_left_relevant=None if foreign else rounded(unjudged.if_left_relevant),
        relevant_share=rounded(unjudged.relevant_share),
        needed=unjudged.needed,
        could_explain_fall=unjudged.could_explain_fall,
    )
