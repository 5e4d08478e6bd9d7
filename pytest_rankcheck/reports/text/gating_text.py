"""What a gate does not decide, from verdicts to findings, and from findings to notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_rankcheck.comparison.ordered_bets import FEWEST
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.gates.verdict import Decision, Outcome, TooFewChanges, Verdict
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.gating_findings import (
    IndecisiveGateFinding,
    RarelyDecidingFinding,
    UngatedFallFinding,
    UngatedSlice,
    UngatedSlicesFinding,
)
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.gate_choice_text import (
    gate_choice_findings,
    gate_choice_notes,
)
from pytest_rankcheck.reports.text.wording import counted, gate_start, number_text

__all__ = ["gating_findings", "gating_notes"]

_SLICES = 10
"""The number of slices in a line."""


# --- from verdicts to findings ---------------------------------------------------------------


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
        yield from gate_choice_findings(golden_name, verdict)
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
    overall = verdict.overall
    is_open = overall.outcome is Outcome.INCONCLUSIVE or (
        verdict.margin is None and overall.outcome is not Outcome.REGRESSED
    )
    is_small = verdict.guaranteed_range is not None and overall.pairs.units < FEWEST
    if is_small and is_open and overall.futility is None:
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


# --- from findings to notes ------------------------------------------------------------------


def gating_notes(finding: ReportedFinding) -> Iterator[Note]:
    """Yield a finding of this page in words; nothing for other findings."""
    if isinstance(finding, UngatedSlicesFinding):
        yield from _slices_notes(finding)
    elif isinstance(finding, UngatedFallFinding):
        unit = "sessions" if finding.unit == "session" else "queries"
        yield Note(
            Topic.UNGATED_FALL,
            f"{gate_start(finding.test, finding.golden_set, finding.metric)} in "
            f"{quoted(finding.label)} ({finding.queries:,} {unit}): {number_text(finding.before)} "
            f"-> {number_text(finding.now)}, p = {finding.p:.4f} (paired sign-flip test, Holm)",
        )
    elif isinstance(finding, IndecisiveGateFinding):
        start = gate_start(finding.test, finding.golden_set, finding.metric)
        yield Note(
            Topic.DECIDES_NOTHING, f"{start}: {finding.gate} decides nothing: {_why(finding)}"
        )
    elif isinstance(finding, RarelyDecidingFinding):
        start = gate_start(finding.test, finding.golden_set, finding.metric)
        yield Note(
            Topic.RARELY_DECIDES,
            f"{start}: {finding.gate} rarely decides with fewer than {finding.fewest} "
            f"({finding.units} here)",
        )
    else:
        yield from gate_choice_notes(finding)


def _slices_notes(finding: UngatedSlicesFinding) -> Iterator[Note]:
    """Yield the slices with their sizes, a few in each line."""
    start = gate_start(finding.test, finding.golden_set, ", ".join(finding.metrics))
    gated = finding.slices - len(finding.not_gated)
    topic = Topic.UNGATED_SLICES if gated else Topic.NO_SLICE_GATED
    begin = f"{gated:,} of {plural(finding.slices, 'slice')} gated; not gated"
    for first in range(0, len(finding.not_gated), _SLICES):
        slices = finding.not_gated[first : first + _SLICES]
        names = ", ".join(_slice(part, finding.unit) for part in slices)
        is_small = any(part.changed is None for part in slices)
        limit = f"; min_queries={finding.min_queries}" if is_small else ""
        yield Note(topic, f"{start}: {begin}: {names}{limit}")
        begin = "also not gated"


def _slice(part: UngatedSlice, unit: str) -> str:
    units = counted(part.queries, "session" if unit == "session" else "query")
    if part.changed is None:
        return f"{quoted(part.label, 60)} ({units})"
    return f"{quoted(part.label, 60)} ({units}, {part.changed:,} changed: too few for a verdict)"


def _why(finding: IndecisiveGateFinding) -> str:
    if finding.smallest_p is not None:
        shared = finding.smallest_p * finding.decisions
        family = f", or {shared:.4g} for {finding.decisions} decisions" * (finding.decisions > 1)
        return (
            f"with {finding.units} the smallest possible p is {finding.smallest_p:.4g}{family}, "
            f"above alpha {finding.alpha:g}"
        )
    if not finding.room:
        return "the baseline already has the worst possible value"
    return (
        f"it allows a fall of {number_text(finding.allowed)}, but the baseline is only "
        f"{number_text(finding.room)} from the worst possible value"
    )
