"""Quepid's exports of a case or a book, as CSV. The text of a query is its id.

    query,docid,rating        a row with only a query is unrated
    query,docid,Alice,Bob     a book: one column per judge

If several judges of a book rated a document, the mean rating is its grade.
"""

from __future__ import annotations

import math

from pytest_rankcheck.errors import GoldenSetError
from pytest_rankcheck.files.delimited_tables import normalised_name, table_of
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source, checked_id
from pytest_rankcheck.golden.query import Query

_START = ["query", "docid"]
_GUARDED = (" -", " =", " +", " @")
"""Quepid puts a space before texts that a spreadsheet would take for a formula."""


def read(source: Source) -> Contents:
    """Read an export."""
    builder, path = ContentsBuilder(source), source.file
    table = table_of(path, GoldenSetError, lone_first=True)
    if [normalised_name(name) for name in table.header[:2]] != _START:
        raise GoldenSetError(f"{path}: the header of a Quepid table must begin with query,docid")
    for number, (query, doc_id, *ratings) in table.rows:
        text = query[1:] if query.startswith(_GUARDED) else query
        checked_id(text, "the query", number, builder.places)
        builder.see_query(Query(text, text), number)
        given = [rating for rating in ratings if rating]
        grades = [builder.grade(rating, doc_id, number) for rating in given]
        if grades:
            mean = grades[0] if len(grades) == 1 else math.fsum(grades) / len(grades)
            doc = checked_id(doc_id, "a document id", number, builder.places)
            builder.collected.add(text, doc, mean, number)
    return builder.built()


FORMAT = Format(
    name="quepid",
    description="Quepid's exports: query,docid,rating",
    recognises=lambda sample: sample.header[:2] == _START,
    read=read,
)
