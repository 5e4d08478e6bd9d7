"""The text of violated expectations: the query, what was expected, and the ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from pytest_rankcheck.behaviour.expectation_check import ExpectationResult, ExpectationStatus
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.reports.text.wording import (
    document_in,
    documents_once,
    packed,
    query_in,
    ranking_lines,
)

_MOST_QUERIES = 20
_NAMED = 8


def _headline(golden: GoldenSet, results: Sequence[ExpectationResult]) -> str:
    """Return how many expectations there are, and their results."""
    counts = Counter(result.status for result in results)
    holding, violated = counts[ExpectationStatus.HOLDS], counts[ExpectationStatus.VIOLATED]
    known, fixed = counts[ExpectationStatus.KNOWN], counts[ExpectationStatus.FIXED]
    warned = sum(
        result.status is ExpectationStatus.VIOLATED and not result.fails for result in results
    )
    verb = "holds" if 1 in (holding, len(results)) else "hold"
    parts = [f"{holding:,} of {plural(len(results), 'expectation')} {verb}"]
    if violated:
        only_warn = f" ({warned:,} with severity warn)" if warned else ""
        parts.append(f"{violated:,} violated{only_warn}")
    if known:
        parts.append(plural(known, "known failure"))
    if fixed:
        now = "holds" if fixed == 1 else "hold"
        parts.append(f"{plural(fixed, 'known failure')} that now {now}")
    size = plural(len(golden), "query", "queries")
    return f"golden set '{quoted(golden.name)}' ({size}): {', '.join(parts)}"


def expectation_notes(
    golden: GoldenSet, results: Sequence[ExpectationResult], failure: str | None
) -> Iterator[Note]:
    """Yield the lines of the summary: counts, known failures, worse ones, and warnings.

    Args:
        golden: the queries.
        results: every expectation that was checked.
        failure: the text of the test's failure, if it fails.
    """
    name = quoted(golden.name)
    yield Note(Topic.EXPECTATIONS, _headline(golden, results), about=name, failure=failure)
    for result in results:
        if result.status is ExpectationStatus.KNOWN:
            yield Note(Topic.KNOWN_FAILURES, _note(golden, result))
            if result.is_worse:
                yield Note(Topic.WORSE_KNOWN_FAILURES, _worse(golden, result))
        elif result.is_wrong and not result.fails:
            yield Note(Topic.WARNED_EXPECTATIONS, _note(golden, result))


def expectation_lines(
    golden: GoldenSet, run: Run, results: Sequence[ExpectationResult]
) -> Iterator[str]:
    """Yield everything that is wrong, by query, and what to do.

    Args:
        golden: the queries.
        run: their rankings.
        results: every expectation that was checked, in the order of the queries.
    """
    yield _headline(golden, results)
    failing = [result for result in results if result.fails]
    violated = [result for result in failing if result.status is ExpectationStatus.VIOLATED]
    queries = [
        (query_id, list(group))
        for query_id, group in groupby(violated, lambda result: result.expectation.query)
    ]
    for query_id, group in queries[:_MOST_QUERIES]:
        yield from _query_lines(golden, run, query_id, group)
    hidden = sum(len(group) for _, group in queries[_MOST_QUERIES:])
    if hidden:
        hidden_queries = plural(len(queries) - _MOST_QUERIES, "query", "queries")
        yield f"  and {hidden:,} more, of {hidden_queries}"
    known = [result for result in results if result.status is ExpectationStatus.KNOWN]
    for heading, group, line in (
        (
            "known failures that now hold; remove their known_failure",
            [result for result in failing if result.status is ExpectationStatus.FIXED],
            _note,
        ),
        (
            "known failures that got worse since they were marked",
            [result for result in known if result.is_worse],
            _worse,
        ),
    ):
        if group:
            yield f"  {heading}"
            yield from (f"    {line(golden, result)}" for result in group)
    if violated:
        yield (
            "  to fix: improve these queries, correct the expectations, or say with "
            "known_failure why they cannot hold yet"
        )


def _query_lines(
    golden: GoldenSet, run: Run, query_id: str, group: Sequence[ExpectationResult]
) -> Iterator[str]:
    place = golden.place(query_id)
    yield f"  {query_in(golden, query_id)}" + (f"  ({quoted(place, 200)})" if place else "")
    for result in group:
        yield f"    expected  {result.expectation}"
        if result.expectation.reason:
            yield f"    because   {quoted(result.expectation.reason, 300)}"
        for number, line in enumerate(packed(_ranks(golden, result), indent="", gap=", ")):
            yield f"    {'' if number else 'but':<10}{line}"
    if query_id in run:
        ranking = run.ranking(query_id)
        lines = ranking_lines(golden, ranking, "ranked  ", "    ")
        yield from documents_once(golden.name, query_id, ranking, lines, "    ")
    else:
        yield "    ranked    nothing: the run does not have this query"


def _ranks(golden: GoldenSet, result: ExpectationResult) -> list[str]:
    """Return the ranks of the documents in an expectation, the offending ones first."""
    named = [
        f"{document_in(golden, doc_id)} {'is not ranked' if rank is None else f'is at {rank}'}"
        for doc_id, rank in result.ranks.items()
    ]
    hidden = len(named) - _NAMED
    return [*named[:_NAMED], f"and {hidden:,} more"] if hidden > 0 else named


def _note(golden: GoldenSet, result: ExpectationResult) -> str:
    """Return an expectation in one line, with its result and its known failure."""
    expectation = result.expectation
    ranks = f"; {', '.join(_ranks(golden, result))}" if result.ranks else ""
    reason = expectation.known_failure
    fixed = ", but it now holds: remove the mark" if result.holds and not result.fails else ""
    mark = f' (known failure: "{quoted(reason, 200)}"{fixed})' if reason else ""
    then = expectation.known_rank
    remembered = f" (at {then} when it was marked)" if then and not result.holds else ""
    return f"{_start(golden, expectation)}: expected {expectation}{mark}{ranks}{remembered}"


def _worse(golden: GoldenSet, result: ExpectationResult) -> str:
    """Return a known failure with its rank when it was marked and its rank now."""
    expectation, rank = result.expectation, result.stands_at
    which = "first" if expectation.kind == "not_in_top" else "last"
    several = len(expectation.documents) > 1
    subject = f"the {which} of them" if several else quoted(expectation.documents[0])
    top = f"not in the top {result.depth:,}" if result.depth else "not ranked"
    now = top if rank is None else f"at {rank}"
    return (
        f"{_start(golden, expectation)}: expected {expectation}; {subject} was at "
        f"{expectation.known_rank} when it was marked, and is now {now}"
    )


def _start(golden: GoldenSet, expectation: Expectation) -> str:
    """Return the query of an expectation, and its place in the file."""
    place = golden.place(expectation.query)
    where = f" [{quoted(place, 200)}]" if place else ""
    return f"{query_in(golden, expectation.query)}{where}"
