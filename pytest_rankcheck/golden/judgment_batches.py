"""Reading golden sets from tables with one row per judgment, as columns, and tables of queries.

Each rule looks at a whole column and notes the first row that breaks it. The error is about the
first of these rows, unless two rows before it contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.delimited_tables import index_of_roles, lacks
from pytest_rankcheck.files.id_columns import IdColumn
from pytest_rankcheck.files.id_runs import run_starts
from pytest_rankcheck.files.plain_values import as_flag, is_blank
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.table_columns import CellColumn, Column, NumberCells
from pytest_rankcheck.golden.checked_values import checked_id
from pytest_rankcheck.golden.column_marks import is_index
from pytest_rankcheck.golden.extra_columns import ExtraColumns
from pytest_rankcheck.golden.golden_contents import SCALE, Contents
from pytest_rankcheck.golden.golden_source import GradeReader
from pytest_rankcheck.golden.judgment_columns import (
    QUERY_ID,
    TEXT,
    places_of_roles,
    refuse_misspelt_text,
)
from pytest_rankcheck.golden.query import Query

__all__ = ["BATCH_ROWS", "add_queries", "add_table"]

BATCH_ROWS = 1 << 20
"""As many as the row groups of most Parquet files."""


def add_table(contents: Contents, table: Table, place: Mapping[str, int] | None = None) -> None:
    """Add the rows of a table of judgments to the contents.

    Without ``place``, the header and the source of the contents say which column has which role.
    """
    contents.places.numbering = table.numbering
    place = place or places_of_roles(contents, table.header)
    reader, failure = _Reader(contents, table, place), None
    try:
        for batch in table.batches(rows=BATCH_ROWS):
            reader.add(batch)
    except GoldenSetError as error:
        failure = error
    _ = contents.judgments  # an error if two contradict each other
    if failure is not None:
        raise failure
    reader.extras.assign()


def add_queries(contents: Contents, table: Table) -> None:
    """Add the rows of a table of queries: their ids, maybe their texts, and attributes."""
    header, numbering = table.header, table.numbering
    place = _places_of_queries(header, numbering)
    numbered = [row for batch in table.batches() for row in batch.rows()]
    others = {
        index: name
        for index, name in enumerate(header)
        if index not in place.values() and not is_index(name, [row[index] for _, row in numbered])
    }
    if "query" not in place:
        refuse_misspelt_text(list(others.values()), numbering.source, can_map=False)
    for number, row in numbered:
        where = numbering.place(number)
        query_id = checked_id(_filled(row[place["query_id"]]), "query_id", where)
        text = _filled(row[place["query"]]) if "query" in place else None
        cells = {name: _filled(row[index]) for index, name in others.items()}
        attributes = {name: cell for name, cell in cells.items() if cell is not None}
        contents.add_query(Query(query_id, None if text is None else str(text), attributes), where)


def _places_of_queries(header: Sequence[str], numbering: Numbering) -> Mapping[str, int]:
    exact = {role.name: role.name for role in (QUERY_ID, TEXT) if role.name in header}
    place = index_of_roles(header, (QUERY_ID, TEXT), exact, numbering.source, GoldenSetError)
    if "query_id" not in place:
        problem = lacks(header, place.values(), [QUERY_ID], can_map=False)
        raise GoldenSetError(f"{numbering.source} {problem}")
    return place


class _FirstError:
    """The first wrong row of a batch, and the error about it."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self.row = len(batch)
        """The number of rows if none is wrong."""
        self.error: GoldenSetError | None = None

    @contextmanager
    def at(self, row: int) -> Iterator[int]:
        """Yield the number of a row, and note an error about it unless a row before is wrong."""
        try:
            yield int(self._batch.numbers[row])
        except GoldenSetError as error:
            if row < self.row:
                self.row, self.error = row, error


class _Reader:
    """Reads the batches of a table of judgments."""

    def __init__(self, contents: Contents, table: Table, place: Mapping[str, int]) -> None:
        self._contents, self._place = contents, place
        self._others = [at for at in range(len(table.header)) if at not in place.values()]
        names = [table.header[at] for at in self._others]
        first = table.header[: min(place.get("query_id", place["doc_id"]), place["doc_id"])]
        self.extras = ExtraColumns(contents, names, first, is_marked="candidate" in place)

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch; those before a wrong row are added too."""
        wrong, place = _FirstError(batch), self._place
        if SCALE in place:
            self._read_scale(batch.column(place[SCALE]), wrong)
        queries = self._queries(batch, wrong)
        if "query" in place:
            self._read_texts(batch.column(place["query"]), queries, wrong)
        is_candidate = self._marks(batch, wrong)
        grades, has_grade = self._grades(batch)
        documents, is_named = self._documents(batch.column(place["doc_id"]), has_grade, wrong)
        is_judged = is_named & (has_grade | ~is_candidate) if "candidate" in place else is_named
        for row in np.flatnonzero(is_judged & np.isnan(grades))[:1].tolist():
            value = _filled(batch.column(place["relevance"]).cell(row))
            with wrong.at(row) as number:
                self._contents.grade(value, documents.part(row, row + 1).texts()[0], number)
        self._read_titles(batch, documents, is_named)
        if self._others or "candidate" in place:
            cells = [batch.column(at).cells() for at in self._others]
            is_kept = is_named & is_candidate
            self.extras.add_rows(
                batch.numbers, queries, documents, is_kept, cells, errors_at=wrong.at
            )
        end = wrong.row
        self._contents.collected.add_rows(
            *(queries.part(0, end), documents.part(0, end), grades[:end]),
            *(batch.numbers[:end], is_judged[:end]),
        )
        if wrong.error is not None:
            raise wrong.error

    def _read_scale(self, column: Column, wrong: _FirstError) -> None:
        coded = column.coded()
        for code, value in enumerate(coded.values):
            if _filled(value) is not None:
                with wrong.at(int(np.argmax(coded.codes == code))) as number:
                    self._contents.set_scale(value, number)

    def _queries(self, batch: Batch, wrong: _FirstError) -> IdColumn:
        column = batch.column(self._place.get("query_id", self._place.get("query", 0)))
        found = column.ids()
        for row in found.invalid[:1].tolist():
            with wrong.at(row) as number:
                checked_id(_filled(column.cell(row)), "query_id", number, self._contents.places)
        return found.ids

    def _read_texts(self, column: Column, queries: IdColumn, wrong: _FirstError) -> None:
        """Note the text of each query, the same in all its rows that have one."""
        coded, known = column.coded(), self._contents.queries
        changes = np.flatnonzero(np.diff(coded.codes)) + 1
        rows = np.union1d(run_starts(queries), changes)
        pairs = zip(queries.texts(rows), coded.codes[rows].tolist(), strict=True)
        for row, (query_id, code) in zip(rows.tolist(), pairs, strict=True):
            if row >= wrong.row or _filled(coded.values[code]) is None:
                continue
            query = Query(query_id, str(coded.values[code]))
            if known.setdefault(query_id, query).text != query.text:
                with wrong.at(row) as number:
                    self._contents.see_query(query, number)

    def _marks(self, batch: Batch, wrong: _FirstError) -> BoolArray:
        """Return which rows are candidates: all, unless they are marked. An empty cell means no."""
        if "candidate" not in self._place:
            return np.ones(len(batch), np.bool_)
        coded = batch.column(self._place["candidate"]).coded()
        flags = [False if _filled(mark) is None else as_flag(mark) for mark in coded.values]
        for code in [code for code, flag in enumerate(flags) if flag is None][:1]:
            with wrong.at(int(np.argmax(coded.codes == code))) as number:
                raise GoldenSetError(
                    f"{self._contents.places.shown(number)}: the candidate mark "
                    f"'{quoted(coded.values[code], 40)}' is invalid; write 1, true or yes for a "
                    "candidate, and 0, false, no or nothing for another document"
                )
        return np.array(flags, np.bool_)[coded.codes]

    def _grades(self, batch: Batch) -> tuple[FloatArray, BoolArray]:
        """Return the grade of each row, NaN without a valid one, and which rows have a cell."""
        reader = self._contents.reader
        if "relevance" not in self._place:
            return np.full(len(batch), reader.grade(None)), np.zeros(len(batch), np.bool_)
        found = _grades_of(reader, batch.column(self._place["relevance"]))
        has_grade = ~np.isnan(found.values)
        has_grade[found.invalid] = True
        return found.values, has_grade

    def _documents(
        self, column: Column, has_grade: BoolArray, wrong: _FirstError
    ) -> tuple[IdColumn, BoolArray]:
        """Return the documents, and which rows have one: a row without a grade need not."""
        found, is_named = column.ids(), np.ones(len(column), np.bool_)
        is_named[found.invalid] = False
        for row in found.invalid.tolist():
            value = _filled(column.cell(row))
            if has_grade[row] or value is not None:
                with wrong.at(row) as number:
                    checked_id(value, "doc_id", number, self._contents.places)
                break
        return found.ids, is_named

    def _read_titles(self, batch: Batch, documents: IdColumn, is_named: BoolArray) -> None:
        if "title" in self._place:
            titles = map(_filled, batch.column(self._place["title"]).cells())
            rows = zip(documents.texts(), titles, is_named.tolist(), strict=True)
            found = {doc: str(title) for doc, title, is_one in rows if is_one and title is not None}
            self._contents.titles.update(found)


def _grades_of(reader: GradeReader, column: Column) -> NumberCells:
    """Return a column of grades, or of codes of the grade map, as numbers."""
    if not reader.has_map and not isinstance(column, CellColumn):
        numbers = column.numbers()
        if not len(numbers.invalid):
            return numbers
    coded = column.coded()
    grades = [np.nan if is_blank(value) else reader.grade(value) for value in coded.values]
    is_invalid = np.array([grade is None for grade in grades], np.bool_)
    values = np.array(grades, np.float64)  # None becomes NaN
    return NumberCells(values[coded.codes], np.flatnonzero(is_invalid[coded.codes]))


def _filled(value: object) -> object:
    """Return None for empty cells: None, empty text or NaN."""
    return None if is_blank(value) else value
