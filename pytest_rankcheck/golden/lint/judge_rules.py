"""Lint rule for judges who grade the same queries differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, rule
from pytest_rankcheck.golden.lint.slice_rules import clear_shifts
from pytest_rankcheck.statistics.dominance import paired_dominance

_LEAST_SHARED = 5
"""Judges who share fewer queries are not compared."""
_MOST_JUDGES = 20
"""The most judges to compare: those with the most queries."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """The grades of one judge, in columns."""

    rows: IntArray
    """The judgments of the golden set, each with its query and document, in ascending order."""
    grades: FloatArray
    queries: IntArray
    """The place of each judgment's query in the set."""

    @property
    def means(self) -> FloatArray:
        """The mean grade of each query, down to the last that was judged; NaN for the others."""
        counts = np.bincount(self.queries)
        with np.errstate(invalid="ignore"):
            return np.bincount(self.queries, self.grades) / counts

    def at(self, places: IntArray) -> _Judged:
        """Return some of the judgments."""
        return _Judged(self.rows[places], self.grades[places], self.queries[places])


@rule("warning")
def judge_shift(linted: Linted) -> RuleResult | None:
    """Judges whose grades differ clearly on the queries that both judged."""
    by_judge = _by_judge(linted)
    pairs = [
        ((f"judge '{quoted(one)}'", f"judge '{quoted(other)}'"), values, paired_dominance(*values))
        for (one, first), (other, second) in combinations(by_judge.items(), 2)
        if (values := _shared(first, second)) is not None
    ]
    shifts = clear_shifts(pairs)
    if not shifts:
        return None
    return RuleResult(
        query_ids=(),
        what=f"{plural(len(shifts), 'pair')} of judges with clearly different grades for the same "
        f"queries: {shifts[0]}",
        why="A query's values then depend on who judged it, and a document that another judge adds "
        "moves them",
        remedy="let both judge a few queries again by one guideline, and map the codes of one of "
        "them; or gate on a binary metric with a threshold (rel=) on which they agree",
    )


def _by_judge(linted: Linted) -> Mapping[str, _Judged]:
    """Return the grades of the judges with the most queries, including repeated judgments."""
    contents, judgments = linted.contents, linted.contents.judgments
    if not contents.judges:
        return {}
    said: dict[str, dict[int, float]] = {}

    def add(line: int, row: int, grade: float) -> None:
        judge = contents.judges.get(line)
        if judge is not None:
            said.setdefault(judge, {}).setdefault(row, grade)

    # A contradiction may have been resolved; the first repeat has the first grade.
    first = {(each.query_id, each.doc_id): each.before for each in reversed(contents.repeats)}
    repeated: dict[tuple[str, str], int] = {}
    for row, (query_id, doc_id, grade) in enumerate(judgments.rows_at()):
        pair = query_id, doc_id
        if pair in first:
            repeated[pair] = row
        add(judgments.line(row), row, first.get(pair, grade))
    for each in contents.repeats:
        add(each.line, repeated[each.query_id, each.doc_id], each.again)
    judged = {judge: _judged(grades, judgments.starts) for judge, grades in said.items()}
    most = sorted(judged.items(), key=lambda item: -len(np.unique(item[1].queries)))
    return dict(most[:_MOST_JUDGES])


def _judged(grades: Mapping[int, float], starts: IntArray) -> _Judged:
    rows = np.fromiter(grades, np.int64, len(grades))
    values = np.fromiter(grades.values(), np.float64, len(grades))
    judged = _Judged(rows, values, np.searchsorted(starts, rows, "right") - 1)
    return judged.at(np.argsort(rows))


def _shared(first: _Judged, second: _Judged) -> tuple[FloatArray, FloatArray] | None:
    """Return the mean grades of two judges for the queries that both judged.

    The means are over the documents that both judged, if enough queries have such documents;
    otherwise over all documents that each judged. None if they share too few queries.
    """
    _, mine, theirs = np.intersect1d(first.rows, second.rows, True, return_indices=True)
    for one, other in ((first.at(mine), second.at(theirs)), (first, second)):
        means, others = one.means, other.means
        length = min(len(means), len(others))
        both = np.flatnonzero(~(np.isnan(means[:length]) | np.isnan(others[:length])))
        if len(both) >= _LEAST_SHARED:
            return means[both], others[both]
    return None
