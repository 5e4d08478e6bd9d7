"""Lint findings as the text of a failing test and as lines of the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import LintFinding
from pytest_rankcheck.reports.notes import Note, Topic

__all__ = ["finding_lines", "lint_notes", "lint_text"]

_PLACES = 5


def lint_text(golden_name: str, queries: int, findings: Sequence[LintFinding]) -> str:
    """Return all findings on a golden set: what, where, why it matters, what to do."""
    errors = sum(finding.level == "error" for finding in findings)
    warnings = len(findings) - errors
    size = plural(queries, "query", "queries")
    counts = f"{plural(errors, 'error')}, {plural(warnings, 'warning')}"
    head = f"golden set '{quoted(golden_name)}' ({size}): {counts}"
    return "\n".join([head, *finding_lines(findings)])


def finding_lines(findings: Sequence[LintFinding]) -> Iterator[str]:
    """Yield the lines of findings on a golden set or a session log."""
    for finding in findings:
        yield f"  {finding.level} {finding.rule}: {finding.what}"
        if finding.places:
            yield f"    at  {listed(finding.places, _PLACES)}"
        yield f"    why {finding.why}"
        yield f"    do  {finding.remedy}"


def lint_notes(golden_name: str, findings: Sequence[LintFinding]) -> Iterator[Note]:
    """Yield one line of the summary for each finding."""
    for finding in findings:
        yield Note(Topic.LINT, str(finding), quoted(golden_name))
