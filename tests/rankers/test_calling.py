"""Async rankers, retries, retrievers, and the time of each query."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_rankcheck import ConfigurationError, GoldenSet, Query, RankerError, rank, rankers
from pytest_rankcheck.rankers import adapter_protocol

COUNT = 12
GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {f"d{n}": 1} for n in range(COUNT)}, {f"q{n}": f"text {n}" for n in range(COUNT)}
)


def number(text: str) -> int:
    return int(text.rpartition(" ")[2])


async def turns(count: int) -> None:
    """Let the other coroutines run this many times: an order that no clock decides."""
    for _ in range(count):
        await asyncio.sleep(0)


class Engine:
    """Answers late, the first query last, and counts how many queries it works on at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def search(self, text: str) -> list[str]:
        self.now += 1
        self.most = max(self.most, self.now)
        await turns(10 * (COUNT - number(text)))
        self.now -= 1
        return [f"d{number(text)}"]

    async def __call__(self, query: Query, k: int) -> list[str]:
        return (await self.search(str(query.text)))[:k]


@pytest.mark.parametrize("concurrency", [1, 3, 100])
def test_async_rankers_work_on_at_most_the_allowed_number_of_queries(concurrency: int) -> None:
    engine = Engine()
    run = rank(engine.search, GOLDEN, concurrency=concurrency)
    assert [tuple(run[query_id]) for query_id in run] == [(f"d{n}",) for n in range(COUNT)]
    assert list(run) == list(GOLDEN.query_ids)  # whatever came first
    assert list(run.seconds) == list(GOLDEN.query_ids)
    assert engine.most == min(concurrency, COUNT)


def test_an_event_loop_can_already_be_running() -> None:
    async def main() -> object:
        return rank(Engine().search, GOLDEN)["q3"]

    assert asyncio.run(main()) == ("d3",)


def test_a_query_that_takes_too_long_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    slept = 0.0
    time_of_loop = asyncio.BaseEventLoop.time
    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda loop: time_of_loop(loop) + slept)

    async def search(text: str) -> list[str]:
        nonlocal slept
        if number(text) == 4:
            await turns(100)  # when the others have answered,
            slept += 300  # five minutes pass
            await asyncio.Event().wait()
        return ["d"]

    with pytest.raises(
        RankerError, match=r"failed on 1 of 12 queries, first on 'q4' .*no answer within 200 s$"
    ):
        rank(search, GOLDEN, timeout=200)
    with pytest.raises(RankerError, match=r"no answer within 200 s, 2 times"):
        rank(search, GOLDEN.subset(["q4"]), timeout=200, retries=1, retry_on=[TimeoutError])


class Unreliable(ConnectionError):
    """Passes."""


class Flaky:
    """Fails a few times, then answers."""

    def __init__(self, failures: int, error: type[Exception] = Unreliable) -> None:
        self.left: dict[str, int] = {}
        self.failures, self.error = failures, error
        self.calls = 0

    def search(self, text: str) -> list[str]:
        self.calls += 1
        left = self.left.setdefault(text, self.failures)
        if left:
            self.left[text] = left - 1
            raise self.error(f"{left} to go")
        return ["d"]

    async def search_async(self, text: str) -> list[str]:
        return self.search(text)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record how long each wait would have been, without waiting."""
    noted: list[float] = []

    async def sleep(seconds: float) -> None:
        noted.append(seconds)

    monkeypatch.setattr(time, "sleep", noted.append)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    return noted


@pytest.mark.parametrize("way", ["search", "search_async"])
@pytest.mark.parametrize(
    "named", [Unreliable, ConnectionError, "Unreliable", "ConnectionError", "builtins.OSError"]
)
def test_listed_errors_are_retried_with_longer_waits(
    way: str, named: Any, waits: list[float]
) -> None:
    golden = GOLDEN.subset(["q1"])
    flaky = Flaky(3)
    assert rank(getattr(flaky, way), golden, retries=3, retry_on=[named])["q1"] == ("d",)
    assert waits == [0.5, 1, 2]
    assert flaky.calls == 4
    with pytest.raises(RankerError, match="1 to go"):
        rank(getattr(Flaky(3), way), golden, retries=2, retry_on=[named])


def test_the_time_of_each_query_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    clock = SimpleNamespace(perf_counter=lambda: now, sleep=time.sleep)
    monkeypatch.setattr(adapter_protocol, "time", clock)

    def search(text: str) -> list[str]:
        nonlocal now
        now += 0.5 if number(text) == 3 else 0.25
        return ["d"]

    seconds = rank(search, GOLDEN).seconds
    assert seconds == {f"q{n}": 0.5 if n == 3 else 0.25 for n in range(COUNT)}


# --- retrievers --------------------------------------------------------------------------------


class BaseRetriever:
    """Stands for LangChain's class: it has invoke and is not callable."""

    def __init__(self, *documents: object) -> None:
        self.documents = documents

    def invoke(self, text: str) -> list[object]:
        return list(self.documents)


def test_ids_of_retrieved_documents() -> None:
    for document in (
        SimpleNamespace(id="d7", metadata={"id": "other"}),
        SimpleNamespace(id=None, metadata={"doc_id": "d7", "source": "other"}),
        SimpleNamespace(metadata={"source": "d7"}),
        SimpleNamespace(id=None, metadata={"id": "d7"}),
        SimpleNamespace(id=None, metadata={"doc_id": None, "source": "d7"}),
        SimpleNamespace(node_id="d7", metadata={"doc_id": None}),
    ):
        assert rank(BaseRetriever(document), GOLDEN)["q1"] == ("d7",)


def test_a_retriever_that_returns_nothing_is_told_what_to_return() -> None:
    message = "returned NoneType, which has no order or .* or an empty one"
    for ranker in (lambda text: None, SimpleNamespace(retrieve=lambda text: None)):
        with pytest.raises(RankerError, match=message):
            rank(rankers.retriever(ranker, key="source"), GOLDEN)
    with pytest.raises(
        RankerError, match="the retriever returned int, which has no order or is no list of"
    ):
        rank(rankers.retriever(lambda text: 5, key="source"), GOLDEN)


def test_a_retrieved_document_without_an_id_is_refused() -> None:
    document = SimpleNamespace(page_content="text", metadata={})
    with pytest.raises(
        RankerError,
        match=r"without an id, .*: its metadata has no entries; give another one as the key",
    ):
        rank(BaseRetriever(document), GOLDEN)


def chunk(chunk_id: str, **metadata: object) -> SimpleNamespace:
    return SimpleNamespace(id=chunk_id, metadata=metadata)


CHUNKS = [chunk("c1", source="d1"), chunk("c2", source="d1"), chunk("c3", source="d2")]


class Nodes:
    """Stands for a retriever of LlamaIndex, whose nodes know their document."""

    def retrieve(self, text: str) -> list[object]:
        nodes = [
            SimpleNamespace(node_id=each.id, metadata=each.metadata, ref_doc_id=f"ref-{each.id}")
            for each in CHUNKS
        ]
        return [SimpleNamespace(node=node, score=0.5) for node in nodes]


async def retrieve_async(text: str) -> list[object]:
    return list(CHUNKS)


def test_chunks_are_identified_by_their_metadata() -> None:
    for ranker, key, expected in (
        (BaseRetriever(*CHUNKS), "source", ("d1", "d2")),
        (Nodes(), "source", ("d1", "d2")),
        (Nodes(), "ref_doc_id", ("ref-c1", "ref-c2", "ref-c3")),
        (lambda text: CHUNKS, "source", ("d1", "d2")),
        (lambda text: [SimpleNamespace(id="c", meta={"file": 7})], "file", ("7",)),
        (lambda text: CHUNKS, lambda document: f"x-{document.id}", ("x-c1", "x-c2", "x-c3")),
        (lambda text: [chunk("c", source=None, doc="d")], "doc", ("d",)),
        (retrieve_async, "source", ("d1", "d2")),
        (lambda text, depth: CHUNKS[:depth], "id", ("c1", "c2", "c3")),
        (lambda text: [], "source", ()),
        (lambda text: [(each, 0.5) for each in CHUNKS], "source", ("d1", "d2")),
        (lambda text: [("c1", "d1")], lambda pair: pair[1], ("d1",)),
    ):
        run = rank(rankers.retriever(ranker, key=key), GOLDEN, duplicates="close_gaps")
        assert run["q1"] == expected


@pytest.mark.parametrize(
    "document",
    [
        CHUNKS[0],
        SimpleNamespace(id="a.md", content="x", meta={"file": "a.md"}),
        SimpleNamespace(node=SimpleNamespace(id="n1", metadata={}), score=0.5),
    ],
)
def test_documents_of_a_plain_function_are_recognised(document: object) -> None:
    """The message names the call that works, which takes pairs with a score, too."""
    for answer in ([document], [(document, 0.5)]):

        def function(text: str, found: object = answer) -> object:
            return found

        with pytest.raises(RankerError, match=r"as rankers\.retriever\(function, key='id'\)"):
            rank(function, GOLDEN)
        assert len(rank(rankers.retriever(function, key="id"), GOLDEN)["q1"]) == 1


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (chunk("c", page=3, title="x"), "without source, .*: its metadata has page, title; give"),
        (chunk("c"), "without source, .*: its metadata has no entries"),
        (chunk("c", source=None), "without source"),
        (chunk("c", source=1.5), "a document id is '?1.5"),
        ("d1", "without source"),
    ],
)
def test_a_document_without_the_key_is_refused(document: object, message: str) -> None:
    with pytest.raises(RankerError, match=message):
        rank(rankers.retriever(lambda text: [document], key="source"), GOLDEN)


def test_an_invalid_retriever_or_key_is_refused() -> None:
    for arguments, message in (
        ((5, "source"), "retriever: int is not a retriever, or .*; give a retriever of LangChain"),
        ((BaseRetriever, "source"), "retriever: type is not a retriever"),
        ((BaseRetriever(), ""), "or key= is empty; give .* the metadata entry with their ids"),
    ):
        with pytest.raises(RankerError, match=message):
            rankers.retriever(*arguments)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.needs("langchain_core")
def test_the_real_retriever_of_langchain() -> None:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever as Real

    class Retriever(Real):
        def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
            return [
                Document(id=f"d{number(query)}", page_content=query),
                Document(id="x", page_content=""),
            ]

    assert rank(Retriever(), GOLDEN)["q5"] == ("d5", "x")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.needs("llama_index")
def test_the_real_retriever_of_llamaindex() -> None:
    from llama_index.core.retrievers import BaseRetriever as Real
    from llama_index.core.schema import NodeWithScore, TextNode

    class Retriever(Real):
        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            text = query_bundle.query_str
            first = TextNode(id_=f"d{number(text)}", text=text)
            second = TextNode(id_="chunk", text="", metadata={"doc_id": "whole"})
            return [NodeWithScore(node=first, score=0.5), NodeWithScore(node=second, score=0.25)]

    assert rank(Retriever(), GOLDEN)["q5"] == ("d5", "whole")


@pytest.mark.parametrize("ranker", [5, None, ["d"], SimpleNamespace(search=1)])
def test_an_invalid_ranker_is_refused(ranker: object) -> None:
    with pytest.raises(RankerError, match="which cannot be called; give a function"):
        rank(ranker, GOLDEN)


def test_a_model_is_refused_with_the_adapter_that_ranks_with_it() -> None:
    model = SimpleNamespace(predict=lambda rows: rows[:, 0])
    with pytest.raises(RankerError, match=r"make it one with rankers.model\(\.\.\.\)"):
        rank(model, GOLDEN)


@pytest.mark.parametrize(
    "ranker", [lambda text: ["d"], rankers.batch(lambda texts: [["d"] for _ in texts])]
)
def test_a_timeout_for_a_ranker_that_cannot_be_stopped_is_refused(ranker: object) -> None:
    with pytest.raises(
        ConfigurationError, match=r"timeout=5 has no effect on ranker .*: only async"
    ):
        rank(ranker, GOLDEN, timeout=5)
