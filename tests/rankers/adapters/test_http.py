"""Search endpoints: a real HTTP server on loopback, with errors, slow and truncated answers."""

from __future__ import annotations

import json
import logging
import re
import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from pytest_rankcheck import ConfigurationError, GoldenSet, RankerError, rank
from pytest_rankcheck.rankers import http
from pytest_rankcheck.rankers.adapters import http_ranker as module

GOLDEN = GoldenSet.from_dict(
    {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": "red shoes", "q2": 'größe "42"'},
    attributes={"q1": {"locale": "en", "shop": 7}, "q2": {"locale": "de", "shop": 8}},
)  # fmt: skip
SECRET = "sesame-7f3a"


class Server(ThreadingHTTPServer):
    """Answers as the test specifies, and keeps the requests."""

    daemon_threads = True
    answer: Callable[[Handler], None]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.lock = Lock()
        self.now = self.most = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # send each answer as one packet, to avoid a delay between two
    server: Server

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        parts = urlsplit(self.path)
        server = self.server
        with server.lock:
            server.now += 1
            server.most = max(server.most, server.now)
            server.asked.append(
                {
                    "method": self.command, "path": parts.path, "params": parse_qs(parts.query),
                    "json": json.loads(body) if body else None, "headers": dict(self.headers),
                }
            )  # fmt: skip
        try:
            server.answer(self)
        finally:
            with server.lock:
                server.now -= 1

    do_GET = do_POST = handle_any

    def send(self, content: object, status: int = 200) -> None:
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:
        """Be silent."""


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def hits(*doc_ids: str) -> dict[str, object]:
    return {
        "took": 1,
        "hits": {"total": 9, "hits": [{"_id": doc, "_score": 1.0} for doc in doc_ids]},
    }


def test_elasticsearch_in_one_line(server: Server) -> None:
    server.answer = lambda handler: handler.send(hits("d7", "d1"))
    run = rank(http(f"{server.url}/products/_search", "elasticsearch"), GOLDEN, depth=5)
    assert run["q1"] == ("d7", "d1")
    assert sorted(asked["json"]["query"]["multi_match"]["query"] for asked in server.asked) == [
        'größe "42"', "red shoes",
    ]  # fmt: skip
    assert {asked["json"]["size"] for asked in server.asked} == {5}
    assert {asked["method"] for asked in server.asked} == {"POST"}


def test_solr_and_vespa(server: Server) -> None:
    server.answer = lambda handler: handler.send({"response": {"docs": [{"id": "a"}, {"id": "b"}]}})
    assert rank(http(f"{server.url}/solr/web/select", "solr"), GOLDEN, depth=7)["q1"] == ("a", "b")
    assert {asked["method"] for asked in server.asked} == {"GET"}
    assert sorted(asked["params"]["q"][0] for asked in server.asked) == ['größe "42"', "red shoes"]
    assert server.asked[0]["params"]["rows"] == ["7"]
    assert server.asked[0]["json"] is None
    server.answer = lambda handler: handler.send({"root": {"children": [{"id": "id:x:y::1"}]}})
    assert rank(http(f"{server.url}/search/", "vespa"), GOLDEN)["q2"] == ("id:x:y::1",)
    assert server.asked[-1]["json"]["hits"] == 100
    server.answer = lambda handler: handler.send({"root": {"fields": {"totalCount": 0}}})
    for ids in (None, "root.children[].fields.sku"):
        assert rank(http(f"{server.url}/search/", "vespa", ids=ids), GOLDEN)["q2"] == ()
    server.answer = lambda handler: handler.send({"root": {"errors": [{"code": 12}]}})
    with pytest.raises(RankerError, match=r"nothing at .*root.children"):
        rank(http(f"{server.url}/search/", "vespa"), GOLDEN)


def test_a_custom_request(server: Server) -> None:
    server.answer = lambda handler: handler.send(
        {"found": [{"doc": {"key": 4}}, {"doc": {"key": 2}}]}
    )
    ranker = http(
        f"{server.url}/api", ids="found[].doc.key", method="post",
        body={
            "text": "{query}", "filter": ["lang:{attributes.locale}", {"shop": "{attributes.shop}"}],
            "top": "{depth}", "id": "{query_id}", "explain": False, "literal": "{ other } {}",
            "{attributes.locale}": ("{query_id}",), "template": '{"q": "{{query}}"}',
            "graph": '{hits(q: "{query}") {doc{ id } total}}',
        },
        params={"locale": "{attributes.locale}"},
    )  # fmt: skip
    golden = GOLDEN.subset(["q2"])
    assert rank(ranker, golden, depth=3)["q2"] == ("4", "2")
    (asked,) = server.asked
    assert asked["params"] == {"locale": ["de"]}
    assert asked["json"] == {
        "text": 'größe "42"', "filter": ["lang:de", {"shop": 8}], "top": 3, "id": "q2",
        "explain": False, "literal": "{ other } {}", "de": ["q2"], "template": '{"q": "{{query}}"}',
        "graph": '{hits(q: "größe "42"") {doc{ id } total}}',
    }  # fmt: skip


@pytest.mark.parametrize("params", [None, {"n": "{depth}"}])
def test_placeholders_in_the_url_are_filled_in(server: Server, params: Any) -> None:
    server.answer = lambda handler: handler.send({"ids": ["a"]})
    golden = GoldenSet.from_dict({"q/1": {"a": 1}}, {"q/1": "a&b=c ü+%"})
    rank(http(f"{server.url}/{{query_id}}?q={{query}}", ids="ids", params=params), golden, depth=7)
    (asked,) = server.asked
    assert asked["path"] == "/q%2F1"
    assert asked["params"] == {"q": ["a&b=c ü+%"], **({"n": ["7"]} if params else {})}


def test_a_request_that_no_query_changes_is_refused() -> None:
    """It would be sent literally: every query would get the same answer, and have a number."""
    for request_parts, message in (
        ({"body": {"q": "{qury}"}}, "unknown placeholder {qury}; did you mean 'query'? The placeho"),
        ({"body": {"q": ["x", {"y": "red {text}"}]}}, "unknown placeholder {text}. The placeholders"),
        ({"body": {"q": "{query}", "{qid}": 1}}, "unknown placeholder {qid}"),
        ({"params": {"q": "{Query}"}}, "{Query}; did you mean 'query'?"),
        ({"params": {"q": "{query}", "n": "{k}"}}, "unknown placeholder {k}. The"),
        ({"url": "http://x/{index}?q={query}"}, "{index}. The placeholders are {query}, {query_id}"),
        ({"url": "http://x?q={query}&l={locale}"}, "{locale}. The placeholders are {query}"),
        ({"body": {"q": '{"match": "{qeury}"}'}}, "{qeury}; did you mean 'query'?"),
        ({"body": {"q": "{{query}}"}}, "the request is the same for every query; write {query}"),
        ({"params": {"n": "{depth}"}}, "the request is the same for every query; write {query}"),
        ({}, "the request is the same for every query; write {query}"),
    ):  # fmt: skip
        with pytest.raises(RankerError, match=re.escape(message)):
            http(**{"url": "http://x", "ids": "hits[]._id", **request_parts})


HITS = {"hits": [{"_id": "a", "n": 1}, {"n": 2}, {"_id": "b", "n": 3}]}
GROUPS = {"groups": [{"docs": [{"_id": d} for d in "abc"]}, {}, {"docs": [{"_id": "d"}]}]}


@pytest.mark.parametrize(
    ("ids", "count"),
    [
        ("hits[]._id", "2 of 3"),
        ("hits[*]._id", "2 of 3"),
        ("hits[0:2]._id", "1 of 2"),
        ("hits[?n > `1`]._id", "1 of 2"),
        ("hits[]._id | [0:2]", "2 of 3"),
        ("reverse(hits[]._id)", "2 of 3"),
        ("hits[]._source.id", "0 of 3"),
    ],
)
def test_a_hit_without_an_id_is_refused_at_any_path(server: Server, ids: str, count: str) -> None:
    server.answer = lambda handler: handler.send(HITS)
    with pytest.raises(RankerError, match=re.escape(f"only {count} hits have a value at '{ids}'")):
        rank(http(server.url, ids=ids, params={"q": "{query}"}), GOLDEN)


# --- secrets -----------------------------------------------------------------------------------


def test_headers_come_from_the_environment_and_are_never_shown(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SEARCH_TOKEN", SECRET)
    server.answer = lambda handler: handler.send({"error": "no"}, status=403)
    headers = {"Authorization": "Bearer ${SEARCH_TOKEN}"}
    ranker = http(f"{server.url}/x", "elasticsearch", headers=headers)
    with pytest.raises(RankerError, match="HTTP 403") as refused:
        rank(ranker, GOLDEN)
    shown = [str(refused.value), repr(ranker), refused.getrepr(showlocals=True, style="long")]
    assert SECRET not in " ".join(map(str, shown))
    assert SECRET not in caplog.text
    assert server.asked[0]["headers"]["Authorization"] == f"Bearer {SECRET}"
    address = server.url.replace("http://", f"http://user:{SECRET}@")
    with pytest.raises(RankerError, match="HTTP 403") as refused:
        rank(http(f"{address}/x?key={SECRET}", "elasticsearch"), GOLDEN)
    assert SECRET not in str(refused.value)


def test_an_unset_variable_is_reported(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEARCH_TOKEN", raising=False)
    ranker = http(server.url, "solr", headers={"X-Key": "${SEARCH_TOKEN}"})
    with pytest.raises(RankerError, match="environment variable SEARCH_TOKEN is not set"):
        rank(ranker, GOLDEN)
    assert server.asked == []


# --- what goes wrong ---------------------------------------------------------------------------


def half(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"hits": {"hits": [')
    handler.close_connection = True


def cut(handler: Handler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def test_a_wrong_answer_is_refused_with_the_address(server: Server) -> None:
    for answer, message in (
        (lambda h: h.send({"error": "index_not_found"}, status=404), "HTTP 404: .*index_not_found"),
        (lambda h: h.send(b"<html>oops\x1b[2J</html>", status=500), r"HTTP 500: <html>oops\\x1b\[2J"),
        (lambda h: h.send(b"", status=301), "HTTP 301"),
        (lambda h: h.send(b"<html>"), "the answer is not JSON: <html>"),
        (lambda h: h.send(b'{"hits": {"hits": ['), "the answer is not JSON"),
        (lambda h: h.send({"took": 1, "results": []}), r"nothing at 'hits.hits\[\]._id' in .* has took, results"),
        (lambda h: h.send([1]), r"nothing at 'hits.hits\[\]._id' in the answer, which has \[1\]"),
        (lambda h: h.send({"hits": {"hits": [{"_id": "a"}, {"id": "b"}]}}), "only 1 of 2 hits have"),
        (lambda h: h.send(hits("a", "a")), "document 'a' is ranked twice"),
        (lambda h: h.send({"hits": {"hits": [{"_id": {}}]}}), "a document id is {}"),
        (half, "peer closed connection|incomplete"),
        (cut, "ReadError|disconnected|RemoteProtocolError"),
    ):  # fmt: skip
        server.answer = answer
        with pytest.raises(RankerError, match=message) as refused:
            rank(http(f"{server.url}/web/_search", "elasticsearch"), GOLDEN)
        assert "failed on 2 of 2 queries, first on 'q1' \"red shoes\"" in str(refused.value)
        is_ranking = "query 'q1'" in str(
            refused.value
        )  # the answer was received, but is not a ranking
        assert is_ranking or f"POST {server.url}/web/_search" in str(refused.value)


@pytest.mark.parametrize("status", [429, 503, None])
def test_a_busy_server_and_a_broken_connection_are_retried(
    server: Server, status: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_rankcheck.rankers.adapter_protocol._LONGEST_WAIT", 0)

    def answer(handler: Handler) -> None:
        if len(server.asked) > 2:
            handler.send(hits("d"))
        elif status is None:
            cut(handler)
        else:
            handler.send({}, status)

    server.answer = answer
    golden = GOLDEN.subset(["q1"])
    with pytest.raises(RankerError, match=f"HTTP {status}" if status else "disconnected|Error"):
        rank(http(server.url, "elasticsearch"), golden)
    server.asked.clear()
    assert rank(http(server.url, "elasticsearch"), golden, retries=2)["q1"] == ("d",)
    assert len(server.asked) == 3


def test_a_wrong_request_is_not_retried(server: Server) -> None:
    server.answer = lambda handler: handler.send({}, status=400)
    with pytest.raises(RankerError, match="HTTP 400"):
        rank(http(server.url, "elasticsearch"), GOLDEN.subset(["q1"]), retries=5)
    assert len(server.asked) == 1


def test_invalid_arguments_are_refused_at_once() -> None:
    for arguments, message in (
        (
            {"url": "localhost:9200", "engine": "solr"},
            "is not a request: give a URL such as http://host/search",
        ),
        ({"url": "http://[::1", "engine": "solr"}, "is not a request"),
        ({"url": "http://x", "engine": "elastic"}, "engine=elastic is invalid; did you mean 'ela"),
        (
            {"url": "http://x"},
            r"give the place of the ids in the answer, such as ids='hits.hits\[\]",
        ),
        ({"url": "http://x", "ids": "hits["}, r"ids='hits\[' is not a JMESPath"),
    ):
        with pytest.raises((RankerError, ConfigurationError), match=message):
            http(**arguments)


def test_a_query_without_a_needed_attribute_is_reported(server: Server) -> None:
    server.answer = lambda handler: handler.send(hits("d"))
    golden = GoldenSet.from_dict(
        {"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": "red"}, attributes={"q1": {"locale": "en"}}
    )
    by_text = http(server.url, "elasticsearch")
    with pytest.raises(
        RankerError,
        match=r"failed on 1 of 2 queries, first on 'q2'.* no text .*write \{query_id\} or",
    ):
        rank(by_text, golden)
    ranker = http(server.url, ids="hits.hits[]._id", params={"l": "{attributes.local}"})
    with pytest.raises(
        RankerError, match=r"needs the attribute 'local', .*; did you mean 'locale'"
    ):
        rank(ranker, golden.subset(["q1"]))


def test_without_httpx_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "httpx" else object())
    with pytest.raises(RankerError, match=r"httpx not installed: pip install httpx jmespath"):
        http("http://x", "solr")
