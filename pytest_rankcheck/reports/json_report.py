"""The report as JSON, for machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from pytest_rankcheck.baselines.change import Approval
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.explanation.explanation import ExplainedQuery, Explanation
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.files.whole_files import readable_json
from pytest_rankcheck.remedies import Remedy
from pytest_rankcheck.reports.findings import GateFinding, Note
from pytest_rankcheck.reports.measurement_findings import as_json
from pytest_rankcheck.reports.report_data import Report
from pytest_rankcheck.reports.text.failure_text import failure_lines
from pytest_rankcheck.reports.text.metrics_text import headline
from pytest_rankcheck.reports.text.wording import gate_words

FORMAT_NAME = "pytest-rankcheck report"
FORMAT_VERSION = 2

_OF_FINDING = (
    *("test", "golden_set", "ranker", "metric", "slice", "failed", "reached"),
    *("approved", "baseline", "now", "baseline_file"),
)
"""The fields of a gate that come from its finding."""


def report_json(report: Report) -> dict[str, Any]:
    """Return the report in built-in types, as ``report.schema.json`` describes it."""
    return {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "created": report.created,
        "command": report.command,
        "commit": report.commit,
        "versions": report.versions,
        "outcome": "passed" if report.passed else "failed",
        "exit_status": report.exit_status,
        "problems": list(report.problems),
        "commands": list(map(_command, report.commands)),
        "gates": [_gate(gate) for gate in report.gates],
        "notes": [_note(note) for note in report.notes],
        "leaderboards": [board.to_json() for board in report.leaderboards],
        "baselines": as_json(report.baselines),
        "measurements": list(report.measurements),
    }


def _gate(gate: GateFinding) -> dict[str, Any]:
    finding = as_json({name: getattr(gate, name) for name in _OF_FINDING})
    finding["verdict"] = gate_words(gate)
    numbers = gate.numbers
    assert numbers is not None
    approvals = [*map(_approval, numbers.approvals)]
    failure = gate.failure and _failure(gate.failure)
    told = {"text": _text_of(gate), "failure": failure, "remedy": _command(gate.remedy)}
    finding["higher_is_better"] = numbers.metric.higher_is_better
    return {**finding, **as_json(numbers), "approvals": approvals, **told}


def _text_of(finding: GateFinding | Note) -> str | None:
    return "\n".join(failure_lines(finding.failure, in_full=True)) if finding.failure else None


def _approval(approval: Approval) -> dict[str, Any]:
    """Return a reason with the changes that it allows, by their names in the record."""
    sides = ("before", "after", "weight")
    keys = [
        {"name": change.name, **{side: getattr(change, side) for side in sides}}
        for change in approval.keys
    ]
    names = ("reason", "date", "commit", "author")
    told: dict[str, Any] = as_json(
        {**{each: getattr(approval, each) for each in names}, "keys": keys}
    )
    return told


def _failure(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation: its headline, its metrics, its queries and its commands."""
    return {
        "headline": headline(explanation),
        "metrics": [str(each.metric) for each in explanation.failures],
        "worst": [*map(_query, explanation.worst)],
        "remedies": [*map(_command, explanation.remedies)],
    }


def _query(query: ExplainedQuery) -> dict[str, Any]:
    names = ("id", "grade", "before", "now")
    documents = [{name: getattr(each, name) for name in names} for each in query.documents]
    changed = {"changed": query.values, "documents": documents}
    found: dict[str, Any] = as_json({"id": query.id, **changed})
    return found


def _note(note: Note) -> dict[str, Any]:
    return {
        "topic": note.topic.key,
        "heading": note.heading,
        "text": note.text,
        "failure": _text_of(note),
        "remedy": _command(note.remedy),
    }


def _command(remedy: Remedy | None) -> dict[str, str] | None:
    return {"purpose": remedy.purpose, "command": remedy.command} if remedy else None


def read_report(path: Path) -> dict[str, Any]:
    """Return what a JSON report of a test session says about gates and baselines.

    Raises:
        ConfigurationError: the file is missing, or is not a JSON report.
    """
    if not path.is_file():
        raise ConfigurationError(
            f"{quoted(path)} does not exist; write the report of each job with "
            "--rankcheck-json=PATH"
        )
    try:
        report = cast("dict[str, Any]", json.loads(text_of(path, ConfigurationError)))
        if (report["format"], report["version"]) != (FORMAT_NAME, FORMAT_VERSION):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ConfigurationError(
            f"{quoted(path)} is not a JSON report of a test session; write one with "
            "--rankcheck-json=PATH"
        ) from None
    return report


def json_of(report: Report) -> str:
    """Return the report as JSON text, with a line for each of its parts."""
    parts = report_json(report).items()
    lines = (f"{readable_json(name)}: {readable_json(part)}" for name, part in parts)
    return "{\n" + ",\n".join(lines) + "\n}\n"
