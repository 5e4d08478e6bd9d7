"""The report of a test session: what the HTML, Markdown and JSON reports are made of."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.reports.findings import (
    DocumentToJudge,
    GateFinding,
    JudgingFinding,
    MeasurementFinding,
    Note,
    RecordFinding,
    ReportedFinding,
    Topic,
    most_influential,
)

_WARNINGS = {
    Topic.UNGATED_FALL: "with a fall in a slice that is not gated",
    Topic.NO_SLICE_GATED: "without a gated slice",
    Topic.UNMET_IDS: "with ids that hardly meet",
    Topic.DECIDES_NOTHING: "that could not have failed",
    Topic.NO_LONGER_GATED: "no longer gated",
    Topic.LOOSER_GATE: "with a looser gate",
    Topic.NOT_RUN: "not run",
    Topic.RETIRED: "retired",
}
"""Notes that qualify a passed gate, worded to follow a number."""
_PACKAGES = ("pytest-rankcheck", "pytest", "syrupy", "numpy", "pandas", "scipy", "polars")


_Data = dict[str, Any]
"""A part of the JSON report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the tests of a session found, merged."""

    created: str
    """The time, as ``2024-05-01T12:00:00Z``."""
    command: str
    """How the session can be run again."""
    versions: dict[str, str]
    failed: bool
    gates: tuple[GateFinding, ...]
    """Those that failed first, then those with a baseline."""
    notes: tuple[Note, ...]
    baselines: tuple[RecordFinding, ...]
    """The baselines that the test session saw, and whether their gates ran."""
    measurements: tuple[_Data, ...]
    documents: tuple[DocumentToJudge, ...]
    """What to judge next, most influential first."""

    @property
    def reached_gates(self) -> int:
        """How many gates decided: their tests did not stop before."""
        return sum(gate.reached for gate in self.gates)

    @property
    def unreached(self) -> str:
        """How many gates were not reached, to follow a number; empty if all were."""
        count = len(self.gates) - self.reached_gates
        return f", {count:,} not reached" if count else ""

    @property
    def failed_gates(self) -> int:
        """How many gates failed."""
        return sum(gate.failed for gate in self.gates)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at though it passed, such as ``2 inconclusive``."""
        passed = [gate for gate in self.gates if not gate.failed]
        counts = {
            "inconclusive": sum(gate.detail["outcome"] == Outcome.INCONCLUSIVE for gate in passed),
            "approved": sum(bool(gate.approved) for gate in passed),
        }
        for topic, words in _WARNINGS.items():
            counts[words] = sum(note.topic is topic for note in self.notes)
        return tuple(f"{count:,} {words}" for words, count in counts.items() if count)

    @property
    def failed_checks(self) -> tuple[Note, ...]:
        """The failed checks that are not about a metric."""
        return tuple(note for note in self.notes if note.failed)


def report_of(findings: Sequence[ReportedFinding], command: str) -> Report:
    """Return the report of what the tests of a session found.

    Args:
        findings: what they found, in detail.
        command: how the session can be run again.
    """
    measurements, moved = _merged(
        [finding.data for finding in findings if isinstance(finding, MeasurementFinding)]
    )
    gates = [
        replace(each, detail={**each.detail, "measurement": moved[each.detail["measurement"]]})
        for each in findings
        if isinstance(each, GateFinding) and each.detail
    ]
    return Report(
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        command=command,
        versions=dict(_versions()),
        failed=any(finding.failed for finding in findings),
        gates=tuple(sorted(gates, key=lambda gate: (not gate.failed, gate.baseline is None))),
        notes=tuple(dict.fromkeys(each for each in findings if isinstance(each, Note))),
        baselines=tuple(
            sorted(
                {finding for finding in findings if isinstance(finding, RecordFinding)},
                key=lambda record: record.file,
            )
        ),
        measurements=tuple(measurements),
        documents=most_influential(
            document
            for finding in findings
            if isinstance(finding, JudgingFinding)
            for document in finding.documents
        ),
    )


def _merged(measurements: Sequence[_Data]) -> tuple[list[_Data], dict[str, str]]:
    """Return each measurement once with all its metrics, and the new key of each old one.

    A measurement without a baseline is merged into the one with a baseline of the same rankings.
    """
    # Those with a baseline come first: they know the values before.
    ordered = sorted(measurements, key=lambda part: not _has_baseline(part))
    complete = {part["rankings"]: part["key"] for part in ordered if _has_baseline(part)}
    moved: dict[str, str] = {}
    groups: dict[str, list[_Data]] = {}
    for part in ordered:
        key: str = part["key"]
        moved[key] = key if _has_baseline(part) else complete.get(part["rankings"], key)
        groups.setdefault(moved[key], []).append(part)
    return [_joined(group) for group in groups.values()], moved


def _has_baseline(measurement: _Data) -> bool:
    return any(query["before"] is not None for query in measurement["queries"])


def _joined(parts: Sequence[_Data]) -> _Data:
    """Return the first measurement with the metrics of all; the first part with a metric counts."""
    queries = zip(*(part["queries"] for part in parts), strict=True)
    return {
        **parts[0],
        **{field: _all_of(parts, field) for field in ("metrics", "means", "titles")},
        "queries": [{**same[0], "values": _all_of(same, "values")} for same in queries],
    }


def _all_of(parts: Sequence[_Data], field: str) -> _Data:
    """Return the items that a field has in any of the parts; the first part with one counts."""
    items: _Data = {}
    for part in parts:
        items |= {**part[field], **items}
    return items


def _versions() -> Iterable[tuple[str, str]]:
    yield "python", platform.python_version()
    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
