"""Lint rules for grades: off the scale, negative, reversed, all equal."""

from __future__ import annotations

from collections import Counter

import numpy as np

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_finding import RuleResult
from pytest_rankcheck.golden.lint.lint_rule import Linted, rule

__all__ = ["RULES"]

_MOST_CODES = 10
"""More distinct grades than this are measurements, not codes."""
_LEAST_JUDGMENTS = 20
"""Fewer judgments say too little about which grade is rare."""


@rule("error")
def grade_off_scale(linted: Linted) -> RuleResult | None:
    """A grade below or above the configured scale."""
    if linted.options.scale is None:
        return None
    low, high = linted.options.scale
    grades = linted.judgments.grades
    rows = np.flatnonzero((grades < low) | (grades > high))
    outside = list(linted.judgments.rows_at(rows))
    if not outside:
        return None
    query_id, doc_id, grade = outside[0]
    return RuleResult(
        query_ids=tuple(dict.fromkeys(query_id for query_id, _, _ in outside)),
        what=f"{plural(len(outside), 'grade is', 'grades are')} not between {low:g} and {high:g}: "
        f"document '{quoted(doc_id)}' of query '{quoted(query_id)}' has {grade:g}",
        why="A grade of 9 where 3 is the highest outweighs all others of its query",
        remedy="correct it, or map the codes with grades=",
        places=tuple(filter(None, (linted.place_of(*where[:2]) for where in outside[:10]))),
    )


@rule("warning")
def negative_grade(linted: Linted) -> RuleResult | None:
    """A grade below 0, in a set for which no scale or grade map allows it."""
    lowest = min(0, linted.options.scale[0]) if linted.options.scale else 0
    rows = np.flatnonzero(linted.judgments.grades < lowest)
    below = list(linted.judgments.rows_at(rows))
    if not below or linted.contents.reader.grade_map is not None:
        return None
    query_id, doc_id, grade = below[0]
    counts = _counts(linted)
    return RuleResult(
        query_ids=tuple(dict.fromkeys(query_id for query_id, _, _ in below)),
        what=f"{plural(len(below), 'grade is', 'grades are')} negative: document "
        f"'{quoted(doc_id)}' of query '{quoted(query_id)}' has {grade:g}",
        why="It has the gain 0, is not relevant, and is unjudged to Bpref. That is right for spam "
        "(-2 in TREC), but not for a code that means something else",
        remedy=f"map the codes, such as {_grade_map(counts)}; if the grades are right, give the "
        f"linter their scale, scale={min(counts):g}..{max(counts):g}",
        places=tuple(filter(None, (linted.place_of(*where[:2]) for where in below[:10]))),
    )


@rule("warning")
def reversed_grades(linted: Linted) -> RuleResult | None:
    """Grades that look as if 1 were the best: no grade is 0, and the lowest is the rarest."""
    counts = _counts(linted)
    if linted.contents.reader.grade_map is not None or not _look_reversed(counts):
        return None
    best, highest = min(grade for grade in counts if grade > 0), max(counts)
    first = np.flatnonzero(linted.judgments.grades == best)[:1]
    query_id, doc_id, _ = next(linted.judgments.rows_at(first))
    spread = ", ".join(f"{grade:g} ({count:,})" for grade, count in sorted(counts.items()))
    return RuleResult(
        query_ids=(),
        what=f"no grade is 0, and the lowest positive grade is the rarest: {spread}; document "
        f"'{quoted(doc_id)}' of query '{quoted(query_id)}' has {best:g}",
        why=f"If {best:g} is the best, the grades are reversed, and a better ranker scores lower; "
        f"if it is the worst, {best:g} still counts as relevant",
        remedy=f"map the codes, such as {_grade_map(counts)} if {best:g} is the best; if "
        f"{highest:g} is the best and every grade is relevant, write reversed-grades=ignore",
        places=tuple(filter(None, (linted.place_of(query_id, doc_id),))),
    )


def _counts(linted: Linted) -> Counter[float]:
    grades, counts = np.unique(linted.judgments.grades, return_counts=True)
    return Counter(dict(zip(grades.tolist(), counts.tolist(), strict=True)))


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
    grades = linted.judgments.distinct_grades
    if len(grades) != 1:
        return None
    (grade,) = grades
    return RuleResult(
        query_ids=(),
        what=f"all judgments have the grade {grade:g}",
        why="nDCG, ERR and every other graded metric can only tell judged documents from unjudged "
        "ones",
        remedy="gate on RR, Recall or AP, or judge again with more grades",
    )


RULES = (grade_off_scale, negative_grade, reversed_grades, one_grade)
