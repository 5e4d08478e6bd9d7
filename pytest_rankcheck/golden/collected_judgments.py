"""The judgments of a golden set while they are added: rows in columns, settled on request.

If a document is judged several times for a query, a rule says which of its grades counts.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.id_columns import (
    HeldIds,
    IdColumn,
    NumberIds,
    TextIds,
    joined_ids,
    keys_of,
    row_blocks,
    rows_with_equal_keys,
    run_starts,
    same_ids,
    starts_of,
)
from pytest_rankcheck.golden.golden_source import Contradictions, Place, Places
from pytest_rankcheck.golden.judgments import Judgments

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


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows that were added together, from which judgments are made."""

    runs: IntArray
    """The place of the query of each run of rows."""
    lengths: IntArray
    """The rows of each run."""
    documents: IdColumn
    grades: FloatArray
    lines: IntArray
    """The line or row of the source of each row; 0 where it is unknown."""


class CollectedJudgments:
    """Judgments in the order of their addition, by columns, by query or one by one."""

    def __init__(self, contradictions: Contradictions, places: Places) -> None:
        self.rule = contradictions
        """Which of two different grades of a document counts, or that they are an error."""
        self._places = places
        self._codes: dict[str, int] = {}
        """The place of each query."""
        self._parts: list[Part] = []
        self._start_singles()
        self._settled: Judgments | None = None
        """All judgments; None if something was added since they were last computed."""
        self.repeats: list[Repeat] = []
        """All repeated judgments among the settled ones, with the same or another grade."""

    def _start_singles(self) -> None:
        """Forget what was added by query or one by one since the last part."""
        self._single_runs, self._single_lengths, self._single_lines = (array("q") for _ in range(3))
        self._single_documents: list[str] = []
        self._single_grades = array("d")

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._codes

    @property
    def query_ids(self) -> Collection[str]:
        """All queries so far, in their order."""
        return self._codes.keys()

    @property
    def judgments(self) -> Judgments:
        """All judgments in columns, each document once for each query."""
        if self._settled is None:
            self._end_singles()
            joined, order = joined_parts(tuple(self._codes), self._parts)

            def where(row: int) -> str:
                line = joined.line(row)
                if line:
                    return self._places.shown(line)
                return self._places.query(joined.query_at(row), 0)

            settled, repeats = without_repeats(joined, self.rule, where, order)
            self.repeats += repeats
            self.take(settled)
            return settled
        return self._settled

    def take(self, judgments: Judgments) -> None:
        """Start with checked judgments."""
        self._codes, self._settled = dict(judgments.codes), judgments
        lengths, lines = np.diff(judgments.starts), judgments.lines
        lines = np.zeros(len(judgments), np.int64) if lines is None else lines
        runs = np.arange(len(lengths))
        self._parts = [Part(runs, lengths, judgments.documents, judgments.grades, lines)]

    def add_query(self, query_id: str) -> None:
        """Add a query that may have no judgments."""
        if query_id not in self._codes:
            self.add_all(query_id, {})

    def add(self, query_id: str, doc_id: str, grade: float, where: Place) -> None:
        """Add a judgment, which may repeat another."""
        self.add_all(query_id, {doc_id: grade}, where if isinstance(where, int) else 0)

    def add_all(self, query_id: str, grades: Mapping[str, float], line: int = 0) -> None:
        """Add judgments of a query, all of one line."""
        self._settled = None
        self._single_runs.append(self._codes.setdefault(query_id, len(self._codes)))
        self._single_lengths.append(len(grades))
        self._single_lines.append(line)
        self._single_documents.extend(grades)
        self._single_grades.extend(grades.values())

    def add_rows(
        self,
        queries: IdColumn,
        documents: IdColumn,
        grades: FloatArray,
        lines: IntArray,
        is_judged: BoolArray,
    ) -> None:
        """Add some rows: the query, document, grade and line or row number of each.

        Rows that are not judged only name their query.
        """
        starts = run_starts(queries)
        ids = queries.texts(starts)
        lengths = np.diff(starts, append=len(queries))
        if not is_judged.all():
            for query_id, start in zip(ids, starts.tolist(), strict=True):
                if query_id not in self._codes:
                    self._places.of_queries.setdefault(query_id, int(lines[start]))
            lengths = np.add.reduceat(is_judged, starts, dtype=np.int64)
            rows = np.flatnonzero(is_judged)
            documents, grades = documents.reordered(rows), grades[rows]
            lines = lines[rows]
        self._end_singles()
        self._settled, codes = None, self._codes
        places = (codes.setdefault(query_id, len(codes)) for query_id in ids)
        runs = np.fromiter(places, np.int64, len(ids))
        self._parts.append(Part(runs, lengths, documents, grades, lines))

    def _end_singles(self) -> None:
        """Make a part of the rows that were added by query or one by one."""
        if self._single_documents:
            runs, lengths, lines = map(
                np.array, (self._single_runs, self._single_lengths, self._single_lines)
            )
            documents, grades = HeldIds(self._single_documents), np.array(self._single_grades)
            part = Part(runs, lengths, documents, grades, np.repeat(lines, lengths))
            self._parts.append(part)
        self._start_singles()


def joined_parts(query_ids: Sequence[str], parts: list[Part]) -> tuple[Judgments, IntArray | None]:
    """Return the rows of all parts, grouped by query, and their order before the grouping.

    The order is None if it has not changed. The parts are dropped on the way.
    """
    if not parts:
        return Judgments.of_dicts({query_id: {} for query_id in query_ids}), None
    runs = np.concatenate([part.runs for part in parts])
    lengths = np.concatenate([part.lengths for part in parts])
    counts = np.bincount(runs, lengths, len(query_ids))
    starts = starts_of(counts.astype(np.int64))
    documents = joined_ids([part.documents for part in parts])
    grades = np.concatenate([part.grades for part in parts]) + 0.0
    lines = np.concatenate([part.lines for part in parts])
    parts.clear()
    judgments = Judgments(query_ids, starts, documents, grades, lines)
    if (np.diff(runs) >= 0).all():
        return judgments, None
    order = np.argsort(np.repeat(runs, lengths), kind="stable")
    return judgments.of_rows(query_ids, starts, order), order


def without_repeats(
    judgments: Judgments,
    rule: Contradictions,
    where: Callable[[int], str],
    order: IntArray | None = None,
) -> tuple[Judgments, list[Repeat]]:
    """Return judgments in which each document is judged once for each query, and the repeats.

    Args:
        judgments: judgments in which documents may be judged several times for a query.
        rule: which of two different grades counts, or that they are an error.
        where: returns the place of a row, for messages.
        order: the place of each row in the source; without it, the rows are in its order.
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
        repeat = Repeat(query_id, doc_id, float(grades[first]), again, where(row))
        if repeat.before != again and rule == "error":
            raise GoldenSetError(
                f"{repeat.where}: document '{quoted(doc_id)}' of query '{quoted(query_id)}' is "
                f"judged twice, {repeat.before:g} and {again:g}; keep one of them, or choose "
                "the one that counts, such as contradictions='highest' "
                "(rankcheck_contradictions), or name their subtopics (in qrels: "
                "rankcheck_columns = subtopic=iteration)"
            )
        if rule == "last" or (rule == "highest" and again > repeat.before):
            grades[first] = again
        repeats.append(repeat)
    is_new = np.ones(len(judgments), np.bool_)
    is_new[rows] = False
    starts = starts_of(judgments.counts(is_new))
    kept = replace(judgments, grades=grades)
    return kept.of_rows(judgments.query_ids, starts, np.flatnonzero(is_new)), repeats


def _repeated_rows(judgments: Judgments) -> dict[int, int]:
    """Return the rows that judge a document again, each with the document's first row."""
    first_of = {}
    for first, last in row_blocks(judgments.starts, _COMPARED):
        bounds = judgments.starts[first : last + 1]
        begin, stop = int(bounds[0]), int(bounds[-1])
        documents = judgments.documents.part(begin, stop)
        for group in _groups_with_repeats(documents, bounds - begin).tolist():
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
        ids = documents.texts()
        pairs = enumerate(pairwise(starts.tolist()))
        repeated = [
            group for group, (start, end) in pairs if len(set(ids[start:end])) < end - start
        ]
        return np.array(repeated, np.int64)
    groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    first, second = rows_with_equal_keys(keys_of(documents), groups)
    same = same_ids(documents, first, documents, second)
    same &= groups[first] == groups[second]
    return np.unique(groups[first[same]])
