"""RRE, the Rated Ranking Evaluator: topics with groups of queries that share relevant documents.

    {"topics": [{"description": "...", "query_groups": [{"name": "...",
      "queries": [{"template": "t.json", "placeholders": {"$query": "red shoes"}}],
      "relevant_documents": {"d3": {"gain": 2}}}]}]}

``relevant_documents`` may also map gains to documents, ``{"2": ["d3"]}``, and may belong to a
single query. Topic and group become the attributes ``topic`` and ``query_group``. RRE's queries
have no ids: their text is the id, with the group in brackets if the text is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.json_tree import Node, root_of
from pytest_rankcheck.golden.query import Query

__all__ = ["FORMAT"]

_TEXT = "$query"
_JUDGMENTS = "relevant_documents"
_LEVELS = (("topics", "topic", "description"), ("query_groups", "query_group", "name"))
"""Each level's key, the attribute that it becomes, and the key of its name."""


def read(source: Source) -> Contents:
    """Read RRE ratings."""
    contents = Contents(source)
    root = root_of(source.file)
    if not any(root.get(key) for key in ("topics", "query_groups", "queries")):
        raise GoldenSetError(f'{root.where}: no "topics", "query_groups" or "queries"')
    _add(contents, root, {}, None)
    return contents


def _add(
    contents: Contents, node: Node, attributes: Mapping[str, str], judgments: Node | None
) -> None:
    """Add the queries of a topic or group, including nested ones."""
    judgments = node.get(_JUDGMENTS) or judgments
    for key, attribute, name in _LEVELS:
        for child in _items(node, key):
            named = child.get(name)
            inherited = {**attributes, **({attribute: named.text()} if named else {})}
            _add(contents, child, inherited, judgments)
    for query in _items(node, "queries"):
        _add_query(contents, query, attributes, query.get(_JUDGMENTS) or judgments)


def _items(node: Node, key: str) -> Iterator[Node]:
    child = node.get(key)
    return child.items() if child else iter(())


def _add_query(
    contents: Contents, query: Node, attributes: Mapping[str, str], judgments: Node | None
) -> None:
    text = _text(query)
    again = text in contents.queries
    key = f"{text} [{attributes.get('query_group', 'again')}]" if again else text
    contents.add_query(Query(key, text, dict(attributes)), query.where)
    for doc_id, gain in _judgments(judgments) if judgments else ():
        contents.add_judgment(key, doc_id, gain, query.where)


def _text(query: Node) -> str:
    """Return the text of a query: its placeholder ``$query``, or all placeholders."""
    values = {key: node.value for key, node in query.need("placeholders").pairs()}
    text = values.get(_TEXT) or " ".join(str(value) for value in values.values())
    if not text:
        raise GoldenSetError(f"{query.where}: the placeholders are empty")
    return str(text)


def _judgments(judgments: Node) -> Iterator[tuple[object, object]]:
    for key, node in judgments.pairs():
        if isinstance(node.value, list):
            yield from ((doc.value, key) for doc in node.items())
        elif isinstance(node.value, dict):
            yield key, node.need("gain").value
        else:
            raise GoldenSetError(
                f'{node.where}: {quoted(node.value, 40)} is neither {{"gain": 2}} nor a list of '
                "documents"
            )


def _recognises(sample: FileSample) -> bool:
    is_flat = "queries" in sample.keys and bool(sample.keys & {"template", "id_field"})
    return bool(sample.keys & {"topics", "query_groups"}) or is_flat


FORMAT = Format(
    name="rre",
    description='RRE ratings, {"topics": [{"query_groups": [...]}]}',
    recognises=_recognises,
    read=read,
)
