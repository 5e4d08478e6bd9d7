"""Checking what is expected of single queries against a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_rankcheck.errors import (
    ConfigurationError,
    GoldenSetError,
    RunError,
    listed,
    quoted,
    suggestion,
)
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.expectation_conflicts import conflict_in
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.run import Run

__all__ = ["ExpectationResult", "ExpectationStatus", "check_expectations"]


class ExpectationStatus(StrEnum):
    """What became of an expectation."""

    HOLDS = "holds"
    VIOLATED = "violated"
    KNOWN = "known failure"
    """It does not hold, and that is known."""
    FIXED = "known failure that holds"
    """It holds, though it is marked as a known failure: the mark has to go."""


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """An expectation with what the run says to it."""

    expectation: Expectation
    holds: bool
    ranks: Mapping[str, int | None]
    """The rank of each document that it names, None for one that is not ranked; those that speak
    against it first."""

    @property
    def status(self) -> ExpectationStatus:
        """What became of it."""
        if self.expectation.known_failure is not None:
            return ExpectationStatus.FIXED if self.holds else ExpectationStatus.KNOWN
        return ExpectationStatus.HOLDS if self.holds else ExpectationStatus.VIOLATED

    @property
    def is_wrong(self) -> bool:
        """Whether something has to be done: it is violated, or fixed and still marked."""
        return self.status in (ExpectationStatus.VIOLATED, ExpectationStatus.FIXED)

    @property
    def fails(self) -> bool:
        """Whether that fails its test, and is not only shown."""
        return self.is_wrong and self.expectation.severity == "error"


def check_expectations(
    run: Run, golden: GoldenSet, expectations: Sequence[Expectation]
) -> list[ExpectationResult]:
    """Return what the run says to each expectation, in the golden set's order.

    A query that the run lacks has an empty ranking: files of runs cannot say it otherwise.

    Raises:
        GoldenSetError: an expectation is of a query that is not there, or some contradict each
            other.
        ConfigurationError: an expectation looks further down than the ranker was asked.
        RunError: the run and the golden set share no query.
    """
    by_query: dict[str, list[Expectation]] = {}
    for one in expectations:
        by_query.setdefault(one.query, []).append(one)
    _check_queries(by_query, golden)
    _check_depth(expectations, run)
    if len(run) and not any(query_id in run for query_id in golden.query_ids):
        raise RunError(
            f"run '{quoted(run.name)}' and golden set '{quoted(golden.name)}' share no query: the "
            f"run has {listed(run.query_ids, 3)}, the golden set {listed(golden.query_ids, 3)}; "
            "are the ids of the same kind?"
        )
    return [
        _checked(one, run.get(query_id))
        for query_id in golden.query_ids
        for one in by_query.get(query_id, ())
    ]


def _check_queries(by_query: Mapping[str, Sequence[Expectation]], golden: GoldenSet) -> None:
    unknown = [query_id for query_id in by_query if query_id not in golden]
    if unknown:
        named = [query.id for query in golden if query.text == unknown[0]]
        hint = suggestion(unknown[0], golden.query_ids)
        if named:
            hint = f"; that is the text of query {listed(named)}: name queries by their ids"
        raise GoldenSetError(
            f"golden set '{quoted(golden.name)}' has no query {listed(unknown)}, of which "
            f"something is expected{hint}"
        )
    for query_id, expected in by_query.items():
        conflict = conflict_in(expected)
        if conflict:
            raise GoldenSetError(f"query '{quoted(query_id)}': {conflict}; decide for one of them")


def _check_depth(expectations: Sequence[Expectation], run: Run) -> None:
    for one in expectations:
        if run.depth is not None and one.k is not None and one.k > run.depth:
            raise ConfigurationError(
                f"query '{quoted(one.query)}': {one} is expected, but the ranker was asked for "
                f"{run.depth:,} documents; ask for {one.k:,} (rankcheck_depth, or depth= of rank)"
            )


def _checked(one: Expectation, ranking: Sequence[str]) -> ExpectationResult:
    named = (*one.documents, *one.others)
    found = {doc_id: rank for rank, doc_id in enumerate(ranking, 1) if doc_id in named}
    against = _against(one, found)
    match one.kind:
        case "some_results":
            holds = bool(ranking)
        case "no_results":
            holds = not ranking
        case _:
            holds = not against
    ordered = dict.fromkeys((*against, *named))
    return ExpectationResult(one, holds, {doc_id: found.get(doc_id) for doc_id in ordered})


def _against(one: Expectation, ranks: Mapping[str, int]) -> list[str]:
    """Return the documents that speak against an expectation."""
    match one.kind:
        case "in_top":
            return [doc_id for doc_id in one.documents if not _within(ranks.get(doc_id), one.k)]
        case "not_in_top":
            return [doc_id for doc_id in one.documents if _within(ranks.get(doc_id), one.k)]
        case "above" | "before":
            # What is not ranked stands below all that is, and above nothing.
            first = min((ranks[doc] for doc in one.others if doc in ranks), default=None)
            late = [
                doc_id
                for doc_id in one.documents
                if doc_id not in ranks or (first is not None and ranks[doc_id] > first)
            ]
            last = max((ranks[doc] for doc in late if doc in ranks), default=0)
            early = [doc for doc in one.others if doc in ranks and ranks[doc] < last]
            return [*late, *early]
    return []


def _within(rank: int | None, k: int | None) -> bool:
    return rank is not None and k is not None and rank <= k
