"""Rules on judgments: given twice, contradictory, missing, all alike, off the scale."""

from __future__ import annotations

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_contents import Repeat
from pytest_rankcheck.golden.lint.lint_finding import Found
from pytest_rankcheck.golden.lint.lint_rule import Linted, counted, rule

__all__ = ["RULES"]


@rule("error")
def contradictory_judgment(linted: Linted) -> Found | None:
    """A document that is judged twice for a query, with different grades."""
    found = [repeat for repeat in linted.contents.repeats if repeat.before != repeat.again]
    if not found:
        return None
    return _repeated(
        found,
        f"{plural(len(found), 'judgment contradicts', 'judgments contradict')} another",
        "Which of the two counts depends on who reads the file, and the metric with it",
        "decide for one of them, or say which counts with contradictions=",
    )


@rule("warning")
def repeated_judgment(linted: Linted) -> Found | None:
    """A document that is judged twice for a query, with the same grade."""
    found = [repeat for repeat in linted.contents.repeats if repeat.before == repeat.again]
    if not found:
        return None
    return _repeated(
        found,
        f"{plural(len(found), 'judgment is', 'judgments are')} given twice",
        "It counts once here, and twice in tools that count lines",
        "drop the second",
    )


def _repeated(found: list[Repeat], what: str, why: str, remedy: str) -> Found:
    first = found[0]
    pair = f"{first.before:g} and {first.again:g}" if first.before != first.again else "again"
    example = f"document '{quoted(first.doc_id)}' of query '{quoted(first.query_id)}', {pair}"
    return Found(
        query_ids=tuple(dict.fromkeys(repeat.query_id for repeat in found)),
        what=f"{what}: {example}",
        why=why,
        remedy=remedy,
        places=tuple(repeat.where for repeat in found),
    )


@rule("error")
def grade_off_scale(linted: Linted) -> Found | None:
    """A grade below or above the scale that is stated."""
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
    return Found(
        query_ids=tuple(dict.fromkeys(query_id for query_id, _, _ in found)),
        what=f"{plural(len(found), 'grade is', 'grades are')} not between {low:g} and {high:g}: "
        f"document '{quoted(doc_id)}' of query '{quoted(query_id)}' has {grade:g}",
        why="A grade of 9 where 3 is the best outweighs all others of its query",
        remedy="correct it, or map the codes with grades=",
        places=tuple(filter(None, (linted.place_of(*where[:2]) for where in found[:10]))),
    )


@rule("error")
def no_judgment(linted: Linted) -> Found | None:
    """A query without any judgment or expectation."""
    found = tuple(
        query_id
        for query_id in linted.queries
        if not linted.grades[query_id] and not linted.contents.expectations.get(query_id)
    )
    if not found:
        return None
    return Found(
        query_ids=found,
        what=f"{plural(len(found), 'query', 'queries')} without a judgment: {listed(found)}",
        why="They score 0 whatever the ranker does",
        remedy="judge or drop them",
        places=linted.places_of(found),
    )


@rule("warning")
def only_expectations(linted: Linted) -> Found | None:
    """A query with expectations, but no judgment."""
    found = tuple(
        query_id
        for query_id in linted.queries
        if not linted.grades[query_id] and linted.contents.expectations.get(query_id)
    )
    if not found:
        return None
    return Found(
        query_ids=found,
        what=f"{plural(len(found), 'query', 'queries')} with expectations and no judgment: "
        f"{listed(found)}",
        why="Expectations are checked all the same, but in every mean they score 0 whatever the "
        "ranker does",
        remedy="judge them, put them into a golden set of their own, or evaluate with "
        "no_relevant='exclude'",
        places=linted.places_of(found),
    )


@rule("warning")
def no_relevant(linted: Linted) -> Found | None:
    """A query that has judgments, but no grade above 0."""
    grades = linted.grades
    found = tuple(
        query_id
        for query_id in linted.queries
        if grades[query_id] and max(grades[query_id].values()) <= 0
    )
    if not found:
        return None
    return Found(
        query_ids=found,
        what=f"{plural(len(found), 'query', 'queries')} without a relevant document: "
        f"{listed(found)}",
        why="They score 0 whatever the ranker does",
        remedy="find a relevant document, drop them, or evaluate with no_relevant='exclude'",
        places=linted.places_of(found),
    )


@rule("warning")
def only_relevant(linted: Linted) -> Found | None:
    """A query whose judged documents are all relevant."""
    grades = linted.grades
    found = tuple(
        query_id
        for query_id in linted.queries
        if len(grades[query_id]) > 1 and min(grades[query_id].values()) > 0
    )
    if not found:
        return None
    return Found(
        query_ids=found,
        what=f"{counted(found)} with relevant documents only",
        why="Bpref, infAP and Judged@k are blind there, and a bad document that enters the top "
        "looks like one that nobody has judged",
        remedy="judge some documents as not relevant (grade 0), from the top of a run",
        places=linted.places_of(found),
    )


@rule("warning")
def one_grade(linted: Linted) -> Found | None:
    """A set whose judgments all have the same grade."""
    found = {grade for judged in linted.grades.values() for grade in judged.values()}
    if len(found) != 1:
        return None
    (grade,) = found
    return Found(
        query_ids=(),
        what=f"all judgments have the grade {grade:g}",
        why="nDCG, ERR and every other graded metric can tell a document only from an unjudged one",
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
