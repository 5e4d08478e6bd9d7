"""The report of a test session: what the HTML, Markdown and JSON reports are made of."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.reports.baseline_findings import RecordFinding
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.measurement_detail import rounded
from pytest_rankcheck.reports.measurement_findings import (
    DocumentToJudge,
    JudgingFinding,
    MeasurementFinding,
)
from pytest_rankcheck.reports.metric_findings import GateDetail, GateFinding
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.resolution_findings import ResolutionFinding
from pytest_rankcheck.reports.text.baseline_text import notes_of

__all__ = ["Report", "ReportedGate", "merged_resolutions", "report_of"]

_WARNINGS = {
    Topic.UNGATED_FALL: "with a fall in a slice that is not gated",
    Topic.NO_SLICE_GATED: "without a gated slice",
    Topic.UNMET_IDS: "with ids that hardly meet",
    Topic.DECIDES_NOTHING: "that could not have failed",
    Topic.SLIDE: "with falls that have added up",
    Topic.MOSTLY_INCONCLUSIVE: "with slices too small for the margin",
    Topic.SUSPICIOUS: "suspiciously good",
    Topic.NO_LONGER_GATED: "no longer gated",
    Topic.LOOSER_GATE: "with a looser gate",
    Topic.NOT_RUN: "not run",
    Topic.RETIRED: "retired",
}
"""Notes that qualify a passed gate, worded to follow a number."""
_PACKAGES = ("pytest-rankcheck", "pytest", "syrupy", "numpy", "pandas", "scipy", "polars")


@dataclass(frozen=True, slots=True)
class ReportedGate:
    """A gate with its detail: one line of a report."""

    finding: GateFinding
    detail: GateDetail


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the tests of a session found, merged."""

    created: str
    """The time, as ``2024-05-01T12:00:00Z``."""
    command: str
    """How the session can be run again."""
    versions: dict[str, str]
    failed: bool
    gates: tuple[ReportedGate, ...]
    """Those that failed first, then those with a baseline."""
    notes: tuple[Note, ...]
    baselines: tuple[RecordFinding, ...]
    """The baselines that the test session saw, and whether their gates ran."""
    resolutions: tuple[ResolutionFinding, ...]
    measurements: tuple[MeasurementFinding, ...]
    documents: tuple[DocumentToJudge, ...]
    """What to judge next, most influential first."""

    @property
    def reached_gates(self) -> int:
        """How many gates decided: their tests did not stop before."""
        return sum(gate.finding.reached for gate in self.gates)

    @property
    def failed_gates(self) -> int:
        """How many gates failed."""
        return sum(gate.finding.failed for gate in self.gates)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at though it passed, such as ``2 inconclusive``."""
        passed = [gate for gate in self.gates if not gate.finding.failed]
        counts = {
            "inconclusive": sum(gate.detail.outcome == Outcome.INCONCLUSIVE for gate in passed),
            "approved": sum(bool(gate.finding.approved) for gate in passed),
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
        [finding for finding in findings if isinstance(finding, MeasurementFinding)]
    )
    gates = [
        _gate(finding, finding.detail, moved)
        for finding in findings
        if isinstance(finding, GateFinding) and finding.detail is not None
    ]
    return Report(
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        command=command,
        versions=dict(_versions()),
        failed=any(finding.failed for finding in findings),
        gates=tuple(
            sorted(gates, key=lambda gate: (not gate.finding.failed, gate.finding.baseline is None))
        ),
        notes=tuple(dict.fromkeys(notes_of(findings))),
        baselines=tuple(
            sorted(
                {finding for finding in findings if isinstance(finding, RecordFinding)},
                key=lambda record: record.file,
            )
        ),
        resolutions=tuple(merged_resolutions(findings)),
        measurements=tuple(measurements),
        documents=tuple(_documents(findings)),
    )


def merged_resolutions(findings: Iterable[ReportedFinding]) -> list[ResolutionFinding]:
    """Return one finding for each golden set and run: the one with the most metrics."""
    largest: dict[tuple[str, str], ResolutionFinding] = {}
    for finding in findings:
        if isinstance(finding, ResolutionFinding):
            key = (finding.golden_set, finding.rankings)
            if key not in largest or len(finding.metrics) >= len(largest[key].metrics):
                largest[key] = finding
    return list(largest.values())


def _documents(findings: Iterable[ReportedFinding]) -> list[DocumentToJudge]:
    """Return what to judge, each document of a query once, the most influential first."""
    documents: dict[tuple[str, str, str], DocumentToJudge] = {}
    for finding in findings:
        if isinstance(finding, JudgingFinding):
            for document in finding.documents:
                key = (document.golden_set, document.query_id, document.doc_id)
                if key not in documents or document.influence > documents[key].influence:
                    documents[key] = document
    return sorted(documents.values(), key=lambda document: -document.influence)


def _gate(finding: GateFinding, detail: GateDetail, moved: Mapping[str, str]) -> ReportedGate:
    now = rounded(finding.now)
    return ReportedGate(
        replace(
            finding,
            baseline=rounded(finding.baseline),
            now=float("nan") if now is None else now,
            best=rounded(finding.best),
            detail=None,
        ),
        replace(detail, measurement=moved[detail.measurement]),
    )


def _merged(
    measurements: Sequence[MeasurementFinding],
) -> tuple[list[MeasurementFinding], dict[str, str]]:
    """Return each measurement once with all its metrics, and the new key of each old one.

    A measurement without a baseline is merged into the one with a baseline of the same rankings.
    """
    complete = {part.rankings: part.key for part in measurements if part.has_baseline}
    moved = {
        part.key: part.key if part.has_baseline else complete.get(part.rankings, part.key)
        for part in measurements
    }
    groups: dict[str, list[MeasurementFinding]] = {}
    # Those with a baseline come first: they know the values before.
    for part in sorted(measurements, key=lambda part: not part.has_baseline):
        groups.setdefault(moved[part.key], []).append(part)
    return [_joined(group) for group in groups.values()], moved


def _joined(parts: Sequence[MeasurementFinding]) -> MeasurementFinding:
    """Return the first measurement with the metrics of all; the first part with a metric counts."""
    source: dict[str, MeasurementFinding] = {}
    titles: dict[str, str] = {}
    for part in parts:
        titles = {**part.titles, **titles}
        for name in part.metrics:
            source.setdefault(name, part)
    return replace(
        parts[0],
        metrics={name: part.metrics[name] for name, part in source.items()},
        means={name: part.means[name] for name, part in source.items()},
        queries=tuple(
            replace(
                query,
                values={name: part.queries[place].values[name] for name, part in source.items()},
            )
            for place, query in enumerate(parts[0].queries)
        ),
        titles=titles,
    )


def _versions() -> Iterable[tuple[str, str]]:
    yield "python", platform.python_version()
    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
