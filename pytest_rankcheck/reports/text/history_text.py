"""The history of records as text: a line for each metric, or the history of one query."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from pytest_rankcheck.baselines.history import Point, RecordHistory
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.text.wording import change, number_text

NightlyMeans = Mapping[tuple[str, str], Sequence[tuple[str, float]]]
"""What ran, approved or not: by record and metric, the dates of test sessions and their means."""
_BARS = "▁▂▃▄▅▆▇█"
_GAP = "┊"
_LONGEST_LINE = 40
"""How many points a sparkline has."""
_MOST_MOVES = 3
_ID = 9
"""The number of digits shown of a commit."""


def history_lines(history: RecordHistory, nightly: NightlyMeans) -> Iterator[str]:
    """Yield the history of a record: for each metric a line, and its largest falls and rises.

    Args:
        history: the history of the record.
        nightly: what reports of test sessions say.
    """
    yield heading(history)
    for metric in history.metrics:
        shown = [point for point in history.points if metric in point.means]
        best = max(shown, key=lambda point: Metric.parse(metric).gain(0.0, point.means[metric]))
        first, now = shown[0], shown[-1]
        yield (
            f"  {metric}  {sparkline(metric, shown)}  first {number_text(first.means[metric])}, "
            f"best {number_text(best.means[metric])} ({best.commit.id[:_ID]}), "
            f"{'last' if history.is_gone else 'now'} {number_text(now.means[metric])}"
        )
        for sign in (-1, 1):
            moved = [point for point in shown[1:] if sign * point.gain(metric) > 0]
            moved.sort(key=lambda point: -abs(point.moves[metric]))
            yield from (_move(metric, point) for point in moved[:_MOST_MOVES])
    for point in history.points[1:]:
        if point.gap:
            yield f"  {_GAP} {_commit(point)}  {quoted(point.gap, 200)}"
    for metric in history.metrics:
        ran = [mean for _, mean in nightly.get((history.path, metric), ())]
        if ran:
            means = f"{number_text(min(ran))} to {number_text(max(ran))}"
            reports = plural(len(ran), "report")
            yield f"    {metric} in {reports}: {means}, last {number_text(ran[-1])}"


def query_lines(history: RecordHistory) -> Iterator[str]:
    """Yield the query's line of a record at each commit that changed it, if it has any."""
    if not any(point.query for point in history.points):
        return
    yield f"{heading(history)}, query {quoted(history.query)}"
    before = None
    for point in history.points:
        if point.query == before:
            continue
        before = point.query
        if before is None:
            yield f"  {_commit(point)}  removed"
            continue
        values = (f"{name} {number_text(value)}" for name, value in before.values.items())
        yield f"  {_commit(point)}  {', '.join(values)}{_reasons(point)}".rstrip()
        yield f"      {', '.join(map(quoted, before.top)) or 'no documents are recorded'}"


def heading(history: RecordHistory) -> str:
    """Return the name of a record, and how many of its versions there are."""
    versions = plural(len(history.points), "version")
    skipped = f", {history.skipped:,} not readable" if history.skipped else ""
    gone = " (gone)" if history.is_gone else ""
    return f"{quoted(history.path, 300)}{gone}: {versions}{skipped}"


def sparkline(metric: str, points: Sequence[Point]) -> str:
    """Return the last means as bars, from the lowest to the highest, with a mark at each break."""
    shown = points[-_LONGEST_LINE:]
    known = [point.means[metric] for point in shown if not math.isnan(point.means[metric])]
    low, high = min(known, default=0.0), max(known, default=0.0)
    step = (high - low) / (len(_BARS) - 1) or 1.0
    text = ""
    for point in shown:
        mean = point.means[metric]
        bar = " " if math.isnan(mean) else _BARS[round((mean - low) / step)]
        text += (_GAP if point.gap and point is not points[0] else "") + bar
    return text


def _move(metric: str, point: Point) -> str:
    return f"    {change(point.moves[metric])}  {_commit(point)}{_reasons(point)}"


def _commit(point: Point) -> str:
    commit = point.commit
    return f"{commit.id[:_ID]} {commit.date[:10]} {quoted(commit.author, 60)}"


def _reasons(point: Point) -> str:
    reasons = "; ".join(f'"{quoted(reason, 120)}"' for reason in point.reasons)
    return f"  {reasons}" if reasons else ""
