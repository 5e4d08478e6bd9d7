"""Findings with the ages of the baselines that they are about: git is asked once for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.baseline_age import BaselineAge
from pytest_rankcheck.baselines.update_actions import Action
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.reports.baseline_findings import BaselineFinding
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.metric_findings import GateFinding

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.reference_commit import Reference

__all__ = ["with_ages"]


def with_ages(
    findings: Sequence[ReportedFinding], folder: Path, root: Path, reference: Reference | None
) -> Sequence[ReportedFinding]:
    """Return findings, those that show a baseline's age with that age.

    A baseline with changes that are not committed has no age, unless this test session wrote it:
    then the age is that of the lines before.

    Args:
        findings: of all tests.
        folder: where the test session was started.
        root: the root folder of the project.
        reference: the commit whose baselines count; None: those of the working tree.
    """
    files = {file for file in map(_file_of, findings) if file is not None}
    if not files:
        return findings
    from pytest_rankcheck.baselines.age_search import uncommitted

    suffix = f" at {quoted(reference.name)}" if reference else None
    there = {file for file in files if suffix is not None and file.endswith(suffix)}
    ages: dict[str, BaselineAge] = {}
    if reference is not None and suffix is not None and there:
        paths = {file: folder / file.removesuffix(suffix) for file in there}
        ages.update(_ages(paths, root, reference.commit))
    changed: frozenset[str] = frozenset()
    if files - there:
        paths = {file: folder / file for file in files - there}
        ages.update(_ages(paths, root, "HEAD"))
        uncommitted_paths = uncommitted(paths.values(), root) if ages else frozenset()
        changed = frozenset(file for file, path in paths.items() if path in uncommitted_paths)
    return [_aged(finding, ages, changed) for finding in findings] if ages else findings


def _ages(paths: Mapping[str, Path], root: Path, commit: str) -> Iterable[tuple[str, BaselineAge]]:
    from pytest_rankcheck.baselines.age_search import ages_of

    ages = ages_of(paths.values(), root, commit)
    return [(file, ages[path]) for file, path in paths.items() if path in ages]


def _file_of(finding: ReportedFinding) -> str | None:
    """Return the baseline file of a finding that shows its age."""
    if isinstance(finding, GateFinding) and (finding.failed or finding.detail is not None):
        return finding.baseline_file
    if isinstance(finding, BaselineFinding):
        is_shown = finding.is_written or finding.can_be_raised or finding.action is Action.KEEP
        return finding.file if is_shown and finding.has_record else None
    return None


def _aged(
    finding: ReportedFinding, ages: Mapping[str, BaselineAge], changed: frozenset[str]
) -> ReportedFinding:
    file = _file_of(finding)
    if file is None or not isinstance(finding, (GateFinding, BaselineFinding)):
        return finding
    is_written = isinstance(finding, BaselineFinding) and finding.is_written
    return replace(finding, age=None if file in changed and not is_written else ages.get(file))
