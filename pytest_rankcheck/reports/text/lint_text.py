"""Lint findings as a table, for the text of a failing test, and as notes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import LintFinding
from pytest_rankcheck.reports.findings import Note, Topic

_COLUMNS = ("rule", "where", "what", "remedy")
_PLACES = 3
_WHAT, _REMEDY = 44, 32
"""The widths of the columns of sentences."""


def lint_text(golden_name: str, queries: int, findings: Sequence[LintFinding]) -> str:
    """Return a table of all findings on a golden set: the rule, where, what, and what to do.

    Args:
        golden_name: the name of the set.
        queries: how many queries it has.
        findings: what the linter found.
    """
    size = plural(queries, "query", "queries")
    errors = sum(finding.level == "error" for finding in findings)
    counts = f"{plural(errors, 'error')}, {plural(len(findings) - errors, 'warning')}"
    head = f"golden set '{quoted(golden_name)}' ({size}): {counts}"
    return "\n".join([head, *_table(findings)] if findings else [head])


def _table(findings: Sequence[LintFinding]) -> Iterator[str]:
    rows = [[[name] for name in _COLUMNS], *map(_cells, findings)]
    widths = [
        max(len(line) for cell in column for line in cell) for column in zip(*rows, strict=True)
    ]
    for row in rows:
        for parts in zip_longest(*row, fillvalue=""):
            padded = (part.ljust(size) for part, size in zip(parts, widths, strict=True))
            yield f"  {'  '.join(padded).rstrip()}"


def _cells(finding: LintFinding) -> list[list[str]]:
    """Return the cells of a finding, each as lines; names are never broken."""
    where = finding.places or finding.query_ids
    shown = [quoted(place) for place in where[:_PLACES]]
    if len(where) > _PLACES:
        shown.append(f"and {len(where) - _PLACES:,} more")
    sentences = ((finding.what, _WHAT), (finding.remedy, _REMEDY))
    wrapped = (
        textwrap.wrap(text, size, break_long_words=False, break_on_hyphens=False)
        for text, size in sentences
    )
    return [[finding.rule, f"({finding.level})"], shown or ["the whole set"], *wrapped]


def lint_notes(golden_name: str, findings: Sequence[LintFinding]) -> Iterator[Note]:
    """Yield one line of the summary for each finding on a golden set."""
    for finding in findings:
        yield Note(Topic.LINT, str(finding), f"golden set '{quoted(golden_name)}'")
