"""The report as Markdown, for a pull request: what blocks, the commands, everything else.

It is also read unrendered: in terminals, in mails and by machines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from pytest_rankcheck.errors import markdown_text, plural, quoted
from pytest_rankcheck.reports.findings import GateFinding, Note, Topic, by_heading
from pytest_rankcheck.reports.leaderboard import LeaderboardFinding
from pytest_rankcheck.reports.report_data import Report
from pytest_rankcheck.reports.text.failure_text import failure_lines
from pytest_rankcheck.reports.text.metrics_text import headline
from pytest_rankcheck.reports.text.wording import change, gate_words, number_text

LONGEST_COMMENT = 60_000
"""Characters; GitHub takes 65,536 in a comment."""

_OPEN = (
    *(Topic.BRANCH, Topic.RETIRED, Topic.LOOSER_GATE),
    *(Topic.NO_LONGER_GATED, Topic.GOLDEN_CHANGE, Topic.LOST_QUERIES),
    Topic.PROOF,
)
"""What is not folded away."""
_MOST_GATES = 100
_MOST_PROBLEMS = 10


def markdown_of(report: Report, limit: int = LONGEST_COMMENT) -> str:
    """Return the report as Markdown of at most ``limit`` characters.

    What does not fit is omitted from the end, whole sections first, and counted.
    """
    sections = [_head(report), _commands(report), _verdicts(report.gates), _changes(report.notes)]
    sections += map(_leaderboard, report.leaderboards)
    sections += _full_texts(report.blockers)
    versions = ", ".join(f"{name} {value}" for name, value in report.versions.items())
    how = f"{markdown_text(report.command, 400)} · {markdown_text(versions, 400)}\n"
    sections += [_notes(report.notes), how]
    text, hidden = "", 0
    for section in filter(None, sections):
        if len(text) + len(section) + 200 > limit:
            hidden += 1
        else:
            text += section + "\n"
    if hidden:
        count = plural(hidden, "section")
        text += f"_{count} omitted to keep this short; the HTML and JSON reports are complete._\n"
    return text


def _head(report: Report) -> str:
    """Return the verdict, and what blocks."""
    sign = {"bad": "❌", "unsure": "⚠️" if report.warnings else "❔", "good": "✅"}[report.tone]
    lines = [f"## {sign} Ranking quality: {report.headline}", ""]
    lines += _at_most(f"- {markdown_text(text, 400)}" for text in report.problems)
    lines += _at_most(_headlines(report.blockers))
    return "\n".join(lines).rstrip() + "\n"


def _at_most(items: Iterable[str]) -> Sequence[str]:
    """Return the first items, and how many more there are."""
    every = list(items)
    more = len(every) - _MOST_PROBLEMS
    return every[:_MOST_PROBLEMS] + ([f"- and {more:,} more"] if more > 0 else [])


def _headlines(blockers: Iterable[GateFinding | Note]) -> Iterator[str]:
    """Yield the headline of each blocker; gates that did not run are among the problems."""
    for each in blockers:
        assert each.failure is not None
        if isinstance(each, GateFinding):
            yield f"- {markdown_text(headline(each.failure), 400)}\n  - {markdown_text(each.test)}"
        elif each.topic is not Topic.NOT_RUN:
            yield f"- {markdown_text(f'{each.heading}: {headline(each.failure)}', 400)}"


def _commands(report: Report) -> str:
    """Return the commands to type, each in a block that can be copied."""
    texts = (
        f"{each.purpose[:1].upper()}{each.purpose[1:]}:\n\n{_fenced(each.command, 'sh')}\n"
        for each in report.commands
    )
    return "\n".join(texts)


def _verdicts(gates: Sequence[GateFinding]) -> str:
    """Return the table: a row for each gate, and a column for rankers if they differ."""
    if not gates:
        return ""
    runs = {(gate.golden_set, gate.ranker) for gate in gates}
    has_rankers = len(runs) > len({name for name, _ in runs})
    rows = [["", "metric", "golden set", "ranker", "baseline", "now", "change", "verdict", "test"]]
    for gate in gates[:_MOST_GATES]:
        difference = gate.numbers.overall.difference if gate.numbers else math.nan
        cells = (
            _sign(gate),
            markdown_text(gate.subject),
            markdown_text(gate.golden_set, 40),
            markdown_text(gate.ranker, 40),
            number_text(gate.baseline),
            number_text(gate.now),
            "" if math.isnan(difference) else change(difference),
            markdown_text(gate_words(gate)),
            markdown_text(gate.test),
        )
        rows.append([*cells])
    table = markdown_table([row if has_rankers else row[:3] + row[4:] for row in rows])
    lines = [table.rstrip()]
    if len(gates) > _MOST_GATES:
        lines += ["", f"_and {plural(len(gates) - _MOST_GATES, 'more gate')}_"]
    return "\n".join(lines) + "\n"


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of Markdown cells as a table; the first row is the header."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines) + "\n"


def _leaderboard(board: LeaderboardFinding) -> str:
    rows = [list(map(markdown_text, row)) for row in board.cells]
    lines = ["### Leaderboard", "", markdown_text(board.title, 400), "", markdown_table(rows)]
    return "\n".join([*lines, *(f"- {markdown_text(text, 400)}" for text in board.failure_lines)])


def _full_texts(blockers: Sequence[GateFinding | Note]) -> Iterator[str]:
    """Yield the whole text of each failure; all but the first are folded away."""
    for number, each in enumerate(blockers, 1):
        assert each.failure is not None
        name, text = "", "\n".join(failure_lines(each.failure, in_full=True))
        if isinstance(each, Note):
            name = markdown_text(each.heading)
        else:
            golden, test = markdown_text(each.golden_set, 60), markdown_text(each.test)
            name = f"{markdown_text(each.subject)} on {golden}, {test}"
        count = f" {number} of {len(blockers)}" if len(blockers) > 1 else ""
        lines = [f"**{name}**", "", _fenced(text, "text")]
        yield _folded(f"Full text{count}", lines, is_open=number == 1)


def _folded(summary: str, lines: Sequence[str], *, is_open: bool = False) -> str:
    head = f"<details{' open' if is_open else ''}><summary>{summary}</summary>"
    return "\n".join([head, "", *lines, "", "</details>"]) + "\n"


def _fenced(text: str, language: str) -> str:
    """Return a code block; its content may contain anything."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 3)
    shown = (quoted(line, len(line)) for line in text.splitlines())
    return "\n".join([f"{fence}{language}", *shown, fence])


def _changes(notes: Sequence[Note]) -> str:
    """Return the branch's changes to baselines and gates, which reviewers must not overlook."""
    lines = []
    for heading, group in by_heading(note for note in notes if note.topic in _OPEN).items():
        lines += [f"### {markdown_text(heading)}", ""]
        lines += [*(f"- {markdown_text(note.text.strip(), 400)}" for note in group), ""]
    return "\n".join(lines)


def _notes(notes: Sequence[Note]) -> str:
    groups = by_heading(note for note in notes if note.topic not in _OPEN and not note.failed)
    lines = []
    for heading, group in groups.items():
        lines.append(f"- {markdown_text(heading)}")
        lines += [f"  - {markdown_text(note.text.strip(), 2000)}" for note in group]
    return _folded("Notes", lines) if lines else ""


def _sign(gate: GateFinding) -> str:
    if gate.failed:
        return "❌"
    if gate.approved:
        return "⚠️"
    if not gate.reached:
        return "–"
    return "❔" if gate.is_open else "✅"
