"""Documents that are judged several times for a query: which of their grades counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.id_columns import IdColumn, NumberIds, TextIds
from pytest_rankcheck.files.id_pairs import keys_of, rows_with_equal_keys, same_ids
from pytest_rankcheck.files.id_runs import row_blocks, starts_of
from pytest_rankcheck.golden.golden_source import Contradictions
from pytest_rankcheck.golden.judgments import Judgments

__all__ = ["Repeat", "without_repeats"]

_COMPARED = 1 << 16
"""How many rows are searched for repeated judgments at once; they fit into the cache."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repeated judgment of a document for the same query."""

    query_id: str
    doc_id: str
    before: float
    again: float
    where: str
    line: int = 0
    """The line or row in the source; 0 if unknown."""


def _refusal(repeat: Repeat, first: int, row: int) -> str:
    """Return the message about a judgment that contradicts another."""
    return (
        f"{repeat.where}: document '{quoted(repeat.doc_id)}' of query "
        f"'{quoted(repeat.query_id)}' is judged twice, {repeat.before:g} and "
        f"{repeat.again:g}; keep one of them"
    )


def without_repeats(
    judgments: Judgments,
    rule: Contradictions,
    where: Callable[[int], str],
    order: IntArray | None = None,
    refusal: Callable[[Repeat, int, int], str] = _refusal,
) -> tuple[Judgments, list[Repeat]]:
    """Return judgments in which each document is judged once for each query, and the repeats.

    Args:
        judgments: in which documents may be judged several times for a query.
        rule: which of two different grades counts; or that they are an error.
        where: returns the place of a row, for messages.
        order: the place of each row in the source; without it, the rows are in its order.
        refusal: returns the message about a contradiction: the repeat, the first row and the row.
    """
    first_of = _repeated_rows(judgments)
    if not first_of:
        return judgments, []
    grades, repeats = judgments.grades.copy(), []
    rows = np.array(list(first_of), np.int64)
    if order is not None:
        rows = rows[np.argsort(order[rows])]
    for row, (query_id, doc_id, again) in zip(rows.tolist(), judgments.rows_at(rows), strict=True):
        first = first_of[row]
        repeat = Repeat(
            query_id, doc_id, float(grades[first]), again, where(row), judgments.line(row)
        )
        if repeat.before != again and rule == "error":
            raise GoldenSetError(refusal(repeat, first, row))
        if rule == "last" or (rule == "highest" and again > repeat.before):
            grades[first] = again
        repeats.append(repeat)
    is_new = np.ones(len(judgments), np.bool_)
    is_new[rows] = False
    starts = starts_of(judgments.counts(is_new))
    kept = replace(judgments, grades=grades)
    return kept.of_rows(judgments.query_ids, starts, np.flatnonzero(is_new)), repeats


def _repeated_rows(judgments: Judgments) -> dict[int, int]:
    """Return the rows that judge a document again, each with the first row of the document."""
    first_of = {}
    for first, last in row_blocks(judgments.starts, _COMPARED):
        bounds = judgments.starts[first : last + 1]
        documents = judgments.documents.part(int(bounds[0]), int(bounds[-1]))
        for group in _groups_with_repeats(documents, bounds - bounds[0]).tolist():
            row_of: dict[str, int] = {}
            start, end = bounds[group : group + 2].tolist()
            ids = judgments.documents.part(start, end).texts()
            for row, doc_id in enumerate(ids, start):
                before = row_of.setdefault(doc_id, row)
                if before != row:
                    first_of[row] = before
    return first_of


def _groups_with_repeats(documents: IdColumn, starts: IntArray) -> IntArray:
    """Return the groups of rows in which an id is repeated, in ascending order."""
    if not isinstance(documents, (TextIds, NumberIds)):
        ids, pairs = documents.texts(), enumerate(pairwise(starts.tolist()))
        repeated = [
            group for group, (start, end) in pairs if len(set(ids[start:end])) < end - start
        ]
        return np.array(repeated, np.int64)
    groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    first, second = rows_with_equal_keys(keys_of(documents), groups)
    same = same_ids(documents, first, documents, second) & (groups[first] == groups[second])
    return np.unique(groups[first[same]])
