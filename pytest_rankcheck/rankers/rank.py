"""Asking a ranker for every query of a golden set, here or on an executor: ``rank``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import pytest_rankcheck
from pytest_rankcheck.argument_checks import check_whole_number, checked_arguments
from pytest_rankcheck.errors import (
    ConfigurationError,
    RankerError,
    RunError,
    listed,
    plural,
    quoted,
)
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.adapter_protocol import (
    Adapter,
    QueryAnswer,
    RankingTask,
    RetriedError,
    error_text,
    full_name,
)
from pytest_rankcheck.rankers.allowed_failures import most_failures
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranker_lookup import (
    NamedRanker,
    adapter_of,
    load_ranker,
    specification_of,
)
from pytest_rankcheck.rankers.ranking import Duplicates, Ranking, RankingRules, Ties, id_map
from pytest_rankcheck.rankers.ranking_forms import ranking_of
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdRule
    from pytest_rankcheck.rankers.executor_ranker import ExecutorLike


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
    failures: int | str = 0,
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
        timeout: seconds that an async ranker or ``rankers.http`` has for one query, and
            ``rankers.command`` for its next answer; None for no limit. A plain function cannot
            be stopped, so a timeout for one is an error.
        retries: how often a query is tried again after an error in ``retry_on``, with waits of
            0.5 s, 1 s, 2 s, ... up to 30 s.
        retry_on: the errors after which a query is tried again: classes, or their names.
        failures: how many queries may fail after their retries: a number, or a share such as
            ``"1%"``. They get an empty ranking, and ``Run.failed`` says why.
        progress: called after each query with the number of finished queries and of all queries.
        executor: an executor of ``concurrent.futures`` on whose workers to rank: a
            ``ProcessPoolExecutor``, or that of loky, Dask (``client.get_executor(pure=False)``) or
            mpi4py. Or a function that makes one, or a text:
            ``"processes:4"`` or ``"package.module:make_pool"``.
            A ranker given by name is created once on each worker; any other must be picklable.
        chunk: how many queries are sent to a worker together.
        resume: a folder that keeps answers until the run is complete, so that an interrupted
            ranking continues where it stopped. Needs ``resume_key``.
        resume_key: a text of your own that changes whenever the rankings may change, such as the
            commit and the build of the index. Kept answers are used only under the same key, for
            the same golden set, depth and ranker.

    Raises:
        RankerError: the ranker is invalid, raised an error, or did not return a ranking (the
            message counts all failing queries; the first failure is the cause); or in most
            queries the scores of (id, score) pairs rise down the list, or the scores of
            {id: score} are ranks; or it cannot be sent to the workers or created there, or the
            executor was shut down or broke.
        RunError: the file in ``resume`` was edited.
        ConfigurationError: ``doc_id`` is invalid, or does not return an id; ``timeout`` is given,
            but the ranker cannot be stopped; ``failures``, ``executor`` or ``chunk`` is invalid; or
            ``resume`` is not a folder, lacks a ``resume_key``, or holds the answers of another
            ranking.
    """
    # Whole numbers of numpy become those of Python, which every file format can hold.
    whole = (int(depth), int(concurrency), timeout, int(retries))
    most = most_failures(failures, len(golden))
    # By name, so that a worker need not know the class of an error.
    retried = tuple(each if isinstance(each, str) else full_name(each) for each in retry_on)
    task = RankingTask(golden, *whole, retried, most).checked()
    rules = RankingRules(ties, duplicates, id_map(doc_id))
    check_whole_number("chunk", chunk, 1, ConfigurationError)
    if (resume is not None and bool(str(resume).strip())) != bool(resume_key):
        raise ConfigurationError(
            "resume= needs resume_key=, a text that changes whenever the rankings may change, such "
            "as the commit and the build of the index; and resume_key= needs resume=, a folder"
        )
    folder = Path(resume) if resume and resume_key else None
    execution = Execution(executor, int(chunk), folder, resume_key or "")
    return ranked_as(execution, ranker, task, rules, progress)


@dataclass(frozen=True, slots=True)
class Execution:
    """Where to ask a ranker (without an executor: here), and where to keep answers."""

    executor: ExecutorLike | None = None
    chunk: int = DEFAULT_CHUNK
    """The most queries that are sent to a worker together."""
    resume: Path | None = None
    """The folder of kept answers; None: none are kept."""
    resume_key: str = ""
    """A text of the user's that changes whenever the rankings may change."""
    when_complete: Callable[[Callable[[], None]], None] = lambda delete: delete()
    """Receives a function that deletes a complete run's answers; by default it is called."""


def ranked_as(
    execution: Execution,
    ranker: object,
    task: RankingTask,
    rules: RankingRules,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Ask a ranker every query as `rank` does, here or on an executor.

    Raises:
        RankcheckError: as `rank` does.
    """
    adapter = _adapter_of(ranker, is_sent=execution.executor is not None)
    name = ranker if isinstance(ranker, str) else specification_of(ranker) or adapter.name
    if execution.executor is not None:
        from pytest_rankcheck.rankers.executor_ranker import ExecutorRanker

        adapter = ExecutorRanker(adapter, execution.executor, execution.chunk)
    delete: Callable[[], None] | None = None
    if execution.resume is not None:
        from pytest_rankcheck.rankers.kept_answers import ResumedRanker

        golden = task.golden
        key = {
            "the ranker": name,
            "the golden set (its fingerprint)": golden.visible_fingerprint,
            "the depth": str(task.depth),
            "resume_key": execution.resume_key,
            "pytest-rankcheck": pytest_rankcheck.__version__,
        }
        adapter = ResumedRanker(adapter, execution.resume, key)
        delete = adapter.delete
    attempt = attempted(adapter, task, rules, progress)
    for error in attempt.failures.values():
        if isinstance(error, ConfigurationError):  # an error of doc_id, not of the ranker
            raise error
    if len(attempt.failures) > task.failures:
        raise _failure_of_ranker(attempt.failures, task)
    if attempt.problem:
        raise RankerError(f"ranker '{quoted(attempt.run.name)}': {attempt.problem}")
    if delete is not None:
        execution.when_complete(delete)
    return attempt.run


def _adapter_of(ranker: object, *, is_sent: bool) -> Adapter:
    """Return the adapter of a ranker or of its name; only the name is sent to workers."""
    if not isinstance(ranker, str):
        return adapter_of(ranker)
    return NamedRanker(ranker) if is_sent else adapter_of(load_ranker(ranker))


def _failure_of_ranker(failures: Mapping[str, Exception], task: RankingTask) -> Exception:
    """Return one error for all queries on which a ranker failed; its cause is the first failure.

    Args:
        failures: the error of each query, in the order of the golden set.
        task: the queries, and how many of them may fail.
    """
    golden = task.golden
    query_id, first = next(iter(failures.items()))
    text = golden.query(query_id).text
    asked = f' "{quoted(text)}"' if text and text != query_id else ""
    count = f"{len(failures):,} of {plural(len(golden), 'query', 'queries')}"
    if task.failures:
        count += f" ({task.failures:,} may fail)"
    others = [failed for failed in failures if failed != query_id]
    rest = f"\nalso failed: {listed(others)}" if others else ""
    error = RankerError(
        f"the ranker failed on {count}, first on '{quoted(query_id)}'{asked}: "
        f"{error_text(first)}{rest}"
    )
    is_whole = isinstance(first, (RunError, RankerError)) and not hasattr(first, "__notes__")
    error.__cause__ = None if is_whole else first
    return error


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
    """The rankings of the queries that did not fail; of all if no more failed than allowed."""
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
    if task.timeout is not None and not adapter.honours_timeout:
        raise ConfigurationError(
            f"timeout={task.timeout:g} has no effect on ranker '{quoted(adapter.name)}': only "
            "async functions, rankers.http and rankers.command can be stopped. Make it async, or "
            "remove the timeout (rankcheck_timeout, or timeout= of rank)"
        )
    rankings = dict[str, Ranking]()
    failures = dict[str, Exception]()
    seconds = dict[str, float]()
    texts = dict[str, Sequence[str | None]]()
    misread = MisreadScores()
    batches = {1}

    def add(answered: QueryAnswer) -> None:
        query_id, failure = answered.query.id, answered.failure
        if query_id in seconds:
            raise RankerError(f"the adapter answered query '{quoted(query_id)}' twice")
        if failure is None:
            try:
                ranking = ranking_of(answered.answer, query_id, rules)
                misread.add(query_id, answered.answer, ranking.doc_ids, ranking.scores)
                ranking = ranking.top(task.depth)
                rankings[query_id] = Ranking(ranking.doc_ids, ranking.scores)
                if any(ranking.texts) and query_id in task.golden.by_text:
                    texts[query_id] = ranking.texts
            except Exception as error:  # a generator may raise while it is read
                failure = error
        if failure is not None:
            failures[query_id] = failure
        seconds[query_id] = answered.seconds
        batches.add(answered.batch)
        if progress is not None:
            progress(len(seconds), len(task.golden))

    adapter.ask(task, add)
    unanswered = RankerError(f"the adapter {type(adapter).__name__} did not answer the query")
    others = [query_id for query_id in task.golden.query_ids if query_id not in rankings]
    failed = {query_id: failures.get(query_id, unanswered) for query_id in others}
    allowed = failed if len(failed) <= task.failures else {}
    rankings.update(dict.fromkeys(allowed, Ranking(())))
    ranked = [query_id for query_id in task.golden.query_ids if query_id in rankings]
    run = Run(
        {query_id: rankings[query_id] for query_id in ranked},
        name=adapter.name,
        depth=task.depth,
        ties=rules.ties,
        duplicates=rules.duplicates,
        seconds={query_id: seconds.get(query_id, math.nan) for query_id in ranked},
        largest_batch=max(batches),
        failed={query_id: error_text(error) for query_id, error in allowed.items()},
        texts=texts,
        notes=adapter.notes,
    )
    return Attempt(run, failed, misread.problem)
