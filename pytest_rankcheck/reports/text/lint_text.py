"""Lint findings as the text of a failing test and as lines of the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import LintFinding
from pytest_rankcheck.reports.notes import Note, Topic

__all__ = ["lint_notes", "lint_text"]

_PLACES = 5


def lint_text(golden_name: str, queries: int, findings: Sequence[LintFinding]) -> str:
    """Return all findings on a golden set: what, where, why it matters, what to do."""
    errors = sum(finding.level == "error" for finding in findings)
    warnings = len(findings) - errors
    size = plural(queries, "query", "queries")
    counts = f"{plural(errors, 'error')}, {plural(warnings, 'warning')}"
    lines = [f"golden set '{quoted(golden_name)}' ({size}): {counts}"]
    for finding in findings:
        lines.append(f"  {finding.level} {finding.rule}: {finding.what}")
        if finding.places:
            lines.append(f"    at  {listed(finding.places, _PLACES)}")
        lines.append(f"    why {finding.why}")
        lines.append(f"    do  {finding.remedy}")
    return "\n".join(lines)


def lint_notes(golden_name: str, findings: Sequence[LintFinding]) -> Iterator[Note]:
    """Yield one line of the summary for each finding."""
    for finding in findings:
        yield Note(Topic.LINT, str(finding), quoted(golden_name))
