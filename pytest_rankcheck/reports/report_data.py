"""The report of a session as data: what the HTML, Markdown and JSON reports are made of.

``report.schema.json`` beside this module describes it.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pytest_rankcheck.reports.ledger import Entry

__all__ = ["FORMAT_NAME", "FORMAT_VERSION", "Report", "report_of"]

FORMAT_NAME = "pytest-rankcheck report"
FORMAT_VERSION = 1

Report = dict[str, Any]

_PACKAGES = ("pytest-rankcheck", "pytest", "syrupy", "numpy", "pandas", "scipy", "polars")


def report_of(entries: Sequence[Entry], command: str) -> Report:
    """Return the report of what the tests of a session found.

    Args:
        entries: their ledgers, in detail.
        command: how the session can be run again.
    """
    measurements, moved = _merged(
        [entry["measurement"] for entry in entries if "measurement" in entry]
    )
    gates = [_gate(entry, moved) for entry in entries if "detail" in entry]
    return {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": command,
        "versions": dict(_versions()),
        "outcome": "failed" if any(entry.get("failed") for entry in entries) else "passed",
        # What failed comes first, then what has a baseline.
        "gates": sorted(gates, key=lambda gate: (not gate["failed"], gate["baseline"] is None)),
        "notes": list(_notes(entries)),
        "resolutions": _resolutions(entries),
        "measurements": measurements,
    }


def _resolutions(entries: Sequence[Entry]) -> list[Report]:
    from pytest_rankcheck.reports.text.resolution_text import merged_resolutions

    return merged_resolutions(entries)


def _notes(entries: Iterable[Entry]) -> Iterator[Report]:
    """Yield each note once; with what failed, where it is of an assertion about no metric."""
    for heading, text, failure in dict.fromkeys(
        (entry["heading"], entry["note"], entry.get("failure"))
        for entry in entries
        if "note" in entry
    ):
        yield {"heading": heading, "text": text} | ({"failure": failure} if failure else {})


def _gate(entry: Entry, moved: Mapping[str, str]) -> Report:
    detail = dict(entry["detail"])
    detail["measurement"] = moved[detail["measurement"]]
    return {
        "golden_set": entry["golden"],
        "verdict": entry["verdict"],
        "failed": entry["failed"],
        "baseline": _rounded(entry["baseline"]),
        "now": _rounded(entry["now"]),
        "baseline_file": None,
        **detail,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 6) + 0.0


def _merged(found: Sequence[Mapping[str, Any]]) -> tuple[list[Report], dict[str, str]]:
    """Return the measurements, each once with all its metrics, and what became of each key.

    One without a baseline is part of one with, where the rankings are the same.
    """
    with_baseline = {one["rankings"]: one["key"] for one in found if _has_baseline(one["queries"])}
    moved = {
        one["key"]: one["key"]
        if _has_baseline(one["queries"])
        else with_baseline.get(one["rankings"], one["key"])
        for one in found
    }
    whole: dict[str, Report] = {}
    # Those with a baseline come first: they know the values before.
    for one in sorted(found, key=lambda one: not _has_baseline(one["queries"])):
        key = moved[one["key"]]
        if key not in whole:
            whole[key] = {
                **one,
                "metrics": {},
                "means": {},
                "queries": [{**query, "values": {}} for query in one["queries"]],
            }
        into = whole[key]
        into["titles"] = {**one["titles"], **into["titles"]}
        for name, definition in one["metrics"].items():
            if name in into["metrics"]:
                continue
            into["metrics"][name] = definition
            into["means"][name] = one["means"][name]
            for target, source in zip(into["queries"], one["queries"], strict=True):
                target["values"][name] = source["values"][name]
    return list(whole.values()), moved


def _has_baseline(queries: Iterable[Mapping[str, Any]]) -> bool:
    return any(query["before"] is not None for query in queries)


def _versions() -> Iterable[tuple[str, str]]:
    yield "python", platform.python_version()
    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
