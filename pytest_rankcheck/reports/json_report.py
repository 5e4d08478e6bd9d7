"""The report as JSON, for machines: one line for each gate and for each query."""

from __future__ import annotations

import math
from typing import Any

from pytest_rankcheck.files.whole_files import readable_json
from pytest_rankcheck.reports.finding_encoding import to_builtin
from pytest_rankcheck.reports.notes import Note
from pytest_rankcheck.reports.report_data import Report, ReportedGate

__all__ = ["FORMAT_NAME", "FORMAT_VERSION", "json_of", "report_json"]

FORMAT_NAME = "pytest-rankcheck report"
FORMAT_VERSION = 2


def report_json(report: Report) -> dict[str, Any]:
    """Return the report in built-in types, as ``report.schema.json`` describes it."""
    return {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "created": report.created,
        "command": report.command,
        "versions": report.versions,
        "outcome": "failed" if report.failed else "passed",
        "gates": [_gate(gate) for gate in report.gates],
        "notes": [_note(note) for note in report.notes],
        "baselines": to_builtin(report.baselines),
        "resolutions": to_builtin(report.resolutions),
        "measurements": to_builtin(report.measurements),
    }


def _gate(gate: ReportedGate) -> dict[str, Any]:
    data = {**to_builtin(gate.finding), **to_builtin(gate.detail)}
    now = None if math.isnan(gate.finding.now) else gate.finding.now
    return {name: value for name, value in data.items() if name != "detail"} | {"now": now}


def _note(note: Note) -> dict[str, Any]:
    return {
        "topic": note.topic.value,
        "heading": note.heading,
        "text": note.text,
        "failure": note.failure,
    }


def json_of(report: Report) -> str:
    """Return the report as JSON text."""
    data = report_json(report)
    parts = [
        f"{readable_json(key)}: {readable_json(value)}"
        for key, value in data.items()
        if key not in ("gates", "baselines", "measurements")
    ]
    parts += [
        f'"{key}": {_lines([readable_json(line) for line in data[key]], 4)}'
        for key in ("gates", "baselines")
    ]
    measurements = []
    for measurement in data["measurements"]:
        inner = [
            f"{readable_json(key)}: {readable_json(value)}"
            for key, value in measurement.items()
            if key != "queries"
        ]
        queries = _lines([readable_json(query) for query in measurement["queries"]], 8)
        inner.append(f'"queries": {queries}')
        body = ",\n      ".join(inner)
        measurements.append(f"{{\n      {body}\n    }}")
    parts.append(f'"measurements": {_lines(measurements, 4)}')
    body = ",\n  ".join(parts)
    return f"{{\n  {body}\n}}\n"


def _lines(lines: list[str], indent: int) -> str:
    if not lines:
        return "[]"
    space = "\n" + " " * indent
    return f"[{space}{f',{space}'.join(lines)}{space[:-2]}]"
