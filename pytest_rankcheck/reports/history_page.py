"""The history of records as one HTML page with a chart for each metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from pytest_rankcheck.baselines.history import Point, RecordHistory
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.reports.json_report import read_report
from pytest_rankcheck.reports.text.history_text import NightlyMeans, heading
from pytest_rankcheck.reports.text.wording import change, number_text

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


def page_of(shown: Iterable[RecordHistory], nightly: NightlyMeans) -> str:
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
