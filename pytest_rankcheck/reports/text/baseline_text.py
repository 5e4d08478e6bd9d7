"""What became of baselines: in this test session, and on this branch for its reviewers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.slice_changes import SliceChange, SliceState
from pytest_rankcheck.baselines.update_actions import Action
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.reports.baseline_findings import BaselineFinding, SlicesFinding
from pytest_rankcheck.reports.findings import FindingOfTest, ReportedFinding
from pytest_rankcheck.reports.metric_findings import GateFinding
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.wording import change, number_text

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.world import WorldComparison

__all__ = ["notes_of", "slice_change_text", "world_lines"]


def notes_of(findings: Iterable[ReportedFinding]) -> Iterator[Note]:
    """Yield the notes among findings, and in words what became of baselines."""
    findings = list(findings)
    if any(isinstance(finding, FindingOfTest) for finding in findings):
        from pytest_rankcheck.reports.text.gate_choice_text import suggestion_notes

        yield from suggestion_notes(findings)
    for finding in findings:
        if isinstance(finding, Note):
            yield finding
        elif isinstance(finding, BaselineFinding):
            yield from _baseline_notes(finding)
        elif isinstance(finding, SlicesFinding):
            yield from _slices_notes(finding)
        elif isinstance(finding, GateFinding) and finding.failed and finding.age is not None:
            file = quoted(finding.baseline_file, 300)
            yield Note(Topic.BASELINE_AGE, f"{file}: {finding.age.text}")
        elif isinstance(finding, FindingOfTest):
            from pytest_rankcheck.reports.text.gating_text import gating_notes

            yield from gating_notes(finding)


def _baseline_notes(finding: BaselineFinding) -> Iterator[Note]:
    action = finding.action
    about = f"{quoted(finding.test, 200)}: "
    means = "; ".join(_mean_changes(finding))
    if finding.age is not None:
        before = " before" if finding.is_written else ""
        means += f"; approved lines{before}: {finding.age.text}"
    if finding.reason is not None and action is not Action.APPROVE:
        yield Note(Topic.UNUSED_APPROVAL, about + means)
    if finding.added or finding.removed or finding.edited:
        yield Note(Topic.GOLDEN_CHANGE, about + _golden_change(finding))
    for text in finding.no_longer_gated:
        yield Note(Topic.NO_LONGER_GATED, about + text)
    for text in finding.looser_gates:
        yield Note(Topic.LOOSER_GATE, about + text)
    if action is Action.LEAVE and finding.can_be_raised:
        yield Note(Topic.CAN_BE_RAISED, about + means)
    elif action is Action.KEEP and finding.is_within_noise:
        yield Note(Topic.KEPT_WITHIN_NOISE, about + means)
    elif action is Action.KEEP:
        yield Note(Topic.KEPT, f'{about}{means}; to lower it: --rankcheck-approve "reason"')
    if finding.is_written:
        reason = f' "{quoted(finding.reason)}"' if action is Action.APPROVE else ""
        what = Action.REWRITE if action is Action.KEEP else action
        yield Note(Topic.WRITTEN, f"{about}{what}{reason}: {means}")


def _golden_change(finding: BaselineFinding) -> str:
    """Return how many queries changed, and what this alone did to each mean."""
    queries = (
        f"{finding.added:,} added, {finding.removed:,} removed, {finding.edited:,} edited queries"
    )
    moves = [
        f"{mean.metric} {change(mean.by_golden_set)}"
        for mean in finding.means
        if mean.by_golden_set is not None
    ]
    return f"{queries} alone move the mean: {', '.join(moves)}" if moves else queries


def _mean_changes(finding: BaselineFinding) -> Iterator[str]:
    for mean in finding.means:
        if mean.before is None:
            yield f"{mean.metric} new"
        else:
            yield f"{mean.metric} {number_text(mean.before)} -> {number_text(mean.now)}"
    if finding.changed_rankings is not None:
        rankings = f"{plural(finding.changed_rankings, 'ranking')} changed"
        yield rankings if finding.has_record else "rankings new"


def _slices_notes(finding: SlicesFinding) -> Iterator[Note]:
    for slice_change in finding.changes:
        text = slice_change_text(slice_change)
        yield Note(Topic.SLICES, f"{quoted(finding.test, 200)}: {text}")
    for attribute in finding.absent_attributes:
        yield Note(
            Topic.SLICES,
            f"golden set '{quoted(finding.golden_set)}' has no attribute "
            f"'{quoted(attribute)}', which rankcheck_slices names",
        )


def slice_change_text(change: SliceChange) -> str:
    """Return what became of a slice, such as ``the slice locale=de is new (40 queries)``."""
    name = quoted(f"{change.attribute}={change.value}")
    size = plural(change.queries, "query", "queries")
    if change.state is SliceState.VANISHED:
        return f"the slice {name} has vanished ({size} in the baseline)"
    return f"the slice {name} is new ({size})"


def world_lines(world: WorldComparison | None) -> Iterator[str]:
    """Yield what has changed of the declared world since the baseline; nothing without one."""
    if world is None:
        return
    if world.problem is not None:
        yield f"  world: it cannot be compared with that of the baseline: {world.problem}"
    elif not world.changes:
        yield "  world: the declared world has not changed since the baseline"
    for entry in world.changes:
        name, before, now = (quoted(text, 120) for text in (entry.name, entry.before, entry.now))
        if entry.before is None:
            yield f"  world: {name} {now} is not in the baseline"
        elif entry.now is None:
            yield f"  world: {name} {before} is in the baseline, but no longer declared"
        else:
            yield f"  world: {name} changed since the baseline: {before} -> {now}"
