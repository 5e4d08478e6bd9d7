"""Lint findings, for the text of a failing test, and as notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import LintFinding
from pytest_rankcheck.reports.findings import Note, Topic

_PLACES = 3


def lint_text(golden_name: str, queries: int, findings: Sequence[LintFinding]) -> str:
    """Return all findings on a golden set: the rule, where, what, and what to do.

    Args:
        golden_name: the name of the set.
        queries: how many queries it has.
        findings: what the linter found.
    """
    size = plural(queries, "query", "queries")
    errors = sum(finding.level == "error" for finding in findings)
    counts = f"{plural(errors, 'error')}, {plural(len(findings) - errors, 'warning')}"
    lines = [f"golden set '{quoted(golden_name)}' ({size}): {counts}"]
    for each in findings:
        where = listed(each.places or each.query_ids, _PLACES) or "the whole set"
        lines += [f"  {each.rule} ({each.level}): {where}", f"    {each.what}"]
        lines += [f"    {each.remedy}"]
    return "\n".join(lines)


def lint_notes(golden_name: str, findings: Sequence[LintFinding]) -> Iterator[Note]:
    """Yield one line of the summary for each finding on a golden set."""
    for finding in findings:
        yield Note(Topic.LINT, str(finding), f"golden set '{quoted(golden_name)}'")
