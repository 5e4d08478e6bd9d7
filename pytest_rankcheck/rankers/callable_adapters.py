"""Callables as rankers: one query after the other; where they are async, several at once."""

from __future__ import annotations

import asyncio
import inspect
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from pytest_rankcheck.errors import RankerError
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, Answered, Asking, Done, no_text

__all__ = [
    "AskAsync",
    "AsyncCallable",
    "Concurrently",
    "OneByOne",
    "asked_with",
    "is_async",
    "name_of",
    "takes_queries",
    "with_depth",
]

_QUERY = re.compile(rf"\b{Query.__name__}\b")

AskAsync = Callable[[Query], Awaitable[object]]


class OneByOne(Adapter):
    """A function from a query to its answer."""

    def __init__(self, ranker: Callable[..., object], name: str | None = None) -> None:
        self._ranker = ranker
        self.name = name or name_of(ranker)

    def ask(self, asking: Asking, done: Done) -> None:
        """Call the function for one query after the other."""
        __tracebackhide__ = True
        ask = asked_with(self._ranker, asking)
        for query in asking.golden:
            done(_called(ask, query, asking))


def _called(ask: Callable[[Query], object], query: Query, asking: Asking) -> Answered:
    """Return the answer to a query, after as many tries as it may have."""
    __tracebackhide__ = True
    tries = 0
    while True:
        tries += 1
        start = time.perf_counter()
        try:
            answer = ask(query)
            if inspect.isgenerator(answer):  # it has not begun to rank yet
                answer = list(answer)
        except Exception as error:  # whatever a ranker raises is reported with its query
            wait = asking.wait_before(tries, error)
            if wait is None:
                return Answered(query, failure=error, seconds=time.perf_counter() - start)
            time.sleep(wait)
        else:
            return Answered(query, answer, seconds=time.perf_counter() - start)


class Concurrently(Adapter):
    """An async way to ask: several queries at the same time, up to the bound."""

    @asynccontextmanager
    async def opened(self, asking: Asking) -> AsyncIterator[AskAsync]:
        """Open what is needed for all queries, and yield the function that asks for one."""
        raise NotImplementedError
        yield

    def ask(self, asking: Asking, done: Done) -> None:
        """Ask in an event loop of its own, whether or not one runs in this thread."""
        __tracebackhide__ = True
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(self._ask_all(asking, done))
            return
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: asyncio.run(self._ask_all(asking, done))).result()

    async def _ask_all(self, asking: Asking, done: Done) -> None:
        waiting = iter(asking.golden)
        async with self.opened(asking) as ask:

            async def work() -> None:
                for query in waiting:  # shared: each query goes to one worker
                    done(await _awaited(ask, query, asking))

            async with asyncio.TaskGroup() as workers:
                for _ in range(min(asking.concurrency, len(asking.golden))):
                    workers.create_task(work())


async def _awaited(ask: AskAsync, query: Query, asking: Asking) -> Answered:
    """Return the answer to a query, after as many tries as it may have."""
    tries = 0
    while True:
        tries += 1
        start = time.perf_counter()
        try:
            async with asyncio.timeout(asking.timeout):
                answer = await ask(query)
        except Exception as error:  # whatever a ranker raises is reported with its query
            wait = asking.wait_before(tries, error)
            if wait is None:
                failure = _explained(error, asking, tries)
                return Answered(query, failure=failure, seconds=time.perf_counter() - start)
            await asyncio.sleep(wait)
        else:
            return Answered(query, answer, seconds=time.perf_counter() - start)


def _explained(error: Exception, asking: Asking, tries: int) -> Exception:
    """Say how long it was waited, where an error has no words of its own."""
    if not isinstance(error, TimeoutError) or str(error) or asking.timeout is None:
        return error
    times = f", {tries} times" if tries > 1 else ""
    return RankerError(f"no answer within {asking.timeout:g} s{times}")


class AsyncCallable(Concurrently):
    """An async function from a query to its answer."""

    def __init__(self, ranker: Callable[..., object]) -> None:
        self._ranker = ranker
        self.name = name_of(ranker)

    @asynccontextmanager
    async def opened(self, asking: Asking) -> AsyncIterator[AskAsync]:
        """Yield the function itself; there is nothing to open."""
        ask: Any = asked_with(self._ranker, asking)
        yield ask


def is_async(ranker: Callable[..., object]) -> bool:
    """Whether a ranker's answers are to be awaited."""
    called = getattr(ranker, "func", ranker)  # of functools.partial
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(
        getattr(called, "__call__", None)  # noqa: B004 - of an object
    )


def name_of(ranker: object) -> str:
    """Return what messages call a ranker."""
    return str(getattr(ranker, "__qualname__", type(ranker).__qualname__))


def asked_with(ranker: Callable[..., object], asking: Asking) -> Callable[[Query], object]:
    """Return a function that puts a query to the ranker in the way that the ranker takes it.

    A first parameter annotated ``Query`` gets the query, any other its text; a parameter named
    ``depth``, or ``k``, gets the depth, and one named ``candidates`` the documents to rerank.
    """
    call: Callable[..., object] = with_depth(ranker, asking.depth)
    takes_query = takes_queries(ranker)
    takes_candidates = _has(ranker, "candidates")

    def ask(query: Query) -> object:
        __tracebackhide__ = True
        if query.text is None and not takes_query:
            raise no_text()
        given = query if takes_query else query.text
        if takes_candidates:
            return call(given, candidates=list(asking.golden.candidates_of(query.id)))
        return call(given)

    return ask


def with_depth(ranker: Callable[..., object], depth: int) -> Callable[[Any], object]:
    """Return the ranker as a function of one argument; its parameter ``depth`` is filled in.

    A parameter named ``k``, as many search engines call it, is filled in as well.
    """
    name = next((name for name in ("depth", "k") if _has(ranker, name)), None)
    return ranker if name is None else partial(ranker, **{name: depth})


def takes_queries(ranker: Callable[..., object]) -> bool:
    """Whether the first parameter is annotated ``Query``, or a list of them."""
    parameters = _parameters(ranker)
    annotation = str(parameters[0].annotation) if parameters else ""
    return _QUERY.search(annotation) is not None


def _has(ranker: Callable[..., object], name: str) -> bool:
    """Whether a parameter after the first has this name."""
    return any(parameter.name == name for parameter in _parameters(ranker)[1:])


def _parameters(ranker: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the ranker's parameters; none where it is written in C and does not tell."""
    try:
        return list(inspect.signature(ranker).parameters.values())
    except (TypeError, ValueError):
        return []
