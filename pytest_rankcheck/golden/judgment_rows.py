"""Rows of judgments, read as columns: queries put together, repeated judgments settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.files.id_columns import IdColumn, NumberIds, TextIds
from pytest_rankcheck.files.id_pairs import keys_of, rows_with_equal_keys, same_ids
from pytest_rankcheck.files.id_runs import joined_ids, run_starts, starts_of
from pytest_rankcheck.files.plain_values import is_blank
from pytest_rankcheck.files.table_columns import CellColumn, Column
from pytest_rankcheck.golden.collected_judgments import CollectedJudgments
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.grade_reader import GradeReader
from pytest_rankcheck.golden.judgments import Judgments

__all__ = ["JudgmentRows", "column_of_grades"]

_COMPARED = 1 << 16
"""How many rows are searched for repeated judgments at once; they fit into the cache."""


@dataclass(slots=True)
class JudgmentRows:
    """Rows of judgments in the order of their source, whose ids and grades have been checked."""

    codes: dict[str, int] = field(default_factory=dict)
    """The place of each query in the set, by its id."""
    _runs: list[IntArray] = field(default_factory=list)
    """The query of each run of rows."""
    _lengths: list[IntArray] = field(default_factory=list)
    """The rows of each run."""
    _documents: list[IdColumn] = field(default_factory=list)
    _grades: list[FloatArray] = field(default_factory=list)
    _lines: list[range | IntArray] = field(default_factory=list)

    def add(
        self,
        queries: IdColumn,
        documents: IdColumn,
        grades: FloatArray,
        lines: Sequence[int] | IntArray,
        is_judged: BoolArray | None = None,
    ) -> tuple[Sequence[str], IntArray]:
        """Add some rows, and return the query of each run of them and where it starts.

        Args:
            queries: of each row.
            documents: of each row.
            grades: of each row.
            lines: the line or row number of each, after those of the rows before.
            is_judged: which rows are judgments; the others only name their query. None for all.
        """
        starts, codes = run_starts(queries), self.codes
        ids = queries.texts(starts)
        lengths = np.diff(starts, append=len(queries))
        if is_judged is not None and not is_judged.all():
            lengths = np.add.reduceat(is_judged, starts, dtype=np.int64)
            rows = np.flatnonzero(is_judged)
            documents, grades = documents.reordered(rows), grades[rows]
            lines = np.asarray(lines, np.int64)[rows]
        self._runs.append(
            np.fromiter((codes.setdefault(each, len(codes)) for each in ids), np.int64, len(ids))
        )
        self._lengths.append(lengths)
        self._documents.append(documents)
        self._grades.append(grades)
        self._lines.append(lines if isinstance(lines, range) else np.asarray(lines, np.int64))
        return ids, starts

    def put_into(self, contents: Contents) -> None:
        """Add all rows to the contents of a golden set, which have no judgments so far.

        Raises:
            GoldenSetError: two rows contradict each other, and contradictions are errors.
        """
        if not self.codes:
            return
        judgments = self._joined()
        repeated = _queries_with_repeats(judgments)
        contents.take(_settled(contents, judgments, repeated) if len(repeated) else judgments)

    def _joined(self) -> Judgments:
        """Return all rows, those of a query together, and drop them here."""
        runs, lengths = np.concatenate(self._runs), np.concatenate(self._lengths)
        counts = np.bincount(runs, lengths, len(self.codes)).astype(np.int64)
        starts = starts_of(counts)
        documents, grades = joined_ids(self._documents), np.concatenate(self._grades)
        lines = _joined_lines(self._lines)
        self._documents, self._grades, self._lines = [], [], []
        ids = tuple(self.codes)
        judgments = Judgments(ids, starts, documents, grades + 0.0, lines)
        if (np.diff(runs) >= 0).all():
            return judgments
        return judgments.of_rows(ids, starts, np.argsort(np.repeat(runs, lengths), kind="stable"))


def _joined_lines(lines: Sequence[range | IntArray]) -> range | IntArray:
    ranges = [part for part in lines if isinstance(part, range)]
    follow = all(part.stop == after.start for part, after in pairwise(ranges))
    if len(ranges) == len(lines) and follow:
        return range(ranges[0].start, ranges[-1].stop)
    return np.concatenate([np.asarray(part, np.int64) for part in lines])


def _queries_with_repeats(judgments: Judgments) -> IntArray:
    """Return the places of the queries in which a document is judged twice."""
    found, starts = [], judgments.starts
    for first, last in judgments.blocks(_COMPARED):
        bounds = starts[first : last + 1]
        documents = judgments.documents.part(int(bounds[0]), int(bounds[-1]))
        found.append(first + _groups_with_repeats(documents, bounds - bounds[0]))
    return np.concatenate(found)


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


def _settled(contents: Contents, judgments: Judgments, repeated: IntArray) -> Judgments:
    """Return judgments in which each document is judged once for each query.

    The judgments of the queries with repeats are added one by one, as they come in the source.

    Raises:
        GoldenSetError: two rows contradict each other, and contradictions are errors.
    """
    assert judgments.lines is not None
    counts = np.diff(judgments.starts)
    rows = np.concatenate([np.arange(*judgments.starts[code : code + 2]) for code in repeated])
    lines = np.asarray(judgments.lines)[rows]
    in_source = np.argsort(lines)
    rows, lines = rows[in_source], lines[in_source]
    codes = np.searchsorted(judgments.starts, rows, "right") - 1
    judged = CollectedJudgments(contents.source.contradictions, contents.places)
    is_new, grades = np.ones(len(judgments), np.bool_), judgments.grades.copy()
    cells = zip(
        *(codes.tolist(), judgments.documents.texts(rows)),
        *(grades[rows].tolist(), lines.tolist(), rows.tolist()),
        strict=True,
    )
    row_of: dict[tuple[int, str], int] = {}
    for code, doc_id, grade, line, row in cells:
        is_new[row] = row_of.setdefault((code, doc_id), row) == row
        judged.add(judgments.query_ids[code], doc_id, grade, line)
    for (code, doc_id), row in row_of.items():
        grades[row] = judged.by_query[judgments.query_ids[code]][doc_id]
    contents.repeats.extend(judged.repeats)
    counts -= np.bincount(codes[~is_new[rows]], minlength=len(counts))
    starts = starts_of(counts)
    whole = Judgments(
        judgments.query_ids, judgments.starts, judgments.documents, grades, judgments.lines
    )
    return whole.of_rows(judgments.query_ids, starts, np.flatnonzero(is_new))


def column_of_grades(reader: GradeReader, column: Column) -> FloatArray | None:
    """Return the grades of a column, NaN for empty cells; None if a cell is not a grade."""

    def grade(value: object) -> float | None:
        return np.nan if is_blank(value) else reader.grade(value)

    if isinstance(column, CellColumn):
        try:
            by_value = {value: grade(value) for value in set(column.values)}
        except TypeError:  # a list is not hashable
            return None
        grades = np.array([by_value[value] for value in column.values], np.float64)
        return None if None in by_value.values() else grades
    if reader.grade_map is None:
        numbers = column.numbers()
        if not len(numbers.invalid):
            return numbers.values
    coded = column.coded()
    distinct = list(map(grade, coded.values))
    return None if None in distinct else np.array(distinct, np.float64)[coded.codes]
