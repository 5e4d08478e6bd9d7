"""The code that runs on a worker: it makes the ranker once, and asks it the queries of a chunk.

A query's failure never fails its chunk: each query gets its answer or its own failure, as plain
data.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_rankcheck.errors import ConfigurationError, RankerError, quoted
from pytest_rankcheck.golden.golden_chunks import chunk_of
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.package_version import package_version
from pytest_rankcheck.rankers.adapter_protocol import Adapter, QueryAnswer, RankingTask
from pytest_rankcheck.rankers.execution.named_ranker import NamedRanker
from pytest_rankcheck.rankers.execution.plain_answers import (
    PlainAnswer,
    PlainFailure,
    plain_answer,
    plain_failure,
)
from pytest_rankcheck.rankers.execution.stale_modules import project_code, refuse_stale_modules
from pytest_rankcheck.rankers.execution.undeclared_inputs import Inputs, watched_inputs

__all__ = [
    "ChunkOrder",
    "ChunkResult",
    "Greeting",
    "QueryResult",
    "SentRanker",
    "greeted",
    "ranked_chunk",
    "refuse_async",
    "refuse_service",
]


@dataclass(frozen=True, slots=True)
class SentRanker:
    """A ranker to send to workers; each worker makes or unpickles it once."""

    adapter: Adapter
    """A `NamedRanker`, which is sent as its name, or any other adapter, which is sent whole."""
    token: str
    """Identifies the ranker: a worker keeps the first one that comes with a token."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """A worker's reply when the ranker has arrived."""

    version: str
    """The version of pytest-rankcheck on the worker."""


@dataclass(frozen=True, slots=True)
class ChunkOrder:
    """Some queries to rank, and the options for it."""

    ranker: SentRanker
    task: RankingTask
    """Its golden set has only the queries of the chunk."""
    is_kept: bool = False
    """Whether answers are kept without a ``resume_key``, so the ranker's inputs are watched."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answer to a query, or its failure, with the time that it took, in seconds."""

    query_id: str
    answer: PlainAnswer | None
    failure: PlainFailure | None
    seconds: float


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """The results of a chunk, or an error of the ranker that concerns all queries."""

    results: Sequence[QueryResult] = ()
    problem: PlainFailure | None = None
    inputs: Inputs = field(default_factory=Inputs)
    """The inputs that the ranker read."""
    code: Mapping[str, str] = field(default_factory=dict)
    """The digest of each project module on the worker, if the ranker was made for this chunk."""
    place: str = ""
    """The worker's host and process."""


_RANKERS: dict[str, Adapter] = {}
"""The last ranker that this process made, by its token."""
_MAKING = threading.Lock()


def greeted(ranker: SentRanker) -> Greeting:
    """Reply that a ranker has arrived; it is not made yet."""
    return Greeting(package_version())


def ranked_chunk(order: ChunkOrder) -> ChunkResult:
    """Ask the ranker each query of a chunk."""
    with watched_inputs(active=order.is_kept) as inputs:
        try:
            adapter, code = _made(order.ranker)
            refuse_async(adapter)
            if order.is_kept:
                refuse_service(adapter)
            results = tuple(_plain(_answered(adapter, order.task)))
        except Exception as error:  # it concerns all queries
            return ChunkResult(problem=_with_place(plain_failure(error)))
    return ChunkResult(results, inputs=inputs.taken(), code=code, place=_place())


def _made(ranker: SentRanker) -> tuple[Adapter, Mapping[str, str]]:
    """Return the ranker, made once in this process, and if it was made now, the code here.

    Raises:
        RankerError: it cannot be made.
    """
    code: Mapping[str, str] = {}
    with _MAKING:  # threads of one worker share it
        if ranker.token not in _RANKERS:
            _RANKERS.clear()  # models are large; only one run is ranked at a time
            adapter = ranker.adapter
            if isinstance(adapter, NamedRanker):
                refuse_stale_modules()
                try:
                    adapter = adapter.adapter()
                except (Exception, SystemExit) as error:
                    raise _unmade(ranker.adapter.name, error) from error
                refuse_stale_modules()  # also records the modules that were imported now
                code = project_code()
            _RANKERS[ranker.token] = adapter
        return _RANKERS[ranker.token], code


def _unmade(name: str, error: BaseException) -> RankerError:
    is_ours = isinstance(error, (ConfigurationError, RankerError))
    said = str(error) if is_ours else f"{type(error).__name__}: {quoted(error, 500)}"
    return RankerError(f"ranker '{quoted(name)}' cannot be made on a worker: {said}")


def _with_place(failure: PlainFailure) -> PlainFailure:
    """Add the worker's host and process, to tell the user where to look."""
    return replace(failure, message=f"{failure.message} ({_place()})")


def _place() -> str:
    return f"worker {socket.gethostname()}, process {os.getpid()}"


def refuse_async(adapter: Adapter) -> None:
    """Refuse a ranker that asks several queries at the same time by itself.

    Raises:
        RankerError: it does.
    """
    if adapter.is_async:
        raise RankerError(
            f"ranker '{quoted(adapter.name)}' is async and handles several queries at the same "
            "time by itself; remove executor= (rankcheck_executor) and set concurrency= "
            "(rankcheck_concurrency), or make it a plain function"
        )


def refuse_service(adapter: Adapter) -> None:
    """Refuse to keep the answers of a service without a ``resume_key``.

    Raises:
        ConfigurationError: the ranker declares that it calls one.
    """
    if adapter.calls_service:
        raise ConfigurationError(
            f"ranker '{quoted(adapter.name)}' calls a service, whose state is in no commit; give "
            "resume_key= (--rankcheck-resume-key), such as the build of its index, or do not "
            "resume"
        )


def _answered(adapter: Adapter, task: RankingTask) -> Iterator[QueryAnswer]:
    """Yield an adapter's answers.

    Queries that fail together, such as those of a batch, are asked again in halves, so that each
    one fails by itself. The same applies to queries that a ranker leaves unanswered because it
    calls ``sys.exit``.
    """
    answers: list[QueryAnswer] = []
    together: Exception | None = None
    try:
        adapter.ask(task, answers.append)
    except SystemExit as stop:
        together = RankerError(f"the ranker called sys.exit({quoted(stop.code, 100)})")
    answered = {answer.query.id for answer in answers}
    unanswered = [query.id for query in task.golden if query.id not in answered]
    groups: dict[int, list[str]] = {}
    for answer in answers:
        if answer.failure is not None:
            groups.setdefault(id(answer.failure), []).append(answer.query.id)
    again = {query_id for group in groups.values() if len(group) > 1 for query_id in group}
    yield from (answer for answer in answers if answer.query.id not in again)
    if len(unanswered) == 1:
        failure = together or _no_answer(adapter)
        yield QueryAnswer(task.golden.query(unanswered[0]), failure=failure)
    elif together is None:
        for query_id in unanswered:
            yield QueryAnswer(task.golden.query(query_id), failure=_no_answer(adapter))
    elif unanswered:
        groups[0] = unanswered
    for group in groups.values():
        if len(group) > 1:
            for half in _halves(task.golden, group):
                yield from _answered(adapter, replace(task, golden=half))


def _no_answer(adapter: Adapter) -> RankerError:
    return RankerError(f"the adapter {type(adapter).__name__} did not answer the query")


def _halves(golden: GoldenSet, query_ids: Sequence[str]) -> Iterator[GoldenSet]:
    middle = len(query_ids) // 2
    for half in (query_ids[:middle], query_ids[middle:]):
        yield chunk_of(golden, half)


def _plain(answers: Iterable[QueryAnswer]) -> Iterator[QueryResult]:
    for answered in answers:
        query_id, failure, answer = answered.query.id, answered.failure, None
        if failure is None:
            try:
                answer = plain_answer(answered.answer, query_id)
            except Exception as error:  # a generator may raise while it is read
                failure = error
        shown = None if failure is None else plain_failure(failure)
        yield QueryResult(query_id, answer, shown, answered.seconds)
