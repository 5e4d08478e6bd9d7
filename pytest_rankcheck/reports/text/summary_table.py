"""The section at the end of a test session: the table of metrics, then the notes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest

from pytest_rankcheck.errors import MetricError, plural, quoted
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import (
    GateFinding,
    MetricFinding,
    Note,
    ReportedFinding,
    by_heading,
)
from pytest_rankcheck.reports.text.wording import change, number_text

_HEADER = ("metric", "baseline", "now", "change", "verdict")
_RIGHT = {2, 3, 4}
_METRIC, _VERDICT = 1, 5
_GAP = "  "
_LONGEST_NOTE = 240
"""Characters of a note without -v."""
_NARROWEST = ((5, 12), (0, 12), (1, 16))
"""Columns of text, in the order in which they give way, and how narrow they may become."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and the colour that a terminal may give it."""

    text: str
    colour: str = ""


@dataclass(slots=True)
class _Row:
    """What all tests found of one metric on one golden set, against one baseline."""

    golden: str
    metric: str
    now: float
    baseline: float | None = None
    verdicts: dict[str, bool] = field(default_factory=dict)
    """Each verdict, and whether it failed its test."""
    is_decided: bool = False
    """Whether a test reached an assertion about it."""

    @property
    def failed(self) -> bool:
        return any(self.verdicts.values())

    @property
    def cells(self) -> tuple[str, ...]:
        difference = "-" if self.baseline is None else change(self.now - self.baseline)
        ordered = sorted(self.verdicts.items(), key=lambda verdict: not verdict[1])
        words = [f"FAILED: {verdict}" if failed else verdict for verdict, failed in ordered]
        return (
            quoted(self.golden, 30),
            self.metric,
            number_text(self.baseline),
            number_text(self.now),
            difference,
            "; ".join(words) or "not gated",
        )


def summary_lines(
    findings: Sequence[ReportedFinding], width: int | None = None, *, most: int | None = None
) -> Iterator[Line]:
    """Yield the lines of the section: the table, then the notes under their headings.

    Args:
        findings: of all tests.
        width: of the terminal, which the table is fitted to; None: unlimited.
        most: how many lines there may be of notes on which somebody must act; others are counted.
            None: every note is shown.
    """
    rows = _rows(finding for finding in findings if isinstance(finding, MetricFinding))
    if rows:
        yield from _table(rows, width)
    yield from _note_lines([each for each in findings if isinstance(each, Note)], most)


def _note_lines(notes: Sequence[Note], most: int | None) -> Iterator[Line]:
    """Yield notes under their headings; if there is a limit, one line for each of the last few."""
    groups, hidden = by_heading(notes), 0
    acting = [heading for heading, group in groups.items() if group[0].topic.needs_action]
    for heading, group in groups.items():
        lines = list(dict.fromkeys(map(_note_line, group)))
        is_whole = most is None or group[0].topic.is_always_shown
        shown = [line for line in lines if is_whole or line.colour]
        if shown:
            yield Line(f"{heading}:")
            yield from shown
        elif heading in acting[-(most or 0) :]:
            number = f" (1 of {len(lines):,})" if len(lines) > 1 else ""
            shown = lines[:1]
            yield Line(f"{heading}{number}: {quoted(shown[0].text.strip(), _LONGEST_NOTE)}")
        hidden += len(lines) - len(shown)
    if hidden:
        yield Line(f"{plural(hidden, 'more note')}: -v")


def _note_line(note: Note) -> Line:
    return Line(f"  FAILED: {note.text}", "red") if note.failed else Line(f"  {note.text}")


def _rows(findings: Iterable[MetricFinding]) -> list[_Row]:
    """Merge findings: a bound and a baseline of the same metric share a row."""
    rows: list[_Row] = []
    for finding in findings:
        row = next((row for row in rows if _shares(row, finding)), None)
        if row is None:
            row = _Row(finding.golden_set, finding.metric, finding.now)
            rows.append(row)
        if finding.baseline is not None:
            row.baseline, row.now = finding.baseline, finding.now
        if isinstance(finding, GateFinding):
            failed_before = row.verdicts.get(finding.verdict, False)
            row.verdicts[finding.verdict] = failed_before or finding.failed
            row.is_decided = row.is_decided or finding.reached
    return sorted(rows, key=lambda row: row.golden)


def _shares(row: _Row, finding: MetricFinding) -> bool:
    same = (row.golden, row.metric) == (finding.golden_set, finding.metric)
    baselines = (row.baseline, finding.baseline)
    return same and (None in baselines or baselines[0] == baselines[1])


def _table(rows: Sequence[_Row], width: int | None) -> Iterator[Line]:
    """Yield the table; where it is too wide, names are cut, metrics and verdicts go on below."""
    table = [_header(rows), *(row.cells for row in rows)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(table[0]))]
    if width is not None:
        widths = _fitting(widths, width)
    for cells, row in zip(table, (None, *rows), strict=True):
        colour = "" if row is None else "red" if row.failed else "green" if row.is_decided else ""
        wrapped = [
            _pieces(cell, size)
            if column == _METRIC
            else textwrap.wrap(cell, size, break_on_hyphens=False)
            if column == _VERDICT
            else [_cut(cell, size)]
            for column, (cell, size) in enumerate(zip(cells, widths, strict=True))
        ]
        for parts in zip_longest(*wrapped, fillvalue=""):
            padded = (
                part.rjust(size) if column in _RIGHT else part.ljust(size)
                for column, (part, size) in enumerate(zip(parts, widths, strict=True))
            )
            yield Line(_GAP.join(padded).rstrip(), colour)


def _header(rows: Sequence[_Row]) -> tuple[str, ...]:
    """Return the names of the columns; the first is what was measured on."""
    of_logs = {_unit(row.metric) == "session" for row in rows}
    if len(of_logs) > 1:
        return ("measured on", *_HEADER)
    return ("session log" if of_logs.pop() else "golden set", *_HEADER)


def _pieces(metric: str, size: int) -> list[str]:
    """Return a metric's name on as many lines as it needs, broken where its parameters begin."""
    lines = [""]
    for piece in re.findall(r"[^(,]+[(,]?", metric):
        if lines[-1] and len(lines[-1]) + len(piece) > size:
            lines.append("")
        lines[-1] += piece
    return [part for line in lines for part in textwrap.wrap(line, size, break_on_hyphens=False)]


def _unit(name: str) -> str:
    """Return what has a value of a metric; a user's own may be unknown to this process."""
    with suppress(MetricError):
        return Metric.parse(name).unit
    return "query"


def _fitting(widths: Sequence[int], width: int) -> list[int]:
    """Return widths of columns that together have at most ``width``, if possible.

    Verdicts give way first, then the names of golden sets and metrics; numbers never.
    """
    fitting = list(widths)
    for column, least in _NARROWEST:
        excess = sum(fitting) + len(_GAP) * (len(fitting) - 1) - width
        if excess > 0:
            fitting[column] = max(min(least, fitting[column]), fitting[column] - excess)
    return fitting


def _cut(cell: str, size: int) -> str:
    return cell if len(cell) <= size else f"{cell[: size - 3]}..."
