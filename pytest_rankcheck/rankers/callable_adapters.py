"""Adapters for callables, async or not, and for the retrievers of LangChain and LlamaIndex."""

from __future__ import annotations

import inspect
import re
import time
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial, wraps
from typing import Any

from pytest_rankcheck.errors import RankerError, listed, quoted
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import (
    Adapter,
    OnAnswer,
    QueryAnswer,
    RankingTask,
    no_text,
)
from pytest_rankcheck.rankers.ranking import Ranking
from pytest_rankcheck.rankers.ranking_forms import has_no_order

_QUERY = re.compile(rf"\b{Query.__name__}\b")

AskAsync = Callable[[Query], Awaitable[object]]


class _FunctionAdapter(Adapter):
    """A function that takes a query, or its text."""

    def __init__(self, ranker: Callable[..., object], name: str | None = None) -> None:
        self._ranker = ranker
        self.name = name or name_of(ranker)

    def sees(self, attribute: str) -> bool:
        """Whether the function takes queries, not only their texts."""
        return takes_queries(self._ranker)

    @property
    def takes_depth(self) -> bool:
        """Whether it has a parameter for the depth."""
        return depth_name(self._ranker) is not None


class CallableAdapter(_FunctionAdapter):
    """A function that returns its answer."""

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Call the function for one query after another."""
        ask = ask_function(self._ranker, task)
        for query in task.golden:
            on_answer(QueryAnswer(query, *task.tried(partial(ask, query))))


class ConcurrentAdapter(Adapter):
    """An async adapter that asks several queries at the same time, up to a limit."""

    honours_timeout = True
    is_async = True

    @abstractmethod
    def opened(self, task: RankingTask) -> AbstractAsyncContextManager[AskAsync]:
        """Open the resources shared by all queries, and yield the function that asks one."""

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Ask in a separate event loop, whether or not one is running in this thread."""
        import asyncio  # imported late: it loads OpenSSL, and most rankers are not async
        from concurrent.futures import ThreadPoolExecutor

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(self._ask_all(task, on_answer))
            return
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: asyncio.run(self._ask_all(task, on_answer))).result()

    async def _ask_all(self, task: RankingTask, on_answer: OnAnswer) -> None:
        import asyncio

        waiting = iter(task.golden)
        async with self.opened(task) as ask:

            async def work() -> None:
                for query in waiting:  # shared: each query goes to one worker
                    on_answer(await _awaited(ask, query, task))

            try:
                async with asyncio.TaskGroup() as workers:
                    for _ in range(min(task.concurrency, len(task.golden))):
                        workers.create_task(work())
            except BaseExceptionGroup as group:  # only ``on_answer`` raises, and its caller waits
                raise group.exceptions[0] from None


async def _awaited(ask: AskAsync, query: Query, task: RankingTask) -> QueryAnswer:
    """Return the answer to a query, retried as often as allowed."""
    import asyncio

    tries = 0
    while True:
        tries += 1
        start = time.perf_counter()
        try:
            async with asyncio.timeout(task.timeout):
                answer = await ask(query)
        except Exception as error:  # whatever a ranker raises is reported with its query
            wait = task.wait_before(tries, error)
            if wait is None:
                failure = _explained(error, task, tries)
                return QueryAnswer(query, failure=failure, seconds=time.perf_counter() - start)
            await asyncio.sleep(wait)
        else:
            return QueryAnswer(query, answer, seconds=time.perf_counter() - start)


def _explained(error: Exception, task: RankingTask, tries: int) -> Exception:
    """Add the time limit to a timeout error that has no message."""
    if not isinstance(error, TimeoutError) or str(error) or task.timeout is None:
        return error
    times = f", {tries} times" if tries > 1 else ""
    return RankerError(f"no answer within {task.timeout:g} s{times}")


class AsyncCallableAdapter(_FunctionAdapter, ConcurrentAdapter):
    """An async function that returns its answer."""

    @asynccontextmanager
    async def opened(self, task: RankingTask) -> AsyncIterator[AskAsync]:
        """Yield the function itself; there is nothing to open."""
        ask: Any = ask_function(self._ranker, task)
        yield ask


def function_adapter(ranker: Callable[..., object], name: str | None = None) -> Adapter:
    """Return the adapter of a function, async or not."""
    kind = AsyncCallableAdapter if is_async(ranker) else CallableAdapter
    return kind(ranker, name)


def is_async(ranker: Callable[..., object]) -> bool:
    """Whether a ranker's answers must be awaited."""
    called = getattr(ranker, "func", ranker)  # of functools.partial
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(
        getattr(called, "__call__", None)  # noqa: B004 - of an object
    )


def name_of(ranker: object) -> str:
    """Return the name of a ranker for messages."""
    return str(getattr(ranker, "__qualname__", type(ranker).__qualname__))


def ask_function(ranker: Callable[..., object], task: RankingTask) -> Callable[[Query], object]:
    """Return a function that calls the ranker with the arguments that its signature asks for.

    A first parameter annotated ``Query`` gets the query, any other one its text; a parameter named
    ``depth`` or ``k`` gets the depth, and one named ``candidates`` the documents to rerank.
    """
    call: Callable[..., object] = with_depth(ranker, task.depth)
    takes_query = takes_queries(ranker)
    takes_candidates = _has(ranker, "candidates")

    def ask(query: Query) -> object:
        if query.text is None and not takes_query:
            raise no_text(
                "annotate the ranker's first parameter as Query (def recommend(query: Query): ...) "
                "to get the query's id and attributes"
            )
        argument = query if takes_query else query.text
        if takes_candidates:
            return call(argument, candidates=list(task.golden.candidates_of(query.id)))
        return call(argument)

    return ask


def with_depth(ranker: Callable[..., object], depth: int) -> Callable[[Any], object]:
    """Return the ranker as a function of one argument; its parameter ``depth`` is filled in.

    A parameter named ``k``, as many search engines call it, is filled in as well.
    """
    name = depth_name(ranker)
    return ranker if name is None else partial(ranker, **{name: depth})


def depth_name(ranker: Callable[..., object]) -> str | None:
    """Return the name of the parameter for the depth, which `with_depth` fills in."""
    return next((name for name in ("depth", "k") if _has(ranker, name)), None)


def takes_queries(ranker: Callable[..., object]) -> bool:
    """Whether the first parameter is annotated as ``Query`` or a list of them."""
    parameters = _parameters(ranker)
    annotation = str(parameters[0].annotation) if parameters else ""
    return _QUERY.search(annotation) is not None


def _has(ranker: Callable[..., object], name: str) -> bool:
    """Whether a parameter after the first has this name."""
    return any(parameter.name == name for parameter in _parameters(ranker)[1:])


def _parameters(ranker: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the ranker's parameters; empty for a C function without a signature."""
    try:
        return list(inspect.signature(ranker).parameters.values())
    except (TypeError, ValueError):
        return []


_ID_KEYS = ("doc_id", "id", "source")
"""Metadata keys that hold the id of a retriever's document, if it has no id of its own."""

Key = str | Callable[[Any], Any]


def retriever(ranker: object, key: Key) -> Adapter:
    """Return a ranker whose documents are identified by an entry of their metadata.

    Args:
        ranker: a retriever of LangChain or LlamaIndex; or a function that takes a query's text (or
            a ``Query``) and returns documents, best first, with ``metadata`` or ``meta``; or
            (document, score) pairs, best first.
        key: the name of the entry, such as ``"source"``; or of an attribute of the document, if
            its metadata has no such entry; or a function from a document, or a pair, to its id.

    Several chunks of one document get the same id: choose how ``duplicates`` count.

    Raises:
        RankerError: ``ranker`` is not a retriever, or ``key`` is neither a name nor a function.
    """
    retrieve: Any = retrieve_function(ranker) or ranker
    if not callable(retrieve) or isinstance(retrieve, (type, Adapter)) or not key:
        raise RankerError(
            f"retriever: {type(ranker).__name__} is not a retriever, or key={quoted(key)} is "
            "empty; give a retriever of LangChain or LlamaIndex, or a function that takes a "
            "query's text and returns documents, and the metadata entry with their ids"
        )
    return function_adapter(with_ids(retrieve, key), name_of(ranker))


def retrieve_function(ranker: object) -> Callable[..., object] | None:
    """Return the method to call on a LangChain or LlamaIndex retriever; None for others."""
    if isinstance(ranker, type):
        return None
    is_named = any(kind.__name__ == "BaseRetriever" for kind in type(ranker).__mro__)
    if not is_named and callable(ranker):
        return None
    methods = (getattr(ranker, name, None) for name in ("retrieve", "invoke"))
    method = next(filter(callable, methods), None)
    return None if method is None else lambda text: method(text)  # noqa: PLW0108 - no other arguments


def with_ids(retrieve: Callable[..., Any], key: Key | None = None) -> Callable[..., Any]:
    """Return a function that returns the ids of the documents that are retrieved."""

    @wraps(retrieve)
    def ask(*arguments: object, **options: object) -> object:
        return _retrieved(retrieve(*arguments, **options), key)

    @wraps(retrieve)
    async def ask_async(*arguments: object, **options: object) -> object:
        return _retrieved(await retrieve(*arguments, **options), key)

    return ask_async if is_async(retrieve) else ask


def _retrieved(results: Any, key: Key | None) -> Ranking:
    """Return retrieved documents, with ids as they are and their texts."""
    is_list = isinstance(results, Iterable) and not isinstance(results, (str, bytes, Mapping))
    if not is_list or has_no_order(results):
        raise RankerError(
            f"the retriever returned {type(results).__name__}, which has no order or is no list of "
            f"documents: {quoted(repr(results), 60)}; return a list, best first, or an empty one"
        )
    # LlamaIndex returns nodes with their scores, LangChain's vector stores pairs with them.
    nodes = [getattr(result, "node", result) for result in results]
    documents = [getattr(document, "node", document) for document in map(_alone, nodes)]
    ids = [*map(key, nodes)] if callable(key) else [_id_of(each, key) for each in documents]
    return Ranking(tuple(ids), texts=[*map(_text_of, documents)])


def _alone(result: object) -> object:
    """Return the document of a (document, score) pair; anything else as it is."""
    return result[0] if type(result) is tuple and len(result) == 2 else result


def _text_of(document: object) -> str | None:
    """Return the text of a document of LangChain, LlamaIndex or Haystack; None without one."""
    texts = (getattr(document, name, None) for name in ("page_content", "text", "content"))
    return next((text for text in texts if isinstance(text, str)), None)


def _id_of(document: object, key: str | None) -> Any:
    """Return an entry of a document's metadata, else an attribute of the document.

    Without a key, it is the id of a LangChain document, or of a LlamaIndex node.
    """
    metadata: Any = getattr(document, "metadata", None) or getattr(document, "meta", None)
    metadata = metadata if isinstance(metadata, Mapping) else {}  # Haystack calls it meta
    if key is not None:
        candidates = [metadata.get(key), getattr(document, key, None)]
    elif hasattr(document, "node_id"):
        candidates = [metadata.get("doc_id"), document.node_id]
    else:
        candidates = [getattr(document, "id", None), *map(metadata.get, _ID_KEYS)]
    doc_id = next((candidate for candidate in candidates if candidate is not None), None)
    if doc_id is not None:
        return doc_id if key else str(doc_id)
    raise RankerError(
        f"the retriever returned a document without {quoted(key or 'an id')}, {quoted(document)}: "
        f"its metadata has {listed(list(metadata), 10) or 'no entries'}; give another one as the "
        "key of rankers.retriever, or a function from a document to its id"
    )
