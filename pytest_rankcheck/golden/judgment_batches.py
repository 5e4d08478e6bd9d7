"""Reading tables of judgments, in batches of rows, and tables of queries.

Each rule checks a whole column of a batch; the error names the first row that breaks it.

A column without a role is an attribute if it has one value for each query; otherwise it belongs to
the candidates. So do numbers with one value for each query if other numbers vary, because they are
features of a model too. A column named ``attribute:...`` or ``candidate:...`` is what its name
says. Left out are the index of a DataFrame, a second column of grades, the names of judges, and
columns of events: if rows repeat a document, a value that differs between them, such as a time,
does not describe the document.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.delimited_tables import index_of_roles, lacks, normalised_name
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn, run_starts
from pytest_rankcheck.files.plain_values import (
    as_booleans,
    as_flag,
    checked_number,
    flat,
    is_blank,
    plain_value,
)
from pytest_rankcheck.files.table_batches import Batch, Column, NumberCells, Table
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import SCALE
from pytest_rankcheck.golden.golden_source import GradeReader, checked_id
from pytest_rankcheck.golden.judgment_columns import (
    ATTRIBUTE,
    CANDIDATE,
    NO_FEATURES,
    QUERY_ID,
    SUBTOPIC,
    TEXT,
    first_varying,
    is_index,
    places_of_roles,
    refuse_misspelt_text,
    repeated_rows,
)
from pytest_rankcheck.golden.query import Query, label_of
from pytest_rankcheck.golden.reranking_candidates import Candidates

BATCH_ROWS = 1 << 20
"""The size of the row groups of most Parquet files."""
_NUMBERS = {"nan": None, "NaN": None, "inf": math.inf, "-inf": -math.inf}
"""How tools write numbers that are missing or infinite."""


def add_table(
    builder: ContentsBuilder, table: Table, place: Mapping[str, int] | None = None
) -> None:
    """Add the rows of a table of judgments to the builder.

    Without ``place``, the header and the source of the contents say which column has which role.
    """
    builder.places.numbering = table.numbering
    place = place or places_of_roles(builder, table.header)
    if "subtopic" in place and builder.collected.rule == "error":
        builder.collected.rule = "highest"  # another check finds contradictions within a subtopic
    names = enumerate(map(normalised_name, table.header))
    taken = {at for at, name in names if at in place.values() and not SUBTOPIC.among([name])}
    others = {at: name for at, name in enumerate(table.header) if at not in taken}
    extras = _ExtraColumns(builder, others, is_marked="candidate" in place)
    for batch in table.batches(rows=BATCH_ROWS):
        _add_batch(builder, batch, place, extras)
    _ = builder.collected.judgments  # an error if two contradict each other
    extras.assign()


def add_queries(builder: ContentsBuilder, table: Table) -> None:
    """Add the rows of a table of queries: their ids, maybe their texts, and attributes.

    A configured column need not be here; it may be in the table of judgments.
    """
    header = table.header
    numbering = table.numbering
    columns = builder.source.columns
    roles = {role.name: role for role in (QUERY_ID, TEXT)}
    given = {role: columns[role] for role in roles if columns.get(role) in header}
    exact = {role: role for role in roles if role in header and role not in given.values()}
    names, wanted = {**exact, **given}, tuple(roles.values())
    place = index_of_roles(header, wanted, names, numbering.source, GoldenSetError)
    if "query_id" not in place:
        raise GoldenSetError(f"{numbering.source} {lacks(header, place.values(), [QUERY_ID])}")
    builder.columns_of_queries = given
    others = {
        index: name
        for index, name in enumerate(header)
        if index not in place.values() and not is_index(name)
    }
    if "query" not in place:
        refuse_misspelt_text(list(others.values()), numbering.source)
    for number, row in chain.from_iterable(batch.rows() for batch in table.batches()):
        where = numbering.place(number)
        query_id = checked_id(_filled(row[place["query_id"]]), "query_id", where)
        text = _filled(row[place["query"]]) if "query" in place else None
        cells = {name: _filled(row[index]) for index, name in others.items()}
        attributes = {name: cell for name, cell in cells.items() if cell is not None}
        builder.add_query(Query(query_id, None if text is None else str(text), attributes), where)


def _add_batch(
    builder: ContentsBuilder, batch: Batch, place: Mapping[str, int], extras: _ExtraColumns
) -> None:
    columns = {role: batch.column(at) for role, at in place.items()}
    if SCALE in columns:
        coded = columns[SCALE].coded()
        for code, value in enumerate(coded.values):
            if not is_blank(value):
                builder.set_scale(value, _line(batch, np.argmax(coded.codes == code)))
    named = columns["query_id" if "query_id" in columns else "query"]
    found = named.ids()
    for row in found.invalid[:1].tolist():
        checked_id(_filled(named.cell(row)), "query_id", _line(batch, row), builder.places)
    queries = found.ids
    if "query" in columns:
        _add_texts(builder, batch, columns["query"], queries)
    is_candidate = _candidates(builder, batch, columns.get("candidate"))
    grades, has_grade = _grades(builder.reader, columns.get("relevance"), len(batch))
    documents, is_named = _documents(builder, batch, columns["doc_id"], has_grade)
    is_judged = is_named
    if "candidate" in place:
        is_judged = is_named & (has_grade | ~is_candidate)
    for row in np.flatnonzero(is_judged & np.isnan(grades))[:1].tolist():
        value = _filled(columns["relevance"].cell(row))
        builder.grade(value, documents.part(row, row + 1).texts()[0], _line(batch, row))
    if "title" in columns:
        titles = map(_filled, columns["title"].cells())
        rows = zip(documents.texts(), titles, is_named.tolist(), strict=True)
        builder.titles.update(
            (doc_id, str(title)) for doc_id, title, is_one in rows if is_one and title is not None
        )
    if "subtopic" in columns:
        pairs = zip(queries.texts(), columns["subtopic"].cells(), strict=True)
        keys = HeldIds([f"{query}\t{label_of(cell)}" for query, cell in pairs])
        builder.by_subtopic.add_rows(keys, documents, grades, batch.row_numbers(), is_judged)
    extras.add_rows(batch, queries, documents, is_named & is_candidate)
    builder.collected.add_rows(queries, documents, grades, batch.row_numbers(), is_judged)


def _line(batch: Batch, row: int | np.intp) -> int:
    return int(batch.numbers[int(row)])


def _add_texts(builder: ContentsBuilder, batch: Batch, column: Column, queries: IdColumn) -> None:
    """Note the text of each query, the same in all its rows that have one."""
    coded, known = column.coded(), builder.queries
    changes = np.flatnonzero(np.diff(coded.codes)) + 1
    rows = np.union1d(run_starts(queries), changes)
    pairs = zip(queries.texts(rows), coded.codes[rows].tolist(), strict=True)
    for row, (query_id, code) in zip(rows.tolist(), pairs, strict=True):
        if not is_blank(coded.values[code]):
            query = Query(query_id, str(coded.values[code]))
            if known.setdefault(query_id, query).text != query.text:
                builder.see_query(query, _line(batch, row))


def _candidates(builder: ContentsBuilder, batch: Batch, column: Column | None) -> BoolArray:
    """Return which rows are candidates: all, unless they are marked. An empty cell means no."""
    if column is None:
        return np.ones(len(batch), np.bool_)
    coded = column.coded()
    flags = [False if is_blank(mark) else as_flag(mark) for mark in coded.values]
    for code in [code for code, flag in enumerate(flags) if flag is None][:1]:
        where = builder.places.shown(_line(batch, np.argmax(coded.codes == code)))
        raise GoldenSetError(
            f"{where}: the candidate mark '{quoted(coded.values[code], 40)}' is invalid; write 1, "
            "true or yes for a candidate, and 0, false, no or nothing for another document"
        )
    return np.array(flags, np.bool_)[coded.codes]


def _documents(
    builder: ContentsBuilder, batch: Batch, column: Column, has_grade: BoolArray
) -> tuple[IdColumn, BoolArray]:
    """Return the documents, and which rows have one; a row without a grade needs none."""
    found, is_named = column.ids(), np.ones(len(column), np.bool_)
    is_named[found.invalid] = False
    for row in found.invalid.tolist():
        value = _filled(column.cell(row))
        if has_grade[row] or value is not None:
            checked_id(value, "doc_id", _line(batch, row), builder.places)
    return found.ids, is_named


def _grades(reader: GradeReader, column: Column | None, count: int) -> tuple[FloatArray, BoolArray]:
    """Return the grade of each row, NaN without a valid one, and which rows have a cell."""
    if column is None:
        return np.full(count, reader.grade(None)), np.zeros(count, np.bool_)
    found = _grades_of(reader, column)
    has_grade = ~np.isnan(found.values)
    has_grade[found.invalid] = True
    return found.values, has_grade


def _grades_of(reader: GradeReader, column: Column) -> NumberCells:
    """Return a column of grades, or of codes of the grade map, as numbers."""
    if not reader.has_map and column.kind:
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


class _ExtraColumns:
    """Collects the cells of columns without a role, until it is clear what the columns are."""

    def __init__(
        self, builder: ContentsBuilder, names: Mapping[int, str], *, is_marked: bool
    ) -> None:
        self._builder = builder
        self._names = names
        """By their places in the header."""
        self._is_marked = is_marked
        """Whether a column marks which rows are candidates."""
        self._numbers: list[int] = []
        self._queries: list[str] = []
        self._documents: list[str | None] = []
        """The document of each row; None if the row is not a candidate."""
        self._cells: dict[int, list[object]] = {at: [] for at in names}
        """The cells of each column."""

    def add_rows(
        self, batch: Batch, queries: IdColumn, documents: IdColumn, is_candidate: BoolArray
    ) -> None:
        """Keep the cells of each column in some rows.

        Rows that are not candidates only describe their query.
        """
        if not self._names and not self._is_marked:
            return
        starts = run_starts(queries)
        lengths = np.diff(starts, append=len(queries)).tolist()
        self._queries += chain.from_iterable(map(repeat, queries.texts(starts), lengths))
        rows = zip(documents.texts(), is_candidate.tolist(), strict=True)
        self._documents += [doc_id if is_one else None for doc_id, is_one in rows]
        for at, name in self._names.items():
            kept = self._cells[at]
            try:
                kept.extend(map(_plain, batch.column(at).cells()))
            except TypeError as failure:
                where = self._builder.places.shown(batch.numbers[len(kept) - len(self._numbers)])
                raise GoldenSetError(f"{where}: column '{quoted(name)}': {failure}") from None
        self._numbers += batch.numbers

    def assign(self) -> None:
        """Give each column to the queries or to the candidates.

        A column that is declared as an attribute but varies within a query is an error.
        """
        columns = self._described()
        numbers = {name: _as_numbers(cells) for name, (cells, _) in columns.items()}
        has_features = any(
            numbers[name] and is_one is False for name, (_, is_one) in columns.items()
        )
        attributes: dict[str, Sequence[object]] = {}
        features: dict[str, Sequence[object]] = {}
        for name, (cells, is_attribute) in columns.items():
            is_feature = is_attribute is None and has_features and numbers[name] is not None
            if is_attribute is not False and not is_feature:
                attributes[name] = cells
            else:
                features[name] = numbers[name] or _as_booleans_or_texts(cells)
        self._set_attributes(attributes)
        if features or self._is_marked:
            self._set_candidates(features)

    def _described(self) -> Mapping[str, tuple[Sequence[object], bool | None]]:
        """Return the cells of the columns that describe queries or documents, by their names.

        Each comes with whether it is an attribute; None if it may be one, with one value for each
        query.
        """
        wanted = self._builder.source.attributes
        of_query = repeated_rows(self._queries)
        of_document: dict[tuple[str, str | None], list[int]] = {}
        if self._builder.collected.repeats or self._is_marked:
            rows = repeated_rows(zip(self._queries, self._documents, strict=True))
            of_document = {pair: places for pair, places in rows.items() if pair[1] is not None}
        columns: dict[str, tuple[Sequence[object], bool | None]] = {}
        for at, name in self._names.items():
            cells = self._cells[at]
            bare = name.removeprefix(ATTRIBUTE).removeprefix(CANDIDATE)
            is_declared = name.startswith(ATTRIBUTE) if wanted is None else bare in wanted
            varying = first_varying(of_query, cells)
            if is_declared and varying is not None:
                raise self._varies(name, cells, of_query[varying], varying)
            if not is_declared and (
                is_index(name)
                or (varying is not None and normalised_name(name) in NO_FEATURES)
                or first_varying(of_document, cells) is not None
            ):
                continue
            if bare in columns:
                raise GoldenSetError(
                    f"{self._builder.places.file}: two columns are named '{quoted(bare)}'; "
                    "rename one of them"
                )
            is_open = wanted is None and name == bare and varying is None
            columns[bare] = cells, None if is_open else is_declared
        return columns

    def _varies(
        self, name: str, cells: Sequence[object], rows: Sequence[int], query_id: str
    ) -> GoldenSetError:
        """Return the error about an attribute with different cells within a query."""
        other = next(row for row in rows if cells[row] != cells[rows[0]])
        return GoldenSetError(
            f"{self._builder.places.shown(self._numbers[other])}: column '{quoted(name)}' has "
            f"another value than before for query '{quoted(query_id)}'; an attribute has one value "
            "for each query; correct a cell"
        )

    def _set_attributes(self, columns: Mapping[str, Sequence[object]]) -> None:
        queries, first = self._builder.queries, dict[str, int]()
        for row, query_id in enumerate(self._queries):
            first.setdefault(query_id, row)
        for query_id, row in first.items():
            query = queries.get(query_id) or Query(query_id)
            cells = {name: cells[row] for name, cells in columns.items() if cells[row] is not None}
            queries[query_id] = Query(query_id, query.text, flat({**query.attributes, **cells}))

    def _set_candidates(self, columns: Mapping[str, Sequence[object]]) -> None:
        first: dict[tuple[str, str], int] = {}
        for row, (query_id, doc_id) in enumerate(zip(self._queries, self._documents, strict=True)):
            if doc_id is not None:
                first.setdefault((query_id, doc_id), row)
        chosen = {name: [cells[row] for row in first.values()] for name, cells in columns.items()}
        self._builder.candidates = Candidates.of(first, chosen)


def _as_numbers(cells: Iterable[object]) -> list[float | None] | None:
    """Return a column of numbers, or of numbers as text; None if another cell occurs."""
    numbers: list[float | None] = []
    for cell in cells:
        if isinstance(cell, str) and cell in _NUMBERS:
            numbers.append(_NUMBERS[cell])
        elif cell is None or isinstance(cell, float):
            numbers.append(cell)
        elif (number := checked_number(cell)) is not None:
            numbers.append(float(number))
        else:
            return None
    return numbers


def _plain(cell: object) -> object:
    """Return a cell as a plain value; None if it is empty."""
    if cell.__class__ is str:
        return cell or None
    value = plain_value(cell)
    return None if value == "" else value


def _as_booleans_or_texts(cells: Sequence[object]) -> Sequence[object]:
    """Return a column of booleans as it is, and any other as text."""
    return as_booleans(cells) or [
        cell if cell is None or isinstance(cell, (str, list, dict)) else label_of(cell)
        for cell in cells
    ]
