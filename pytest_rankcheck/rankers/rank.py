"""Calling a ranker for every query of a golden set."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from pytest_rankcheck.errors import RankerError, RunError, listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.ranking import (
    Duplicates,
    Ranking,
    Ties,
    checked_option,
    ranking_of,
)
from pytest_rankcheck.rankers.run import Run

__all__ = ["rank"]

DEFAULT_DEPTH = 100


def rank(
    ranker: Callable[..., object],
    golden: GoldenSet,
    depth: int = DEFAULT_DEPTH,
    *,
    ties: Ties = "doc_id",
    duplicates: Duplicates = "error",
) -> Run:
    """Call ``ranker`` for every query of ``golden`` and return its answers as a run.

    Args:
        ranker: any callable that takes a query's text and returns document ids, best first; or
            (id, score) pairs, best first; or {id: score}; or a DataFrame with a column
            ``doc_id``, best first. A parameter annotated ``Query`` gets the query with id, text
            and attributes instead; a parameter named ``k`` gets ``depth``.
        golden: the queries.
        depth: how many documents of each answer are kept.
        ties: the order of equal scores, where the answer is {id: score}.
        duplicates: a document twice in an answer: ``"error"``, or ``"first"``.

    Raises:
        RankerError: the ranker is not callable, raised, or answered something that is no
            ranking. All failing queries are counted; the first failure is the cause.
    """
    __tracebackhide__ = True
    checked_option(ties, Ties, "ties")
    checked_option(duplicates, Duplicates, "duplicates")
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise RankerError(f"depth={quoted(depth)}: a depth is a whole number of at least 1")
    ask = _asking(ranker, depth)
    rankings: dict[str, Ranking] = {}
    failures: dict[str, Exception] = {}
    for query in golden:
        try:
            answer = ask(query)
            rankings[query.id] = ranking_of(
                answer, query.id, depth=depth, ties=ties, duplicates=duplicates
            )
        except Exception as error:  # whatever a ranker raises is reported with its query
            failures[query.id] = error
    if failures:
        _report(failures, golden)
    name = getattr(ranker, "__qualname__", type(ranker).__qualname__)
    return Run(rankings, name=name, depth=depth, ties=ties, duplicates=duplicates)


def _report(failures: dict[str, Exception], golden: GoldenSet) -> None:
    """Raise one error for all queries on which the ranker failed."""
    __tracebackhide__ = True
    query_id, first = next(iter(failures.items()))
    text = golden.query(query_id).text
    asked = f' "{quoted(text)}"' if text else ""
    count = f"{len(failures):,} of {plural(len(golden), 'query', 'queries')}"
    others = [failed for failed in failures if failed != query_id]
    rest = f"\nalso failed: {listed(others)}" if others else ""
    if isinstance(first, (RunError, RankerError)):
        said = str(first)
        raise RankerError(
            f"the ranker failed on {count}, first on '{quoted(query_id)}'{asked}: {said}{rest}"
        ) from None
    said = f"{type(first).__name__}: {quoted(first, 500)}"
    raise RankerError(
        f"the ranker failed on {count}, first on '{quoted(query_id)}'{asked}: {said}{rest}"
    ) from first


def _asking(ranker: Callable[..., object], depth: int) -> Callable[[Query], object]:
    """Return a function that puts a query to the ranker in the way that the ranker takes it."""
    __tracebackhide__ = True
    if not callable(ranker):
        raise RankerError(
            f"the ranker is {type(ranker).__name__}, which cannot be called; give a function from "
            "a query's text to document ids, best first"
        )
    parameters = _parameters(ranker)
    extra: dict[str, Any] = {"k": depth} if any(p.name == "k" for p in parameters[1:]) else {}
    if parameters and _wants_query(parameters[0]):

        def ask_with_query(query: Query) -> object:
            __tracebackhide__ = True
            return ranker(query, **extra)

        return ask_with_query

    def ask_with_text(query: Query) -> object:
        __tracebackhide__ = True
        if query.text is None:
            raise RankerError(
                "the query has no text to give to the ranker; add its text to the golden set "
                "(TREC qrels: a .queries.tsv beside them), or let the ranker take a Query"
            )
        return ranker(query.text, **extra)

    return ask_with_text


def _parameters(ranker: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the ranker's parameters; none where it is written in C and does not tell."""
    try:
        return list(inspect.signature(ranker).parameters.values())
    except (TypeError, ValueError):
        return []


def _wants_query(parameter: inspect.Parameter) -> bool:
    annotation: object = parameter.annotation
    if isinstance(annotation, str):
        return annotation.strip("'\"").rpartition(".")[2] == Query.__name__
    return annotation is Query
