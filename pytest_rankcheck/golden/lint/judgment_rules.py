"""Lint rules for judgments: repeated, missing, with odd grades, or against the expectations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.collected_judgments import Repeat
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.lint.lint_rule import Linted, LintFinding, rule

_Grades = Mapping[str, float]
_SHOWN = 5
"""How many expectations a finding describes."""
_MOST_CODES = 10
"""More distinct grades than this are measurements, not codes."""
_NAMED = 10
"""How many wrong grades are named with their places."""
_FATES = {
    "zero": "They score 0 in all metrics but GAUC, whatever the ranker does",
    "exclude": "They are left out of every mean",
    "one": "Their nDCG and AP are 1 whatever the ranker does, and other metrics 0",
    "one_in_ndcg": "Their nDCG is 1 whatever the ranker does, and other metrics 0",
}
"""How queries without a relevant document count, by the convention `no_relevant`."""
_LEAST_JUDGMENTS = 20
"""Fewer judgments say too little about which grade is rare."""


@rule("error")
def contradictory_judgment(linted: Linted) -> LintFinding | None:
    """A document that is judged twice for a query, with different grades."""
    repeats = [repeat for repeat in linted.contents.repeats if repeat.before != repeat.again]
    return _repeated(
        repeats,
        f"{plural(len(repeats), 'judgment contradicts', 'judgments contradict')} another",
        "Which of the two counts, and so the metric, depends on the tool that reads the file",
        "keep one of them, or choose which counts with contradictions=",
    )


@rule("warning")
def repeated_judgment(linted: Linted) -> LintFinding | None:
    """A document that is judged twice for a query, with the same grade."""
    repeats = [repeat for repeat in linted.contents.repeats if repeat.before == repeat.again]
    return _repeated(
        repeats,
        plural(len(repeats), "duplicate judgment"),
        "It counts once here, but twice in tools that count lines",
        "remove the second",
    )


def _repeated(repeats: list[Repeat], what: str, why: str, remedy: str) -> LintFinding | None:
    """Return the result about repeated judgments; None without any."""
    if not repeats:
        return None
    first = repeats[0]
    pair = "again"
    if first.before != first.again:
        pair = f"{first.before:g} and {first.again:g}"
    example = f"document '{quoted(first.doc_id)}' of query '{quoted(first.query_id)}', {pair}"
    return LintFinding(
        query_ids=tuple(dict.fromkeys(repeat.query_id for repeat in repeats)),
        what=f"{what}: {example}",
        why=why,
        remedy=remedy,
        places=tuple(repeat.where for repeat in repeats),
    )


@rule("error")
def no_judgment(linted: Linted) -> LintFinding | None:
    """A query without any judgment or expectation."""
    return _queries(
        linted.queries_where(_are_empty(linted)),
        "without a judgment",
        _FATES[linted.options.no_relevant],
        "judge or remove them",
    )


@rule("warning")
def no_relevant(linted: Linted) -> LintFinding | None:
    """A query that has judgments or expectations, but no grade above 0."""
    return _queries(
        linted.queries_where(~linted.contents.judgments.has_relevant & ~_are_empty(linted)),
        "without a relevant document",
        _FATES[linted.options.no_relevant],
        "find a relevant document, or remove them. To leave them out of means, give "
        "no_relevant='exclude' to evaluate, or write no_relevant=exclude in rankcheck_conventions",
    )


def _queries(query_ids: tuple[str, ...], what: str, why: str, remedy: str) -> LintFinding | None:
    """Return the result about queries; None without any."""
    if not query_ids:
        return None
    count = plural(len(query_ids), "query", "queries")
    return LintFinding(query_ids, f"{count} {what}: {listed(query_ids)}", why, remedy)


def _are_empty(linted: Linted) -> BoolArray:
    """Return ``[Q]`` whether a query has neither a judgment nor an expectation."""
    judgments, expectations = linted.contents.judgments, linted.contents.expectations
    expected = np.array([bool(expectations.get(each)) for each in judgments.query_ids], np.bool_)
    are_empty: BoolArray = (np.diff(judgments.starts) == 0) & ~expected
    return are_empty


@rule("error")
def grade_off_scale(linted: Linted) -> LintFinding | None:
    """A grade below or above the configured scale."""
    if linted.options.scale is None:
        return None
    low, high = linted.options.scale
    grades = linted.contents.judgments.grades
    rows = np.flatnonzero((grades < low) | (grades > high))
    if not len(rows):
        return None
    return LintFinding(
        query_ids=linted.queries_at(rows),
        what=f"{plural(len(rows), 'grade is', 'grades are')} not between {low:g} and {high:g}: "
        f"{_example(linted, rows)}",
        why="A grade of 9 where 3 is the highest outweighs all others of its query",
        remedy="correct it, or map the codes with grades= (rankcheck_grades)",
        places=linted.places_at(rows[:_NAMED]),
    )


def _example(linted: Linted, rows: IntArray) -> str:
    """Return the first of some judgments as text."""
    query_id, doc_id, grade = next(linted.contents.judgments.rows_at(rows[:1]))
    return f"document '{quoted(doc_id)}' of query '{quoted(query_id)}' has {grade:g}"


@rule("warning")
def reversed_grades(linted: Linted) -> LintFinding | None:
    """Grades that look as if 1 were the best: none is 0, and the lowest is the rarest."""
    judgments = linted.contents.judgments
    counts = Counter(() if 0 in judgments.distinct_grades else judgments.grades.tolist())
    if linted.contents.has_grade_map or not _look_reversed(counts):
        return None
    best = min(grade for grade in counts if grade > 0)
    highest = max(counts)
    first = np.flatnonzero(linted.contents.judgments.grades == best)[:1]
    spread = ", ".join(f"{grade:g} ({count:,})" for grade, count in sorted(counts.items()))
    return LintFinding(
        query_ids=(),
        what=f"no grade is 0, and the lowest positive grade is the rarest: {spread}; "
        f"{_example(linted, first)}",
        why=f"If {best:g} is the best, the grades are reversed, and a better ranker scores lower; "
        f"if it is the worst, {best:g} still counts as relevant",
        remedy=f"map the codes, such as {_grade_map(counts)} (rankcheck_grades), if "
        f"{best:g} is the best; if {highest:g} is the best and every grade is relevant, write "
        "reversed-grades=ignore in rankcheck_lint",
        places=linted.places_at(first),
    )


def _look_reversed(counts: Counter[float]) -> bool:
    """Whether the grades are a few whole numbers above 0, and the lowest is the rarest.

    Three different grades are needed, or two if there is also a negative one.
    """
    positive = {grade: count for grade, count in counts.items() if grade > 0}
    least = 2 if len(counts) > len(positive) else 3
    if not least <= len(positive) <= _MOST_CODES:
        return False
    rarest = sorted(positive, key=positive.__getitem__)
    return (
        counts.total() >= _LEAST_JUDGMENTS
        and all(float(grade).is_integer() for grade in positive)
        and rarest[0] == min(positive)
        and positive[rarest[0]] < positive[rarest[1]]
    )


def _grade_map(counts: Counter[float]) -> str:
    """Return the grade map that reverses these grades, as it is written in Python."""
    total = min(grade for grade in counts if grade > 0) + max(counts)
    pairs = []
    for code in sorted(counts):
        grade = total - code if code > 0 else 0
        pairs.append(f"{code:g}: {grade:g}")
    return f"grades={{{', '.join(pairs)}}}"


@rule("warning")
def few_queries(linted: Linted) -> LintFinding | None:
    """A set of fewer queries than `min_queries`."""
    count, needed = len(linted.queries), linted.options.min_queries
    if count >= needed:
        return None
    return LintFinding(
        query_ids=(),
        what=f"{plural(count, 'query', 'queries')}, fewer than {needed:g}",
        why=f"A single query that falls from 1 to 0 moves the mean by {1 / count:.4f}, so a gate "
        "detects only large falls, or fails by chance",
        remedy=f"judge at least {needed:g} queries; plan(evaluation, metric, margin) estimates how "
        "many a gate needs",
    )


@rule("error")
def expectation_against_grades(linted: Linted) -> LintFinding | None:
    """An expectation that contradicts the grades, so that no ideal ranking meets it."""
    contents = linted.contents
    found = []
    for query_id, expectations in contents.expectations.items():
        grades = contents.grades.get(query_id, {})
        texts = (_contradiction(each, grades) for each in expectations)
        found += [(query_id, text) for text in texts if text]
    if not found:
        return None
    shown = [f"query '{quoted(query_id)}' expects {text}" for query_id, text in found[:_SHOWN]]
    if len(found) > _SHOWN:
        shown.append(f"and {len(found) - _SHOWN:,} more")
    return LintFinding(
        query_ids=tuple(dict.fromkeys(query_id for query_id, _ in found)),
        what=f"{plural(len(found), 'expectation')} against the grades: {'; '.join(shown)}",
        why="The metrics reward a ranker for failing the expectation, so the two tests contradict "
        "each other",
        remedy="correct the grade or the expectation",
    )


def _contradiction(expectation: Expectation, grades: _Grades) -> str | None:
    """Return the expectation and the contradicting grades, if no ideal ranking meets it."""
    gains = {doc_id: max(grade, 0.0) for doc_id, grade in grades.items()}
    relevant = [doc_id for doc_id, gain in gains.items() if gain > 0]
    k = expectation.k or 0
    match expectation.kind:
        case "no_results":
            if relevant:
                return f"{expectation}, but {_judged(relevant[0], grades)}"
        case "not_in_top":
            for doc_id in expectation.documents:
                if _belongs_in_top(doc_id, gains, k):
                    return f"{expectation}, but {_judged(doc_id, grades)}"
        case "in_top":
            for doc_id in expectation.documents:
                better = sum(gain > gains.get(doc_id, 0) for gain in gains.values())
                if gains.get(doc_id, 0) > 0 and better >= k:
                    others = plural(better, "document has", "documents have")
                    return f"{expectation}, but {_judged(doc_id, grades)} and {others} more"
        case "above":
            for first in expectation.documents:
                for other in expectation.others:
                    if first in gains and gains[first] < gains.get(other, 0):
                        return (
                            f"{expectation}, but {_judged(first, grades)} and "
                            f"{_judged(other, grades)}"
                        )
    return None


def _belongs_in_top(doc_id: str, gains: Mapping[str, float], k: int) -> bool:
    """Whether a document is in the top of every ideal ranking, or has the highest grade.

    With several best documents, expecting one of them not to be first is not a contradiction.
    """
    gain = gains.get(doc_id, 0.0)
    if not gain:
        return False
    is_best = gain == max(gains.values()) and k > 1
    at_least_as_good = sum(other >= gain for other in gains.values())
    return is_best or at_least_as_good <= k


def _judged(doc_id: str, grades: _Grades) -> str:
    return f"'{quoted(doc_id)}' has the grade {grades[doc_id]:g}"
