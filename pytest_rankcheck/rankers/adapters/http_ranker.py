"""Search endpoints: Elasticsearch, OpenSearch, Solr, Vespa, any with JSON. Extra ``[http]``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, install_hint, listed, quoted, suggestion
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask
from pytest_rankcheck.rankers.adapters.request_placeholders import (
    check_placeholders,
    filled,
    filled_url,
    uses_attribute,
)
from pytest_rankcheck.rankers.callable_adapters import AskAsync, ConcurrentAdapter

if TYPE_CHECKING:
    import httpx

    from pytest_rankcheck.rankers.adapters.answer_paths import AnswerPath

__all__ = ["Engine", "http"]

Engine = Literal["elasticsearch", "opensearch", "solr", "vespa"]
Json = Any

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_ALWAYS_RETRIED = ("httpx.TransportError", "_BusyError")
"""Temporary failures: a broken connection, or a busy server."""
_BUSY = frozenset({429, 502, 503, 504})
_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class _EngineDefaults:
    """The default request of a search engine, and the place of the ids in its answer."""

    method: str
    ids: str
    body: Json = None
    params: Mapping[str, str] | None = None


_ELASTIC = _EngineDefaults(
    "POST", "hits.hits[]._id", {"query": {"multi_match": {"query": "{query}"}}, "size": "{depth}"}
)
_DEFAULTS: dict[str, _EngineDefaults] = {
    "elasticsearch": _ELASTIC,
    "opensearch": _ELASTIC,
    "solr": _EngineDefaults(
        "GET",
        "response.docs[].id",
        params={"q": "{query}", "rows": "{depth}", "fl": "id", "wt": "json"},
    ),
    "vespa": _EngineDefaults(
        "POST",
        "root.children[].id",
        {"yql": "select * from sources * where userQuery()", "query": "{query}", "hits": "{depth}"},
    ),
}


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
            as in the body, such as ``?q={query}``; their values are percent-encoded.
        engine: ``"elasticsearch"``, ``"opensearch"``, ``"solr"`` or ``"vespa"``: sets the usual
            request and place of the ids; other arguments override these.
        method: ``"GET"`` or ``"POST"``; by default POST with a body and GET without.
        body: the request as JSON; the placeholders ``{query}``, ``{depth}``, ``{query_id}`` and
            ``{attributes.locale}`` in its texts are filled in; a text that is just ``{depth}``
            becomes a number. Braces of code stay: ``{{query}}`` and ``{ id }`` are sent as they
            are.
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
    _require_packages()
    if engine is not None and engine not in _DEFAULTS:
        engines = get_args(Engine)
        raise RankerError(
            f"http: engine={quoted(engine)} is invalid{suggestion(str(engine), engines)}; give one "
            f"of {', '.join(engines)}"
        )
    usual = _DEFAULTS.get(engine or "", _EngineDefaults("", ""))
    place = ids or usual.ids
    if not place:
        raise RankerError(
            "http: give the place of the ids in the answer, such as ids='hits.hits[]._id', or the "
            "engine"
        )
    request = _Request(
        url,
        (method or usual.method or ("POST" if body is not None else "GET")).upper(),
        usual.body if body is None else body,
        params if params is not None else (usual.params or {}),
        dict(headers or {}),
    )
    from pytest_rankcheck.rankers.adapters.answer_paths import AnswerPath

    ranker = _Http(request, AnswerPath(place), verify)
    check_placeholders(request.url, request.params, request.body)
    return ranker


def _require_packages() -> None:
    missing = [name for name in ("httpx", "jmespath") if find_spec(name) is None]
    if missing:
        raise RankerError(f"http: {' and '.join(missing)} not installed: {install_hint('http')}")


@dataclass(frozen=True, slots=True, repr=False)
class _Request:
    """A request with placeholders. It has no repr, because its headers may hold secrets."""

    url: str
    method: str
    body: Json
    params: Mapping[str, str]
    headers: Mapping[str, str]

    def for_query(self, query: Query, depth: int) -> _Request:
        """Return the request with the placeholders filled in."""
        return replace(
            self,
            url=filled_url(self.url, query, depth),
            body=filled(self.body, query, depth),
            params=filled(self.params, query, depth),
        )

    def with_secrets(self) -> _Request:
        """Return the request with environment variables filled into the headers."""

        def value(match: re.Match[str]) -> str:
            if match[1] not in os.environ:
                raise RankerError(
                    f"http: a header needs the environment variable {match[1]}, which is not set"
                )
            return os.environ[match[1]]

        filled = {name: _VARIABLE.sub(value, text) for name, text in self.headers.items()}
        return replace(self, headers=filled)

    @property
    def full_url(self) -> httpx.URL:
        """The URL with its own parameters and the others, which httpx alone would drop."""
        import httpx

        url = httpx.URL(self.url)
        return url.copy_merge_params(self.params) if self.params else url

    @property
    def shown(self) -> str:
        """The URL without user, password and parameters."""
        import httpx

        plain = httpx.URL(self.url)
        port = f":{plain.port}" if plain.port else ""
        return f"{self.method} {plain.scheme}://{plain.host}{port}{plain.path}"


class _Http(ConcurrentAdapter):
    def __init__(self, request: _Request, ids: AnswerPath, verify: bool) -> None:
        self._request = request
        self._ids = ids
        self._verify = verify
        self.name = _checked_address(request)

    def sees(self, attribute: str) -> bool:
        """Whether the request has a placeholder for the attribute."""
        request = self._request
        return uses_attribute(attribute, request.url, request.params, request.body)

    @property
    def takes_depth(self) -> bool:
        """Whether the request has a placeholder for the depth."""
        request = self._request
        return "{depth}" in json.dumps([request.url, request.params, request.body])

    def ask(self, task: RankingTask, on_answer: Any) -> None:
        """Ask as usual, and always retry temporary failures."""
        __tracebackhide__ = True
        patient = replace(task, retry_on=(*task.retry_on, *_ALWAYS_RETRIED))
        super().ask(patient, on_answer)

    @asynccontextmanager
    async def opened(self, task: RankingTask) -> AsyncIterator[AskAsync]:
        """Open one client, with one connection per concurrent query."""
        import httpx

        request = self._request.with_secrets()
        limits = httpx.Limits(max_connections=task.concurrency)
        timeout = task.timeout or _TIMEOUT
        async with httpx.AsyncClient(
            headers=request.headers, limits=limits, timeout=timeout, verify=self._verify
        ) as client:

            async def ask(query: Query) -> list[object]:
                return await self._asked(client, query, task.depth)

            yield ask

    async def _asked(self, client: Any, query: Query, depth: int) -> list[object]:
        import httpx

        filled = self._request.for_query(query, depth)
        try:
            answer = await client.request(filled.method, filled.full_url, json=filled.body)
        except httpx.TimeoutException as failure:
            raise _named(failure, f"{self.name}: no answer in time") from None
        except httpx.TransportError as failure:
            raise _named(failure, f"{self.name}: {failure or type(failure).__name__}") from None
        if not answer.is_success:
            kind = _BusyError if answer.status_code in _BUSY else RankerError
            raise kind(f"{self.name}: HTTP {answer.status_code}: {quoted(answer.text, 300)}")
        return self._doc_ids(answer)

    def _doc_ids(self, answer: Any) -> list[object]:
        """Return the ids in an answer."""
        try:
            content = answer.json()
        except (ValueError, RecursionError):
            raise RankerError(
                f"{self.name}: the answer is not JSON: {quoted(answer.text, 200)}"
            ) from None
        try:
            doc_ids = self._ids.search(content)
        except RankerError as failure:
            raise RankerError(f"{self.name}: {failure}") from None
        if not isinstance(doc_ids, list):
            has = listed(list(content), 10) if isinstance(content, dict) else quoted(content)
            raise RankerError(
                f"{self.name}: nothing at '{quoted(self._ids.path)}' in the answer, which has {has}"
            )
        return doc_ids


def _named(failure: Exception, text: str) -> Exception:
    """Return an error of the same type that names the endpoint but holds no request."""
    return type(failure)(quoted(text, 500))


def _checked_address(request: _Request) -> str:
    import httpx

    try:
        shown = request.shown
    except httpx.InvalidURL as failure:
        raise RankerError(f"http: '{quoted(request.url)}' is not a URL: {failure}") from None
    if not shown.split(" ", 1)[1].startswith(("http://", "https://")):
        raise RankerError(f"http: '{quoted(request.url)}' is not a URL that starts with http://")
    return shown
