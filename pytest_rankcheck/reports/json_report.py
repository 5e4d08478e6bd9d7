"""The report as JSON, for machines: one line for each gate and for each query."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_rankcheck.files.whole_files import readable_json
from pytest_rankcheck.remedies import Remedy
from pytest_rankcheck.reports.findings import GateFinding, Note
from pytest_rankcheck.reports.measurement_findings import as_json
from pytest_rankcheck.reports.report_data import Report

FORMAT_NAME = "pytest-rankcheck report"
FORMAT_VERSION = 2


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
    finding = as_json(replace(gate, detail={}, remedy=None))
    del finding["detail"]
    return {**finding, **gate.detail, "remedy": _command(gate.remedy)}


def _note(note: Note) -> dict[str, Any]:
    return {
        "topic": note.topic.key,
        "heading": note.heading,
        "text": note.text,
        "failure": note.failure,
        "remedy": _command(note.remedy),
    }


def _command(remedy: Remedy | None) -> dict[str, str] | None:
    return {"purpose": remedy.purpose, "command": remedy.command} if remedy else None


def json_of(report: Report) -> str:
    """Return the report as JSON text."""
    return _text(report_json(report), "") + "\n"


_LISTS = ("gates", "baselines", "measurements", "queries")
"""What has a line for each of its items."""


def _text(value: Any, indent: str) -> str:
    """Return a value as JSON: on one line, unless it has one of the lists above."""
    if not isinstance(value, dict) or not any(isinstance(value.get(key), list) for key in _LISTS):
        return readable_json(value)
    inner, parts = indent + "  ", []
    for key, item in value.items():
        if key in _LISTS and item:
            deeper = inner + "  "
            lines = f",\n{deeper}".join(_text(each, deeper) for each in item)
            text = f"[\n{deeper}{lines}\n{inner}]"
        else:
            text = readable_json(item)
        parts.append(f"{inner}{readable_json(key)}: {text}")
    body = ",\n".join(parts)
    return f"{{\n{body}\n{indent}}}"
