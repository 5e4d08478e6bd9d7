"""Tables with one row per judgment: ``query_id,doc_id,relevance``, in CSV, TSV or Parquet.

The separator of a CSV file (comma, tab, semicolon or bar) is detected from the header. Other usual
column names are recognised (``qid``, ``docno``, ``query-id``, ``corpus-id``, ``label``, ``rating``,
``grade``). Without a ``query_id``, the text of the query, in the column ``query``, is its id.

If a query has several values in the column ``subtopic``, documents are judged for each, and the
grade of a document is its highest one. A column with one value for each query is an attribute.

Parquet needs the extra ``[fast]``. Its ids may be text or whole numbers; attributes and
features keep their types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import GoldenSetError, listed
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.plain_values import is_missing
from pytest_rankcheck.files.tables import table_formats
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import SCALE, Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.judgment_columns import (
    ATTRIBUTE,
    CANDIDATE,
    ROLES,
    SUBTOPIC,
    is_index,
    may_have_judgments,
)
from pytest_rankcheck.golden.query import attribute_names

if TYPE_CHECKING:
    from pytest_rankcheck.files.tables import TableKind


def read(source: Source, kind: TableKind) -> Contents:
    """Read a table."""
    from pytest_rankcheck.files.tables import read_table
    from pytest_rankcheck.golden.judgment_batches import add_table

    builder = ContentsBuilder(source)
    add_table(builder, read_table(source.file, GoldenSetError, kind=kind))
    return builder.built()


def _table_of(contents: Contents) -> tuple[list[str], list[list[object]]]:
    """Return a golden set as a table: the header, and one row per judgment or candidate.

    A query without judgments has a row without a document, so that nothing is lost. No attribute
    may have a name that gives a column another role.
    """
    queries = contents.complete_queries()
    attributes = attribute_names(queries.values())
    features = list(contents.candidates.columns)
    has_text = any(query.text is not None for query in queries.values())
    own = ["query_id", *(["query"] if has_text else []), "doc_id", "relevance"]
    own += ["title"] if contents.titles else []
    own += ["candidate"] if contents.candidates else []
    own += [SCALE] if contents.stored_scale is not None else []
    header = [*own, *attributes, *features]
    names = [normalised_name(name) for name in header]
    meant = {place for role in ROLES if role is not SUBTOPIC for place in role.among(names)}
    taken = [header[place] for place in sorted(meant) if place >= len(own)]
    taken += [name for name in header if header.count(name) > 1]
    if taken:
        raise GoldenSetError(
            f"an attribute or feature is named {listed(sorted(set(taken)))}, which is reserved in "
            "tables; rename it, or save as jsonl"
        )
    # In a table with features, a numeric attribute would be read as one, so all are marked.
    are_marked = bool(contents.candidates)
    shown = [f"{ATTRIBUTE}{each}" if are_marked or is_index(each) else each for each in attributes]
    rows = list(_rows_of(contents, own, attributes, features))
    return [*own, *shown, *(f"{CANDIDATE}{name}" for name in features)], rows


def _rows_of(
    contents: Contents, own: Sequence[str], attributes: Sequence[str], features: Sequence[str]
) -> Iterator[list[object]]:
    has_text, has_marks = "query" in own, "candidate" in own
    candidates, titles = contents.candidates, contents.titles
    scale = [contents.stored_scale] if SCALE in own else []
    for query_id, query in contents.complete_queries().items():
        grades = contents.grades[query_id]
        row_of = candidates.rows(query_id)
        values = [query.attributes.get(name) for name in attributes]
        start: list[object] = [query_id, query.text] if has_text else [query_id]
        for doc_id in list(dict.fromkeys([*row_of, *grades])) or [""]:
            title = [titles.get(doc_id)] if titles else []
            row = row_of.get(doc_id)
            mark = [None if row is None else 1] if has_marks else []
            cells = [None if row is None else candidates.columns[name][row] for name in features]
            cells = [None if is_missing(cell) else cell for cell in cells]
            judgment = [*start, doc_id or None, grades.get(doc_id)]
            yield [*judgment, *title, *mark, *scale, *values, *cells]


FORMATS = table_formats(
    read,
    may_have_judgments,
    columns="query_id,query,doc_id,relevance",
    error=GoldenSetError,
    rows=_table_of,
)
