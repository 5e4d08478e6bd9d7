"""Whether a gate fits its golden set: too few queries for it, or a better gate for as many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.gates.suggested_gate import suggested_gate
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.gating_findings import (
    GatedSizeFinding,
    MostlyInconclusiveFinding,
    SliceOdds,
    UnshownFallFinding,
)
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.wording import change, gate_start, number_text

__all__ = ["gate_choice_notes", "odds_text", "suggestion_notes"]

_SLICES = 10


def gate_choice_notes(finding: ReportedFinding) -> Iterator[Note]:
    """Yield a finding of this page in words; nothing for other findings."""
    if isinstance(finding, MostlyInconclusiveFinding):
        start = gate_start(finding.test, finding.golden_set, finding.metric)
        text = odds_text(finding.gate, finding.share, finding.slices)
        yield Note(Topic.MOSTLY_INCONCLUSIVE, f"{start}: {text}")
    elif isinstance(finding, UnshownFallFinding):
        start = gate_start(finding.test, finding.golden_set, finding.metric)
        units = plural(finding.queries, "query", "queries")
        limit = "; how small a fall would be shown is unknown"
        if finding.detectable is not None:
            limit = (
                f"; with {units}, power is 80% for a fall of {finding.detectable:.4f}, so a "
                "smaller loss is not ruled out"
            )
        yield Note(
            Topic.UNSHOWN_FALL,
            f"{start}: {number_text(finding.before)} -> {number_text(finding.now)}, "
            f"{change(finding.now - finding.before)}, p = {finding.p:.4f} under "
            f"{finding.gate}{limit}",
        )


def odds_text(gate: str, share: float, slices: Sequence[SliceOdds]) -> str:
    """Return how often a gate is inconclusive, in which slices, and what to do."""
    names = ", ".join(
        f"{quoted(each.label, 60)} ({plural(each.queries, 'query', 'queries')}, {each.share:.0%})"
        for each in slices[:_SLICES]
    )
    more = f" and {len(slices) - _SLICES:,} more" if len(slices) > _SLICES else ""
    return (
        f"{gate} would be inconclusive for about {share:.0%} of the changes that lose nothing, "
        f"because slices are too small for the margin: {names}{more}; use a larger margin, merge "
        "slices, leave small ones out with min_queries=, or gate slices by a tolerance"
    )


def suggestion_notes(findings: Sequence[ReportedFinding]) -> Iterator[Note]:
    """Yield, once for each golden set that only tolerances gate, a gate that knows the noise."""
    sizes: dict[str, list[GatedSizeFinding]] = {}
    for finding in findings:
        if isinstance(finding, GatedSizeFinding):
            sizes.setdefault(finding.golden_set, []).append(finding)
    for name, group in sizes.items():
        if not all(finding.gate.startswith("tolerance(") for finding in group):
            continue
        queries = max(finding.queries for finding in group)
        suggested = suggested_gate(queries)
        shown = quoted(name, 60)
        yield Note(
            Topic.SUGGESTED_GATE,
            f"golden set '{shown}' ({plural(queries, 'query', 'queries')}) is gated by a "
            f'tolerance; try rankcheck_gate = "{shown}: {suggested.gate}": {suggested.reason}',
        )
