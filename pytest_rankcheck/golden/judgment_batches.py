"""The rows of a table of judgments, read as columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import GoldenSetError
from pytest_rankcheck.files.id_columns import IdColumn
from pytest_rankcheck.files.plain_values import is_missing
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.golden.checked_values import checked_number
from pytest_rankcheck.golden.extra_columns import ExtraColumns
from pytest_rankcheck.golden.golden_contents import SCALE, Contents
from pytest_rankcheck.golden.judgment_columns import places_of_roles
from pytest_rankcheck.golden.judgment_rows import JudgmentRows, column_of_grades
from pytest_rankcheck.golden.query import Query

__all__ = ["ColumnReader", "Layout", "filled"]

BATCH_ROWS = 1 << 20
"""As many as the row groups of most Parquet files."""


class Layout:
    """Where a table of judgments has which column."""

    def __init__(self, contents: Contents, header: Sequence[str]) -> None:
        place = places_of_roles(contents, header)
        self.query_at, self.text_at = place.get("query_id"), place.get("query")
        self.doc_at, self.grade_at = place["doc_id"], place.get("relevance")
        self.title_at, self.mark_at = place.get("title"), place.get("candidate")
        self.scale_at = place.get(SCALE)
        self.others = [index for index in range(len(header)) if index not in place.values()]
        self._names = [header[index] for index in self.others]
        self._first = header[: min(place.get("query_id", self.doc_at), self.doc_at)]

    def extras(self, contents: Contents) -> ExtraColumns:
        """Return the columns without a role, still empty."""
        is_marked = self.mark_at is not None
        return ExtraColumns(contents, self._names, self._first, is_marked=is_marked)


class _Unusual(Exception):  # noqa: N818 - switches to another way of reading, not an error
    """A row must be read by itself."""


class ColumnReader:
    """Reads the rows of a table as columns, and adds them only if all of them are ordinary."""

    def __init__(self, contents: Contents, layout: Layout) -> None:
        self._contents, self._layout = contents, layout
        self._rows = JudgmentRows()
        self._extras = layout.extras(contents)
        self._texts: dict[str, object] = {}
        self._titles: dict[str, str] = {}
        self._scale: tuple[float, int] | None = None
        self._places: dict[str, int] = {}
        """The first rows of queries that may have no judgments."""

    def has_added(self, table: Table) -> bool:
        """Add the rows; False, and nothing is added, if a row must be read by itself.

        Raises:
            GoldenSetError: rows contradict each other.
        """
        try:
            for batch in table.batches(rows=BATCH_ROWS):
                self._read(batch)
        except (_Unusual, GoldenSetError):  # which is raised again in its place
            return False
        contents = self._contents
        if self._scale is not None:
            contents.set_scale(*self._scale)
        self._rows.put_into(contents)
        for query_id, number in self._places.items():
            contents.places.note_first(query_id, number)
        for query_id, text in self._texts.items():
            before = contents.queries.get(query_id)
            attributes = before.attributes if before else {}
            contents.queries[query_id] = Query(query_id, str(text), attributes)
        contents.titles.update(self._titles)
        self._extras.assign()
        return True

    def _read(self, batch: Batch) -> None:
        layout = self._layout
        query_at = layout.text_at if layout.query_at is None else layout.query_at
        assert query_at is not None
        queries, documents = batch.column(query_at).ids(), batch.column(layout.doc_at).ids()
        if len(queries.invalid):
            raise _Unusual
        is_judged = np.ones(len(batch), np.bool_)
        is_judged[documents.invalid] = False
        if any(not _is_empty(batch, layout.doc_at, row) for row in documents.invalid):
            raise _Unusual
        grades = self._grades(batch, is_judged)
        known = len(self._rows.codes)
        ids, starts = self._rows.add(queries.ids, documents.ids, grades, batch.numbers, is_judged)
        if len(documents.invalid):
            for query_id, start in zip(ids, starts.tolist(), strict=True):
                if self._rows.codes[query_id] >= known:
                    self._places.setdefault(query_id, batch.numbers[start])
        self._read_scale(batch)
        if layout.text_at is not None:
            self._read_texts(batch.column(layout.text_at), ids, starts)
        self._read_titles(batch, documents.ids, is_judged)
        if layout.others:
            self._read_extras(batch, ids, starts, documents.ids, is_judged)

    def _grades(self, batch: Batch, is_judged: BoolArray) -> FloatArray:
        """Return the grades; NaN for rows of queries without judgments."""
        reader, grade_at = self._contents.reader, self._layout.grade_at
        if grade_at is None:
            constant = reader.grade(None)
            assert constant is not None
            return np.where(is_judged, constant, np.nan)
        grades = column_of_grades(reader, batch.column(grade_at))
        if grades is None or (np.isnan(grades) == is_judged).any():
            raise _Unusual
        return grades

    def _read_scale(self, batch: Batch) -> None:
        scale_at, given = self._layout.scale_at, self._contents.scale
        if scale_at is None:
            return
        coded = batch.column(scale_at).coded()
        for code, value in enumerate(coded.values):
            if filled(value) is None:
                continue
            scale = checked_number(value)
            known = {each for each in (given, self._scale and self._scale[0]) if each is not None}
            if scale is None or scale <= 0 or known - {scale}:
                raise _Unusual
            row = int(np.flatnonzero(coded.codes == code)[0])
            self._scale = self._scale or (scale, batch.numbers[row])

    def _read_texts(self, column: Column, ids: Sequence[str], starts: IntArray) -> None:
        """Note the text of each query, the same in all its rows."""
        coded = column.coded()
        is_start = np.zeros(len(column), np.bool_)
        is_start[starts] = True
        if (np.diff(coded.codes) != 0)[~is_start[1:]].any():
            raise _Unusual
        for query_id, code in zip(ids, coded.codes[starts].tolist(), strict=True):
            text = coded.values[code]
            before = self._contents.queries.get(query_id)
            known = None if before is None else before.text
            if (
                filled(text) is None
                or self._texts.setdefault(query_id, text) != text
                or (known is not None and known != str(text))
            ):
                raise _Unusual

    def _read_titles(self, batch: Batch, documents: IdColumn, is_judged: BoolArray) -> None:
        if self._layout.title_at is None:
            return
        titles = batch.column(self._layout.title_at).cells()
        if not set(map(type, titles)) <= {str, type(None)}:
            titles = [None if filled(title) is None else str(title) for title in titles]
        rows = zip(documents.texts(), titles, is_judged.tolist(), strict=True)
        self._titles.update({doc: str(title) for doc, title, is_one in rows if title and is_one})

    def _read_extras(
        self,
        batch: Batch,
        ids: Sequence[str],
        starts: IntArray,
        documents: IdColumn,
        is_judged: BoolArray,
    ) -> None:
        lengths = np.diff(starts, append=len(batch)).tolist()
        owners = [each for each, count in zip(ids, lengths, strict=True) for _ in range(count)]
        judged = zip(documents.texts(), is_judged.tolist(), strict=True)
        doc_ids = [doc_id if is_one else None for doc_id, is_one in judged]
        cells = [batch.column(index).cells() for index in self._layout.others]
        self._extras.add_rows(batch.numbers, owners, doc_ids, cells)


def _is_empty(batch: Batch, index: int, row: int) -> bool:
    return filled(batch.column(index).cell(int(row))) is None


def filled(value: object) -> object:
    """Return None for empty cells: None, empty text or NaN."""
    return None if is_missing(value) or (isinstance(value, str) and not value) else value
