"""Reading golden sets from tables with one row per judgment, and tables of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rankcheck.errors import GoldenSetError
from pytest_rankcheck.files.delimited_tables import index_of_roles, lacks
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.golden.checked_values import checked_id
from pytest_rankcheck.golden.column_marks import is_index
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.judgment_batches import add_batches, filled
from pytest_rankcheck.golden.judgment_columns import (
    QUERY_ID,
    TEXT,
    places_of_roles,
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
    add_table(contents, read_table(judgments, GoldenSetError, name="judgments"))
    return contents


def add_table(contents: Contents, table: Table) -> None:
    """Add the rows of a table of judgments to the contents.

    Args:
        contents: filled here; its source names columns with unusual names.
        table: the table.

    Raises:
        GoldenSetError: a column is missing, or a row lacks an id or grade or contradicts another.
    """
    contents.places.numbering = table.numbering
    add_batches(contents, table, places_of_roles(contents, table.header))


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
