"""Ranking on an executor: chunks of queries are sent, and their answers received."""

from __future__ import annotations

import os
import socket
import threading
import traceback
import uuid
from collections.abc import Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Future,
    wait,
)
from dataclasses import replace
from itertools import islice

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
)
from pytest_rankcheck.rankers.executor_pools import Pool
from pytest_rankcheck.rankers.ranker_lookup import NamedRanker

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
            adapter: a `NamedRanker`, of which only the name is sent, or any other adapter.
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
                for future in [each for each in running if each in ended]:  # in their order
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
    """Return the same answer in a form that can be pickled, whatever a ranker answers or raises.

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
