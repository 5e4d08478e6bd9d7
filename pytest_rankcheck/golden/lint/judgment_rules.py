"""Lint rules for judgments: duplicate, contradictory, missing, all relevant."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, counted_queries, rule
from pytest_rankcheck.golden.repeated_judgments import Repeat


@rule("error")
def contradictory_judgment(linted: Linted) -> RuleResult | None:
    """A document that is judged twice for a query, with different grades."""
    repeats = [repeat for repeat in linted.contents.repeats if repeat.before != repeat.again]
    return _repeated(
        repeats,
        f"{plural(len(repeats), 'judgment contradicts', 'judgments contradict')} another",
        "Which of the two counts, and so the metric, depends on the tool that reads the file",
        "keep one of them, or choose which counts with contradictions=",
    )


@rule("warning")
def repeated_judgment(linted: Linted) -> RuleResult | None:
    """A document that is judged twice for a query, with the same grade."""
    repeats = [repeat for repeat in linted.contents.repeats if repeat.before == repeat.again]
    return _repeated(
        repeats,
        plural(len(repeats), "duplicate judgment"),
        "It counts once here, but twice in tools that count lines",
        "remove the second",
    )


def _repeated(repeats: list[Repeat], what: str, why: str, remedy: str) -> RuleResult | None:
    """Return the result about repeated judgments; None without any."""
    if not repeats:
        return None
    first = repeats[0]
    pair = f"{first.before:g} and {first.again:g}" if first.before != first.again else "again"
    example = f"document '{quoted(first.doc_id)}' of query '{quoted(first.query_id)}', {pair}"
    return RuleResult(
        query_ids=tuple(dict.fromkeys(repeat.query_id for repeat in repeats)),
        what=f"{what}: {example}",
        why=why,
        remedy=remedy,
        places=tuple(repeat.where for repeat in repeats),
    )


@rule("error")
def no_judgment(linted: Linted) -> RuleResult | None:
    """A query without any judgment or expectation."""
    return _queries(
        tuple(_unjudged(linted, has_expectations=False)),
        "without a judgment",
        "They score 0 whatever the ranker does",
        "judge or remove them",
    )


@rule("warning")
def only_expectations(linted: Linted) -> RuleResult | None:
    """A query with expectations, but no judgment."""
    return _queries(
        tuple(_unjudged(linted, has_expectations=True)),
        "with expectations but no judgment",
        "Their expectations are checked, but in every mean they score 0 whatever the ranker does",
        "judge them, put them into a golden set of their own, or evaluate with "
        "no_relevant='exclude'",
    )


@rule("warning")
def no_relevant(linted: Linted) -> RuleResult | None:
    """A query that has judgments, but no grade above 0."""
    judged, relevant = _counts(linted)
    return _queries(
        linted.queries_where((judged > 0) & (relevant == 0)),
        "without a relevant document",
        "They score 0 whatever the ranker does",
        "find a relevant document, remove them, or evaluate with no_relevant='exclude'",
    )


def _queries(query_ids: tuple[str, ...], what: str, why: str, remedy: str) -> RuleResult | None:
    """Return the result about queries; None without any."""
    if not query_ids:
        return None
    count = plural(len(query_ids), "query", "queries")
    return RuleResult(query_ids, f"{count} {what}: {listed(query_ids)}", why, remedy)


@rule("warning")
def only_relevant(linted: Linted) -> RuleResult | None:
    """A query whose judged documents are all relevant."""
    judged, relevant = _counts(linted)
    query_ids = linted.queries_where((judged > 1) & (relevant == judged))
    if not query_ids:
        return None
    return RuleResult(
        query_ids=query_ids,
        what=f"{counted_queries(query_ids)} with only relevant documents",
        why="Bpref, infAP and Judged@k cannot see falls there, and a bad document that enters the "
        "top looks like an unjudged one",
        remedy="judge some documents as not relevant (grade 0), from the top of a run",
    )


def _unjudged(linted: Linted, *, has_expectations: bool) -> Iterator[str]:
    expectations = linted.contents.expectations
    for query_id in linted.queries_where(_counts(linted)[0] == 0):
        if bool(expectations.get(query_id)) == has_expectations:
            yield query_id


def _counts(linted: Linted) -> tuple[IntArray, IntArray]:
    """Return how many judged and how many relevant documents each query has."""
    judgments = linted.contents.judgments
    return np.diff(judgments.starts), judgments.counts(judgments.grades > 0)
