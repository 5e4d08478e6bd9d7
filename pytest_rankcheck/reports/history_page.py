"""The history of records as one HTML page with a chart for each metric, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from pytest_rankcheck.baselines.history import Point, RecordHistory
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.reports.json_report import read_report
from pytest_rankcheck.reports.text.history_text import heading
from pytest_rankcheck.reports.text.wording import change, number_text

_WIDTH, _HEIGHT, _MARGIN = 360.0, 120.0, 8.0
_LONGEST_TEXT = 1_000

Shown = tuple[RecordHistory, Sequence[Point], Sequence[str]]
"""A history, and the points and metrics of it that are shown."""


class NightlyPoint(NamedTuple):
    """The value of a gated metric in a JSON report: what ran, approved or not."""

    file: str
    """The record, from the top of the repository."""
    metric: str
    date: str
    value: float


def nightly_points(reports: Iterable[Path]) -> Sequence[NightlyPoint]:
    """Return the means in JSON reports of test sessions, oldest first.

    Raises:
        ConfigurationError: a file is missing, or is not a JSON report.
    """
    points = set()
    for report in map(read_report, reports):
        file_of = {(each["test"], each["golden_set"]): each["file"] for each in report["baselines"]}
        for gate in report["gates"]:
            file = file_of.get((gate["test"], gate["golden_set"]))
            if file is not None and not gate["slice"] and gate["now"] is not None:
                points.add(NightlyPoint(file, gate["metric"], report["created"], gate["now"]))
    return sorted(points, key=lambda point: point.date)


def history_json(shown: Iterable[Shown], nightly: Iterable[NightlyPoint]) -> dict[str, Any]:
    """Return everything that is shown in built-in types; an unknown mean is None."""
    return {
        "records": [
            {
                "file": history.path,
                "is_gone": history.is_gone,
                "not_readable": history.skipped,
                "metrics": list(metrics),
                "points": [_point(point, metrics) for point in points],
            }
            for history, points, metrics in shown
        ],
        "reports": [point._asdict() for point in nightly],
    }


def _point(point: Point, metrics: Sequence[str]) -> dict[str, Any]:
    def known(values: Mapping[str, float]) -> dict[str, float | None]:
        chosen = {name: values[name] for name in metrics if name in values}
        return {name: None if math.isnan(value) else value for name, value in chosen.items()}

    entry = {**asdict(point), "means": known(point.means), "moves": known(point.moves)}
    entry["break"] = entry.pop("gap")
    query = entry.pop("query")
    if query is not None:
        entry["query"] = {"values": known(query.values), "top": query.top}
    return entry


def page_of(shown: Iterable[Shown], nightly: Sequence[NightlyPoint]) -> str:
    """Return one HTML file, with everything that it needs inside."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def shown_as(value: object) -> object:
        is_foreign = isinstance(value, str) and not isinstance(value, Markup)
        return quoted(value, _LONGEST_TEXT) if is_foreign else value

    environment = Environment(
        autoescape=True,
        finalize=shown_as,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder = files(__package__) / "html"
    template = environment.from_string((folder / "history.html.j2").read_text("utf-8"))
    return template.render(
        style=Markup((folder / "report.css").read_text("utf-8")),
        width=_WIDTH,
        height=_HEIGHT,
        has_reports=bool(nightly),
        records=[
            (
                heading(history, points),
                {name: _chart(name, history, points, nightly) for name in metrics},
            )
            for history, points, metrics in shown
        ],
    )


def _chart(
    metric: str, history: RecordHistory, points: Sequence[Point], nightly: Sequence[NightlyPoint]
) -> dict[str, Any]:
    """Return what the template draws for a metric: lines of points, and the points of reports."""
    known = [point for point in points if not math.isnan(point.means.get(metric, math.nan))]
    ran = [each for each in nightly if (each.file, each.metric) == (history.path, metric)]
    drawn = [(point.commit.date, point.means[metric]) for point in known]
    drawn += [(each.date, each.value) for each in ran]
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
