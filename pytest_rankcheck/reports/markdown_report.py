"""The report as Markdown, for a pull request: verdicts, slices that matter, the worst queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.reports.report_data import Report
from pytest_rankcheck.reports.text.branch_text import CHANGES
from pytest_rankcheck.reports.text.resolution_text import (
    COLUMNS,
    resolution_cells,
    resolution_title,
)
from pytest_rankcheck.reports.text.wording import change, number

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
    return _LINKED.sub(lambda found: f"{found[0][0]}<!-- -->{found[0][1:]}", shown)


def markdown_of(report: Report, limit: int = LONGEST_COMMENT) -> str:
    """Return the report as Markdown of at most ``limit`` characters.

    What does not fit is left out from the end, whole sections first, and counted.
    """
    sections = [_head(report), _verdicts(report["gates"]), _changes(report["notes"])]
    sections += [_failure(note) for note in report["notes"] if "failure" in note]
    sections += [
        _gate(gate, report)
        for gate in report["gates"]
        if gate["failed"] or gate["outcome"] == "inconclusive"
    ]
    sections += [_resolution(one) for one in report["resolutions"]]
    sections += [_notes(report["notes"]), _how(report)]
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
    failed = sum(gate["failed"] for gate in report["gates"])
    checks = sum("failure" in note for note in report["notes"])
    gates = plural(len(report["gates"]), "gate")
    if checks:
        parts = f"{failed:,} of {gates} and {plural(checks, 'behaviour check')}"
        return f"## ❌ Ranking quality: {parts} failed\n"
    if failed:
        return f"## ❌ Ranking quality: {failed:,} of {gates} failed\n"
    return f"## ✅ Ranking quality: {gates} passed\n"


def _verdicts(gates: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            _sign(gate),
            escaped(gate["golden_set"], 40),
            escaped(gate["metric"]),
            number(gate["baseline"]),
            number(gate["now"]),
            _change(gate["overall"]),
            _interval(gate["overall"]),
            escaped(gate["verdict"]),
        )
        for gate in gates[:_MOST_GATES]
    ]
    head = ("", "golden set", "metric", "baseline", "now", "change", "95% interval", "verdict")
    lines = list(_table(head, rows))
    if len(gates) > _MOST_GATES:
        lines += ["", f"_and {plural(len(gates) - _MOST_GATES, 'more gate')}_"]
    return "\n".join(lines) + "\n"


def _gate(gate: Mapping[str, Any], report: Report) -> str:
    """Return the section of a gate that failed or is inconclusive."""
    lines = [f"### {escaped(gate['metric'])} on {escaped(gate['golden_set'], 60)}", ""]
    overall = gate["overall"]
    if overall.get("paired") is False:
        sessions = plural(overall["queries"], "session")
        lines.append(f"{sessions}, different from those in the baseline; {escaped(gate['gate'])}")
    elif "losses" in overall:
        queries = plural(overall["queries"], "query", "queries")
        lines.append(
            f"{queries}: {overall['losses']:,} worse, {overall['wins']:,} better, "
            f"{overall['ties']:,} equal; {escaped(gate['gate'])}"
        )
    unjudged = gate.get("unjudged")
    if unjudged and unjudged["documents"] and unjudged["if_relevant"] is not None:
        documents = plural(unjudged["documents"], "document")
        bound = change(unjudged["if_relevant"])
        if_relevant = f"without a judgment: if relevant, the change would be {bound}."
        lines += ["", f"{documents} new in the top {unjudged['k']} {if_relevant}"]
    lines += _slices(gate["slices"], gate["higher_is_better"])
    measurement = next(
        (one for one in report["measurements"] if one["key"] == gate["measurement"]), None
    )
    if measurement:
        lines += _queries(gate, measurement)
    if gate["text"]:
        lines += ["", *_full_text(gate["text"])]
    return "\n".join(lines) + "\n"


def _failure(note: Mapping[str, str]) -> str:
    """Return the section of a failing assertion that is not about a metric."""
    head = [f"### {escaped(note['heading'])}", "", escaped(note["text"], 400), ""]
    return "\n".join([*head, *_full_text(note["failure"])]) + "\n"


def _full_text(text: str) -> list[str]:
    """Return the text of a failure, folded away."""
    fence = "`" * (_longest_run(text) + 3)
    shown = "\n".join(quoted(line, 400) for line in text.splitlines())
    start = ["<details><summary>Full text</summary>", "", f"{fence}text", shown, fence]
    return [*start, "", "</details>"]


def _slices(slices: Sequence[Mapping[str, Any]], higher_is_better: bool) -> Iterator[str]:
    """Yield the slices that matter: those that failed, then those that changed most."""
    compared = [one for one in slices if one.get("difference") is not None]
    if not compared:
        return
    sign = 1 if higher_is_better else -1
    order = sorted(
        compared,
        key=lambda one: (
            one["outcome"] not in ("regressed", "inconclusive"),
            sign * one["difference"],
        ),
    )
    rows = [
        (
            escaped(one["label"], 60),
            f"{one['queries']:,}",
            number(one["before"]),
            number(one["now"]),
            _change(one),
            escaped(one["outcome"]),
        )
        for one in order[:_SLICES]
    ]
    yield ""
    yield from _table(("slice", "queries", "baseline", "now", "change", ""), rows)
    if len(order) > _SLICES:
        yield ""
        yield f"_and {plural(len(order) - _SLICES, 'more slice')}_"


def _queries(gate: Mapping[str, Any], measurement: Mapping[str, Any]) -> Iterator[str]:
    """Yield the queries that lost most, with the top of their rankings before and now."""
    name, sign = gate["metric"], 1 if gate["higher_is_better"] else -1
    changed = [
        (sign * (now - before), query)
        for query in measurement["queries"]
        for before, now in [query["values"].get(name, (None, None))]
        if before is not None and now is not None and sign * (now - before) < 0
    ]
    changed.sort(key=lambda pair: pair[0])
    if not changed:
        return
    rows = [
        (
            escaped(query["id"], 40),
            escaped(query["text"], 80),
            number(query["values"][name][0], 3),
            number(query["values"][name][1], 3),
            _documents(query["before"] or (), query),
            _documents(query["now"], query),
        )
        for _, query in changed[:_WORST]
    ]
    yield ""
    head = ("query", "text", "baseline", "now", "top before", "top now")
    yield from _table(head, rows)
    if len(changed) > _WORST:
        yield ""
        yield f"_and {plural(len(changed) - _WORST, 'more query', 'more queries')} that are worse_"


def _documents(doc_ids: Sequence[str], query: Mapping[str, Any]) -> str:
    grades = query["grades"]
    return ", ".join(
        f"{escaped(doc_id, 30)} ({grades[doc_id]:g})" if doc_id in grades else escaped(doc_id, 30)
        for doc_id in doc_ids[:_DOCUMENTS]
    )


def _changes(notes: Sequence[Mapping[str, str]]) -> str:
    """Return the baselines that the branch changes, which its reviewers must not overlook."""
    found = [note for note in notes if note["heading"].startswith(CHANGES)]
    if not found:
        return ""
    lines = [f"### {escaped(found[0]['heading'])}", ""]
    lines += [f"- {escaped(note['text'], 400)}" for note in found]
    return "\n".join(lines) + "\n"


def _notes(notes: Sequence[Mapping[str, str]]) -> str:
    notes = [
        note for note in notes if not note["heading"].startswith(CHANGES) and "failure" not in note
    ]
    if not notes:
        return ""
    lines = ["<details><summary>Notes</summary>", ""]
    for heading in dict.fromkeys(note["heading"] for note in notes):
        lines.append(f"- {escaped(heading)}")
        lines += [
            f"  - {escaped(note['text'].strip(), 400)}"
            for note in notes
            if note["heading"] == heading
        ]
    return "\n".join([*lines, "", "</details>"]) + "\n"


def _resolution(one: Mapping[str, Any]) -> str:
    """Return what a golden set can see, folded away, with the recommendation."""
    title = escaped(resolution_title(one), 400)
    lines = [f"<details><summary>{title}</summary>", ""]
    rows = [
        tuple(escaped(cell) for cell in resolution_cells(*metric))
        for metric in one["metrics"].items()
    ]
    lines += [*_table(COLUMNS, rows), ""]
    lines += [f"- {escaped(sentence, 2000)}" for sentence in one["recommendation"]]
    return "\n".join([*lines, "", "</details>"]) + "\n"


def _how(report: Report) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in report["versions"].items())
    return f"<sub>{escaped(report['command'], 400)} · {escaped(versions, 400)}</sub>\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _sign(gate: Mapping[str, Any]) -> str:
    return "❌" if gate["failed"] else "❔" if gate["outcome"] == "inconclusive" else "✅"


def _change(decision: Mapping[str, Any]) -> str:
    difference = decision.get("difference")
    return "" if difference is None else change(difference)


def _interval(decision: Mapping[str, Any]) -> str:
    interval = decision.get("interval")
    return "" if not interval else f"{change(interval[0])} to {change(interval[1])}"


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max((len(run) for run in re.findall("`+", text)), default=0)
