"""The history of records: what was approved at each commit of the current branch, read from git.

Only first parents are followed, so that a merged branch is one step. It works without a working
tree, and holds two records of each file at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pytest_rankcheck.baselines.baseline_file import readable_record
from pytest_rankcheck.baselines.baseline_path import FOLDER, is_baseline_path
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_file import is_foreign, with_line_feeds
from pytest_rankcheck.baselines.succession import manner_changes, other_basis
from pytest_rankcheck.comparison.measurement import QueryOverlap
from pytest_rankcheck.files.git_commands import git, git_blobs
from pytest_rankcheck.metrics.metric_names import Metric

_LOG = (
    *("--glob-pathspecs", "-c", "log.diffMerges=separate", "-c", "log.follow=false"),
    *("-c", "diff.relative=false", "log"),
    *("--first-parent", "-m", "--reverse", "--raw", "--no-abbrev", "--no-renames", "-z"),
    *("--root", "--no-show-signature", "--encoding=UTF-8"),
)
"""What of git's output does not depend on the configuration of a user."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that changed records."""

    id: str
    date: str
    """When it was made, in ISO 8601."""
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The content of a record from a commit on."""

    commit: Commit
    means: Mapping[str, float]
    """The mean of each gated metric."""
    moves: Mapping[str, float] = field(default_factory=dict)
    """How far each mean moved since the previous point, on the unchanged queries.

    Means that cannot be compared are left out.
    """
    gap: str = ""
    """What changed in the measurement, so that means are not comparable with earlier ones.
    """
    reasons: tuple[str, ...] = ()
    """The reasons of the approvals that the commit added."""
    query: QueryPoint | None = None
    """What it said about the requested query."""

    def gain(self, metric: str) -> float:
        """Return how far a mean improved since the previous point; 0 if unknown."""
        move = self.moves.get(metric, 0.0)
        return 0.0 if math.isnan(move) else Metric.parse(metric).gain(0.0, move)


class QueryPoint(NamedTuple):
    """What a record says about one query."""

    values: Mapping[str, float]
    top: tuple[str, ...]


@dataclass(slots=True)
class RecordHistory:
    """The points of one record, oldest first; it continues under its new name after a rename."""

    path: str
    """Its last path, relative to the top of the repository."""
    metric: str | None = None
    """The only metric that is followed; None: all that are gated."""
    query: str | None = None
    """The id of a query that is followed too."""
    points: list[Point] = field(default_factory=list)
    skipped: int = 0
    """How many versions could not be read, such as those in another format version."""
    is_gone: bool = False
    last: Record | None = None
    """The last version that could be read."""

    @property
    def metrics(self) -> Sequence[str]:
        """The metrics of all points, those of the last point first."""
        return list(dict.fromkeys(name for point in reversed(self.points) for name in point.means))

    def since(self, date: float) -> RecordHistory:
        """Return the points after a time in seconds, preceded by the one where they start."""
        later = [datetime.fromisoformat(p.commit.date).timestamp() >= date for p in self.points]
        first = later.index(True) if True in later else len(later)
        return replace(self, points=self.points[max(first - 1, 0) :])


def histories(
    folder: Path, metric: str | None = None, query: str | None = None
) -> Sequence[RecordHistory]:
    """Return the histories of all records of the current branch, sorted by path.

    Args:
        folder: a folder in the repository, even in one without a working tree.
        metric: the only metric to follow.
        query: the id of a query to follow.

    Raises:
        GitError: git cannot be run, there is no repository, or it has no commit.
    """
    commits = [*_commits(folder)]
    ids = [blob for _, files in commits for blob in files.values() if not _is_gone(blob)]
    texts = git_blobs(folder, ids)
    current: dict[str, RecordHistory] = {}
    gone: dict[str, RecordHistory] = {}
    for commit, files in commits:
        left = [current.pop(path) for path in files if _is_gone(files[path]) and path in current]
        for path in (path for path, blob in files.items() if not _is_gone(blob)):
            text = with_line_feeds(next(texts))
            if is_foreign(text):
                continue
            record = readable_record(text)
            if path not in current:
                before = _replaced(left, path, record) or gone.pop(path, None)
                current[path] = before or RecordHistory(path, metric, query)
                current[path].path = path
            if record is None:
                current[path].skipped += 1
            else:
                _extend(current[path], commit, record)
        gone |= {each.path: each for each in left}
    for history in gone.values():
        history.is_gone = True
    return [those[path] for those in (current, gone) for path in sorted(those)]


def _is_gone(blob: str) -> bool:
    return not blob.strip("0")


def _commits(folder: Path) -> Iterator[tuple[Commit, Mapping[str, str]]]:
    """Yield the commits that changed records, oldest first, with the blob of each file."""
    pattern, form = f":(top)**/{FOLDER}/*/*.json", "--format=%H%x00%cI%x00%aN"
    output = git(folder, *_LOG, form, "--", pattern)
    # A zero byte is the only separator that no name of an author or a file has.
    cells = iter(output.removesuffix("\0").split("\0") if output else ())
    start = next(cells, "")
    while start:
        commit, files = Commit(start, next(cells), next(cells)), dict[str, str]()
        while (start := next(cells, "")).lstrip().startswith(":"):
            path = next(cells)
            if is_baseline_path(Path("/", path)):
                files[path] = start.split()[3]
        yield commit, files


def _replaced(left: list[RecordHistory], path: str, record: Record | None) -> RecordHistory | None:
    """Take the removed record of the same golden set, if a commit removed one and added another."""
    new = PurePosixPath(path)
    alike: dict[tuple[bool, bool, bool], RecordHistory] = {}
    for each in left:
        if record is not None and each.last is not None and _is_same_set(each.last, record):
            old, is_same = PurePosixPath(each.path), each.last.queries == record.queries
            alike[old.name == new.name, is_same, old.parent == new.parent] = each
    if not alike:
        return None
    most_alike = alike[max(alike)]
    left.remove(most_alike)
    return most_alike


def _is_same_set(before: Record, after: Record) -> bool:
    then, now = before.golden_set, after.golden_set
    return then.name == now.name or then.fingerprint == now.fingerprint


def _extend(history: RecordHistory, commit: Commit, record: Record) -> None:
    """Add a version of a record to its history."""
    before, query = history.last, history.query
    gated = [name for name in record.gated if history.metric in (None, name)]
    point = Point(
        commit=commit,
        means={name: record.mean(Metric.parse(name)) for name in gated},
        reasons=tuple(
            each.reason
            for each in record.approvals
            if before is None or each not in before.approvals
        ),
    )
    if query is not None and query in record.queries.place_of:
        place = record.queries.place_of[query]
        values = {name: float(record.queries.values[name][place]) for name in gated}
        point = replace(point, query=QueryPoint(values, tuple(record.queries.tops[place])))
    if before is not None:
        point = replace(point, gap=_gap(before, record), moves=_moves(before, record, gated))
    history.points.append(point)
    history.last = record


def _gap(before: Record, after: Record) -> str:
    """Return why the means of two records are not comparable; empty if they are."""
    changed = [change.text for change in manner_changes(before, after)]
    if before.golden_set.fingerprint != after.golden_set.fingerprint:
        overlap = QueryOverlap(after, before)
        added, removed, edited = map(len, (overlap.added, overlap.removed, overlap.changed))
        changed.append(f"golden set: {added:,} added, {removed:,} removed, {edited:,} edited")
    return "; ".join(changed)


def _moves(before: Record, after: Record, gated: Sequence[str]) -> Mapping[str, float]:
    """Return how far gated means moved on the unchanged queries, if that is known."""
    overlap = QueryOverlap(after, before)
    if any(manner_changes(before, after)) or not overlap.query_ids:
        return {}
    places = (overlap.other_places, overlap.places) if overlap.is_paired else (None, None)
    moves = {}
    for name in gated:
        metric = Metric.parse(name)
        if before.fits(metric) and not [
            *other_basis([metric], before.golden_set, after.golden_set)
        ]:
            then, now = before.mean(metric, places[0]), after.mean(metric, places[1])
            moves[name] = now - then
    return moves
