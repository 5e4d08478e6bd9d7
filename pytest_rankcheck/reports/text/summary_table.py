"""The section at the end of a test session: the table of metrics, then the notes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest

from pytest_rankcheck.errors import MetricError, plural, quoted
from pytest_rankcheck.metrics.metric_definition import KINDS
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import (
    GateFinding,
    MetricFinding,
    Note,
    ReportedFinding,
    by_heading,
    rows_of,
)
from pytest_rankcheck.reports.leaderboard import LeaderboardFinding
from pytest_rankcheck.reports.text.wording import change, gate_words, number_text, set_text

_HEADER = ("ranker", "metric", "baseline", "now", "change", "verdict")
_RIGHT = {3, 4, 5}
_RANKER, _METRIC, _VERDICT = 1, 2, 6
_GAP = "  "
_LONGEST_NOTE = 500
"""The length of a note without -v, in characters."""
_NARROWEST = ((_VERDICT, 17), (0, 12), (_RANKER, 12))
"""The text columns in the order in which they shrink, and their smallest widths."""
_MOST_ALIKE = 8
"""How many rows there are of a metric of many groups, or of its slices, without -v."""
_MOST_LINES = 2
"""A verdict that would take more lines in its column gets lines of its own below."""
_BREAK = "\n"
"""Stands in a cell between a metric and a slice; neither is ever broken."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and the colour that a terminal may give it."""

    text: str
    colour: str = ""


def summary_lines(
    findings: Sequence[ReportedFinding], width: int | None = None, *, most: int | None = None
) -> Iterator[Line]:
    """Yield the lines of the section: the table, then the notes under their headings.

    Args:
        findings: of all tests.
        width: of the terminal, which the table is fitted to; None: unlimited.
        most: how many lines of notes to act on are shown; the rest are counted, and slices that
            simply passed have no row. None: everything is shown.
    """
    rows = sorted(rows_of(findings), key=lambda row: row.golden_set)
    if most is not None:
        rows = [row for row in rows if not row.slice or not row.is_plain]
    shown = rows if most is None else _worst(rows)
    if shown:
        yield from _table(shown, width)
    if len(shown) < len(rows):
        failed = sum(row.failed for row in rows) - sum(row.failed for row in shown)
        more = plural(len(rows) - len(shown), "more row")
        yield Line(f"{more}{f' ({failed:,} FAILED)' if failed else ''}: -v")
    for board in (each for each in findings if isinstance(each, LeaderboardFinding)):
        yield Line(f"leaderboard, {board.title}:")
        widths = [max(map(len, column)) for column in zip(*board.cells, strict=True)]
        for row in board.cells:
            cells = (cell.ljust(size) for cell, size in zip(row, widths, strict=True))
            yield Line(f"  {_GAP.join(cells)}".rstrip())
        yield from (Line(f"  {text}") for text in board.failure_lines)
    notes = [each for each in findings if isinstance(each, Note)]
    if most is not None:
        said = {*_said_in_failures(findings)}
        notes = [note for note in notes if note.text not in said]
    yield from _note_lines(notes, most)


def _said_in_failures(findings: Sequence[ReportedFinding]) -> Iterator[str]:
    """Yield the notes on a run that a failure text repeats, each with its golden set."""
    for each in findings:
        if isinstance(each, (GateFinding, Note)) and each.failure is not None:
            where = set_text(each.failure.kind, each.failure.golden_set)
            for text in (each.failure.unanswered, *each.failure.caveats):
                yield f"{where}: {text}"


def _worst(rows: Sequence[MetricFinding]) -> list[MetricFinding]:
    """Return the rows, in their order; of many of one metric in a test only the worst."""
    groups: dict[tuple[str, ...], list[MetricFinding]] = {}
    for row in rows:
        metric = _known(row.metric)
        alike = row.metric if row.slice or metric is None else metric.name
        key = (row.test, row.golden_set, row.ranker, alike, row.slice and "slices")
        groups.setdefault(key, []).append(row)
    worst = [each for group in groups.values() for each in sorted(group, key=_rank)[:_MOST_ALIKE]]
    shown = {*map(id, worst)}
    return [row for row in rows if id(row) in shown]


def _rank(row: MetricFinding) -> tuple[bool, bool, float]:
    """Return what orders rows: those that failed are first, then those that fell most."""
    metric, gain = _known(row.metric), 0.0
    if isinstance(row, GateFinding) and row.bound is not None:
        bound, part = row.bound
        gain = -bound.excess(part.tested)
    elif row.baseline is not None and metric is not None:
        gain = metric.gain(row.baseline, row.now)
    return (not row.failed, row.is_plain, gain)


def _note_lines(notes: Sequence[Note], most: int | None) -> Iterator[Line]:
    """Yield notes under their headings; with a limit, one line for each of the last few."""
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
    if note.failed:
        return Line(f"  FAILED: {note.text}", "red")
    return Line(f"  {note.text}")


def _table(rows: list[MetricFinding], width: int | None) -> Iterator[Line]:
    """Yield the table; if it is too wide, names are cut, and metrics and verdicts wrap below.

    Rankers get a column, and tests a line above their rows, if rows would otherwise look alike.
    """
    runs = {(row.golden_set, row.ranker) for row in rows}
    has_rankers = len(runs) > len({golden_set for golden_set, _ in runs})
    has_tests = len({(row.golden_set, row.ranker, row.subject) for row in rows}) < len(rows)
    if has_tests:
        tests = list(dict.fromkeys(row.test for row in rows))
        rows.sort(key=lambda row: tests.index(row.test) if row.test else -1)
    table = [_header(rows), *map(_cells, rows)]
    columns = [column for column in range(len(table[0])) if column != _RANKER or has_rankers]
    widths = {
        column: max(len(cells[column].replace(_BREAK, "")) for cells in table) for column in columns
    }
    if width is not None:
        longest = max(len(part) for cells in table for part in cells[_METRIC].split(_BREAK))
        widths = _fitting(widths, width, ((_METRIC, longest), *_NARROWEST))
    yield from _row_lines(table[0], widths)
    test = ""
    for row, cells in zip(rows, table[1:], strict=True):
        if has_tests and row.test != test:
            test = row.test
            yield Line(quoted(test, 200))
        yield from _row_lines(cells, widths, _colour(row))


def _row_lines(cells: Sequence[str], widths: Mapping[int, int], colour: str = "") -> Iterator[Line]:
    """Yield the lines of a row."""
    verdict = textwrap.wrap(cells[_VERDICT], widths[_VERDICT], break_on_hyphens=False)
    is_long = len(verdict) > _MOST_LINES
    wrapped = [
        _pieces(cells[column], size)
        if column == _METRIC
        else verdict[: 0 if is_long else None]
        if column == _VERDICT
        else [_cut(cells[column], size)]
        for column, size in widths.items()
    ]
    for parts in zip_longest(*wrapped, fillvalue=""):
        padded = (
            part.rjust(size) if column in _RIGHT else part.ljust(size)
            for part, (column, size) in zip(parts, widths.items(), strict=True)
        )
        yield Line(_GAP.join(padded).rstrip(), colour)
    if is_long:
        whole = sum(widths.values()) + len(_GAP) * (len(widths) - 2)
        below = textwrap.wrap(cells[_VERDICT], whole, break_on_hyphens=False)
        yield from (Line(f"{_GAP}{line}", colour) for line in below)


def _cells(row: MetricFinding) -> tuple[str, ...]:
    where = f"{_BREAK}[{quoted(row.slice, 40)}]" if row.slice else ""
    verdict = gate_words(row) if isinstance(row, GateFinding) else "not gated"
    return (
        quoted(row.golden_set, 30),
        quoted(row.ranker, 30),
        row.metric + where,
        number_text(row.baseline),
        number_text(row.now),
        "-" if row.baseline is None else change(row.now - row.baseline),
        f"FAILED: {verdict}" if row.failed else verdict,
    )


def _colour(row: MetricFinding) -> str:
    if row.failed:
        return "red"
    return "green" if isinstance(row, GateFinding) and row.reached else ""


def _header(rows: Sequence[MetricFinding]) -> tuple[str, ...]:
    """Return the names of the columns; the first is that of the golden set or log."""
    metrics = [_known(row.metric) for row in rows]
    names = {(metric.kind if metric else KINDS["query"]).set_name for metric in metrics}
    return ("measured on" if len(names) > 1 else names.pop(), *_HEADER)


def _pieces(cell: str, size: int) -> list[str]:
    """Return a metric and a slice on one line, or, if they do not fit, on two."""
    line = cell.replace(_BREAK, "")
    return [line] if len(line) <= size else cell.split(_BREAK)


def _known(name: str) -> Metric | None:
    """Return a metric; a user's own may be unknown to this process."""
    with suppress(MetricError):
        return Metric.parse(name)
    return None


def _fitting(
    widths: Mapping[int, int], width: int, narrowest: Sequence[tuple[int, int]]
) -> dict[int, int]:
    """Return column widths whose total is at most ``width``, if possible.

    First slices move to a line below their metrics, then verdicts shrink, then the names of golden
    sets and rankers; numbers and the names of metrics never shrink.
    """
    fitting = dict(widths)
    for column, least in narrowest:
        excess = sum(fitting.values()) + len(_GAP) * (len(fitting) - 1) - width
        if excess > 0 and column in fitting:
            fitting[column] = max(min(least, fitting[column]), fitting[column] - excess)
    return fitting


def _cut(cell: str, size: int) -> str:
    return cell if len(cell) <= size else f"{cell[: size - 3]}..."
