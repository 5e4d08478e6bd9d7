"""Search endpoints: Elasticsearch, OpenSearch, Solr, Vespa, any other JSON. Extra ``[http]``."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, listed, quoted, suggestion
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, OnAnswer, RankingTask, no_text
from pytest_rankcheck.rankers.callable_adapters import AskAsync, ConcurrentAdapter
from pytest_rankcheck.remedies import install

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.adapters.answer_paths import AnswerPath


Engine = Literal["elasticsearch", "opensearch", "solr", "vespa"]
Json = Any

_PRIVATE = re.compile(r"(?<=//)[^/?]*@|\?.*")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_ALWAYS_RETRIED = ("httpx.TransportError", "_BusyError")
"""Temporary failures: a broken connection, or a busy server."""
_BUSY = frozenset({429, 502, 503, 504})
_TIMEOUT = 30.0


_ELASTIC = {
    "method": "POST",
    "ids": "hits.hits[]._id",
    "body": {"query": {"multi_match": {"query": "{query}"}}, "size": "{depth}"},
}
_USUAL: Mapping[str, Mapping[str, Any]] = {
    "elasticsearch": _ELASTIC,
    "opensearch": _ELASTIC,
    "solr": {
        "method": "GET",
        "ids": "response.docs[].id",
        "params": {"q": "{query}", "rows": "{depth}", "fl": "id", "wt": "json"},
    },
    "vespa": {
        "method": "POST",
        "ids": "root.children[].id",
        "body": {
            "yql": "select * from sources * where userQuery()",
            "query": "{query}",
            "hits": "{depth}",
        },
    },
}
"""The usual request of each search engine, and the place of the ids in its answer."""
_CHILDREN = re.compile(r"^root\.children\b")
_CHILDREN_OR_NONE = "(root.children || root.fields.totalCount == `0` && `[]`)"
"""Vespa leaves out the children if there are no hits."""


class _BusyError(RankerError):
    """The server answered that it is busy; the request can be retried."""


@checked_arguments
def http(
    url: str,
    engine: Engine | None = None,
    *,
    method: str | None = None,
    body: Json = None,
    params: Mapping[str, str] | None = None,
    ids: str | None = None,
    headers: Mapping[str, str] | None = None,
    verify: bool = True,
) -> Adapter:
    """Return a ranker that queries a search endpoint and takes document ids from its JSON.

    Several queries are sent at the same time (``concurrency`` of ``rank``); broken connections and
    the statuses 429, 502, 503 and 504 are retried (``retries``).

    Args:
        url: the endpoint, such as ``http://localhost:9200/products/_search``, with placeholders
            as in the body, such as ``?q={query}``; their values are percent-encoded. ``${NAME}``
            is replaced as in ``headers``.
        engine: ``"elasticsearch"``, ``"opensearch"``, ``"solr"`` or ``"vespa"``: sets the usual
            request and place of the ids; other arguments override these.
        method: ``"GET"`` or ``"POST"``; by default POST with a body and GET without.
        body: the request as JSON; the placeholders ``{query}``, ``{depth}``, ``{query_id}`` and
            ``{attributes.locale}`` in its texts are filled in; a text that is just ``{depth}``
            becomes a number. Other braces stay: ``{{query}}`` and ``{ id }`` are sent unchanged.
        params: the query parameters of the URL, with the same placeholders.
        ids: the place of the ids in the answer, as a JMESPath: ``hits.hits[]._id``. Every hit must
            have an id there.
        headers: sent with each request; ``${NAME}`` is replaced by an environment variable, whose
            value never appears in messages or logs.
        verify: whether certificates are checked.

    Raises:
        RankerError: httpx or jmespath is not installed, the URL is invalid, neither ``ids`` nor
            ``engine`` is given, a placeholder is unknown, or no placeholder depends on the query.
    """
    missing = [name for name in ("httpx", "jmespath") if find_spec(name) is None]
    if missing:
        raise RankerError(f"http: {' and '.join(missing)} not installed: {install('http')}")
    from pytest_rankcheck.rankers.adapters.answer_paths import AnswerPath

    usual = _USUAL.get(engine or "", {})
    place = ids or usual.get("ids")
    if not place:
        raise RankerError(
            "http: give the place of the ids in the answer, such as ids='hits.hits[]._id', or the "
            "engine"
        )
    place = _CHILDREN.sub(_CHILDREN_OR_NONE, place)
    method = (method or usual.get("method") or ("POST" if body is not None else "GET")).upper()
    body = usual.get("body") if body is None else body
    params = usual.get("params", {}) if params is None else params
    ranker = _Http(url, method, body, params or {}, dict(headers or {}), AnswerPath(place), verify)
    check_placeholders(ranker.address, params, body)
    return ranker


@dataclass(repr=False, eq=False)
class _Http(ConcurrentAdapter):
    """A request with placeholders. It has no repr, because its headers may hold secrets."""

    url: str
    method: str
    body: Json
    params: Mapping[str, str]
    headers: Mapping[str, str]
    ids: AnswerPath
    verify: bool

    def __post_init__(self) -> None:
        import httpx

        self.address = _VARIABLE.sub(_secret, self.url)
        # Without user, password and parameters, and before variables are filled in.
        self.name = f"{self.method} {_PRIVATE.sub('', self.url)}"
        try:
            is_url = httpx.URL(self.address).scheme in ("http", "https")
        except httpx.InvalidURL:
            is_url = False
        if not is_url:
            raise RankerError(
                f"{self.name} is not a request: give a URL such as http://host/search"
            )

    def sees(self, attribute: str) -> bool:
        """Whether the request has a placeholder for the attribute."""
        return uses(f"attributes.{attribute}", self.address, self.params, self.body)

    @property
    def takes_depth(self) -> bool:
        """Whether the request has a placeholder for the depth."""
        return uses("depth", self.address, self.params, self.body)

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Ask as usual, and always retry temporary failures."""
        super().ask(replace(task, retry_on=(*task.retry_on, *_ALWAYS_RETRIED)), on_answer)

    @asynccontextmanager
    async def opened(self, task: RankingTask) -> AsyncIterator[AskAsync]:
        """Open one client, with one connection per concurrent query."""
        import logging

        import httpx

        log = logging.getLogger("httpx")  # it logs URLs, which may hold secrets
        log.addFilter(_silent)
        async with httpx.AsyncClient(
            headers={name: _VARIABLE.sub(_secret, text) for name, text in self.headers.items()},
            limits=httpx.Limits(max_connections=task.concurrency),
            timeout=task.timeout or _TIMEOUT,
            verify=self.verify,
        ) as client:
            try:
                yield partial(self._asked, client, task.depth)
            finally:
                log.removeFilter(_silent)

    async def _asked(self, client: Any, depth: int, query: Query) -> list[object]:
        import httpx

        url = httpx.URL(filled_text(self.address, query, depth, is_url=True))
        if self.params:  # keep the URL's own parameters, which httpx would drop
            url = url.copy_merge_params(filled(self.params, query, depth))
        try:
            answer = await client.request(self.method, url, json=filled(self.body, query, depth))
        except httpx.TransportError as failure:  # it holds the request, with its secrets
            is_late = isinstance(failure, httpx.TimeoutException)
            said = "no answer in time" if is_late else failure or type(failure).__name__
            if isinstance(failure, httpx.ConnectError):
                said = f"{said}; is the server running?"
            raise type(failure)(quoted(f"{self.name}: {said}", 500)) from None
        if not answer.is_success:
            kind = _BusyError if answer.status_code in _BUSY else RankerError
            raise kind(f"{self.name}: HTTP {answer.status_code}: {quoted(answer.text, 300)}")
        return self._doc_ids(answer)

    def _doc_ids(self, answer: Any) -> list[object]:
        """Return the ids in an answer."""
        try:
            content = answer.json()
            doc_ids = self.ids.search(content)
        except RankerError as failure:
            raise RankerError(f"{self.name}: {failure}") from None
        except (ValueError, RecursionError):
            raise RankerError(
                f"{self.name}: the answer is not JSON: {quoted(answer.text, 200)}"
            ) from None
        if not isinstance(doc_ids, list):
            has = listed(list(content), 10) if isinstance(content, dict) else quoted(content)
            raise RankerError(
                f"{self.name}: nothing at '{quoted(self.ids.path)}' in the answer, which has {has}"
            )
        return doc_ids


def unset_variables(*texts: str) -> Sequence[str]:
    """Return the environment variables that texts name but that are not set."""
    return [name for name in _VARIABLE.findall(" ".join(texts)) if name not in os.environ]


def _silent(record: object) -> bool:
    return False


def _secret(match: re.Match[str]) -> str:
    """Return the value of an environment variable that the URL or a header names."""
    if unset_variables(match[0]):
        raise RankerError(f"http: the environment variable {match[1]} is not set")
    return os.environ[match[1]]


_NAMES = ("query", "query_id", "depth")
_ATTRIBUTE = "attributes."
_BRACES = re.compile(r"\{\{[^{}]*\}\}|\{(attributes\.[^{}]+|[A-Za-z_][\w.-]*)\}")
"""A word in braces, which may be a placeholder; or two pairs of braces, which belong to a template
of the search engine."""


def check_placeholders(*parts: Json) -> None:
    """Check the placeholders in the URL, the parameters and the body of a request.

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
            raise RankerError(
                f"http: unknown placeholder {{{quoted(name)}}}{suggestion(name, _NAMES) or '.'} "
                "The placeholders are {query}, {query_id}, {depth} and {attributes.NAME}; to send "
                f"other braces, write spaces inside them: {{ {quoted(name)} }}"
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
