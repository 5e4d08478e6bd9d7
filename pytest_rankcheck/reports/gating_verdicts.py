"""What verdicts leave undecided, and how well a gate fits its golden set, as findings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from pytest_rankcheck.errors import plural
from pytest_rankcheck.gates.verdict import Decision, Outcome, TooFewChanges, Verdict
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.gating_findings import (
    GatedSizeFinding,
    IndecisiveGateFinding,
    MixFinding,
    MostlyInconclusiveFinding,
    RarelyDecidingFinding,
    ReplayFinding,
    SliceOdds,
    UngatedFallFinding,
    UngatedSlice,
    UngatedSlicesFinding,
    UnshownFallFinding,
)
from pytest_rankcheck.reports.text.wording import counted

__all__ = ["gating_findings", "slice_odds"]


def gating_findings(golden_name: str, verdicts: Iterable[Verdict]) -> Iterator[ReportedFinding]:
    """Yield what the verdicts of an assertion leave undecided.

    Args:
        golden_name: the golden set or session log.
        verdicts: one for each metric.
    """
    same_slices: dict[tuple[object, ...], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.not_gated:
            key = (*_ungated(verdict), verdict.min_queries, verdict.metric.unit)
            same_slices.setdefault(key, []).append(verdict)
        yield from _falls(golden_name, verdict)
        yield from _indecisive(golden_name, verdict)
        yield from _rarely_deciding(golden_name, verdict)
        yield from _gate_choice(golden_name, verdict)
        for effect in verdict.mixes:
            yield MixFinding(
                golden_set=golden_name,
                metric=str(verdict.metric),
                effect=effect,
                is_decided=effect.attribute == verdict.standardised_by,
            )
        evidence = verdict.replay
        if evidence and (evidence.under or evidence.unseen_now or evidence.unseen_before):
            yield ReplayFinding(
                golden_set=golden_name, metric=str(verdict.metric), evidence=evidence
            )
    for group in same_slices.values():
        yield UngatedSlicesFinding(
            golden_set=golden_name,
            metrics=tuple(str(verdict.metric) for verdict in group),
            unit=group[0].metric.unit,
            slices=len(group[0].slices),
            not_gated=tuple(_ungated(group[0])),
            min_queries=group[0].min_queries,
        )


def _ungated(verdict: Verdict) -> Iterator[UngatedSlice]:
    for part in verdict.not_gated:
        is_small = part.pairs.size < verdict.min_queries
        yield UngatedSlice(
            part.label, part.pairs.size, None if is_small else part.pairs.changed_units
        )


def _falls(golden_name: str, verdict: Verdict) -> Iterator[UngatedFallFinding]:
    for part in verdict.ungated_falls:
        yield UngatedFallFinding(
            golden_set=golden_name,
            metric=str(verdict.metric),
            unit=verdict.metric.unit,
            label=part.label,
            queries=part.pairs.size,
            before=part.pairs.mean_before,
            now=part.pairs.mean_after,
            p=part.p,
        )


def _indecisive(golden_name: str, verdict: Verdict) -> Iterator[IndecisiveGateFinding]:
    futility = verdict.overall.futility
    if futility is None:
        return
    metric = str(verdict.metric)
    if isinstance(futility, TooFewChanges):
        yield IndecisiveGateFinding(
            golden_set=golden_name,
            metric=metric,
            gate=verdict.gate,
            units=_units(verdict.overall, futility),
            smallest_p=futility.smallest_p,
            decisions=futility.decisions,
            alpha=futility.alpha,
        )
    else:
        yield IndecisiveGateFinding(
            golden_set=golden_name,
            metric=metric,
            gate=verdict.gate,
            allowed=futility.allowed,
            room=futility.room,
        )


def _rarely_deciding(golden_name: str, verdict: Verdict) -> Iterator[RarelyDecidingFinding]:
    """Yield a gate with a bound by betting that neither passed for certain nor blocked."""
    if verdict.guaranteed_range is None:
        return
    from pytest_rankcheck.comparison.ordered_bets import FEWEST

    overall = verdict.overall
    is_open = overall.outcome is Outcome.INCONCLUSIVE or (
        verdict.margin is None and overall.outcome is not Outcome.REGRESSED
    )
    if overall.pairs.units < FEWEST and is_open and overall.futility is None:
        yield RarelyDecidingFinding(
            golden_set=golden_name,
            metric=str(verdict.metric),
            gate=verdict.gate,
            units=_counted(overall, overall.pairs.units),
            fewest=FEWEST,
        )


def _units(overall: Decision, futility: TooFewChanges) -> str:
    """Return ``3 changed queries``, or ``4 clusters`` where all of them are too few."""
    return _counted(overall, futility.units, "" if futility.are_all else "changed ")


def _counted(overall: Decision, units: int, changed: str = "") -> str:
    if overall.pairs.units == overall.pairs.size:
        return counted(units, overall.pairs.metric.unit, changed)
    return plural(units, f"{changed}cluster")


def _gate_choice(golden_name: str, verdict: Verdict) -> Iterator[ReportedFinding]:
    """Yield what a verdict shows of how well the gate fits the golden set.

    Nothing if nothing changed, or if sessions of two logs are compared.
    """
    overall = verdict.overall
    pairs = overall.pairs
    if pairs.is_same or not pairs.is_paired:
        return
    metric = str(verdict.metric)
    yield GatedSizeFinding(
        golden_set=golden_name, metric=metric, gate=verdict.gate, queries=pairs.size
    )
    if verdict.margin is not None:
        yield from _mostly_inconclusive(golden_name, verdict, verdict.margin)
    is_tested = verdict.margin is None and not math.isnan(overall.p)
    if is_tested and overall.outcome is Outcome.LOWER and overall.futility is None:
        detectable = pairs.differences.smallest_detectable(verdict.alpha)
        yield UnshownFallFinding(
            golden_set=golden_name,
            metric=metric,
            gate=verdict.gate,
            unit=verdict.metric.unit,
            queries=pairs.size,
            before=pairs.mean_before,
            now=pairs.mean_after,
            p=overall.p,
            detectable=None if math.isnan(detectable) else detectable,
        )


def _mostly_inconclusive(
    golden_name: str, verdict: Verdict, margin: float
) -> Iterator[MostlyInconclusiveFinding]:
    """Yield a gate that would be inconclusive for most changes that lose nothing."""
    from pytest_rankcheck.comparison.inconclusive_odds import MOSTLY

    odds, share = slice_odds(verdict)
    if share >= MOSTLY:
        yield MostlyInconclusiveFinding(
            golden_set=golden_name,
            metric=str(verdict.metric),
            gate=verdict.gate,
            margin=margin,
            share=share,
            slices=odds,
        )


def slice_odds(verdict: Verdict) -> tuple[tuple[SliceOdds, ...], float]:
    """Return the gated slices that are often inconclusive, and how often any of them is.

    Both are for changes that lose nothing; of several attributes, the worst counts. Nothing for a
    gate without a margin, and for ``test="guaranteed"``, whose bound is another one.
    """
    if verdict.margin is None or "test=guaranteed" in verdict.gate:
        return (), 0.0
    from pytest_rankcheck.comparison.inconclusive_odds import (
        NOTABLE,
        any_inconclusive,
        shares_inconclusive,
    )

    gated = [part for part in verdict.slices if part.outcome is not Outcome.NOT_GATED]
    odds: dict[str | None, list[SliceOdds]] = {}
    shares = shares_inconclusive([part.pairs for part in gated], verdict.margin, verdict.alpha)
    for part, share in zip(gated, shares, strict=True):
        if not math.isnan(share):
            each = SliceOdds(part.label, part.pairs.size, share)
            odds.setdefault(part.attribute, []).append(each)
    worst = max(
        (any_inconclusive(each.share for each in group) for group in odds.values()), default=0.0
    )
    named = [each for group in odds.values() for each in group if each.share >= NOTABLE]
    return tuple(sorted(named, key=lambda each: -each.share)), worst
