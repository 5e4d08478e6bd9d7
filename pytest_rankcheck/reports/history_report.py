"""The history of records: for a terminal, as JSON, and as one HTML page with charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_rankcheck.baselines.history import Point, RecordHistory
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.html_report import page_part, page_template
from pytest_rankcheck.reports.json_report import read_report
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


_WIDTH, _HEIGHT, _MARGIN = 360.0, 120.0, 8.0
_LONGEST_TEXT = 1_000


def nightly_means(reports: Iterable[Path]) -> NightlyMeans:
    """Return the means in JSON reports of test sessions, oldest first.

    Raises:
        ConfigurationError: a file is missing, or is not a JSON report.
    """
    found: dict[tuple[str, str], set[tuple[str, float]]] = {}
    for report in map(read_report, reports):
        file_of = {(each["test"], each["golden_set"]): each["file"] for each in report["baselines"]}
        for gate in report["gates"]:
            file = file_of.get((gate["test"], gate["golden_set"]))
            if file is not None and not gate["slice"] and gate["now"] is not None:
                found.setdefault((file, gate["metric"]), set()).add(
                    (report["created"], gate["now"])
                )
    return {key: sorted(means) for key, means in found.items()}


def history_json(shown: Iterable[RecordHistory]) -> str:
    """Return the points of all records as JSON, one object for each; an unknown mean is null."""
    import pandas as pd

    points = [
        {"file": each.path, "is_gone": each.is_gone, **asdict(point)}
        | {"query": point.query and point.query._asdict()}
        for each in shown
        for point in each.points
    ]
    return f"{pd.DataFrame(points).to_json(orient='records', indent=1)}\n"


def page_of(shown: Iterable[RecordHistory], nightly: NightlyMeans) -> str:
    """Return one HTML file, with everything that it needs inside."""
    from markupsafe import Markup

    def shown_as(value: object) -> object:
        is_foreign = isinstance(value, str) and not isinstance(value, Markup)
        return quoted(value, _LONGEST_TEXT) if is_foreign else value

    return page_template("history.html.j2", finalize=shown_as).render(
        style=Markup(page_part("report.css")),
        width=_WIDTH,
        height=_HEIGHT,
        has_reports=bool(nightly),
        records=[
            (
                heading(history),
                {
                    metric: _chart(metric, history.points, nightly.get((history.path, metric), ()))
                    for metric in history.metrics
                },
            )
            for history in shown
        ],
    )


def _chart(
    metric: str, points: Sequence[Point], ran: Iterable[tuple[str, float]]
) -> dict[str, Any]:
    """Return what the template draws for a metric: lines of points, and the points of reports."""
    known = [point for point in points if not math.isnan(point.means.get(metric, math.nan))]
    drawn = [*((point.commit.date, point.means[metric]) for point in known), *ran]
    if not drawn:
        return {}
    xs = _scaled([datetime.fromisoformat(date).timestamp() for date, _ in drawn], _WIDTH)
    ys = [_HEIGHT - y for y in _scaled([value for _, value in drawn], _HEIGHT)]
    dots = [
        (x, y, f"{date[:10]} {number_text(value)}")
        for x, y, (date, value) in zip(xs, ys, drawn, strict=True)
    ]
    lines: list[list[Any]] = []
    links = []
    for point, dot in zip(known, dots, strict=False):
        if lines and point.gap and metric in point.moves:
            text = f"{change(point.moves[metric])} on the unchanged queries"
            links.append((lines[-1][-1], dot, text))
        if point.gap or not lines:
            lines.append([])
        lines[-1].append(dot)
    dates, values = [date[:10] for date, _ in drawn], [value for _, value in drawn]
    return {
        "low": number_text(min(values)),
        "high": number_text(max(values)),
        "first": min(dates),
        "last": max(dates),
        "lines": lines,
        "links": links,
        "ran": dots[len(known) :],
        "rows": [
            {
                "commit": point.commit,
                "mean": number_text(point.means[metric]),
                "move": change(point.moves[metric]) if metric in point.moves else "",
                "why": "; ".join(filter(None, (*point.reasons, point.gap))),
            }
            for point in reversed(known)
        ],
    }


def _scaled(numbers: Sequence[float], size: float) -> list[float]:
    """Return numbers as positions between the margins of a chart, the lowest at the start."""
    low, span, inner = min(numbers), max(numbers) - min(numbers), size - 2 * _MARGIN
    shares = ((number - low) / span if span else 0.5 for number in numbers)
    return [round(_MARGIN + inner * share, 1) for share in shares]
