"""The text about a golden set: its lint findings, its expectations, and their known failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_rankcheck.behaviour.expectation_check import ExpectationResult, ExpectationStatus
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.explanation.explanation import Explanation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.lint.lint_rule import LintFinding
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.reports.text.answers_text import ranks_in
from pytest_rankcheck.reports.text.wording import query_in

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


EXPECTATION_ADVICE = (
    "improve these queries, correct the expectations, or say with known_failure why they cannot "
    "hold yet"
)


def expectation_headline(golden: GoldenSet, results: Sequence[ExpectationResult]) -> str:
    """Return how many expectations there are, and their results."""
    counts = Counter(result.status for result in results)
    holding, violated = counts[ExpectationStatus.HOLDS], counts[ExpectationStatus.VIOLATED]
    known, fixed = counts[ExpectationStatus.KNOWN], counts[ExpectationStatus.FIXED]
    warned = sum(
        result.status is ExpectationStatus.VIOLATED and not result.fails for result in results
    )
    verb = "holds" if 1 in (holding, len(results)) else "hold"
    parts = [f"{holding:,} of {plural(len(results), 'expectation')} {verb}"]
    if violated:
        only_warn = f" ({warned:,} with severity warn)" if warned else ""
        parts.append(f"{violated:,} violated{only_warn}")
    if known:
        parts.append(plural(known, "known failure"))
    if fixed:
        parts.append(f"{plural(fixed, 'known failure')} fixed")
    size = plural(len(golden), "query", "queries")
    return f"golden set '{quoted(golden.name)}' ({size}): {', '.join(parts)}"


def expectation_notes(
    golden: GoldenSet, results: Sequence[ExpectationResult], failure: Explanation | None
) -> Iterator[Note]:
    """Yield the lines of the summary: counts, known failures, worse ones, and warnings.

    Args:
        golden: the queries.
        results: every expectation that was checked.
        failure: why the test fails, if it does.
    """
    counts, name = expectation_headline(golden, results), quoted(golden.name)
    yield Note(Topic.EXPECTATIONS, counts, about=name, failure=failure)
    for result in results:
        if result.status is ExpectationStatus.KNOWN:
            topic = Topic.WORSE_KNOWN_FAILURES if result.is_worse else Topic.KNOWN_FAILURES
            yield Note(topic, _note(golden, result))
        elif result.is_wrong and not result.fails:
            yield Note(Topic.WARNED_EXPECTATIONS, _note(golden, result))


def expectation_facts(golden: GoldenSet, results: Sequence[ExpectationResult]) -> Iterator[str]:
    """Yield the known failures that hold now."""
    fixed = [_note(golden, each) for each in results if each.fails and each.holds]
    if fixed:
        yield "known failures that now hold; remove their known_failure"
        yield from (f"  {line}" for line in fixed)


def _note(golden: GoldenSet, result: ExpectationResult) -> str:
    """Return an expectation in one line, with its result and its known failure."""
    expectation = result.expectation
    titles = {doc: golden.title(doc) for doc in result.ranks}
    ranks = f"; {', '.join(ranks_in(result, titles))}" if titles else ""
    reason = expectation.known_failure
    fixed = ", but it now holds: remove the mark" if result.holds and not result.fails else ""
    mark = f' (known failure: "{quoted(reason, 200)}"{fixed})' if reason else ""
    then = expectation.known_rank
    remembered = f" (at {then} when it was marked)" if then and not result.holds else ""
    place = golden.place(expectation.query)
    where = f" [{quoted(place, 200)}]" if place else ""
    query = f"{query_in(golden, expectation.query)}{where}"
    return f"{query}: expected {expectation}{mark}{ranks}{remembered}"
