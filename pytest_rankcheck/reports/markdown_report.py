"""The report as Markdown, for a pull request: verdicts, slices that matter, the worst queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.reports.measurement_findings import MeasurementFinding, QueryDetail
from pytest_rankcheck.reports.metric_findings import DecisionDetail, GateDetail
from pytest_rankcheck.reports.notes import Note, Topic, by_heading
from pytest_rankcheck.reports.report_data import Report, ReportedGate
from pytest_rankcheck.reports.resolution_findings import ResolutionFinding
from pytest_rankcheck.reports.text.explanation_text import fragility_text, other_rulings_text
from pytest_rankcheck.reports.text.group_text import group_lines
from pytest_rankcheck.reports.text.mix_text import mix_text
from pytest_rankcheck.reports.text.replay_text import replay_lines
from pytest_rankcheck.reports.text.resolution_text import (
    COLUMNS,
    resolution_cells,
    resolution_title,
)
from pytest_rankcheck.reports.text.unjudged_text import needed_text
from pytest_rankcheck.reports.text.wording import change, number_text

__all__ = ["LONGEST_COMMENT", "escaped", "markdown_of"]

LONGEST_COMMENT = 60_000
"""Characters; GitHub takes 65,536 in a comment."""

_MOST_GATES = 100
_WORST = 10
_SLICES = 12
_DOCUMENTS = 5
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$^&\"'])")
# What GitHub turns into links though no character of it is Markdown's.
_LINKED = re.compile(r"@|www\\\.|://|:\\/\\/|#(?=\d)", re.IGNORECASE)


def escaped(text: object, limit: int = 120) -> str:
    """Return foreign text as one line of Markdown that is nothing but text.

    Punctuation is escaped; mentions, addresses and numbers of issues are broken by an empty
    comment, so that nobody is notified and nothing is linked.
    """
    shown = _PUNCTUATION.sub(r"\\\1", quoted(text, limit))
    return _LINKED.sub(lambda match: f"{match[0][0]}<!-- -->{match[0][1:]}", shown)


def markdown_of(report: Report, limit: int = LONGEST_COMMENT) -> str:
    """Return the report as Markdown of at most ``limit`` characters.

    What does not fit is omitted from the end, whole sections first, and counted.
    """
    sections = [_head(report), _verdicts(report.gates), _changes(report.notes)]
    sections += [_failure(note, note.failure) for note in report.notes if note.failure is not None]
    sections += [
        _gate(gate, report)
        for gate in report.gates
        if gate.finding.failed or gate.detail.outcome == Outcome.INCONCLUSIVE
    ]
    sections += [_resolution(resolution) for resolution in report.resolutions]
    sections += [_notes(report.notes), _how(report)]
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
    gates = plural(report.reached_gates, "gate")
    unreached = len(report.gates) - report.reached_gates
    rest = f", {unreached:,} not reached" if unreached else ""
    checks = len(report.failed_checks)
    if checks:
        parts = f"{report.failed_gates:,} of {gates} and {plural(checks, 'other check')}"
        return f"## ❌ Ranking quality: {parts} failed{rest}\n"
    if report.failed_gates:
        return f"## ❌ Ranking quality: {report.failed_gates:,} of {gates} failed{rest}\n"
    if report.warnings:
        warnings = ", ".join(report.warnings)
        return f"## ⚠️ Ranking quality: {gates} passed with warnings: {warnings}{rest}\n"
    return f"## {'❔' if unreached else '✅'} Ranking quality: {gates} passed{rest}\n"


def _verdicts(gates: Sequence[ReportedGate]) -> str:
    rows = [
        (
            _sign(gate),
            escaped(gate.finding.golden_set, 40),
            escaped(gate.finding.metric),
            number_text(gate.finding.baseline),
            number_text(gate.finding.now),
            _change(gate.detail.overall),
            _interval(gate.detail.overall),
            escaped(gate.finding.verdict),
        )
        for gate in gates[:_MOST_GATES]
    ]
    head = ("", "golden set", "metric", "baseline", "now", "change", "95% interval", "verdict")
    lines = list(_table(head, rows))
    if len(gates) > _MOST_GATES:
        lines += ["", f"_and {plural(len(gates) - _MOST_GATES, 'more gate')}_"]
    return "\n".join(lines) + "\n"


def _gate(gate: ReportedGate, report: Report) -> str:
    """Return the section of a gate that failed or is inconclusive."""
    finding, detail = gate.finding, gate.detail
    lines = [f"### {escaped(finding.metric)} on {escaped(finding.golden_set, 60)}", ""]
    overall = detail.overall
    if not overall.paired:
        sessions = plural(overall.queries, "session")
        others = "" if detail.groups else ", different from those in the baseline"
        lines.append(f"{sessions}{others}; {escaped(detail.gate)}")
    elif overall.losses is not None:
        queries = plural(overall.queries, "query", "queries")
        lines.append(
            f"{queries}: {overall.losses:,} worse, {overall.wins:,} better, "
            f"{overall.ties:,} equal; {escaped(detail.gate)}"
        )
    for sentence in _explanations(detail):
        lines += ["", f"{escaped(sentence, 400)}."]
    unjudged = detail.unjudged
    if unjudged and unjudged.documents and unjudged.if_relevant is not None:
        documents = plural(unjudged.documents, "document")
        if_relevant = f"if relevant, the change would be {change(unjudged.if_relevant)}."
        lines += ["", f"{documents} new in the top {unjudged.k} without a judgment: {if_relevant}"]
    if unjudged and unjudged.left and unjudged.if_left_relevant is not None:
        documents = plural(unjudged.left, "document")
        if_relevant = f"if relevant, the change would be {change(unjudged.if_left_relevant)}."
        lines += ["", f"{documents} without a judgment left the top {unjudged.k}: {if_relevant}"]
    if unjudged and unjudged.could_explain_fall:
        lines += ["", f"{escaped(needed_text(unjudged), 400)}."]
    lines += _slices(detail.slices, detail.higher_is_better)
    for measurement in report.measurements:
        if measurement.key == detail.measurement:
            lines += _queries(finding.metric, detail.higher_is_better, measurement)
    if detail.text:
        lines += ["", *_full_text(detail.text)]
    return "\n".join(lines) + "\n"


def _explanations(detail: GateDetail) -> Iterator[str]:
    """Yield what a verdict depends on, as sentences without their full stops."""
    if detail.fragility is not None:
        yield f"Fragile: {fragility_text(detail.fragility)}"
    if detail.other_rulings:
        yield other_rulings_text(detail.other_rulings)
    for effect in detail.mixes:
        yield mix_text(effect, is_decided=False)
    if detail.groups is not None:
        yield from group_lines(detail.groups)
    if detail.replay is not None:
        yield from replay_lines(detail.replay)


def _failure(note: Note, failure: str) -> str:
    """Return the section of a failing assertion that is not about a metric."""
    head = [f"### {escaped(note.heading)}", "", escaped(note.text, 400), ""]
    return "\n".join([*head, *_full_text(failure)]) + "\n"


def _full_text(text: str) -> list[str]:
    """Return the text of a failure, folded away."""
    fence = "`" * (_longest_run(text) + 3)
    shown = "\n".join(quoted(line, 400) for line in text.splitlines())
    start = ["<details><summary>Full text</summary>", "", f"{fence}text", shown, fence]
    return [*start, "", "</details>"]


def _slices(slices: Sequence[DecisionDetail], higher_is_better: bool) -> Iterator[str]:
    """Yield the slices that matter: those that failed, then those that changed most."""
    sign = 1 if higher_is_better else -1
    changes = [
        (
            part.outcome not in (Outcome.REGRESSED, Outcome.INCONCLUSIVE),
            sign * part.difference,
            part,
        )
        for part in slices
        if part.difference is not None
    ]
    if not changes:
        return
    order = [part for _, _, part in sorted(changes, key=lambda change: change[:2])]
    rows = [
        (
            escaped(part.label, 60),
            f"{part.queries:,}",
            number_text(part.before),
            number_text(part.now),
            _change(part),
            escaped(part.outcome),
        )
        for part in order[:_SLICES]
    ]
    yield ""
    yield from _table(("slice", "queries", "baseline", "now", "change", ""), rows)
    if len(order) > _SLICES:
        yield ""
        yield f"_and {plural(len(order) - _SLICES, 'more slice')}_"


def _queries(metric: str, higher_is_better: bool, measurement: MeasurementFinding) -> Iterator[str]:
    """Yield the queries that lost most, with the top of their rankings before and now."""
    sign = 1 if higher_is_better else -1
    changed = [
        (sign * (now - before), query)
        for query in measurement.queries
        for before, now in [query.values.get(metric, (None, None))]
        if before is not None and now is not None and sign * (now - before) < 0
    ]
    changed.sort(key=lambda pair: pair[0])
    if not changed:
        return
    rows = [
        (
            escaped(query.id, 40),
            escaped(query.text, 80),
            number_text(query.values[metric][0], 3),
            number_text(query.values[metric][1], 3),
            _documents(query.before or (), query),
            _documents(query.now, query),
        )
        for _, query in changed[:_WORST]
    ]
    yield ""
    head = ("query", "text", "baseline", "now", "top before", "top now")
    yield from _table(head, rows)
    hidden = len(changed) - _WORST
    if hidden > 0:
        are = "is" if hidden == 1 else "are"
        yield ""
        yield f"_and {plural(hidden, 'more query', 'more queries')} that {are} worse_"


def _documents(doc_ids: Sequence[str], query: QueryDetail) -> str:
    grades = query.grades
    return ", ".join(
        f"{escaped(doc_id, 30)} ({grades[doc_id]:g})" if doc_id in grades else escaped(doc_id, 30)
        for doc_id in doc_ids[:_DOCUMENTS]
    )


def _changes(notes: Sequence[Note]) -> str:
    """Return the baselines that the branch changes, which its reviewers must not overlook."""
    groups = by_heading(note for note in notes if note.topic is Topic.BRANCH)
    lines = []
    for heading, group in groups.items():
        lines += [f"### {escaped(heading)}", ""]
        lines += [f"- {escaped(note.text, 400)}" for note in group]
    return "\n".join(lines) + "\n" if lines else ""


def _notes(notes: Sequence[Note]) -> str:
    groups = by_heading(
        note for note in notes if note.topic is not Topic.BRANCH and not note.failed
    )
    if not groups:
        return ""
    lines = ["<details><summary>Notes</summary>", ""]
    for heading, group in groups.items():
        lines.append(f"- {escaped(heading)}")
        lines += [f"  - {escaped(note.text.strip(), 2000)}" for note in group]
    return "\n".join([*lines, "", "</details>"]) + "\n"


def _resolution(finding: ResolutionFinding) -> str:
    """Return what a golden set can see, folded away, with the recommendation."""
    title = escaped(resolution_title(finding), 400)
    lines = [f"<details><summary>{title}</summary>", ""]
    rows = [
        tuple(escaped(cell) for cell in resolution_cells(*metric))
        for metric in finding.metrics.items()
    ]
    lines += [*_table(COLUMNS, rows), ""]
    lines += [f"- {escaped(sentence, 2000)}" for sentence in finding.recommendation]
    return "\n".join([*lines, "", "</details>"]) + "\n"


def _how(report: Report) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in report.versions.items())
    return f"<sub>{escaped(report.command, 400)} · {escaped(versions, 400)}</sub>\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _sign(gate: ReportedGate) -> str:
    if gate.finding.failed:
        return "❌"
    if gate.finding.approved:
        return "⚠️"
    if not gate.finding.reached:
        return "–"
    return "❔" if gate.detail.outcome == Outcome.INCONCLUSIVE else "✅"


def _change(decision: DecisionDetail) -> str:
    return "" if decision.difference is None else change(decision.difference)


def _interval(decision: DecisionDetail) -> str:
    if decision.interval is None:
        return ""
    low, high = decision.interval
    return f"{change(low)} to {change(high)}"


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max((len(run) for run in re.findall("`+", text)), default=0)
