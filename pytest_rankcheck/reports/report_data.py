"""The report of a test session, from which the HTML, Markdown and JSON reports are made."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pytest_rankcheck.errors import plural
from pytest_rankcheck.explanation.documents_to_judge import DocumentToJudge, most_influential
from pytest_rankcheck.remedies import Remedy, joined
from pytest_rankcheck.reports.findings import (
    GateFinding,
    JudgingFinding,
    MeasurementFinding,
    Note,
    RecordFinding,
    ReportedFinding,
    Topic,
)
from pytest_rankcheck.reports.leaderboard import LeaderboardFinding

_WARNINGS = {
    Topic.UNGATED_FALL: "with a fall in a slice that is not gated",
    Topic.NO_SLICE_GATED: "without a gated slice",
    Topic.UNMET_IDS: "with hardly any judged document",
    Topic.DECIDES_NOTHING: "that could not have failed",
    Topic.NO_LONGER_GATED: "no longer gated",
    Topic.LOOSER_GATE: "with a looser gate",
    Topic.NOT_RUN: "not run",
    Topic.RETIRED: "retired",
    Topic.LOST_QUERIES: "with removed or edited queries",
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
    """The command that runs the session again."""
    commit: str | None = None
    """The commit that was checked out; None without git."""
    versions: dict[str, str]
    exit_status: int
    """The exit status of pytest or of the command."""
    problems: tuple[str, ...]
    """What else failed, and the gates that did not run."""
    gates: tuple[GateFinding, ...]
    """Those that failed come first, then those with a baseline."""
    notes: tuple[Note, ...]
    leaderboards: tuple[LeaderboardFinding, ...]
    baselines: tuple[RecordFinding, ...]
    """The baselines that the test session saw, and whether their gates ran."""
    measurements: tuple[_Data, ...]
    documents: tuple[DocumentToJudge, ...]
    """What to judge next, most influential first."""

    @property
    def passed(self) -> bool:
        """Whether the exit status is 0, at least one gate or check ran, and none failed."""
        ran = self.reached_gates + len(self._checks)
        failed = self.failed_gates + sum(note.failed for note in self.notes)
        return not self.exit_status and ran > 0 and not failed

    @property
    def headline(self) -> str:
        """The report in one line, such as ``1 of 3 gates failed``."""
        gates, checks = plural(self.reached_gates, "gate"), len(self._checks)
        failed_checks = sum(note.failed for note in self.notes)
        left = len(self.gates) - self.reached_gates
        rest = f", {left:,} not reached" if left else ""
        if self.failed_gates or failed_checks:
            others = f" and {plural(failed_checks, 'other check')}" if failed_checks else ""
            return f"{self.failed_gates:,} of {gates}{others} failed{rest}"
        if not self.reached_gates:
            gates = plural(checks, "check") if checks else "no gate ran"
        said = f"{gates} passed" if self.reached_gates or checks else gates
        if not self.passed:
            return f"{said}{rest}, but the test session failed" if self.exit_status else said
        if self.warnings:
            said += f" with warnings: {', '.join(self.warnings)}"
        return said + rest

    @property
    def tone(self) -> str:
        """How it reads: ``bad``, ``unsure`` or ``good``."""
        if not self.passed:
            return "bad"
        is_whole = self.reached_gates == len(self.gates)
        return "good" if is_whole and not self.warnings else "unsure"

    @property
    def reached_gates(self) -> int:
        """How many gates decided, because their tests did not stop before them."""
        return sum(gate.reached for gate in self.gates)

    @property
    def failed_gates(self) -> int:
        """How many gates failed."""
        return sum(gate.failed for gate in self.gates)

    @property
    def blockers(self) -> Sequence[GateFinding | Note]:
        """Why it failed: a gate for each failing assertion, then other checks."""
        gates = (gate for gate in self.gates if gate.failure)
        return [*gates, *(note for note in self.notes if note.failed)]

    @property
    def commands(self) -> Sequence[Remedy]:
        """The commands to type: the fixes, then a new run if anything else failed.

        A test with a part that no command fixes writes nothing, so its other parts get no command.
        """
        every: tuple[GateFinding | Note, ...] = (*self.gates, *self.notes)
        failed = [each for each in every if each.failed]
        stuck = [each for each in failed if each.remedy is None]
        tests = {each.test for each in stuck if isinstance(each, GateFinding)}
        able = (each for each in failed if getattr(each, "test", None) not in tests)
        mends = joined(each.remedy for each in able if each.remedy)
        unrun = sum(note.topic is Topic.NOT_RUN for note in self.notes)
        is_whole = not stuck and len(self.problems) == unrun and (mends or not self.exit_status)
        return mends if is_whole else [*mends, Remedy("to reproduce", self.command)]

    @property
    def _checks(self) -> Sequence[Note]:
        """The checks without a metric, and other failures."""
        return [note for note in self.notes if note.is_check or note.failed]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at although it passed, such as ``2 inconclusive``."""
        passed = [gate for gate in self.gates if not gate.failed]
        counts = {
            "inconclusive": sum(gate.is_open for gate in passed),
            "approved": sum(bool(gate.approved) for gate in passed),
        }
        for topic, words in _WARNINGS.items():
            counts[words] = sum(note.topic is topic for note in self.notes)
        return tuple(f"{count:,} {words}" for words, count in counts.items() if count)


def worst_queries(gate: _Data, measurements: Iterable[_Data]) -> Sequence[_Data]:
    """Return the queries that best show why a gate failed, as in its measurement.

    Args:
        gate: of the JSON report.
        measurements: of the same report.
    """
    queries = next(each["queries"] for each in measurements if each["key"] == gate["measurement"])
    known = {query["id"]: query for query in queries}
    worst = gate["failure"]["worst"]
    return [{**known[each["id"]], **each} for each in worst if each["id"] in known]


def report_of(
    findings: Sequence[ReportedFinding],
    command: str,
    exit_status: int = 0,
    problems: Iterable[str] = (),
    commit: str | None = None,
) -> Report:
    """Return the report of what the tests of a session found.

    Args:
        findings: what they found, in detail.
        command: how the session can be run again.
        exit_status: pytest's, or that of the command.
        problems: what failed besides gates and checks.
        commit: what was checked out.
    """
    measurements, moved = _merged(
        [finding for finding in findings if isinstance(finding, MeasurementFinding)]
    )
    gates = [
        replace(each, numbers=replace(each.numbers, measurement=moved[each.numbers.measurement]))
        for each in findings
        if isinstance(each, GateFinding) and each.numbers
    ]
    notes = tuple(dict.fromkeys(each for each in findings if isinstance(each, Note)))
    unrun = (f"not run: {note.text}" for note in notes if note.topic is Topic.NOT_RUN)
    return Report(
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        command=command,
        commit=commit,
        versions=dict(_versions()),
        exit_status=exit_status,
        problems=(*problems, *unrun),
        gates=tuple(sorted(gates, key=lambda gate: (not gate.failed, gate.baseline is None))),
        notes=notes,
        leaderboards=tuple(each for each in findings if isinstance(each, LeaderboardFinding)),
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


def _merged(measurements: Sequence[MeasurementFinding]) -> tuple[list[_Data], dict[str, str]]:
    """Return each measurement once, with all its metrics, and the new key for each old key.

    A measurement without a baseline is merged into one of the same rankings that has a baseline.
    """
    # Those with a baseline come first: they know the values before.
    ordered = sorted(measurements, key=lambda part: not has_baseline(part.data))
    first: dict[str, str] = {}
    moved: dict[str, str] = {}
    groups: dict[str, list[MeasurementFinding]] = {}
    for part in ordered:
        key: str = part.data["key"]
        same = first.setdefault(part.data["rankings"], key)
        moved[key] = key if has_baseline(part.data) else same
        groups.setdefault(moved[key], []).append(part)
    return [_joined(group) for group in groups.values()], moved


def has_baseline(measurement: _Data) -> bool:
    """Return whether it is known how a query was ranked before."""
    return any(query["before"] is not None for query in measurement["queries"])


def _joined(parts: Sequence[MeasurementFinding]) -> _Data:
    """Return the first measurement with the metrics of all; the first value counts."""
    first, values = parts[0].data, _all_of(part.values for part in parts)
    of_queries = zip(first["queries"], *values.values(), strict=True)
    return {
        **first,
        **{name: _all_of(it.data[name] for it in parts) for name in ("metrics", "means", "titles")},
        "queries": [
            {**query, "values": dict(zip(values, each, strict=True))} for query, *each in of_queries
        ],
    }


def _all_of(parts: Iterable[_Data]) -> _Data:
    """Return the items of all parts; if several parts have an item, the first one counts."""
    items: _Data = {}
    for part in parts:
        items |= {**part, **items}
    return items


def _versions() -> Iterable[tuple[str, str]]:
    yield "python", platform.python_version()
    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
