"""What git says of baselines, in words: those that it ignores, and those that a branch changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pytest_rankcheck.baselines.data_file import named_data
from pytest_rankcheck.baselines.query_losses import set_changes
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.reference_commit import Change, Reference
from pytest_rankcheck.comparison.query_overlap import QueryOverlap
from pytest_rankcheck.errors import BaselineError, plural, quoted
from pytest_rankcheck.files.git_commands import IgnoredFile, ignored_files, untracked_files
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.baseline_findings import BaselineFinding
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.wording import change, number_text

__all__ = ["branch_notes", "written_notes"]


def written_notes(findings: Iterable[ReportedFinding], folder: Path) -> Iterator[Note]:
    """Yield the rules by which git ignores baselines that were written, and data files to add.

    Args:
        findings: of all tests.
        folder: where the test session was started.
    """
    written = dict.fromkeys(
        finding.file
        for finding in findings
        if isinstance(finding, BaselineFinding) and finding.action.writes
    )
    data = {name: file for file in written for name in _data_name(file, folder)}
    if written:
        yield from _ignored_notes(ignored_files(folder, [*written, *data]))
    for name in untracked_files(folder, data) if data else ():
        header = Path(data.get(name, name))
        both = quoted(header.with_suffix(""), 200)
        yield Note(
            Topic.NEW_LINES,
            f'{quoted(name, 200)}: add it with its header: git add --all "{both}.*"',
        )


def _ignored_notes(ignored: Iterable[IgnoredFile]) -> Iterator[Note]:
    files_by_rule: dict[str, list[IgnoredFile]] = {}
    for file in ignored:
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
    means = [f"{name} {number_text(record.mean(Metric.parse(name)))}" for name in record.gated]
    return "; ".join((*means, *([_limits(record)] if record.stability else [])))


def _limits(record: Record) -> str:
    """Return the limits of a record on changes to its rankings."""
    texts = " and by ".join(map(str, record.stability))
    return f"rankings limited by {texts}" if texts else "rankings not compared"


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
    if before.stability != after.stability:
        parts.append(f"{_limits(before)} -> {_limits(after)}")
    return "; ".join(parts)
