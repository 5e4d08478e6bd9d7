"""Lint findings as the text of a failing test and as lines of the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import LintFinding
from pytest_rankcheck.reports.findings import Note, Topic

_PLACES = 5


def lint_text(golden_name: str, queries: int, findings: Sequence[LintFinding]) -> str:
    """Return all findings on a golden set: what, where, why it matters, and what to do.

    Args:
        golden_name: the name of the set.
        queries: how many queries it has.
        findings: what the linter found.
    """
    size = plural(queries, "query", "queries")
    head = f"golden set '{quoted(golden_name)}' ({size}): {_counts(findings)}"
    return "\n".join([head, *_lines(findings)])


def _counts(findings: Sequence[LintFinding]) -> str:
    errors = sum(finding.level == "error" for finding in findings)
    return f"{plural(errors, 'error')}, {plural(len(findings) - errors, 'warning')}"


def _lines(findings: Sequence[LintFinding]) -> Iterator[str]:
    for finding in findings:
        yield f"  {finding.level} {finding.rule}: {finding.what}"
        if finding.places:
            yield f"    at  {listed(finding.places, _PLACES)}"
        yield f"    why {finding.why}"
        yield f"    do  {finding.remedy}"


def lint_notes(golden_name: str, findings: Sequence[LintFinding]) -> Iterator[Note]:
    """Yield one line of the summary for each finding on a golden set."""
    for finding in findings:
        yield Note(Topic.LINT, str(finding), f"golden set '{quoted(golden_name)}'")
