"""The report as Markdown, for a pull request: what blocks, what to type, then everything else.

It is read as it is, too: in terminals, in mails and by machines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from pytest_rankcheck.errors import markdown_text, plural, quoted
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.reports.findings import GateFinding, Note, Topic, by_heading
from pytest_rankcheck.reports.leaderboard import LeaderboardFinding
from pytest_rankcheck.reports.report_data import Report, worst_queries
from pytest_rankcheck.reports.text.wording import change, number_text

LONGEST_COMMENT = 60_000
"""Characters; GitHub takes 65,536 in a comment."""

_OPEN = (
    *(Topic.BRANCH, Topic.RETIRED, Topic.LOOSER_GATE),
    *(Topic.NO_LONGER_GATED, Topic.GOLDEN_CHANGE, Topic.LOST_QUERIES),
)
"""What is not folded away."""
_MOST_GATES = 100
_MOST_PROBLEMS = 10
_MOST_WORST = 3
"""How many slices, queries or remarks are named of what blocks."""


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
    blocks = map(partial(_blocker, report), report.blockers)
    lines += _at_most("\n".join(each) for each in blocks if each)
    return "\n".join(lines).rstrip() + "\n"


def _at_most(items: Iterable[str]) -> Sequence[str]:
    """Return the first items, and how many more there are."""
    every = list(items)
    more = len(every) - _MOST_PROBLEMS
    return every[:_MOST_PROBLEMS] + ([f"- and {more:,} more"] if more > 0 else [])


def _blocker(report: Report, found: GateFinding | Note) -> Sequence[str]:
    """Return the lines of what blocks; none if it is among the problems."""
    if isinstance(found, GateFinding):
        return [*_gate_lines(report, found)]
    text = f"- {markdown_text(found.heading)}: {markdown_text(found.text, 400)}"
    return [] if found.topic is Topic.NOT_RUN else [text]


def _gate_lines(report: Report, found: GateFinding) -> Iterator[str]:
    """Yield the headline of a failing gate; below it the numbers, the worst slices and queries."""
    failure = found.detail["failure"]
    yield f"- {markdown_text(failure['headline'], 400)}"
    overall, *slices = failure["decisions"] or [None]
    leading = next((part for part in slices if part["label"] == failure["slice"]), overall)
    certain = ""
    if leading and leading["interval"]:
        certain = f": 95% interval {' to '.join(map(change, leading['interval']))}"
        if leading["paired"]:
            certain += f"; {leading['losses']:,} worse, {leading['wins']:,} better"
            certain += f", {leading['ties']:,} equal"
    yield f"  - {markdown_text(found.test)}{certain}"
    fallen = [part for part in slices if part["losses"] or part["outcome"] == "failed"]
    if fallen:
        yield f"  - slices: {'; '.join(map(_slice, fallen[:_MOST_WORST]))}"
    worst = worst_queries(found.detail, report.measurements)[:_MOST_WORST]
    if worst:
        yield f"  - worst: {'; '.join(_query(query, found.metric) for query in worst)}"
    else:
        yield from (f"  - {markdown_text(each, 400)}" for each in failure["remarks"][:_MOST_WORST])


def _slice(part: dict[str, Any]) -> str:
    before = "" if part["before"] is None else f"{number_text(part['before'])} -> "
    remark = ", not gated" if part["outcome"] == Outcome.NOT_GATED else ""
    size = plural(part["queries"], "query", "queries")
    return f"{markdown_text(part['label'])} {before}{number_text(part['now'])} ({size}{remark})"


def _query(query: dict[str, Any], metric: str) -> str:
    text = f' "{markdown_text(query["text"], 80)}"' if query["text"] else ""
    values = [number_text(value, 3) for value in query["values"][metric] if value is not None]
    return f"{markdown_text(query['id'], 60)}{text} {' -> '.join(values)}"


def _commands(report: Report) -> str:
    """Return what to type, each command in a block that can be copied."""
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
        difference = gate.detail["overall"]["difference"]
        cells = (
            _sign(gate),
            markdown_text(gate.subject),
            markdown_text(gate.golden_set, 40),
            markdown_text(gate.ranker, 40),
            number_text(gate.baseline),
            number_text(gate.now),
            "" if difference is None else change(difference),
            markdown_text(gate.verdict),
            markdown_text(gate.test),
        )
        rows.append([*cells])
    table = markdown_table([row if has_rankers else row[:3] + row[4:] for row in rows])
    lines = [table.rstrip()]
    if len(gates) > _MOST_GATES:
        lines += ["", f"_and {plural(len(gates) - _MOST_GATES, 'more gate')}_"]
    return "\n".join(lines) + "\n"


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells in Markdown as a table; the first one is its head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines) + "\n"


def _leaderboard(board: LeaderboardFinding) -> str:
    rows = [list(map(markdown_text, row)) for row in board.cells]
    lines = ["### Leaderboard", "", markdown_text(board.title, 400), "", markdown_table(rows)]
    return "\n".join([*lines, *(f"- {markdown_text(text, 400)}" for text in board.failure_lines)])


def _full_texts(blockers: Sequence[GateFinding | Note]) -> Iterator[str]:
    """Yield the whole text of each failure, folded away."""
    for number, each in enumerate(blockers, 1):
        if isinstance(each, Note):
            name, text = markdown_text(each.heading), each.failure or ""
        else:
            golden, test = markdown_text(each.golden_set, 60), markdown_text(each.test)
            name, text = f"{markdown_text(each.subject)} on {golden}, {test}", each.detail["text"]
        count = f" {number} of {len(blockers)}" if len(blockers) > 1 else ""
        yield _folded(f"Full text{count}", [f"**{name}**", "", _fenced(text, "text")])


def _folded(summary: str, lines: Sequence[str]) -> str:
    head = f"<details><summary>{summary}</summary>"
    return "\n".join([head, "", *lines, "", "</details>"]) + "\n"


def _fenced(text: str, language: str) -> str:
    """Return a block of code, whatever is in it."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 3)
    shown = (quoted(line, len(line)) for line in text.splitlines())
    return "\n".join([f"{fence}{language}", *shown, fence])


def _changes(notes: Sequence[Note]) -> str:
    """Return what the branch changes of baselines and gates, which reviewers must not overlook."""
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
    return "❔" if gate.detail["outcome"] == Outcome.INCONCLUSIVE else "✅"
