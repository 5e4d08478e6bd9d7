"""Search endpoints: Elasticsearch, OpenSearch, Solr, Vespa, any with JSON. Extra ``[http]``."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, get_args

from pytest_rankcheck.errors import RankerError, listed, quoted, suggestion
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, Asking, no_text
from pytest_rankcheck.rankers.callable_adapters import AskAsync, Concurrently

__all__ = ["Engine", "http"]

Engine = Literal["elasticsearch", "opensearch", "solr", "vespa"]
Json = Any

_HOLE = re.compile(r"\{(query|query_id|depth|attributes\.[^{}]+)\}")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_ALWAYS_RETRIED = ("httpx.TransportError", "_BusyError")
"""What passes: a connection that breaks, and a server that says that it is busy."""
_BUSY = frozenset({429, 502, 503, 504})
_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class _Usual:
    """How a search engine is asked, and where the ids stand in its answer."""

    method: str
    ids: str
    body: Json = None
    params: Mapping[str, str] | None = None


_ELASTIC = _Usual(
    "POST", "hits.hits[]._id", {"query": {"multi_match": {"query": "{query}"}}, "size": "{depth}"}
)
_USUAL: dict[str, _Usual] = {
    "elasticsearch": _ELASTIC,
    "opensearch": _ELASTIC,
    "solr": _Usual(
        "GET",
        "response.docs[].id",
        params={"q": "{query}", "rows": "{depth}", "fl": "id", "wt": "json"},
    ),
    "vespa": _Usual(
        "POST",
        "root.children[].id",
        {"yql": "select * from sources * where userQuery()", "query": "{query}", "hits": "{depth}"},
    ),
}


class _BusyError(RankerError):
    """The server answered that it is busy; it is worth another try."""


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
    """Return a ranker that asks a search endpoint and takes document ids out of its JSON.

    Several queries are asked at the same time (``concurrency`` of ``rank``); a broken connection
    and the statuses 429, 502, 503 and 504 are tried again (``retries``).

    Args:
        url: the endpoint, such as ``http://localhost:9200/products/_search``.
        engine: ``"elasticsearch"``, ``"opensearch"``, ``"solr"`` or ``"vespa"``: the usual request
            and place of the ids; what is given besides counts instead.
        method: ``"GET"`` or ``"POST"``; without it, POST where there is a body.
        body: the request as JSON, in whose texts ``{query}``, ``{depth}``, ``{query_id}`` and
            ``{attributes.locale}`` are filled in; a text that is only ``{depth}`` becomes a
            number.
        params: what stands behind the ``?`` of the address, filled in likewise.
        ids: where the ids stand in the answer, as a JMESPath: ``hits.hits[]._id``.
        headers: sent with each request; ``${NAME}`` is taken from the environment, and is in no
            message and no log.
        verify: whether certificates are checked.

    Raises:
        RankerError: httpx is not installed, the address is none, or no ``ids`` are given and no
            engine.
    """
    _require_packages()
    if engine is not None and engine not in _USUAL:
        engines = get_args(Engine)
        raise RankerError(
            f"http: engine={quoted(engine)} is not possible{suggestion(str(engine), engines)}; "
            f"it is {', '.join(engines)}"
        )
    usual = _USUAL.get(engine or "", _Usual("", ""))
    place = ids or usual.ids
    if not place:
        raise RankerError(
            "http: say where the ids stand in the answer, such as ids='hits.hits[]._id', or which "
            "engine it is"
        )
    request = _Request(
        url,
        (method or usual.method or ("POST" if body is not None else "GET")).upper(),
        usual.body if body is None else body,
        params if params is not None else (usual.params or {}),
        dict(headers or {}),
    )
    return _Http(request, _compiled(place), place, verify)


def _require_packages() -> None:
    missing = [name for name in ("httpx", "jmespath") if find_spec(name) is None]
    if missing:
        raise RankerError(
            f"http: {' and '.join(missing)} not installed: pip install 'pytest-rankcheck[http]'"
        )


def _compiled(place: str) -> Any:
    jmespath: Any = import_module("jmespath")
    try:
        return jmespath.compile(place)
    except jmespath.exceptions.JMESPathError as failure:
        said = quoted(str(failure).partition("\n")[0])
        raise RankerError(f"http: ids='{quoted(place)}' is no JMESPath: {said}") from None


@dataclass(frozen=True, slots=True, repr=False)
class _Request:
    """A request with holes for the query. It has no repr, for its headers may hold secrets."""

    url: str
    method: str
    body: Json
    params: Mapping[str, str]
    headers: Mapping[str, str]

    def for_query(self, query: Query, depth: int) -> _Request:
        """Return the request with the holes filled."""

        def fill(value: Json) -> Json:
            if isinstance(value, str):
                return _filled(value, query, depth)
            if isinstance(value, Mapping):
                return {key: fill(item) for key, item in value.items()}
            return [fill(item) for item in value] if isinstance(value, list) else value

        return replace(self, body=fill(self.body), params=fill(self.params))

    def with_secrets(self) -> _Request:
        """Return the request with variables of the environment filled into the headers.

        Raises:
            RankerError: one is not set.
        """

        def value(found: re.Match[str]) -> str:
            if found[1] not in os.environ:
                raise RankerError(
                    f"http: a header needs the environment variable {found[1]}, which is not set"
                )
            return os.environ[found[1]]

        filled = {name: _VARIABLE.sub(value, text) for name, text in self.headers.items()}
        return replace(self, headers=filled)

    @property
    def shown(self) -> str:
        """The address without user, password and parameters."""
        import httpx

        plain = httpx.URL(self.url)
        port = f":{plain.port}" if plain.port else ""
        return f"{self.method} {plain.scheme}://{plain.host}{port}{plain.path}"


def _filled(text: str, query: Query, depth: int) -> object:
    """Return a text with its holes filled; a number where it is the hole of one."""

    def value(hole: str) -> object:
        if hole == "depth":
            return depth
        if hole == "query_id":
            return query.id
        if hole == "query":
            if query.text is None:
                raise no_text()
            return query.text
        name = hole.removeprefix("attributes.")
        if name not in query.attributes:
            raise RankerError(
                f"the request needs the attribute '{quoted(name)}', which the query lacks"
                f"{suggestion(name, query.attributes)}"
            )
        return query.attributes[name]

    whole = _HOLE.fullmatch(text)
    if whole:
        return value(whole[1])
    return _HOLE.sub(lambda found: str(value(found[1])), text)


class _Http(Concurrently):
    def __init__(self, request: _Request, ids: Any, place: str, verify: bool) -> None:
        self._request = request
        self._ids = ids
        self._place = place
        self._verify = verify
        self.name = _checked_address(request)

    def ask(self, asking: Asking, done: Any) -> None:
        """Ask as usual; what passes is always worth another try."""
        __tracebackhide__ = True
        patient = replace(asking, retry_on=(*asking.retry_on, *_ALWAYS_RETRIED))
        super().ask(patient, done)

    @asynccontextmanager
    async def opened(self, asking: Asking) -> AsyncIterator[AskAsync]:
        """Open one client, with a connection for each query that is asked at the same time."""
        import httpx

        request = self._request.with_secrets()
        limits = httpx.Limits(max_connections=asking.concurrency)
        timeout = asking.timeout or _TIMEOUT
        async with httpx.AsyncClient(
            headers=request.headers, limits=limits, timeout=timeout, verify=self._verify
        ) as client:

            async def ask(query: Query) -> list[object]:
                return await self._asked(client, query, asking.depth)

            yield ask

    async def _asked(self, client: Any, query: Query, depth: int) -> list[object]:
        import httpx

        filled = self._request.for_query(query, depth)
        try:
            answer = await client.request(
                filled.method, filled.url, params=filled.params or None, json=filled.body
            )
        except httpx.TimeoutException as failure:
            raise _named(failure, f"{self.name}: no answer in time") from None
        except httpx.TransportError as failure:
            raise _named(failure, f"{self.name}: {failure or type(failure).__name__}") from None
        if not answer.is_success:
            kind = _BusyError if answer.status_code in _BUSY else RankerError
            raise kind(f"{self.name}: HTTP {answer.status_code}: {quoted(answer.text, 300)}")
        return self._found(answer)

    def _found(self, answer: Any) -> list[object]:
        """Return the ids in an answer.

        Raises:
            RankerError: it is not JSON, or has nothing at that place, or a hit without an id.
        """
        try:
            content = answer.json()
        except (ValueError, RecursionError):
            raise RankerError(
                f"{self.name}: the answer is not JSON: {quoted(answer.text, 200)}"
            ) from None
        found = self._ids.search(content)
        if not isinstance(found, list):
            has = listed(list(content), 10) if isinstance(content, dict) else quoted(content)
            raise RankerError(
                f"{self.name}: nothing at '{quoted(self._place)}' in the answer, which has {has}"
            )
        self._check_hits(content, len(found))
        return found

    def _check_hits(self, content: Json, count: int) -> None:
        """Refuse an answer in which some hits have no id: they would be left out silently."""
        hits, listing, _ = self._place.rpartition("[]")
        if not listing:
            return
        every = _compiled(hits).search(content)
        if isinstance(every, list) and len(every) != count:
            raise RankerError(
                f"{self.name}: of {len(every):,} hits only {count:,} have something at "
                f"'{quoted(self._place)}'"
            )


def _named(failure: Exception, text: str) -> Exception:
    """Return an error of the same kind that says where it was, and holds no request."""
    return type(failure)(quoted(text, 500))


def _checked_address(request: _Request) -> str:
    import httpx

    try:
        shown = request.shown
    except httpx.InvalidURL as failure:
        raise RankerError(f"http: '{quoted(request.url)}' is no address: {failure}") from None
    if not shown.split(" ", 1)[1].startswith(("http://", "https://")):
        raise RankerError(f"http: '{quoted(request.url)}' is no address that begins with http://")
    return shown
