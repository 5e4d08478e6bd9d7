"""Quepid's exports of a case or a book. The text of a query is its id.

    query,docid,rating                                        a row with only a query is unrated
    query,docid,Alice,Bob                                     a book: one column per judge
    {"queries": [{"query": "...", "ratings": {"d3": 2}}]}     a case; also as "query_text"

If several judges of a book rated a document, the mean rating is its grade.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_rankcheck.errors import GoldenSetError
from pytest_rankcheck.files.delimited_tables import normalised_name, table_of
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.formats import retrieval_cases
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Place, Source, checked_id
from pytest_rankcheck.golden.json_tree import Node, root_of
from pytest_rankcheck.golden.query import Query

_START = ["query", "docid"]
_GUARDED = (" -", " =", " +", " @")
"""Quepid puts a space before texts that a spreadsheet would take for a formula."""
_ATTRIBUTES = ("information_need", "notes")


def read(source: Source) -> Contents:
    """Read an export."""
    builder = ContentsBuilder(source)
    if not FileSample(source.file, GoldenSetError).is_json:
        _read_table(builder)
        return builder.built()
    for query in root_of(source.file).need("queries").items():
        _add_query(builder, query)
    return builder.built()


def _read_table(builder: ContentsBuilder) -> None:
    path = builder.source.file
    table = table_of(path, GoldenSetError, lone_first=True)
    if [normalised_name(name) for name in table.header[:2]] != _START:
        raise GoldenSetError(f"{path}: the header of a Quepid table must begin with query,docid")
    for number, (query, doc_id, *ratings) in table.rows:
        text = query[1:] if query.startswith(_GUARDED) else query
        checked_id(text, "the query", number, builder.places)
        builder.see_query(Query(text, text), number)
        _judge(builder, text, doc_id, [rating for rating in ratings if rating], number)


def _add_query(builder: ContentsBuilder, query: Node) -> None:
    text = (query.get("query") or query.need("query_text")).text()
    attributes = {}
    for name in _ATTRIBUTES:
        node = query.get(name)
        if node and node.value:
            attributes[name] = node.value
    builder.add_query(Query(text, text, attributes), query.where)
    ratings = query.get("ratings")
    for doc_id, rating in ratings.pairs() if ratings else ():
        if rating.value is not None:
            builder.add_judgment(text, doc_id, rating.value, rating.where)


def _judge(
    builder: ContentsBuilder, query_id: str, doc_id: object, ratings: Sequence[object], where: Place
) -> None:
    """Add the mean of the ratings as a judgment; nothing without ratings."""
    if len(ratings) == 1:
        builder.add_judgment(query_id, doc_id, ratings[0], where)
    elif ratings:
        grades = [builder.grade(rating, str(doc_id), where) for rating in ratings]
        doc = checked_id(doc_id, "a document id", where, builder.places)
        builder.collected.add(query_id, doc, math.fsum(grades) / len(grades), where)


def _recognises(sample: FileSample) -> bool:
    if sample.header[:2] == _START:
        return True
    return "queries" in sample.first_object and not retrieval_cases.recognises(sample)


FORMAT = Format(
    name="quepid",
    description="Quepid's exports: query,docid,rating, or the JSON of a case",
    recognises=_recognises,
    read=read,
)
