"""What a branch does to baselines, for those who review it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_reader import record_from_text
from pytest_rankcheck.baselines.reference_commit import Change, Reference
from pytest_rankcheck.errors import BaselineError, quoted
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.ledger import Entry
from pytest_rankcheck.reports.text.wording import number

__all__ = ["CHANGES", "branch_entries"]

CHANGES = "baselines that this branch changes"
"""How the heading of the notes begins."""


def branch_entries(reference: Reference, folder: Path) -> Iterator[Entry]:
    """Yield the baselines under a folder that are not as they are at the reference commit."""
    heading = f"{CHANGES}, against {quoted(reference.name)}"
    none = True
    for change in reference.changes(folder):
        none = False
        path = quoted(os.path.relpath(change.path, folder), 200)
        yield Entry(heading=heading, note=f"{path}: {_told(change)}")
    if none:
        yield Entry(heading=heading, note="none")


def _told(change: Change) -> str:
    try:
        before, after = _read(change.before, change.path), _read(change.after, change.path)
    except BaselineError as error:
        return f"changed, and cannot be read: {quoted(error, 300)}"
    if after is None:
        return f"removed ({_means(before)})"
    if before is None:
        return f"added: {_means(after)}"
    known = len(before.approvals)
    kept = after.approvals[:known] == before.approvals
    reasons = [
        f'approved "{quoted(one.reason)}"' for one in after.approvals[known if kept else 0 :]
    ]
    told = [_moved(before, after), *reasons]
    if not kept:
        told.append("earlier approvals are not those of that commit any more")
    return "; ".join(told)


def _read(text: str | None, path: Path) -> Record | None:
    return None if text is None else record_from_text(text, path.name)


def _means(record: Record | None) -> str:
    if record is None:
        return ""
    return "; ".join(f"{name} {number(record.mean(Metric.parse(name)))}" for name in record.gated)


def _moved(before: Record, after: Record) -> str:
    """Return the means of the gated metrics, then and now."""
    told = []
    for name in dict.fromkeys((*before.gated, *after.gated)):
        means = [
            number(record.mean(Metric.parse(name))) if name in record.metrics else "-"
            for record in (before, after)
        ]
        gated = "" if name in after.gated else " (not gated any more)"
        told.append(f"{name} {means[0]} -> {means[1]}{gated}")
    return "; ".join(told)
