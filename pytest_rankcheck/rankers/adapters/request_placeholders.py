"""Placeholders in the texts of a request, such as ``{query}`` and ``{attributes.locale}``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any
from urllib.parse import quote

from pytest_rankcheck.errors import RankerError, quoted, suggestion
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import no_text

Json = Any

_NAMES = ("query", "query_id", "depth")
_ATTRIBUTE = "attributes."
_BRACES = re.compile(r"\{\{[^{}]*\}\}|\{(attributes\.[^{}]+|[A-Za-z_][\w.-]*)\}")
"""A word in braces, which may be a placeholder; or two pairs of braces, which belong to a template
of the search engine."""


def check_placeholders(*parts: Json) -> None:
    """Check the placeholders in the URL, the parameters and the body of a request.

    Words in braces inside other braces are taken for code, such as GraphQL, unless they are nearly
    a placeholder.

    Raises:
        RankerError: a placeholder is unknown, or no placeholder depends on the query.
    """
    depends_on_query = False
    for text in _texts(parts):
        for match in _BRACES.finditer(text):
            name = match[1]
            if name is None or _is_placeholder(name):
                depends_on_query |= name not in (None, "depth")
                continue
            hint = suggestion(name, _NAMES)
            is_nested = text.count("{", 0, match.start()) > text.count("}", 0, match.start())
            if hint or not is_nested:
                raise RankerError(
                    f"http: unknown placeholder {{{quoted(name)}}}{hint or '.'} The placeholders "
                    "are {query}, {query_id}, {depth} and {attributes.NAME}; to send other braces, "
                    f"write spaces inside them: {{ {quoted(name)} }}"
                )
    if not depends_on_query:
        raise RankerError(
            "http: the request is the same for every query; write {query}, {query_id} or "
            "{attributes.NAME} where the endpoint expects the query, in url, params or body"
        )


def _is_placeholder(name: str) -> bool:
    return name in _NAMES or name.startswith(_ATTRIBUTE)


def uses(name: str, *parts: Json) -> bool:
    """Whether the parts of a request have this placeholder."""
    matches = chain.from_iterable(map(_BRACES.finditer, _texts(parts)))
    return any(match[1] == name for match in matches)


def _texts(value: Json) -> Iterator[str]:
    """Yield all texts and keys of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from map(str, value)
        yield from _texts(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def filled(value: Json, query: Query, depth: int) -> Json:
    """Return a JSON value with the placeholders in its texts and keys filled in.

    A text that is just a placeholder becomes its value: ``{depth}`` becomes a number.
    """
    if isinstance(value, str):
        whole = _BRACES.fullmatch(value)
        if whole and whole[1] and _is_placeholder(whole[1]):
            return _value(whole[1], query, depth)
        return filled_text(value, query, depth)
    if isinstance(value, Mapping):
        return {
            filled_text(str(key), query, depth): filled(item, query, depth)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [filled(item, query, depth) for item in value]
    return value


def filled_text(text: str, query: Query, depth: int, *, is_url: bool = False) -> str:
    """Return a text with its placeholders filled in; in a URL, their values percent-encoded."""

    def value(match: re.Match[str]) -> str:
        if match[1] is None or not _is_placeholder(match[1]):
            return match[0]
        value = str(_value(match[1], query, depth))
        return quote(value, safe="") if is_url else value

    return _BRACES.sub(value, text)


def _value(placeholder: str, query: Query, depth: int) -> object:
    if placeholder == "query" and query.text is None:
        raise no_text("write {query_id} or {attributes.NAME} in its place")
    if placeholder in _NAMES:
        return {"query": query.text, "query_id": query.id, "depth": depth}[placeholder]
    name = placeholder.removeprefix(_ATTRIBUTE)
    if name not in query.attributes:
        raise RankerError(
            f"the request needs the attribute '{quoted(name)}', which the query lacks"
            f"{suggestion(name, query.attributes)}"
        )
    return query.attributes[name]
