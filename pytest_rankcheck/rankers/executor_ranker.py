"""Ranking on an executor: chunks of queries are sent, and their answers received.

The executor is given by the user, or made here.
"""

from __future__ import annotations

import os
import socket
import threading
import traceback
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
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


@contextmanager
def _opened(given: ExecutorLike) -> Iterator[Executor]:
    """Yield the executor of the user; or one that is made here, and shut down at the end.

    Raises:
        ConfigurationError: the value neither is nor describes an executor.
        RankerError: it cannot be made.
    """
    if isinstance(given, Executor):
        yield given
        return
    make = _maker(given)
    executor: Any = made_by(make, f"executor {quoted(given)} cannot be made")
    if not isinstance(executor, Executor):
        raise RankerError(
            f"executor {quoted(given)} returned {type(executor).__name__}; return an executor of "
            "concurrent.futures, such as ProcessPoolExecutor(4)"
        )
    is_complete = False
    try:
        yield executor
        is_complete = True
    finally:
        executor.shutdown(wait=is_complete)
        if hasattr(executor, "_client"):  # Dask has one
            executor._client.close()


def _maker(given: object) -> Callable[[], object]:
    """Return the function that makes the executor which an argument or the configuration means."""
    if callable(given):
        return given
    kind, _, rest = str(given).strip().removesuffix("()").partition(":")
    if kind == "processes":
        if not rest or (rest.isdecimal() and int(rest) > 0):
            return partial(_process_pool, int(rest) if rest else None)
    elif is_name(f"{kind}:{rest}"):
        make: Any = named_object(f"{kind}:{rest}", "executor")
        return make  # type: ignore[no-any-return]
    raise ConfigurationError(
        f"executor={quoted(repr(given), 60)} is invalid; give an executor of concurrent.futures, a "
        "function that makes one, or a text: processes:4 or package.module:make_pool"
    )


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

    def __init__(self, adapter: Adapter, executor: ExecutorLike, chunk: int) -> None:
        """Prepare to ask, without sending anything yet.

        Args:
            adapter: the ranker; only the name of a `NamedRanker` is sent.
            executor: the executor.
            chunk: the most queries to send together.

        Raises:
            RankerError: the adapter asks several queries at the same time by itself.
        """
        _refuse_async(adapter)
        self.name = adapter.name
        self._adapter = adapter
        self._token = adapter.token if isinstance(adapter, NamedRanker) else uuid.uuid4().hex
        self._executor = executor
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
        ids, size = task.golden.query_ids, self._chunk
        sent: dict[Future[list[QueryAnswer]], Sequence[str]] = {}
        with _opened(self._executor) as executor:
            try:
                for chunk in (ids[start : start + size] for start in range(0, len(ids), size)):
                    part = replace(task, golden=task.golden.for_ranker(chunk))
                    sent[self._submitted(executor, part)] = chunk
                for future in as_completed([*sent]):
                    for answer in self._answers(future, sent.pop(future)):
                        on_answer(answer)
            finally:
                for future in sent:
                    future.cancel()

    def _submitted(self, executor: Executor, part: RankingTask) -> Future[list[QueryAnswer]]:
        try:
            return executor.submit(ask_chunk, self._token, self._adapter, part)
        except RuntimeError as error:  # it is broken, or was shut down
            raise RankerError(
                f"executor {type(executor).__name__} takes no queries: {error_text(error)}; give "
                "one that is open, or a function that makes one"
            ) from error

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
