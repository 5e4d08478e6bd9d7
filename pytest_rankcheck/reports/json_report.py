"""The report as JSON, for machines: a line a gate and a line a query."""

from __future__ import annotations

from pytest_rankcheck.files.whole_files import readable_json
from pytest_rankcheck.reports.report_data import Report

__all__ = ["json_of"]


def json_of(report: Report) -> str:
    """Return the report as JSON text."""
    parts = [
        f"{readable_json(key)}: {readable_json(value)}"
        for key, value in report.items()
        if key not in ("gates", "measurements")
    ]
    parts.append(f'"gates": {_lines([readable_json(gate) for gate in report["gates"]], 4)}')
    measurements = []
    for measurement in report["measurements"]:
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
