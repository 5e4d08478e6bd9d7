"""The section at the end of a test session: the table of metrics, then the notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

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
from pytest_rankcheck.reports.text.wording import change, gate_words, number_text

_HEADER = ("ranker", "metric", "baseline", "now", "change", "verdict")
_RIGHT = {3, 4, 5}
_RANKER, _VERDICT = 1, 6
_GAP = "  "
_LONGEST_NOTE = 500
"""The length of a note without -v, in characters."""
_MOST_SLICES = 8
"""How many slices of a metric there are without -v."""


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
    shown = rows if most is None else _without_many_slices(rows)
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
    yield from _note_lines([each for each in findings if isinstance(each, Note)], most)


def _without_many_slices(rows: Sequence[MetricFinding]) -> list[MetricFinding]:
    """Return the rows, but of the many slices of a metric only a few, those that failed first."""
    counts, hidden = Counter[tuple[str, ...]](), set()
    slices = (row for row in rows if row.slice)
    for row in sorted(slices, key=lambda row: not row.failed):
        key = (row.test, row.golden_set, row.ranker, row.metric)
        counts[key] += 1
        if counts[key] > _MOST_SLICES:
            hidden.add(id(row))
    return [row for row in rows if id(row) not in hidden]


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
    """Yield the table; a verdict that does not fit the width is on a line of its own below.

    Rankers get a column, and tests a line above their rows, if rows would otherwise look alike.
    """
    runs = {(row.golden_set, row.ranker) for row in rows}
    has_rankers = len(runs) > len({golden_set for golden_set, _ in runs})
    has_tests = len({(row.golden_set, row.ranker, row.subject) for row in rows}) < len(rows)
    if has_tests:
        tests = list(dict.fromkeys(row.test for row in rows))
        rows.sort(key=lambda row: tests.index(row.test) if row.test else -1)
    table = [_header(rows), *map(_cells, rows)]
    columns = [column for column in range(_VERDICT) if column != _RANKER or has_rankers]
    widths = {column: max(len(cells[column]) for cells in table) for column in columns}
    yield from _row_lines(table[0], widths, None)
    test = ""
    for row, cells in zip(rows, table[1:], strict=True):
        if has_tests and row.test != test:
            test = row.test
            yield Line(quoted(test, 200))
        yield from _row_lines(cells, widths, width, _colour(row))


def _row_lines(
    cells: Sequence[str], widths: Mapping[int, int], width: int | None, colour: str = ""
) -> Iterator[Line]:
    """Yield the line of a row, or two."""
    padded = (
        cells[column].rjust(size) if column in _RIGHT else cells[column].ljust(size)
        for column, size in widths.items()
    )
    line, verdict = _GAP.join(padded), cells[_VERDICT]
    if width is None or len(line) + len(_GAP) + len(verdict) <= width:
        yield Line(f"{line}{_GAP}{verdict}", colour)
    else:
        yield Line(line, colour)
        yield Line(f"{_GAP}{verdict}", colour)


def _cells(row: MetricFinding) -> tuple[str, ...]:
    where = f"[{quoted(row.slice, 40)}]" if row.slice else ""
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
    names = {_set_name(row.metric) for row in rows}
    return ("measured on" if len(names) > 1 else names.pop(), *_HEADER)


def _set_name(metric: str) -> str:
    """Return what a metric is measured on; a user's own may be unknown to this process."""
    with suppress(MetricError):
        return Metric.parse(metric).kind.set_name
    return KINDS["query"].set_name
