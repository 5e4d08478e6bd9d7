"""The judgments of a golden set in columns, with dicts as views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.files.id_columns import (
    HeldIds,
    IdColumn,
    NumberIds,
    TextIds,
    counts_of,
    row_blocks,
    rows_of_groups,
    starts_of,
)

_WALKED = 1 << 17
"""How many rows are turned into Python's objects at once."""

_EXACT = 2.0**53
"""Below it, a whole grade is shown as int."""


@dataclass(frozen=True)
class Judgments:
    """The judged documents of all queries, the rows of each query together."""

    query_ids: Sequence[str]
    """All queries, in the set's order, including those without judgments."""
    starts: IntArray
    """``[Q + 1]`` where the rows of each query begin, and where the last ones end."""
    documents: IdColumn
    """The judged document of each row; within a query, all are different."""
    grades: FloatArray
    """The grade of each row, finite."""
    lines: IntArray | None = None
    """The line or row of the source that has each judgment, from 1 on; 0 where it is unknown."""

    @classmethod
    def of_dicts(cls, grades: Mapping[str, Mapping[str, float]]) -> Judgments:
        """Return the columns of a checked ``{query_id: {doc_id: grade}}``."""
        lengths = np.fromiter(map(len, grades.values()), np.int64, len(grades))
        documents = list(chain.from_iterable(grades.values()))
        values = chain.from_iterable(judged.values() for judged in grades.values())
        column = np.fromiter(values, np.float64, len(documents))
        return cls(tuple(grades), starts_of(lengths), HeldIds(documents), column + 0.0)

    def __len__(self) -> int:
        return len(self.grades)

    @cached_property
    def codes(self) -> Mapping[str, int]:
        """The place of each query in the set, by its id."""
        return {query_id: code for code, query_id in enumerate(self.query_ids)}

    @cached_property
    def has_relevant(self) -> BoolArray:
        """``[Q]`` whether a query has a relevant judgment."""
        return self.counts(self.grades > 0) > 0

    def of_query(self, code: int) -> Mapping[str, float]:
        """Return the grade of each judged document of a query, given its place in the set.

        Whole grades are int, as they were written.
        """
        judged = self._dicts.get(code)
        if judged is None:
            start, end = self.starts[code : code + 2].tolist()
            documents = self.documents.part(start, end).texts()
            judged = dict(zip(documents, _as_written(self.grades[start:end]), strict=True))
            self._dicts[code] = judged
        return judged

    def remember(self, grades: Mapping[str, dict[str, float]]) -> None:
        """Keep copies of the dicts that the columns were made from, for evaluations.

        Making them again would take half as long as an evaluation.
        """
        self._dicts.update(enumerate(map(dict.copy, grades.values())))

    def rows_of(self, code: int) -> Mapping[str, int]:
        """Return the row of each judged document of a query, given its place in the set."""
        start, end = int(self.starts[code]), int(self.starts[code + 1])
        return dict(zip(self.documents.part(start, end).texts(), range(start, end), strict=True))

    @cached_property
    def _dicts(self) -> dict[int, Mapping[str, float]]:
        return {}

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, float]]]:
        for query_id, documents, grades in self.walk():
            yield query_id, dict(zip(documents, grades, strict=True))

    def walk(self) -> Iterator[tuple[str, Sequence[str], Sequence[float]]]:
        """Yield each query with its documents and their grades; nothing is kept."""
        for first, last in row_blocks(self.starts, _WALKED):
            start, end = int(self.starts[first]), int(self.starts[last])
            documents = self.documents.part(start, end).texts()
            grades = _as_written(self.grades[start:end])
            bounds = pairwise((self.starts[first : last + 1] - start).tolist())
            for code, (begin, stop) in enumerate(bounds, start=first):
                yield self.query_ids[code], documents[begin:stop], grades[begin:stop]

    @property
    def by_query(self) -> GradesByQuery:
        """The grades of the documents of each query, as a mapping."""
        return GradesByQuery(self)

    @cached_property
    def distinct_grades(self) -> Sequence[float]:
        """The grades that occur, in ascending order."""
        # Like np.unique, whose first call imports numpy.ma: 10 ms.
        ordered = np.sort(self.grades)
        return _as_written(ordered[np.diff(ordered, prepend=-np.inf) > 0])

    @cached_property
    def has_byte_grades(self) -> bool:
        """Whether all grades are whole numbers from 0 to 254."""
        as_bytes = self.grades.clip(0, 254).astype(np.uint8)
        return bool((as_bytes == self.grades).all())

    @cached_property
    def highest(self) -> float:
        """The highest grade; 0 without judgments."""
        return self.distinct_grades[-1] if len(self) else 0

    def counts(self, is_counted: BoolArray) -> IntArray:
        """Return how many of these rows each query has."""
        return counts_of(is_counted, self.starts)

    def rows_at(self, rows: IntArray | None = None) -> Iterator[tuple[str, str, float]]:
        """Yield the query, the document and the grade of some rows, or of all."""
        rows = np.arange(len(self)) if rows is None else rows
        codes = (np.searchsorted(self.starts, rows, "right") - 1).tolist()
        ids = (self.query_ids[code] for code in codes)
        return zip(ids, self.documents.texts(rows), _as_written(self.grades[rows]), strict=True)

    def query_at(self, row: int) -> str:
        """Return the query of a row."""
        return self.query_ids[int(np.searchsorted(self.starts, row, "right")) - 1]

    def line(self, row: int) -> int:
        """Return the line or row of the source with the judgment in a row; 0 if it is unknown."""
        return 0 if self.lines is None else int(self.lines[row])

    def first_line(self, query_id: str) -> int:
        """Return the line with the first judgment of a query; 0 if it is unknown."""
        code = self.codes.get(query_id)
        start, end = (0, 0) if code is None else self.starts[code : code + 2].tolist()
        return self.line(start) if start < end else 0

    def arranged(self, query_ids: Sequence[str]) -> Judgments:
        """Return the judgments of these queries, in this order; unknown queries have none."""
        if tuple(query_ids) == self.query_ids:
            return self
        codes = np.fromiter((self.codes.get(each, -1) for each in query_ids), np.int64)
        rows, starts = rows_of_groups(self.starts, codes)
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(self))):
            return Judgments(tuple(query_ids), starts, self.documents, self.grades, self.lines)
        return self.of_rows(tuple(query_ids), starts, rows)

    def of_rows(self, query_ids: Sequence[str], starts: IntArray, rows: IntArray) -> Judgments:
        """Return some rows, for queries whose rows begin at ``starts`` of them."""
        lines = None if self.lines is None else self.lines[rows]
        documents = self.documents.reordered(rows)
        return Judgments(query_ids, starts, documents, self.grades[rows], lines)

    @cached_property
    def texts(self) -> TextIds:
        """The documents as text in polars. An id that UTF-8 cannot hold is null.

        Only for callers that have loaded polars.
        """
        import polars as pl

        if isinstance(self.documents, TextIds):
            return self.documents
        if isinstance(self.documents, NumberIds):
            return TextIds(pl.Series(self.documents.ids).cast(pl.String))
        ids = self.documents.texts()
        try:
            return TextIds(pl.Series(ids, dtype=pl.String))
        except UnicodeEncodeError:  # a lone surrogate
            return TextIds(pl.Series(map(_in_utf8, ids), dtype=pl.String))

    @cached_property
    def numbers(self) -> tuple[NumberIds, IntArray]:
        """The documents whose ids are plainly written whole numbers, and their rows."""
        if isinstance(self.documents, NumberIds):
            return self.documents, np.arange(len(self))
        return NumberIds.among(self.documents.texts())


class GradesByQuery(Mapping[str, Mapping[str, float]]):
    """Judgments as ``{query_id: {doc_id: grade}}``; a dict is made for each query asked for."""

    def __init__(self, judgments: Judgments) -> None:
        self._judgments = judgments

    def __getitem__(self, query_id: str) -> Mapping[str, float]:
        return self._judgments.of_query(self._judgments.codes[query_id])

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._judgments.codes

    def __iter__(self) -> Iterator[str]:
        return iter(self._judgments.query_ids)

    def __len__(self) -> int:
        return len(self._judgments.query_ids)


def _as_written(grades: FloatArray) -> Sequence[float]:
    """Return grades as Python's numbers; whole ones are int."""
    is_whole = (np.abs(grades) < _EXACT) & (grades == np.floor(grades))
    if is_whole.all():
        whole: list[float] = grades.astype(np.int64).tolist()
        return whole
    pairs = zip(grades.tolist(), is_whole.tolist(), strict=True)
    return [int(grade) if is_int else grade for grade, is_int in pairs]


def _in_utf8(doc_id: str) -> str | None:
    try:
        doc_id.encode()
    except UnicodeEncodeError:
        return None
    return doc_id
