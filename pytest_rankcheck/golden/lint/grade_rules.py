"""Lint rules for grades: off the scale, negative, reversed, all equal."""

from __future__ import annotations

from collections import Counter

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, rule

_MOST_CODES = 10
"""More distinct grades than this are measurements, not codes."""
_NAMED = 10
"""How many wrong grades are named with their places."""
_LEAST_JUDGMENTS = 20
"""Fewer judgments say too little about which grade is rare."""


@rule("error")
def grade_off_scale(linted: Linted) -> RuleResult | None:
    """A grade below or above the configured scale."""
    if linted.options.scale is None:
        return None
    low, high = linted.options.scale
    grades = linted.contents.judgments.grades
    rows = np.flatnonzero((grades < low) | (grades > high))
    if not len(rows):
        return None
    return RuleResult(
        query_ids=linted.queries_at(rows),
        what=f"{plural(len(rows), 'grade is', 'grades are')} not between {low:g} and {high:g}: "
        f"{_example(linted, rows)}",
        why="A grade of 9 where 3 is the highest outweighs all others of its query",
        remedy="correct it, or map the codes with grades=",
        places=linted.places_at(rows[:_NAMED]),
    )


def _example(linted: Linted, rows: IntArray) -> str:
    """Return the first of some judgments as text."""
    query_id, doc_id, grade = next(linted.contents.judgments.rows_at(rows[:1]))
    return f"document '{quoted(doc_id)}' of query '{quoted(query_id)}' has {grade:g}"


@rule("warning")
def negative_grade(linted: Linted) -> RuleResult | None:
    """A grade below 0, in a set for which no scale or grade map allows it."""
    lowest = min(0, linted.options.scale[0]) if linted.options.scale else 0
    rows = np.flatnonzero(linted.contents.judgments.grades < lowest)
    if not len(rows) or linted.contents.reader.has_map:
        return None
    counts = Counter(linted.contents.judgments.grades.tolist())
    return RuleResult(
        query_ids=linted.queries_at(rows),
        what=f"{plural(len(rows), 'grade is', 'grades are')} negative: {_example(linted, rows)}",
        why="It has the gain 0, is not relevant, and is unjudged to Bpref. That is right for spam "
        "(-2 in TREC), but not for a code that means something else",
        remedy=f"map the codes, such as {_grade_map(counts)}; if the grades are right, give the "
        f"linter their scale, scale={min(counts):g}..{max(counts):g}",
        places=linted.places_at(rows[:_NAMED]),
    )


@rule("warning")
def reversed_grades(linted: Linted) -> RuleResult | None:
    """Grades that look as if 1 were the best: no grade is 0, and the lowest is the rarest."""
    counts = Counter(linted.contents.judgments.grades.tolist())
    if linted.contents.reader.has_map or not _look_reversed(counts):
        return None
    best, highest = min(grade for grade in counts if grade > 0), max(counts)
    first = np.flatnonzero(linted.contents.judgments.grades == best)[:1]
    spread = ", ".join(f"{grade:g} ({count:,})" for grade, count in sorted(counts.items()))
    return RuleResult(
        query_ids=(),
        what=f"no grade is 0, and the lowest positive grade is the rarest: {spread}; "
        f"{_example(linted, first)}",
        why=f"If {best:g} is the best, the grades are reversed, and a better ranker scores lower; "
        f"if it is the worst, {best:g} still counts as relevant",
        remedy=f"map the codes, such as {_grade_map(counts)} if {best:g} is the best; if "
        f"{highest:g} is the best and every grade is relevant, write reversed-grades=ignore",
        places=linted.places_at(first),
    )


def _look_reversed(counts: Counter[float]) -> bool:
    """Whether the grades are a few whole numbers above 0, and the lowest is the rarest.

    Two are enough if there is a negative one too, otherwise three.
    """
    positive = {grade: count for grade, count in counts.items() if grade > 0}
    least = 2 if len(counts) > len(positive) else 3
    if 0 in counts or not least <= len(positive) <= _MOST_CODES:
        return False
    rarest = sorted(positive, key=positive.__getitem__)
    return (
        counts.total() >= _LEAST_JUDGMENTS
        and all(float(grade).is_integer() for grade in positive)
        and rarest[0] == min(positive)
        and positive[rarest[0]] < positive[rarest[1]]
    )


def _grade_map(counts: Counter[float]) -> str:
    """Return a grade map for these grades, reversed if they look so, as it is written in Python."""
    total = min(grade for grade in counts if grade > 0) + max(counts) if max(counts) > 0 else 0
    is_reversed = _look_reversed(counts)
    pairs = [
        f"{code:g}: {total - code if is_reversed and code > 0 else max(code, 0):g}"
        for code in sorted(counts)
    ]
    more = ", ..." if len(pairs) > _MOST_CODES else ""
    return f"grades={{{', '.join(pairs[:_MOST_CODES])}{more}}}"


@rule("warning")
def one_grade(linted: Linted) -> RuleResult | None:
    """A set whose judgments all have the same grade."""
    grades = linted.contents.judgments.distinct_grades
    if len(grades) != 1:
        return None
    (grade,) = grades
    return RuleResult(
        query_ids=(),
        what=f"all judgments have the grade {grade:g}",
        why="nDCG, ERR and every other graded metric can only tell judged documents from unjudged "
        "ones",
        remedy="judge again with more grades if some answers are better than others; if they are "
        "not, write one-grade=ignore. Which metrics to gate does not depend on it: nDCG shows the "
        "order of relevant and other documents as well as RR and AP do; --rankcheck-resolution "
        "compares your metrics",
    )
