"""What a branch changes of its baselines against a reference commit, in words.

Also the baselines that a commit would leave out, because git ignores them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from pytest_rankcheck.baselines.change import Approval
from pytest_rankcheck.baselines.golden_changes import lost_text, set_changes
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.reference_commit import ChangedFile, Reference
from pytest_rankcheck.baselines.succession import new_approvals
from pytest_rankcheck.comparison.measurement import QueryOverlap
from pytest_rankcheck.errors import BaselineError, listed, quoted
from pytest_rankcheck.files.git_commands import ignored_files
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.remedies import add_ignored
from pytest_rankcheck.reports.findings import Note, ReportedFinding, Topic, WrittenFinding
from pytest_rankcheck.reports.text.wording import change, number_text


def written_notes(findings: Iterable[ReportedFinding], folder: Path) -> Iterator[Note]:
    """Yield the baselines that were written but are ignored by git.

    Args:
        findings: of all tests.
        folder: where the test session was started.
    """
    written = dict.fromkeys(each.file for each in findings if isinstance(each, WrittenFinding))
    files = ignored_files(folder, written) if written else []
    if files:
        yield Note(
            Topic.IGNORED, f"{listed([quoted(each, 200) for each in files])}; {add_ignored(files)}"
        )


def branch_notes(
    reference: Reference, folder: Path, sealed: Collection[str] = ()
) -> Iterator[Note]:
    """Yield the baselines that differ from the reference commit.

    Args:
        reference: the commit.
        folder: the folder that file names are relative to.
        sealed: the golden sets whose queries are not named.
    """
    about, notes = quoted(reference.name), []
    for changed in reference.changes():
        file = quoted(os.path.relpath(changed.path, folder), 200)
        for topic, text in _change_texts(changed, sealed):
            notes.append(Note(topic, f"{file}: {text}", about))
    yield from notes or [Note(Topic.BRANCH, "none", about)]


def _change_texts(changed: ChangedFile, sealed: Collection[str]) -> Iterator[tuple[Topic, str]]:
    """Yield how a branch changes a record, and which of its queries it removes or edits."""
    records = []
    for text, side in ((changed.before, "there"), (changed.after, "here")):
        try:
            records.append(None if text is None else Record.from_text(text, changed.path.name))
        except BaselineError as error:
            why = str(error).partition("\n")[0]
            yield Topic.BRANCH, f"changed, but cannot be read {side}: {quoted(why, 300)}"
            return
    before, after = records
    if before and after:
        added = new_approvals(before, after)
        earlier = "the earlier approvals differ from those of that commit"
        reasons = [earlier] if added is None else map(_reason, added)
        yield Topic.BRANCH, "; ".join((_moved(before, after), *reasons))
        lost = lost_text(before, QueryOverlap(after, before))
        if lost and before.golden_set.name not in sealed:
            yield Topic.LOST_QUERIES, lost
    elif before:
        yield Topic.BRANCH, f"removed ({_means(before)})"
    elif after:
        yield Topic.BRANCH, f"added: {_means(after)}"


def _reason(approval: Approval) -> str:
    """Return the reason of an approval with what it allows, falls first."""
    keys = sorted(approval.keys, key=lambda key: key.kind != "fall")
    allowed = ", ".join(quoted(key.text, 200) for key in keys)
    return f'approved "{quoted(approval.reason)}"{f" ({allowed})" if keys else ""}'


def _means(record: Record) -> str:
    means = [f"{name} {number_text(record.mean(Metric.parse(name)))}" for name in record.gated]
    return "; ".join((*means, *([_limits(record)] if record.limits else [])))


def _limits(record: Record) -> str:
    """Return the limits of a record on changes to its rankings."""
    texts = " and by ".join(map(str, record.limits))
    return f"rankings limited by {texts}" if texts else "rankings not compared"


def _moved(before: Record, after: Record) -> str:
    """Return the means before and now, and how the change of the golden set moved them."""
    parts, moves = [], set_changes(before, QueryOverlap(after, before))
    for name in dict.fromkeys((*before.gated, *after.gated)):
        means = [
            number_text(record.mean(Metric.parse(name))) if name in record.metrics else "-"
            for record in (before, after)
        ]
        gated = "" if name in after.gated else " (no longer gated)"
        by_set = f" ({change(moves[name])} by the golden set)" if name in moves else ""
        if means[0] != means[1] or by_set or gated:
            parts.append(f"{name} {means[0]} -> {means[1]}{by_set}{gated}")
    if before.limits != after.limits:
        parts.append(f"{_limits(before)} -> {_limits(after)}")
    return "; ".join(parts) or "values unchanged"
