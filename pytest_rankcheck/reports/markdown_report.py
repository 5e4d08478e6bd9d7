"""The report as Markdown, for a pull request: verdicts, failures in full, notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_rankcheck.comparison.runs_comparison import markdown_table
from pytest_rankcheck.errors import markdown_text, plural, quoted
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.reports.findings import GateFinding, Note, Topic, by_heading
from pytest_rankcheck.reports.leaderboard import LeaderboardFinding
from pytest_rankcheck.reports.report_data import Report
from pytest_rankcheck.reports.text.wording import change, number_text

LONGEST_COMMENT = 60_000
"""Characters; GitHub takes 65,536 in a comment."""

_MOST_GATES = 100
_MOST_PROBLEMS = 10


def markdown_of(report: Report, limit: int = LONGEST_COMMENT) -> str:
    """Return the report as Markdown of at most ``limit`` characters.

    What does not fit is omitted from the end, whole sections first, and counted.
    """
    sections = [_head(report), _verdicts(report.gates), _changes(report.notes)]
    sections += map(_leaderboard, report.leaderboards)
    sections += [
        _failure(markdown_text(note.heading), note.failure, markdown_text(note.text, 400))
        for note in report.notes
        if note.failure is not None
    ]
    sections += [
        _failure(_name(gate), gate.detail["text"]) for gate in report.gates if gate.detail["text"]
    ]
    versions = ", ".join(f"{name} {value}" for name, value in report.versions.items())
    how = f"<sub>{markdown_text(report.command, 400)} · {markdown_text(versions, 400)}</sub>\n"
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
    sign = {"bad": "❌", "unsure": "⚠️" if report.warnings else "❔", "good": "✅"}[report.tone]
    lines = [f"## {sign} Ranking quality: {report.headline}", ""]
    lines += [f"- {markdown_text(text, 400)}" for text in report.problems[:_MOST_PROBLEMS]]
    if len(report.problems) > _MOST_PROBLEMS:
        lines.append(f"- and {len(report.problems) - _MOST_PROBLEMS:,} more")
    return "\n".join(lines).rstrip() + "\n"


def _verdicts(gates: Sequence[GateFinding]) -> str:
    if not gates:
        return ""
    columns = "test | golden set | ranker | metric | baseline | now | change | 95% interval"
    lines = [f"|  | {columns} | verdict |", "|" + "---|" * 10]
    for gate in gates[:_MOST_GATES]:
        overall = gate.detail["overall"]
        cells = (
            _sign(gate),
            markdown_text(gate.test),
            markdown_text(gate.golden_set, 40),
            markdown_text(gate.ranker, 40),
            markdown_text(gate.subject),
            number_text(gate.baseline),
            number_text(gate.now),
            "" if overall["difference"] is None else change(overall["difference"]),
            " to ".join(map(change, overall["interval"] or ())),
            markdown_text(gate.verdict),
        )
        lines.append(f"| {' | '.join(cells)} |")
    if len(gates) > _MOST_GATES:
        lines += ["", f"_and {plural(len(gates) - _MOST_GATES, 'more gate')}_"]
    return "\n".join(lines) + "\n"


def _leaderboard(board: LeaderboardFinding) -> str:
    rows = [list(map(markdown_text, row)) for row in board.cells]
    lines = ["### Leaderboard", "", markdown_text(board.title, 400), "", markdown_table(rows)]
    return "\n".join([*lines, *(f"- {markdown_text(text, 400)}" for text in board.failure_lines)])


def _name(gate: GateFinding) -> str:
    golden, test = markdown_text(gate.golden_set, 60), markdown_text(gate.test)
    return f"{markdown_text(gate.subject)} on {golden}, {test}"


def _failure(heading: str, text: str, note: str = "") -> str:
    """Return the section of what failed: a line about it, and its whole text, folded away."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 3)
    shown = "\n".join(quoted(line, 400) for line in text.splitlines())
    lines = [f"### {heading}", "", *([note, ""] if note else [])]
    lines += ["<details><summary>Full text</summary>", "", f"{fence}text", shown, fence]
    return "\n".join([*lines, "", "</details>"]) + "\n"


def _changes(notes: Sequence[Note]) -> str:
    """Return the baselines that the branch changes, which its reviewers must not overlook."""
    branch = [note for note in notes if note.topic is Topic.BRANCH]
    if not branch:
        return ""
    lines = [f"- {markdown_text(note.text, 400)}" for note in branch]
    return "\n".join([f"### {markdown_text(branch[0].heading)}", "", *lines]) + "\n"


def _notes(notes: Sequence[Note]) -> str:
    groups = by_heading(
        note for note in notes if note.topic is not Topic.BRANCH and not note.failed
    )
    if not groups:
        return ""
    lines = ["<details><summary>Notes</summary>", ""]
    for heading, group in groups.items():
        lines.append(f"- {markdown_text(heading)}")
        lines += [f"  - {markdown_text(note.text.strip(), 2000)}" for note in group]
    return "\n".join([*lines, "", "</details>"]) + "\n"


def _sign(gate: GateFinding) -> str:
    if gate.failed:
        return "❌"
    if gate.approved:
        return "⚠️"
    if not gate.reached:
        return "–"
    return "❔" if gate.detail["outcome"] == Outcome.INCONCLUSIVE else "✅"
