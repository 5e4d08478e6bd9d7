"""Ranking every query of a golden set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import (
    ConfigurationError,
    RankerError,
    RunError,
    listed,
    plural,
    quoted,
)
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

__all__ = ["DEFAULT_DEPTH", "Attempt", "RankOptions", "attempted", "rank"]

DEFAULT_DEPTH = 100


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
) -> Run:
    """Ask a ranker for every query of a golden set and return its answers as a run.

    Args:
        ranker: any callable that takes a query's text and returns document ids, best first; or
            (id, score) pairs, best first; or {id: score}; or a DataFrame with a column
            ``doc_id``, best first. A parameter annotated ``Query`` gets the query with id, text
            and attributes instead; a parameter named ``depth`` (or ``k``) gets ``depth``, one
            named ``candidates`` the documents of the golden set to rerank. It may be async. Or an
            adapter (``rankers.batch``, ``rankers.model``, ...), or a retriever of LangChain or
            LlamaIndex.
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

    Raises:
        RankerError: the ranker is invalid, raised an error, or did not return a ranking (the
            message counts all failing queries; the first failure is the cause); or in most
            queries the scores of (id, score) pairs rise down the list, or the scores of
            {id: score} are ranks.
        ConfigurationError: ``doc_id`` is invalid, or does not return an id; or there is a
            ``timeout``, and the ranker cannot be stopped.
    """
    __tracebackhide__ = True
    # Whole numbers of numpy become those of Python, which every file format can hold.
    whole = (int(depth), int(concurrency), timeout, int(retries))
    task = RankingTask(golden, *whole, tuple(retry_on)).checked()
    rules = RankingRules(ties, duplicates, id_map(doc_id))
    attempt = attempted(adapter_of(ranker), task, rules, progress)
    if attempt.failures:
        _report(attempt.failures, golden)
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
    golden = task.golden
    rankings: dict[str, Ranking] = {}
    failures: dict[str, Exception] = {}
    misread = MisreadScores()
    seconds: dict[str, float] = {}

    def on_answer(query_answer: QueryAnswer) -> None:
        query_id, answer = query_answer.query.id, query_answer.answer
        failure = query_answer.failure
        try:
            if failure is None:
                ranking = ranking_of(answer, query_id, rules)
                misread.add(query_id, answer, ranking.doc_ids, ranking.scores)
                rankings[query_id] = ranking.top(task.depth)
        except Exception as error:  # a generator may raise while it is read
            failure = error
        if failure is not None:
            failures[query_id] = failure
        seconds[query_id] = query_answer.seconds
        if progress is not None:
            progress(len(seconds), len(golden))

    adapter.ask(task, on_answer)
    # Answers may arrive in any order; the run has the golden set's.
    answered_ids = [query.id for query in golden if query.id in rankings]
    run = Run(
        {query_id: rankings[query_id] for query_id in answered_ids},
        name=adapter.name,
        depth=task.depth,
        ties=rules.ties,
        duplicates=rules.duplicates,
        seconds={query_id: seconds[query_id] for query_id in answered_ids},
    )
    return Attempt(run, {q.id: failures[q.id] for q in golden if q.id in failures}, misread.problem)


def _report(failures: Mapping[str, Exception], golden: GoldenSet) -> None:
    """Raise one error for all queries on which the ranker failed."""
    __tracebackhide__ = True
    query_id, first = next(iter(failures.items()))
    if isinstance(first, ConfigurationError):  # of doc_id; the ranker did not fail
        raise first
    text = golden.query(query_id).text
    asked = f' "{quoted(text)}"' if text else ""
    count = f"{len(failures):,} of {plural(len(golden), 'query', 'queries')}"
    others = [failed for failed in failures if failed != query_id]
    rest = f"\nalso failed: {listed(others)}" if others else ""
    is_ours = isinstance(first, (RunError, RankerError))
    said = str(first) if is_ours else f"{type(first).__name__}: {quoted(first, 500)}"
    raise RankerError(
        f"the ranker failed on {count}, first on '{quoted(query_id)}'{asked}: {said}{rest}"
    ) from (None if is_ours else first)
