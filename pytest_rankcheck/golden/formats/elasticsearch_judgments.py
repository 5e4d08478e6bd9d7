"""Elasticsearch and OpenSearch: ``_rank_eval`` bodies, and OpenSearch judgment lists.

    {"requests": [{"id": "q1", "request": {"query": {"match": {"text": "red shoes"}}},
                   "ratings": [{"_index": "products", "_id": "d3", "rating": 2}]}]}
    {"judgmentRatings": [{"query": "red shoes", "ratings": [{"docId": "d3", "rating": "2.0"}]}]}

The text of a ``_rank_eval`` query is the text that its request searches for; the index of a
document is not part of its id. In a judgment list, the text is the id.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.golden.checked_values import checked_id
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.json_tree import Node, root_of
from pytest_rankcheck.golden.query import Query

_SEARCHED = ("query", "query_string", "query_text")
_SETTINGS = ("fields", "type", "operator", "analyzer", "minimum_should_match", "default_field")
"""Keys of a request whose texts are settings, not search text."""


def read_rank_eval(source: Source) -> Contents:
    """Read the body of a ``_rank_eval`` request."""
    contents = Contents(source)
    for request in root_of(source.file).need("requests").items():
        query_id = checked_id(request.need("id").value, '"id"', request.where)
        contents.add_query(Query(query_id, _searched(request)), request.where)
        _add_ratings(contents, query_id, request, "_id")
    return contents


def _add_ratings(contents: Contents, query_id: str, entry: Node, id_key: str) -> None:
    for rating in entry.need("ratings").items():
        doc_id, grade = rating.need(id_key).value, rating.need("rating").value
        contents.add_judgment(query_id, doc_id, grade, rating.where)


def _searched(request: Node) -> str | None:
    """Return the text that a request searches for, if there is exactly one."""
    body = request.get("request") or request.get("params")
    if body is None:
        return None
    texts = list(_texts(body.get("query") or body))
    searched = [text for key, text in texts if key in _SEARCHED] or [text for _, text in texts]
    return searched[0] if len(set(searched)) == 1 else None


def _texts(node: Node, key: str = "query") -> Iterator[tuple[str, str]]:
    """Yield every text of a query, with its key."""
    if isinstance(node.value, str):
        yield key, node.value
    elif isinstance(node.value, dict):
        for name, child in node.pairs():
            if name not in _SETTINGS:
                yield from _texts(child, name)
    elif isinstance(node.value, list):
        for child in node.items():
            yield from _texts(child, key)


def read_judgment_list(source: Source) -> Contents:
    """Read an OpenSearch judgment list."""
    contents = Contents(source)
    for entry in root_of(source.file).need("judgmentRatings").items():
        text = entry.need("query").text()
        contents.add_query(Query(text, text), entry.where)
        _add_ratings(contents, text, entry, "docId")
    return contents


FORMATS = (
    Format(
        name="elasticsearch",
        description='a _rank_eval body, {"requests": [{"id": ..., "ratings": [...]}]}',
        recognises=lambda sample: "requests" in sample.keys,
        read=read_rank_eval,
    ),
    Format(
        name="opensearch",
        description='a judgment list, {"judgmentRatings": [{"query": ..., "ratings": [...]}]}',
        recognises=lambda sample: "judgmentRatings" in sample.keys,
        read=read_judgment_list,
    ),
)
