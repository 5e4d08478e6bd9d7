"""Ranking on an executor: send chunks, collect answers, send lost chunks again."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

from pytest_rankcheck.errors import (
    ConfigurationError,
    RankcheckError,
    RankerError,
    listed,
    plural,
    quoted,
)
from pytest_rankcheck.golden.golden_chunks import chunk_of
from pytest_rankcheck.package_version import package_version
from pytest_rankcheck.rankers.adapter_protocol import Adapter, OnAnswer, QueryAnswer, RankingTask
from pytest_rankcheck.rankers.execution.chunk_schedule import MOST_TRIES, Chunk, ChunkSchedule
from pytest_rankcheck.rankers.execution.chunk_work import (
    ChunkOrder,
    ChunkResult,
    Greeting,
    SentRanker,
    greeted,
    ranked_chunk,
    refuse_async,
)
from pytest_rankcheck.rankers.execution.executor_pools import Pool
from pytest_rankcheck.rankers.execution.plain_answers import RemoteError
from pytest_rankcheck.rankers.execution.stale_modules import refuse_other_code
from pytest_rankcheck.rankers.execution.undeclared_inputs import InputRule

__all__ = ["ExecutorRanker"]

_LOST = (BrokenExecutor, CancelledError, ConnectionError, EOFError, MemoryError)
"""The exceptions of a future whose chunk was lost on the way or with its worker."""
_LOST_NAMES = frozenset({"CommClosedError", "KilledWorker", "TerminatedWorkerError"})
"""The same for Dask and loky, by name, because they are not imported."""
_MOST_DEAD_IN_A_ROW = 10
"""If this many queries in a row kill their workers, the run ends: all the others would, too."""


class ExecutorRanker(Adapter):
    """A ranker that is asked on the workers of an executor, a chunk of queries at a time."""

    honours_timeout = True  # `ask` refuses a timeout itself, and says why

    def __init__(
        self, ranker: SentRanker, pool: Pool, chunk: int, keeping: InputRule | None = None
    ) -> None:
        """Prepare to ask, without sending anything yet.

        Args:
            ranker: the ranker, and its token on the workers.
            pool: the executor.
            chunk: the most queries to send together.
            keeping: the inputs that a ranker may read if its answers are kept; None if no answers
                are kept, or a ``resume_key`` covers their inputs.
        """
        self._ranker = ranker
        self._pool = pool
        self._chunk = chunk
        self._keeping = keeping
        self.name = ranker.adapter.name
        refuse_async(ranker.adapter)

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Send chunks of queries until every query is answered or has failed.

        Raises:
            ConfigurationError: a timeout is given, or the ranker's answers may not be kept.
            RankerError: the ranker cannot be sent or made, or the executor was shut down, or broke
                and cannot be replaced.
        """
        __tracebackhide__ = True
        if task.timeout is not None:
            raise ConfigurationError(
                f"timeout={task.timeout:g} has no effect on an executor, whose workers cannot be "
                "stopped; remove the timeout (rankcheck_timeout, or timeout= of rank)"
            )
        at_once = True
        try:
            self._greet()
            sending = _Sending(self._ranker, self._pool, task, on_answer, self._keeping)
            sending.send_all(self._chunk)
            self.notes = sending.notes
            at_once = False
        finally:
            self._pool.close(at_once=at_once)

    def _greet(self) -> None:
        """Send the ranker to one worker before anything is ranked.

        Raises:
            RankerError: it does not arrive, or the worker has another version.
        """
        __tracebackhide__ = True
        broken: BaseException | None = None
        for _ in range(MOST_TRIES):
            try:
                greeting = self._pool.submit(greeted, self._ranker).result()
            except _LOST as error:
                self._pool.is_broken = isinstance(error, BrokenExecutor)
                broken = error
                if not self._pool.can_be_replaced:
                    break
            except RankcheckError:
                raise
            except Exception as error:
                raise self._unsendable(error) from None
            else:
                if not isinstance(greeting, Greeting):
                    raise RankerError(
                        f"the executor returned {type(greeting).__name__} for a call that returns "
                        "something else; its submit() must call the given function"
                    )
                if greeting.version != package_version():
                    raise RankerError(
                        f"a worker has pytest-rankcheck {greeting.version}, but this process has "
                        f"{package_version()}; install the same version everywhere"
                    )
                return
        raise RankerError(
            f"no worker is left after ranker '{quoted(self.name)}' was sent to one "
            f"({type(broken).__name__}): perhaps it did not find the ranker's module; its output "
            "says why. Give the ranker by name, as in rank('package.module:name', ...), and in a "
            'script start processes only under if __name__ == "__main__"'
        ) from broken

    def _unsendable(self, error: Exception) -> RankerError:
        return RankerError(
            f"ranker '{quoted(self.name)}' cannot be sent to the workers of the executor: "
            f"{type(error).__name__}: {quoted(error, 300)}. Give it by name, as in "
            "rank('package.module:name', ...) or rankcheck_ranker, so that each worker makes its "
            "own"
        )


class _Sending:
    """One ranking on an executor."""

    def __init__(
        self,
        ranker: SentRanker,
        pool: Pool,
        task: RankingTask,
        on_answer: OnAnswer,
        keeping: InputRule | None,
    ) -> None:
        self._ranker = ranker
        self._pool = pool
        self._on_answer = on_answer
        self._keeping = keeping
        self._task = task
        self._how = replace(task, retry_on=tuple(map(_name_of_error, task.retry_on)))
        self._ended: SimpleQueue[tuple[Chunk, Future[ChunkResult]]] = SimpleQueue()
        self._running: dict[int, Future[ChunkResult]] = {}
        self._done = 0
        self._lost = 0
        self._dead: list[str] = []
        self._dead_in_a_row = 0

    def send_all(self, size: int) -> None:
        """Send all chunks, and pass on each answer."""
        __tracebackhide__ = True
        window = 2 * self._pool.workers
        self._schedule = ChunkSchedule(self._task.golden.query_ids, size, window)
        try:
            while not self._schedule.is_done:
                while (chunk := self._schedule.start()) is not None:
                    self._send(chunk)
                chunk, future = self._ended.get()
                del self._running[chunk.number]
                self._receive(chunk, future)
        except BaseException:
            for future in self._running.values():
                future.cancel()
            raise

    def _send(self, chunk: Chunk) -> None:
        __tracebackhide__ = True
        part = chunk_of(self._task.golden, chunk.query_ids)
        order = ChunkOrder(
            self._ranker, replace(self._how, golden=part), is_kept=self._keeping is not None
        )
        try:
            future = self._pool.submit(ranked_chunk, order)
        except BrokenExecutor as error:
            raise self._stopped(error) from error
        self._running[chunk.number] = future
        future.add_done_callback(lambda ended: self._ended.put((chunk, ended)))

    def _receive(self, chunk: Chunk, future: Future[ChunkResult]) -> None:
        __tracebackhide__ = True
        try:
            result = future.result()
        except Exception as error:
            if not (isinstance(error, _LOST) or type(error).__name__ in _LOST_NAMES):
                raise RankerError(
                    f"the executor failed with {type(error).__name__}: {quoted(error, 500)}"
                ) from error
            self._lose(chunk, error)
            return
        if result.problem is not None:
            problem = result.problem.error
            if not isinstance(problem, RemoteError):
                raise problem
            said = f"{problem.kind}: {quoted(problem.message, 500)}"
            raise RankerError(f"ranker '{quoted(self._ranker.adapter.name)}' failed: {said}") from (
                problem
            )
        refuse_other_code(result.code, result.place)
        if self._keeping is not None:
            self._keeping.check(result.inputs)
        self._schedule.answered(chunk)
        self._dead_in_a_row = 0
        for answer in result.results:
            query = self._task.golden.query(answer.query_id)
            failure = None if answer.failure is None else answer.failure.error
            value = None if answer.answer is None else answer.answer.value
            self._answer(QueryAnswer(query, value, failure, answer.seconds))

    def _answer(self, answer: QueryAnswer) -> None:
        self._done += 1
        self._on_answer(answer)

    def _lose(self, chunk: Chunk, error: Exception) -> None:
        __tracebackhide__ = True
        self._lost += 1
        if isinstance(error, BrokenExecutor):
            self._pool.is_broken = True
            if not self._pool.can_be_replaced:
                raise self._stopped(error) from error
        if not self._schedule.lost(chunk):
            return
        self._dead += chunk.query_ids
        self._dead_in_a_row += 1
        failure = RankerError(
            f"the worker died {MOST_TRIES} times when it was asked only this query "
            f"({type(error).__name__}): the ranker may use too much memory, or crash"
        )
        self._answer(QueryAnswer(self._task.golden.query(chunk.query_ids[0]), failure=failure))
        if self._dead_in_a_row >= _MOST_DEAD_IN_A_ROW:
            raise RankerError(
                f"the workers died on {self._dead_in_a_row} queries in a row: "
                f"{listed(self._dead[-self._dead_in_a_row :])}; ask the ranker one of "
                "them in this process, without an executor"
            ) from error

    def _stopped(self, error: BaseException) -> RankerError:
        left = len(self._task.golden) - self._done
        return RankerError(
            f"a worker died, and the executor broke ({type(error).__name__}) when "
            f"{left:,} of {plural(len(self._task.golden), 'query', 'queries')} had no answer yet. A"
            f"{self._pool.remedy[1:]}"
        )

    @property
    def notes(self) -> list[str]:
        """Sentences about lost chunks and new workers."""
        if not self._lost:
            return []
        chunks = "1 chunk of queries was" if self._lost == 1 else f"{self._lost:,} chunks were"
        text = f"{chunks} lost when a worker died, and asked again"
        if self._pool.replacements:
            text += f"; new workers were started {plural(self._pool.replacements, 'time')}"
        return [text]


def _name_of_error(named: Any) -> str:
    """Return an error of ``retry_on`` by name, so that its class need not be picklable."""
    return named if isinstance(named, str) else f"{named.__module__}.{named.__qualname__}"
