"""Ranking every query of a golden set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from pytest_rankcheck.argument_checks import check_whole_number, checked_arguments
from pytest_rankcheck.errors import ConfigurationError, RankerError, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.adapter_choice import adapter_of
from pytest_rankcheck.rankers.adapter_protocol import (
    Adapter,
    QueryAnswer,
    RankingTask,
    RetriedError,
)
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranking import Duplicates, Ranking, RankingRules, Ties, id_map
from pytest_rankcheck.rankers.ranking_forms import ranking_of
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdRule
    from pytest_rankcheck.rankers.execution.executor_pools import ExecutorLike
    from pytest_rankcheck.rankers.execution.prepared_ranker import Execution

__all__ = [
    "DEFAULT_CHUNK",
    "DEFAULT_DEPTH",
    "Attempt",
    "RankOptions",
    "attempted",
    "rank",
    "ranked_as",
]

DEFAULT_DEPTH = 100
DEFAULT_CHUNK = 50


@checked_arguments
def rank(
    ranker: object,
    golden: GoldenSet,
    depth: int = DEFAULT_DEPTH,
    *,
    ties: Ties = "doc_id",
    duplicates: Duplicates = "error",
    doc_id: DocIdRule | None = None,
    concurrency: int = 8,
    timeout: float | None = None,
    retries: int = 0,
    retry_on: Sequence[RetriedError] = (),
    progress: Callable[[int, int], None] | None = None,
    executor: ExecutorLike | None = None,
    chunk: int = DEFAULT_CHUNK,
    resume: str | PathLike[str] | None = None,
    resume_key: str | None = None,
) -> Run:
    """Ask a ranker for every query of a golden set and return its answers as a run.

    Args:
        ranker: any callable that takes a query's text and returns document ids, best first; or
            (id, score) pairs, best first; or {id: score}; or a DataFrame with a column
            ``doc_id``, best first. A parameter annotated ``Query`` gets the query with id, text
            and attributes instead; a parameter named ``depth`` (or ``k``) gets ``depth``, one
            named ``candidates`` the documents of the golden set to rerank. It may be async. Or an
            adapter (``rankers.batch``, ``rankers.model``, ...), or a retriever of LangChain or
            LlamaIndex. Or the name of any of these, ``"package.module:name"``.
        golden: the queries.
        depth: how many documents of each answer are kept.
        ties: the order of equal scores, if the answer is {id: score}, as in `Run.load`.
        duplicates: how a duplicate document in an answer is treated, as in `Run.load`.
        doc_id: maps the ids of documents, as in `Run.load`.
        concurrency: how many queries an async ranker works on at the same time.
        timeout: seconds that an async ranker or ``rankers.http`` has for one query; None for no
            limit. A plain function cannot be stopped, so a timeout for one is an error.
        retries: how often a query is tried again after an error in ``retry_on``, with waits of
            0.5 s, 1 s, 2 s, ... up to 30 s.
        retry_on: the errors after which a query is tried again: classes, or their names.
        progress: called after each query, with the number of queries done and of all queries.
        executor: an executor of ``concurrent.futures`` on whose workers to rank: a
            ``ProcessPoolExecutor``, or that of loky, Dask (``client.get_executor(pure=False)``) or
            mpi4py. Or a function that makes one, so that a broken one can be replaced; or a text:
            ``"processes:4"``, ``"dask:tcp://scheduler:8786"`` or ``"package.module:make_pool"``.
            A ranker given by name is made once on each worker; any other one must be picklable.
        chunk: how many queries are sent to a worker, or kept in a file, together.
        resume: a folder that keeps answers until the run is complete, so that an interrupted
            ranking continues where it stopped. The golden set, the depth, the ranker, the commit,
            the changed files and the installed packages must be the same, and the answers at most
            a day old.
        resume_key: a text that changes whenever the rankings may change, such as the build of an
            index. It is required outside git, and for a ranker that is an object, calls a service,
            or reads files that are not in git. With it, answers may be of any age.

    Raises:
        RankerError: the ranker is invalid, raised an error, or did not return a ranking (the
            message counts all failing queries; the first failure is the cause); or in most
            queries the scores of (id, score) pairs rise down the list, or the scores of
            {id: score} are ranks; or it cannot be sent to the workers, or made there, or the
            executor was shut down or broke.
        RunError: a file in ``resume`` was cut off or edited, or contradicts another one.
        ConfigurationError: ``doc_id`` is invalid, or does not return an id; ``timeout`` is given,
            but the ranker cannot be stopped; ``executor`` or ``chunk`` is invalid; or ``resume`` is
            not a folder, holds the answers of another ranking, or needs a ``resume_key``.
    """
    __tracebackhide__ = True
    # Whole numbers of numpy become those of Python, which every file format can hold.
    whole = (int(depth), int(concurrency), timeout, int(retries))
    task = RankingTask(golden, *whole, tuple(retry_on)).checked()
    rules = RankingRules(ties, duplicates, id_map(doc_id))
    check_whole_number("chunk", chunk, 1, ConfigurationError)
    if resume is not None and not str(resume).strip():
        raise ConfigurationError("resume= is empty; give the name of a folder, such as 'parts'")
    if resume is None and resume_key is not None:
        raise ConfigurationError("resume_key= has no effect without resume=; give a folder")
    if executor is None and resume is None and not isinstance(ranker, str):
        return ranked_as(None, ranker, task, rules, progress)
    from pytest_rankcheck.rankers.execution.prepared_ranker import Execution, origin_of
    from pytest_rankcheck.rankers.execution.resume_key import ResumeScope

    scope = None if resume is None else ResumeScope(Path(resume), resume_key, origin_of(ranker))
    return ranked_as(Execution(executor, int(chunk), scope), ranker, task, rules, progress)


def ranked_as(
    execution: Execution | None,
    ranker: object,
    task: RankingTask,
    rules: RankingRules,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Ask a ranker every query as `rank` does, here or on an executor.

    Args:
        execution: how to ask the ranker; None: in this process, without keeping answers.
        ranker: the ranker.
        task: the queries, and how each is asked.
        rules: how rankings are read.
        progress: as in `rank`.

    Raises:
        RankcheckError: as `rank` does.
    """
    __tracebackhide__ = True
    if execution is None:
        return _complete(attempted(adapter_of(ranker), task, rules, progress), task.golden)
    from pytest_rankcheck.rankers.execution.prepared_ranker import PreparedRanker

    prepared = PreparedRanker(ranker, execution, task.golden, task.depth)
    try:
        run = _complete(attempted(prepared.adapter, task, rules, progress), task.golden)
        prepared.complete()
    finally:
        prepared.close()
    return run


def _complete(attempt: Attempt, golden: GoldenSet) -> Run:
    """Return the run of an attempt in which no query failed.

    Raises:
        RankerError: a query failed, or the scores of most queries are misread.
        ConfigurationError: ``doc_id`` does not return an id.
    """
    __tracebackhide__ = True
    if attempt.failures:
        from pytest_rankcheck.rankers.failed_queries import failure_of_ranker

        raise failure_of_ranker(attempt.failures, golden)
    if attempt.problem:
        raise RankerError(f"ranker '{quoted(attempt.run.name)}': {attempt.problem}")
    return attempt.run


class RankOptions(TypedDict, total=False):
    """The keyword arguments of `rank`, for functions that pass them on."""

    depth: int
    ties: Ties
    duplicates: Duplicates
    doc_id: DocIdRule | None
    concurrency: int
    timeout: float | None
    retries: int
    retry_on: Sequence[RetriedError]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a ranker returned, and the queries on which it failed."""

    run: Run
    """The rankings of the queries that did not fail."""
    failures: Mapping[str, Exception]
    problem: str | None = None
    """What is wrong with all answers together."""


def attempted(
    adapter: Adapter,
    task: RankingTask,
    rules: RankingRules,
    progress: Callable[[int, int], None] | None = None,
) -> Attempt:
    """Ask a ranker for every query, even if some fail."""
    __tracebackhide__ = True
    if task.timeout is not None and not adapter.honours_timeout:
        raise ConfigurationError(
            f"timeout={task.timeout:g} has no effect on ranker '{quoted(adapter.name)}': only "
            "async functions and rankers.http can be stopped. Make it async, or remove the timeout "
            "(rankcheck_timeout, or timeout= of rank)"
        )
    answers = _Answers(task, rules, progress)
    adapter.ask(task, answers.add)
    return answers.attempt(adapter)


class _Answers:
    """The answers to the queries of a task, read as they arrive."""

    def __init__(
        self,
        task: RankingTask,
        rules: RankingRules,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._task, self._rules, self._progress = task, rules, progress
        self._rankings: dict[str, Ranking] = {}
        self._failures: dict[str, Exception] = {}
        self._seconds: dict[str, float] = {}
        self._differing: set[str] = set()
        self._misread = MisreadScores()

    def add(self, answered: QueryAnswer) -> None:
        """Read the answer to a query; the first one counts."""
        query_id, failure = answered.query.id, answered.failure
        if query_id in self._seconds:
            if self._differs(answered):
                self._differing.add(query_id)
            return
        if failure is None:
            try:
                ranking = ranking_of(answered.answer, query_id, self._rules)
                self._misread.add(query_id, answered.answer, ranking.doc_ids, ranking.scores)
                self._rankings[query_id] = ranking.top(self._task.depth)
            except Exception as error:  # a generator may raise while it is read
                failure = error
        if failure is not None:
            self._failures[query_id] = failure
        self._seconds[query_id] = answered.seconds
        if self._progress is not None:
            self._progress(len(self._seconds), len(self._task.golden))

    def _differs(self, second: QueryAnswer) -> bool:
        """Whether the second answer to a query gives a different ranking from the first."""
        query_id = second.query.id
        first = self._rankings.get(query_id)
        if second.failure is not None or first is None:
            return (second.failure is None) != (first is not None)
        try:
            ranking = ranking_of(second.answer, query_id, self._rules).top(self._task.depth)
        except Exception:  # a generator may raise while it is read
            return True
        return ranking.doc_ids != first.doc_ids

    def attempt(self, adapter: Adapter) -> Attempt:
        """Return the rankings and the failures, in the order of the golden set."""
        unanswered = RankerError(f"the adapter {type(adapter).__name__} did not answer the query")
        rankings: dict[str, Ranking] = {}
        failures: dict[str, Exception] = {}
        for query_id in self._task.golden.query_ids:
            if query_id in self._rankings:
                rankings[query_id] = self._rankings[query_id]
            else:
                failures[query_id] = self._failures.get(query_id, unanswered)
        run = Run(
            rankings,
            name=adapter.name,
            depth=self._task.depth,
            ties=self._rules.ties,
            duplicates=self._rules.duplicates,
            seconds={query_id: self._seconds[query_id] for query_id in rankings},
        )
        run.differing = tuple(query_id for query_id in rankings if query_id in self._differing)
        run.notes = tuple(adapter.notes)
        return Attempt(run, failures, self._misread.problem)
