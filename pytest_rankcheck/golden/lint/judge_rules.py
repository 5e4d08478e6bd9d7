"""Lint rule for judges who grade the same queries differently."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, rule
from pytest_rankcheck.golden.lint.slice_rules import clear_shifts
from pytest_rankcheck.statistics.dominance import paired_dominance

_LEAST_SHARED = 5
"""Judges who share fewer queries are not compared."""
_MOST_JUDGES = 20
"""The most judges to compare: those with the most queries."""

_Judged = Mapping[str, Mapping[str, float]]
"""The grades of one judge, by query and document."""


@rule("warning")
def judge_shift(linted: Linted) -> RuleResult | None:
    """Judges whose grades differ clearly on the queries that both judged."""
    by_judge = dict(
        sorted(_by_judge(linted).items(), key=lambda item: -len(item[1]))[:_MOST_JUDGES]
    )
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
    """Return the grades of each judge, including repeated judgments."""
    contents = linted.contents
    if not contents.judges:
        return {}
    judged: dict[str, dict[str, dict[str, float]]] = {}

    def add(line: int, query_id: str, doc_id: str, grade: float) -> None:
        judge = contents.judges.get(line)
        if judge is not None:
            judged.setdefault(judge, {}).setdefault(query_id, {}).setdefault(doc_id, grade)

    # A contradiction may have been resolved; the first repeat has the first grade.
    first = {(each.query_id, each.doc_id): each.before for each in reversed(contents.repeats)}
    for row, (query_id, doc_id, grade) in enumerate(contents.judgments.rows_at()):
        line = contents.judgments.line(row)
        add(line, query_id, doc_id, first.get((query_id, doc_id), grade))
    for each in contents.repeats:
        add(each.line, each.query_id, each.doc_id, each.again)
    return judged


def _shared(first: _Judged, second: _Judged) -> tuple[FloatArray, FloatArray] | None:
    """Return the mean grades of two judges for the queries that both judged.

    The means are over the documents that both judged, if enough queries have such documents;
    otherwise over all documents that each judged. None if they share too few queries.
    """
    both = [query_id for query_id in first if query_id in second]
    common = {
        query_id: documents
        for query_id in both
        if (documents := first[query_id].keys() & second[query_id].keys())
    }
    if len(common) >= _LEAST_SHARED:
        one, other = (
            np.array([np.mean([judged[query_id][each] for each in documents])
                      for query_id, documents in common.items()])
            for judged in (first, second)
        )  # fmt: skip
        return one, other
    if len(both) < _LEAST_SHARED:
        return None
    one, other = (
        np.array([np.mean(list(judged[query_id].values())) for query_id in both])
        for judged in (first, second)
    )
    return one, other
