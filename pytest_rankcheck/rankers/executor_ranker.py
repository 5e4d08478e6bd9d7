"""Ranking on an executor: chunks of queries are sent, and their answers received.

The executor is given by the user, or made here.
"""

from __future__ import annotations

import os
import socket
import threading
import traceback
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from pytest_rankcheck.errors import (
    ConfigurationError,
    RankcheckError,
    RankerError,
    RunError,
    listed,
    quoted,
)
from pytest_rankcheck.rankers.adapter_protocol import (
    Adapter,
    OnAnswer,
    QueryAnswer,
    RankingTask,
    error_text,
    made_by,
)
from pytest_rankcheck.rankers.ranker_lookup import NamedRanker, is_name, named_object

ExecutorLike = Executor | Callable[[], Executor] | str
"""An executor; a function that makes one; or a text, as in ``rankcheck_executor``."""

_FORMS = "processes:4 or package.module:make_pool"
_UNKNOWN_WORKERS = 64
"""The assumed number of workers of an executor that does not state one."""


@dataclass
class Pool:
    """The user's executor; or one that is made when needed and shut down at the end."""

    name: str
    """What messages call it."""
    executor: Executor | None = None
    make: Callable[[], Any] | None = None

    @property
    def workers(self) -> int:
        """How many chunks it can rank at the same time, as far as it states that."""
        executor = self._opened()
        for name in ("num_workers", "_max_workers"):  # mpi4py; Python and loky
            workers = getattr(executor, name, None)
            if isinstance(workers, int) and workers > 0:
                return workers
        return _UNKNOWN_WORKERS

    def _opened(self) -> Executor:
        """Return the executor, and make it first if necessary."""
        if self.executor is None:
            assert self.make is not None
            made = made_by(self.make, f"executor {self.name} cannot be made")
            if not isinstance(made, Executor):
                raise RankerError(
                    f"executor {self.name} returned {type(made).__name__}; return an executor of "
                    "concurrent.futures, such as ProcessPoolExecutor(4)"
                )
            self.executor = made
        return self.executor

    def submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Submit a call; with a broken executor, the returned future has failed.

        Raises:
            RankerError: the executor was shut down.
        """
        try:
            return self._opened().submit(function, *arguments)
        except BrokenExecutor as error:
            broken: Future[Any] = Future()
            broken.set_exception(error)
            return broken
        except RuntimeError as error:
            if "shutdown" not in str(error):
                raise
            raise RankerError(
                f"executor {self.name} was shut down, so nothing can be ranked on it; give one "
                "that is open, or a function that makes one"
            ) from None

    def close(self, *, at_once: bool = False) -> None:
        """Shut the executor down if it was made here.

        Args:
            at_once: whether to return without waiting for running chunks.
        """
        if self.make is not None and self.executor is not None:
            self.executor.shutdown(wait=not at_once)
            client: Any = getattr(self.executor, "_client", None)  # Dask has one
            if client is not None:
                client.close()
            self.executor = None


def make_pool(given: ExecutorLike) -> Pool:
    """Return the pool that an argument or the configuration describes, without starting it.

    Raises:
        ConfigurationError: the value neither is nor describes an executor.
    """
    if isinstance(given, str):
        return _named_pool(given.strip())
    if isinstance(given, Executor):
        return Pool(type(given).__name__, given)
    if callable(given):
        name = getattr(given, "__qualname__", type(given).__qualname__)
        return Pool(f"{name}()", make=given)
    raise ConfigurationError(
        f"executor={quoted(repr(given), 60)} is not an executor; give one of concurrent.futures, a "
        f"function that makes one, or a text: {_FORMS}"
    )


def _named_pool(text: str) -> Pool:
    kind, _, rest = text.partition(":")
    make: Any = None
    if kind == "processes":
        if not rest or (rest.isascii() and rest.isdecimal() and int(rest) > 0):
            make = partial(_process_pool, int(rest) if rest else None)
    elif is_name(text.removesuffix("()")):
        make = named_object(text.removesuffix("()"), "executor")
    if make is None:
        raise ConfigurationError(f"executor '{quoted(text)}' is invalid; write {_FORMS}")
    return Pool(f"'{quoted(text)}'", make=make)


def _process_pool(count: int | None) -> Executor:
    """Return a pool that spawns its processes: a fork of a process with threads can deadlock.

    Without a ``count``, there are as many as there are processors.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


_LOST = (BrokenExecutor, CancelledError, ConnectionError, EOFError, MemoryError)
"""The exceptions of a future whose chunk was lost on the way or with its worker."""
_LOST_NAMES = frozenset({"CommClosedError", "KilledWorker"})
"""The same for Dask, by name, because it is not imported."""
_LONGEST_TRACEBACK = 50_000

_RANKERS: dict[str, Adapter] = {}
"""The last ranker that this process made or unpickled, by its token."""
_MAKING = threading.Lock()


class ExecutorRanker(Adapter):
    """A ranker that is asked on the workers of an executor, a chunk of queries at a time."""

    honours_timeout = True  # `ask` refuses a timeout itself, and says why

    def __init__(self, adapter: Adapter, pool: Pool, chunk: int) -> None:
        """Prepare to ask, without sending anything yet.

        Args:
            adapter: the ranker; only the name of a `NamedRanker` is sent.
            pool: the executor.
            chunk: the most queries to send together.

        Raises:
            RankerError: the adapter asks several queries at the same time by itself.
        """
        _refuse_async(adapter)
        self.name = adapter.name
        self._adapter = adapter
        self._token = adapter.token if isinstance(adapter, NamedRanker) else uuid.uuid4().hex
        self._pool = pool
        self._chunk = chunk

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Send chunks of queries until every query is answered or has failed.

        Raises:
            ConfigurationError: a timeout is given.
            RankerError: the ranker cannot be sent or made, a worker died, or the executor was shut
                down.
        """
        if task.timeout is not None:
            raise ConfigurationError(
                f"timeout={task.timeout:g} has no effect on an executor, whose workers cannot be "
                "stopped; remove the timeout (rankcheck_timeout, or timeout= of rank)"
            )
        at_once = True
        try:
            # By name, so that an error's class need not be picklable.
            named = tuple(
                each if isinstance(each, str) else f"{each.__module__}.{each.__qualname__}"
                for each in task.retry_on
            )
            self._ask_in_chunks(replace(task, retry_on=named), on_answer)
            at_once = False
        finally:
            self._pool.close(at_once=at_once)

    def _ask_in_chunks(self, task: RankingTask, on_answer: OnAnswer) -> None:
        ids, size = task.golden.query_ids, self._chunk
        waiting = iter([ids[start : start + size] for start in range(0, len(ids), size)])
        most = 2 * self._pool.workers
        running: dict[Future[list[QueryAnswer]], Sequence[str]] = {}
        try:
            while True:
                for chunk in islice(waiting, most - len(running)):
                    running[self._sent(task, chunk)] = chunk
                if not running:
                    return
                ended = wait(running, return_when=FIRST_COMPLETED).done
                for future in [each for each in running if each in ended]:  # in order
                    for answer in self._answers(future, running.pop(future)):
                        on_answer(answer)
        except BaseException:
            for future in running:
                future.cancel()
            raise

    def _sent(self, task: RankingTask, query_ids: Sequence[str]) -> Future[list[QueryAnswer]]:
        part = replace(task, golden=task.golden.for_ranker(query_ids))
        return self._pool.submit(ask_chunk, self._token, self._adapter, part)

    def _answers(
        self, future: Future[list[QueryAnswer]], chunk: Sequence[str]
    ) -> Sequence[QueryAnswer]:
        """Return the answers of a chunk.

        Raises:
            RankerError: it could not be sent, or was lost with its worker.
        """
        try:
            return future.result()
        except RankcheckError:
            raise
        except Exception as error:
            name = quoted(self.name)
            if isinstance(error, _LOST) or type(error).__name__ in _LOST_NAMES:
                raise RankerError(
                    f"a worker died ({type(error).__name__}), perhaps of one of the queries "
                    f"{listed(chunk)}: ranker '{name}' may use too much memory, or crash; the "
                    "output of the worker says why. With resume=DIR, finished answers are kept. In "
                    'a script, start processes only under if __name__ == "__main__"'
                ) from error
            raise RankerError(
                f"ranker '{name}' cannot be sent to the workers of the executor: "
                f"{error_text(error)}. Give it by name, as in rank('package.module:name', ...) or "
                "rankcheck_ranker, so that each worker makes its own"
            ) from error


def ask_chunk(token: str, adapter: Adapter, task: RankingTask) -> list[QueryAnswer]:
    """Ask the ranker each query of a chunk, on a worker.

    Args:
        token: identifies the ranker; a worker keeps the first one that comes with a token.
        adapter: the ranker.
        task: the queries of the chunk.

    Raises:
        RankerError: the ranker cannot be made, or raised an error that concerns all queries.
    """
    answers: list[QueryAnswer] = []
    done = "made"
    try:
        ranker = _made(token, adapter)
        _refuse_async(ranker)
        done = "asked"
        ranker.ask(task, lambda answer: answers.append(sendable(answer)))
    except (Exception, SystemExit) as error:
        raise RankerError(
            f"ranker '{quoted(adapter.name)}' cannot be {done} on a worker: {error_text(error)} "
            f"(worker {socket.gethostname()}, process {os.getpid()})"
        ) from error
    return answers


def _made(token: str, adapter: Adapter) -> Adapter:
    """Return the ranker, which is made once in this process."""
    with _MAKING:  # threads of one worker share it
        if token not in _RANKERS:
            _RANKERS.clear()  # models are large; only one run is ranked at a time
            _RANKERS[token] = adapter.adapter() if isinstance(adapter, NamedRanker) else adapter
        return _RANKERS[token]


def _refuse_async(adapter: Adapter) -> None:
    if adapter.is_async:
        raise RankerError(
            f"ranker '{quoted(adapter.name)}' is async and handles several queries at the same "
            "time by itself; remove executor= (rankcheck_executor) and set concurrency= "
            "(rankcheck_concurrency), or make it a plain function"
        )


def sendable(answered: QueryAnswer) -> QueryAnswer:
    """Return the same answer in a form that can be pickled, whatever the ranker returned.

    An exception of the user's code becomes a `RankerError` with the traceback as a note, because
    its class may not be picklable or known here.
    """
    plain = answered.plain()
    error = plain.failure
    if error is None:
        return plain
    for own in (RunError, RankerError, ConfigurationError):
        if isinstance(error, own):
            return replace(plain, failure=own(str(error)))
    trace = "".join(traceback.format_exception(error))
    failure = RankerError(error_text(error))
    failure.add_note(f"on the worker:\n{trace[-_LONGEST_TRACEBACK:]}")
    return replace(plain, failure=failure)
