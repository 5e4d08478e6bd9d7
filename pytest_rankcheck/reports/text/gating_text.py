"""What a gate does not decide, in words."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.gating_findings import (
    IndecisiveGateFinding,
    MixFinding,
    RarelyDecidingFinding,
    ReplayFinding,
    UngatedFallFinding,
    UngatedSlice,
    UngatedSlicesFinding,
)
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.gate_choice_text import gate_choice_notes
from pytest_rankcheck.reports.text.mix_text import mix_text
from pytest_rankcheck.reports.text.replay_text import replay_lines
from pytest_rankcheck.reports.text.wording import counted, gate_start, number_text

__all__ = ["gating_notes"]

_SLICES = 10
"""The number of slices in a line."""


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
    elif isinstance(finding, MixFinding):
        start = gate_start(finding.test, finding.golden_set, finding.metric)
        text = mix_text(finding.effect, is_decided=finding.is_decided)
        yield Note(Topic.MIX, f"{start}: {text}")
    elif isinstance(finding, ReplayFinding):
        start = gate_start(finding.test, finding.golden_set, finding.metric)
        for line in replay_lines(finding.evidence):
            yield Note(Topic.REPLAYS, f"{start}: {line}")
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
