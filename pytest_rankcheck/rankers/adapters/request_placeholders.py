"""Placeholders in the texts of a request, such as ``{query}`` and ``{attributes.locale}``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from pytest_rankcheck.errors import RankerError, quoted, suggestion
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import no_text

__all__ = ["check_placeholders", "filled", "filled_url", "uses_attribute"]

Json = Any

_OF_QUERY = ("query", "query_id")
_NAMES = (*_OF_QUERY, "depth")
_ATTRIBUTE = "attributes."
_PLACEHOLDER = re.compile(
    rf"\{{\{{[^{{}}]*\}}\}}|\{{({'|'.join(_NAMES)}|{re.escape(_ATTRIBUTE)}[^{{}}]+)\}}"
)
"""A placeholder, or two pairs of braces, which belong to a template of the search engine."""
_WORD = re.compile(r"\{\{[^{}]*\}\}|\{([A-Za-z_][\w.-]*)\}")
"""A word in braces, which may be a misspelt placeholder."""
_OTHER_NAMES = {
    **dict.fromkeys(("text", "q", "search", "keywords", "query_text", "query.text"), "query"),
    **dict.fromkeys(("k", "n", "size", "limit", "top_k", "rows", "hits", "count"), "depth"),
    **dict.fromkeys(("qid", "query.id"), "query_id"),
}
_ALL = "{query}, {query_id}, {depth} and {attributes.NAME}"


def check_placeholders(*parts: Json) -> None:
    """Check the placeholders in the URL, the parameters and the body of a request.

    Words in braces inside other braces are taken for code, such as GraphQL, unless they are nearly
    a placeholder.

    Raises:
        RankerError: a placeholder is unknown, or no placeholder depends on the query.
    """
    depends_on_query = False
    for text in _texts(parts):
        for match in _WORD.finditer(text):
            name = match[1]
            if name is None or name == "depth":
                continue
            if name in _OF_QUERY or name.startswith(_ATTRIBUTE):
                depends_on_query = True
                continue
            hint = suggestion(name, _NAMES)
            is_nested = text.count("{", 0, match.start()) > text.count("}", 0, match.start())
            if is_nested and not hint:
                continue
            if name.lower() in _OTHER_NAMES:
                hint = f"; did you mean '{_OTHER_NAMES[name.lower()]}'?"
            raise RankerError(
                f"http: unknown placeholder {{{quoted(name)}}}{hint or '.'} The placeholders are "
                f"{_ALL}; to send other braces, write spaces inside them: {{ {quoted(name)} }}"
            )
    if not depends_on_query:
        raise RankerError(
            "http: the request is the same for every query; write {query}, {query_id} or "
            "{attributes.NAME} where the endpoint expects the query, in url, params or body"
        )


def uses_attribute(name: str, *parts: Json) -> bool:
    """Whether a placeholder in the parts of a request stands for an attribute of the query."""
    placeholder = f"{_ATTRIBUTE}{name}"
    return any(
        match[1] == placeholder for text in _texts(parts) for match in _PLACEHOLDER.finditer(text)
    )


def _texts(value: Json) -> Iterator[str]:
    """Yield all texts and keys of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def filled(value: Json, query: Query, depth: int) -> Json:
    """Return a JSON value with the placeholders in its texts and keys filled in.

    A text that is just a placeholder becomes its value: ``{depth}`` becomes a number.
    """
    if isinstance(value, str):
        whole = _PLACEHOLDER.fullmatch(value)
        return _value(whole[1], query, depth) if whole and whole[1] else _text(value, query, depth)
    if isinstance(value, Mapping):
        return {
            _text(str(key), query, depth): filled(item, query, depth) for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [filled(item, query, depth) for item in value]
    return value


def filled_url(url: str, query: Query, depth: int) -> str:
    """Return a URL with its placeholders filled in, percent-encoded."""
    return _text(url, query, depth, is_url=True)


def _text(text: str, query: Query, depth: int, *, is_url: bool = False) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        value = str(_value(match[1], query, depth))
        return quote(value, safe="") if is_url else value

    return _PLACEHOLDER.sub(value, text)


def _value(placeholder: str, query: Query, depth: int) -> object:
    if placeholder == "depth":
        return depth
    if placeholder == "query_id":
        return query.id
    if placeholder == "query":
        if query.text is None:
            raise no_text("write {query_id} or {attributes.NAME} in its place")
        return query.text
    name = placeholder.removeprefix(_ATTRIBUTE)
    if name not in query.attributes:
        raise RankerError(
            f"the request needs the attribute '{quoted(name)}', which the query lacks"
            f"{suggestion(name, query.attributes)}"
        )
    return query.attributes[name]
