"""Reading golden sets from tables with one row per judgment, and tables of queries.

Rows are read as columns. If one of them is unusual (an empty cell, a mark, an invalid grade), the
table is read again row by row, so that a message names the first row that is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.delimited_tables import index_of_roles, lacks
from pytest_rankcheck.files.plain_values import as_flag
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.files.tables import TableKind, read_table
from pytest_rankcheck.golden.checked_values import checked_id
from pytest_rankcheck.golden.column_marks import is_index
from pytest_rankcheck.golden.extra_columns import ExtraColumns
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.judgment_batches import ColumnReader, Layout, filled
from pytest_rankcheck.golden.judgment_columns import (
    QUERY_ID,
    TEXT,
    refuse_misspelt_text,
)
from pytest_rankcheck.golden.query import Query

__all__ = ["add_queries", "add_table", "contents_from_frames"]


def contents_from_frames(judgments: object, queries: object | None, source: Source) -> Contents:
    """Return the contents of a golden set from a frame of judgments and a frame of queries.

    Raises:
        GoldenSetError: as in ``GoldenSet.from_frame``.
    """
    contents = Contents(source)
    if queries is not None:
        add_queries(contents, read_table(queries, GoldenSetError, name="queries"))
    whole = getattr(judgments, "read_all", None)  # of Arrow's RecordBatchReader
    add_table(contents, whole() if whole else judgments)
    return contents


def add_table(contents: Contents, source: object, kind: TableKind | None = None) -> None:
    """Add the rows of a table of judgments to the contents.

    Args:
        contents: filled here; its source names the file and columns with unusual names.
        source: a file, or a frame that can be read twice.
        kind: the kind of file.

    Raises:
        GoldenSetError: a column is missing, or a row lacks an id or grade or contradicts another.
    """
    table = read_table(source, GoldenSetError, name="judgments", kind=kind)
    contents.places.numbering = table.numbering
    layout = Layout(contents, table.header)
    if layout.mark_at is None and ColumnReader(contents, layout).has_added(table):
        return
    table = read_table(source, GoldenSetError, name="judgments", kind=kind)
    _add_row_by_row(contents, table, layout)


def _add_row_by_row(contents: Contents, table: Table, layout: Layout) -> None:
    extras = layout.extras(contents)
    for batch in table.batches():
        for number, row in batch.rows():
            _add_row(contents, layout, number, row, extras)
    extras.assign()


def _add_row(
    contents: Contents, layout: Layout, number: int, row: Sequence[object], extras: ExtraColumns
) -> None:
    def cell(place: int | None) -> object:
        return None if place is None else filled(row[place])

    if cell(layout.scale_at) is not None:
        contents.set_scale(cell(layout.scale_at), number)
    text = cell(layout.text_at)
    value = text if layout.query_at is None else cell(layout.query_at)
    key = checked_id(value, "query_id", number, contents.places)
    if text is not None or key not in contents.queries:
        contents.see_query(Query(key, None if text is None else str(text)), number)
    doc, grade = cell(layout.doc_at), cell(layout.grade_at)
    is_marked = layout.mark_at is not None
    is_candidate = not is_marked or _is_marked(cell(layout.mark_at), contents, number)
    doc_id = None
    if doc is not None or grade is not None:
        doc_id = checked_id(doc, "doc_id", number, contents.places)
        if grade is not None or not is_marked or not is_candidate:
            contents.add_judgment(key, doc_id, grade, number)
        title = cell(layout.title_at)
        if title is not None:
            contents.titles[doc_id] = str(title)
    extras.add(number, key, doc_id if is_candidate else None, [row[at] for at in layout.others])


def _is_marked(mark: object, contents: Contents, number: int) -> bool:
    """Return whether a row is marked as a candidate; an empty cell means no.

    Raises:
        GoldenSetError: the mark is neither yes nor no.
    """
    flag = False if mark is None else as_flag(mark)
    if flag is None:
        raise GoldenSetError(
            f"{contents.places.shown(number)}: the candidate mark '{quoted(mark, 40)}' is invalid; "
            "write 1, true or yes for a candidate, and 0, false, no or nothing for another document"
        )
    return flag


def add_queries(contents: Contents, table: Table) -> None:
    """Add the rows of a table of queries: their ids, maybe their texts, and attributes.

    Raises:
        GoldenSetError: the column of ids is missing, an id is invalid, or a query is a duplicate.
    """
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
        query_id = checked_id(filled(row[place["query_id"]]), "query_id", where)
        text = filled(row[place["query"]]) if "query" in place else None
        cells = {name: filled(row[index]) for index, name in others.items()}
        attributes = {name: cell for name, cell in cells.items() if cell is not None}
        contents.add_query(Query(query_id, None if text is None else str(text), attributes), where)


def _places_of_queries(header: Sequence[str], numbering: Numbering) -> Mapping[str, int]:
    exact = {role.name: role.name for role in (QUERY_ID, TEXT) if role.name in header}
    place = index_of_roles(header, (QUERY_ID, TEXT), exact, numbering.source, GoldenSetError)
    if "query_id" not in place:
        problem = lacks(header, place.values(), [QUERY_ID], can_map=False)
        raise GoldenSetError(f"{numbering.source} {problem}")
    return place
