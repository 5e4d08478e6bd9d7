"""Lint rules for judgments: duplicate, contradictory, missing, all equal, off the scale."""

from __future__ import annotations

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_contents import Repeat
from pytest_rankcheck.golden.lint.lint_finding import RuleResult
from pytest_rankcheck.golden.lint.lint_rule import Linted, counted_queries, rule

__all__ = ["RULES"]


@rule("error")
def contradictory_judgment(linted: Linted) -> RuleResult | None:
    """A document that is judged twice for a query, with different grades."""
    repeats = [repeat for repeat in linted.contents.repeats if repeat.before != repeat.again]
    if not repeats:
        return None
    return _repeated(
        repeats,
        f"{plural(len(repeats), 'judgment contradicts', 'judgments contradict')} another",
        "Which of the two counts, and so the metric, depends on the tool that reads the file",
        "keep one of them, or choose which counts with contradictions=",
    )


@rule("warning")
def repeated_judgment(linted: Linted) -> RuleResult | None:
    """A document that is judged twice for a query, with the same grade."""
    repeats = [repeat for repeat in linted.contents.repeats if repeat.before == repeat.again]
    if not repeats:
        return None
    return _repeated(
        repeats,
        plural(len(repeats), "duplicate judgment"),
        "It counts once here, but twice in tools that count lines",
        "remove the second",
    )


def _repeated(repeats: list[Repeat], what: str, why: str, remedy: str) -> RuleResult:
    first = repeats[0]
    pair = f"{first.before:g} and {first.again:g}" if first.before != first.again else "again"
    example = f"document '{quoted(first.doc_id)}' of query '{quoted(first.query_id)}', {pair}"
    return RuleResult(
        query_ids=tuple(dict.fromkeys(repeat.query_id for repeat in repeats)),
        what=f"{what}: {example}",
        why=why,
        remedy=remedy,
        places=tuple(repeat.where for repeat in repeats),
    )


@rule("error")
def grade_off_scale(linted: Linted) -> RuleResult | None:
    """A grade below or above the configured scale."""
    if linted.options.scale is None:
        return None
    low, high = linted.options.scale
    found = [
        (query_id, doc_id, grade)
        for query_id, judged in linted.grades.items()
        for doc_id, grade in judged.items()
        if not low <= grade <= high
    ]
    if not found:
        return None
    query_id, doc_id, grade = found[0]
    return RuleResult(
        query_ids=tuple(dict.fromkeys(query_id for query_id, _, _ in found)),
        what=f"{plural(len(found), 'grade is', 'grades are')} not between {low:g} and {high:g}: "
        f"document '{quoted(doc_id)}' of query '{quoted(query_id)}' has {grade:g}",
        why="A grade of 9 where 3 is the highest outweighs all others of its query",
        remedy="correct it, or map the codes with grades=",
        places=tuple(filter(None, (linted.place_of(*where[:2]) for where in found[:10]))),
    )


@rule("error")
def no_judgment(linted: Linted) -> RuleResult | None:
    """A query without any judgment or expectation."""
    found = tuple(
        query_id
        for query_id in linted.queries
        if not linted.grades[query_id] and not linted.contents.expectations.get(query_id)
    )
    if not found:
        return None
    return RuleResult(
        query_ids=found,
        what=f"{plural(len(found), 'query', 'queries')} without a judgment: {listed(found)}",
        why="They score 0 whatever the ranker does",
        remedy="judge or remove them",
        places=linted.places_of(found),
    )


@rule("warning")
def only_expectations(linted: Linted) -> RuleResult | None:
    """A query with expectations, but no judgment."""
    found = tuple(
        query_id
        for query_id in linted.queries
        if not linted.grades[query_id] and linted.contents.expectations.get(query_id)
    )
    if not found:
        return None
    return RuleResult(
        query_ids=found,
        what=f"{plural(len(found), 'query', 'queries')} with expectations but no judgment: "
        f"{listed(found)}",
        why="Their expectations are checked, but in every mean they score 0 whatever the ranker "
        "does",
        remedy="judge them, put them into a golden set of their own, or evaluate with "
        "no_relevant='exclude'",
        places=linted.places_of(found),
    )


@rule("warning")
def no_relevant(linted: Linted) -> RuleResult | None:
    """A query that has judgments, but no grade above 0."""
    grades = linted.grades
    found = tuple(
        query_id
        for query_id in linted.queries
        if grades[query_id] and max(grades[query_id].values()) <= 0
    )
    if not found:
        return None
    return RuleResult(
        query_ids=found,
        what=f"{plural(len(found), 'query', 'queries')} without a relevant document: "
        f"{listed(found)}",
        why="They score 0 whatever the ranker does",
        remedy="find a relevant document, remove them, or evaluate with no_relevant='exclude'",
        places=linted.places_of(found),
    )


@rule("warning")
def only_relevant(linted: Linted) -> RuleResult | None:
    """A query whose judged documents are all relevant."""
    grades = linted.grades
    found = tuple(
        query_id
        for query_id in linted.queries
        if len(grades[query_id]) > 1 and min(grades[query_id].values()) > 0
    )
    if not found:
        return None
    return RuleResult(
        query_ids=found,
        what=f"{counted_queries(found)} with only relevant documents",
        why="Bpref, infAP and Judged@k cannot see falls there, and a bad document that enters the "
        "top looks like an unjudged one",
        remedy="judge some documents as not relevant (grade 0), from the top of a run",
        places=linted.places_of(found),
    )


@rule("warning")
def one_grade(linted: Linted) -> RuleResult | None:
    """A set whose judgments all have the same grade."""
    found = {grade for judged in linted.grades.values() for grade in judged.values()}
    if len(found) != 1:
        return None
    (grade,) = found
    return RuleResult(
        query_ids=(),
        what=f"all judgments have the grade {grade:g}",
        why="nDCG, ERR and every other graded metric can only tell judged documents from unjudged "
        "ones",
        remedy="gate on RR, Recall or AP, or judge again with more grades",
    )


RULES = (
    contradictory_judgment,
    repeated_judgment,
    grade_off_scale,
    no_judgment,
    only_expectations,
    no_relevant,
    only_relevant,
    one_grade,
)
