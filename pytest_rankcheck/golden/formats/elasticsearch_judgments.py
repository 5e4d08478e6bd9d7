"""Elasticsearch and OpenSearch: ``_rank_eval`` bodies, and OpenSearch judgment lists.

    {"requests": [{"id": "q1", "request": {"query": {"match": {"text": "red shoes"}}},
                   "ratings": [{"_index": "products", "_id": "d3", "rating": 2}]}]}
    {"judgmentRatings": [{"query": "red shoes", "ratings": [{"docId": "d3", "rating": "2.0"}]}]}

The text of a ``_rank_eval`` query is the text that its request searches for; the index of a
document is not part of its id. In a judgment list, the text is the id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source, checked_id
from pytest_rankcheck.golden.json_tree import Node, root_of
from pytest_rankcheck.golden.query import Query

_SEARCHED = ("query", "query_string", "query_text", "model_text", "keywords")
"""Keys of a request whose text is what the user searches for."""
_MATCH = ("match", "match_phrase", "match_phrase_prefix", "match_bool_prefix")
"""Clauses that may hold that text under the name of the field."""
_CHOSEN = ("filter", "must_not", "post_filter")
"""Clauses that restrict a search regardless of what the user searches for."""


def _read(source: Source, entries: str, query_of: Callable[[Node], Query], doc_id: str) -> Contents:
    """Read the queries and ratings of a document, given its keys of entries and document ids."""
    builder = ContentsBuilder(source)
    for entry in root_of(source.file).need(entries).items():
        query = query_of(entry)
        builder.add_query(query, entry.where)
        for rating in entry.need("ratings").items():
            document, grade = rating.need(doc_id).value, rating.need("rating").value
            if grade is not None:
                builder.add_judgment(query.id, document, grade, rating.where)
    return builder.built()


def _query_of_request(request: Node) -> Query:
    query_id = checked_id(request.need("id").value, '"id"', request.where)
    return Query(query_id, _searched(request))


def _query_of_entry(entry: Node) -> Query:
    text = entry.need("query").text()
    return Query(text, text)


def _searched(request: Node) -> str | None:
    """Return the text that a request searches for, if there is exactly one."""
    body = request.get("request") or request.get("params")
    if body is None:
        return None
    searched = set(_texts(body))
    return searched.pop() if len(searched) == 1 else None


def _texts(node: Node, clause: str = "") -> Iterator[str]:
    """Yield the texts that a part of a request, in a clause with this name, searches for."""
    if isinstance(node.value, dict):
        for name, child in node.pairs():
            if isinstance(child.value, str) and (name in _SEARCHED or clause in _MATCH):
                yield child.value
            elif name not in _CHOSEN:
                yield from _texts(child, name)
    elif isinstance(node.value, list):
        for child in node.items():
            yield from _texts(child, clause)


FORMATS = (
    Format(
        name="elasticsearch",
        description='a _rank_eval body, {"requests": [{"id": ..., "ratings": [...]}]}',
        recognises=lambda sample: "requests" in sample.first_object,
        read=partial(_read, entries="requests", query_of=_query_of_request, doc_id="_id"),
    ),
    Format(
        name="opensearch",
        description='a judgment list, {"judgmentRatings": [{"query": ..., "ratings": [...]}]}',
        recognises=lambda sample: "judgmentRatings" in sample.first_object,
        read=partial(_read, entries="judgmentRatings", query_of=_query_of_entry, doc_id="docId"),
    ),
)
