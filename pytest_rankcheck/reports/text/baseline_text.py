"""What became of baselines: in this test session, and on this branch for its reviewers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pytest_rankcheck.baselines.data_file import named_data
from pytest_rankcheck.baselines.git_commands import IgnoredFile, ignored_files
from pytest_rankcheck.baselines.query_losses import set_changes
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.reference_commit import Change, Reference
from pytest_rankcheck.baselines.slice_changes import SliceChange, SliceState
from pytest_rankcheck.baselines.update_actions import Action
from pytest_rankcheck.baselines.world import WorldComparison
from pytest_rankcheck.comparison.query_overlap import QueryOverlap
from pytest_rankcheck.errors import BaselineError, plural, quoted
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.baseline_findings import BaselineFinding, SlicesFinding
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.metric_findings import GateFinding
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.gate_choice_text import suggestion_notes
from pytest_rankcheck.reports.text.gating_text import gating_notes
from pytest_rankcheck.reports.text.wording import change, number_text

__all__ = ["branch_notes", "ignored_notes", "notes_of", "slice_change_text", "world_lines"]


def notes_of(findings: Iterable[ReportedFinding]) -> Iterator[Note]:
    """Yield the notes among findings, and in words what became of baselines."""
    findings = list(findings)
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
        else:
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


def ignored_notes(findings: Iterable[ReportedFinding], folder: Path) -> Iterator[Note]:
    """Yield the rules by which git ignores baselines that were written.

    Args:
        findings: of all tests.
        folder: where the test session was started.
    """
    written = [
        name
        for finding in findings
        if isinstance(finding, BaselineFinding) and finding.action.writes
        for name in (finding.file, *_data_name(finding.file, folder))
    ]
    files_by_rule: dict[str, list[IgnoredFile]] = {}
    for file in ignored_files(folder, dict.fromkeys(written)) if written else ():
        rule = f"{quoted(file.source)}:{file.line}: {quoted(file.pattern)}"
        files_by_rule.setdefault(rule, []).append(file)
    for rule, files in files_by_rule.items():
        example = quoted(files[0].path, 200)
        others = f" and {plural(len(files) - 1, 'other')}" if len(files) > 1 else ""
        yield Note(
            Topic.IGNORED,
            f"{example}{others}: ignored by {rule}; change that rule, or add the files with "
            "git add --force",
        )


def _data_name(file: str, folder: Path) -> Sequence[str]:
    """Return the name of the data file of a baseline; empty if it has none."""
    with suppress(ValueError):
        data = named_data(folder / file)
        return [] if data is None else [str(Path(file).with_name(data.name))]
    return []


def branch_notes(reference: Reference, folder: Path) -> Iterator[Note]:
    """Yield the baselines under a folder that differ from the reference commit."""
    about = quoted(reference.name)
    is_empty = True
    for file_change in reference.changes(folder):
        is_empty = False
        path = quoted(os.path.relpath(file_change.path, folder), 200)
        yield Note(Topic.BRANCH, f"{path}: {_change_text(file_change)}", about)
    if is_empty:
        yield Note(Topic.BRANCH, "none", about)


def _change_text(change: Change) -> str:
    try:
        before, after = _read(change.before, change), _read(change.after, change)
    except BaselineError as error:
        return f"changed, but cannot be read: {quoted(error, 300)}"
    if after is None:
        return f"removed ({_means(before)})"
    if before is None:
        return f"added: {_means(after)}"
    old_count = len(before.approvals)
    are_kept = after.approvals[:old_count] == before.approvals
    reasons = [
        f'approved "{quoted(approval.reason)}"'
        for approval in after.approvals[old_count if are_kept else 0 :]
    ]
    parts = [_moved(before, after), *reasons]
    if not are_kept:
        parts.append("the earlier approvals differ from those of that commit")
    return "; ".join(parts)


def _read(text: str | None, change: Change) -> Record | None:
    return None if text is None else Record.from_text(text, change.path.name, change.data)


def _means(record: Record | None) -> str:
    if record is None:
        return ""
    return "; ".join(
        f"{name} {number_text(record.mean(Metric.parse(name)))}" for name in record.gated
    )


def _moved(before: Record, after: Record) -> str:
    """Return the means before and now, and what the change of the golden set did to them."""
    parts, moves = [], set_changes(before, QueryOverlap(after, before))
    for name in dict.fromkeys((*before.gated, *after.gated)):
        means = [
            number_text(record.mean(Metric.parse(name))) if name in record.metrics else "-"
            for record in (before, after)
        ]
        gated = "" if name in after.gated else " (no longer gated)"
        by_set = f" ({change(moves[name])} by the golden set)" if name in moves else ""
        parts.append(f"{name} {means[0]} -> {means[1]}{by_set}{gated}")
    return "; ".join(parts)
