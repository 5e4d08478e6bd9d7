"""Checking the expectations on single queries against a run."""

from __future__ import annotations

import math
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
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import beyond_depth
from pytest_rankcheck.evaluation.ranked_run import ranked_run
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.ranking import first_ranks
from pytest_rankcheck.rankers.run import Run


class ExpectationStatus(StrEnum):
    """The outcome of an expectation."""

    HOLDS = "holds"
    VIOLATED = "violated"
    KNOWN = "known failure"
    """It does not hold, as its mark says."""
    FIXED = "known failure that holds"
    """It holds although it is marked as a known failure: the mark must be removed."""


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """An expectation and its outcome on a run."""

    expectation: Expectation
    holds: bool
    ranks: Mapping[str, int | None]
    """The rank of each document that the expectation names, or None if unranked; documents that
    violate it come first."""
    depth: int | None = None
    """How many documents were requested for each query, if known."""

    @property
    def status(self) -> ExpectationStatus:
        """The outcome of the expectation."""
        is_known = self.expectation.known_failure is not None
        if self.holds:
            return ExpectationStatus.FIXED if is_known else ExpectationStatus.HOLDS
        return ExpectationStatus.KNOWN if is_known else ExpectationStatus.VIOLATED

    @property
    def is_wrong(self) -> bool:
        """Whether action is needed: it is violated, or holds but is still marked as a failure."""
        return self.status in (ExpectationStatus.VIOLATED, ExpectationStatus.FIXED)

    @property
    def fails(self) -> bool:
        """Whether the outcome fails the test, and is not only reported."""
        return self.is_wrong and self.expectation.severity == "error"

    @property
    def stands_at(self) -> int | None:
        """The rank that ``known_rank`` records; None if a document is unranked or none is named."""
        ranks = [self.ranks[doc_id] for doc_id in self.expectation.documents]
        found = [rank for rank in ranks if rank is not None]
        if self.expectation.kind == "not_in_top":
            return min(found, default=None)
        return max(found) if found and len(found) == len(ranks) else None

    @property
    def is_worse(self) -> bool:
        """Whether a known failure got worse since it was marked.

        A document that is no longer ranked counts as worse only if the requested depth includes its
        known rank.
        """
        known, now = self.expectation.known_rank, self.stands_at
        if self.status is not ExpectationStatus.KNOWN or known is None:
            return False
        if now is None:
            return self.depth is None or self.depth >= known
        if self.expectation.kind == "not_in_top":
            return now < known
        return now > known


def check_expectations(
    run: Run, golden: GoldenSet, expectations: Sequence[Expectation]
) -> list[ExpectationResult]:
    """Return the outcome of each expectation, in the golden set's order.

    A query that is missing from the run counts as an empty ranking, because run files cannot
    contain empty rankings.

    Raises:
        GoldenSetError: an expectation has an unknown query, or expectations contradict each other.
        ConfigurationError: an expectation goes deeper than the ranker was asked for.
        RunError: the run and the golden set share no query; or no ranked document is judged in any
            of at least 5 queries, and no expectation names one.
    """
    by_query: dict[str, list[Expectation]] = {}
    for expectation in expectations:
        by_query.setdefault(expectation.query, []).append(expectation)
    _check_queries(by_query, golden)
    for expectation in expectations:
        k = expectation.k
        if run.depth is not None and k is not None and k > run.depth:
            what = f"query '{quoted(expectation.query)}': {expectation}"
            raise ConfigurationError(beyond_depth(what, k, run.depth))
    if len(run) and not any(query_id in run for query_id in golden.query_ids):
        raise RunError(
            f"run '{quoted(run.name)}' and golden set '{quoted(golden.name)}' share no query: the "
            f"run has {listed(run.query_ids, 3)}, the golden set {listed(golden.query_ids, 3)}; "
            "are the ids of the same kind?"
        )
    # With ids that the ranker never returns, `not_in_top` would always hold.
    named = [(each.query, {*each.documents, *each.others}) for each in expectations]
    if all(ids.isdisjoint(run.get(query_id)) for query_id, ids in named):
        Evaluation(ranked_run(run, golden)).refuse_unmet_ids()
    return [
        _outcome(expectation, run.get(query_id), run.depth)
        for query_id in golden.query_ids
        for expectation in by_query.get(query_id, ())
    ]


def _check_queries(by_query: Mapping[str, Sequence[Expectation]], golden: GoldenSet) -> None:
    unknown = [query_id for query_id in by_query if query_id not in golden]
    if unknown:
        raise GoldenSetError(
            f"golden set '{quoted(golden.name)}' has no query {listed(unknown)}, but an "
            f"expectation names it{suggestion(unknown[0], golden.query_ids)}"
        )


def _outcome(
    expectation: Expectation, ranking: Sequence[str], depth: int | None
) -> ExpectationResult:
    named = (*expectation.documents, *expectation.others)
    ranks = {doc_id: rank for doc_id, rank in first_ranks(ranking).items() if doc_id in named}
    against = _violating(expectation, ranks)
    of_results = {"some_results": bool(ranking), "no_results": not ranking}
    ordered = {doc_id: ranks.get(doc_id) for doc_id in (*against, *named)}
    return ExpectationResult(
        expectation, of_results.get(expectation.kind, not against), ordered, depth
    )


def _violating(expectation: Expectation, ranks: Mapping[str, int]) -> list[str]:
    """Return the documents that violate an expectation."""
    documents, others = expectation.documents, expectation.others
    if expectation.k is not None:
        top = {doc_id for doc_id, rank in ranks.items() if rank <= expectation.k}
        if expectation.kind == "in_top":
            return [doc_id for doc_id in documents if doc_id not in top]
        return [doc_id for doc_id in documents if doc_id in top]
    # Above, or before: an unranked document counts as below all ranked documents.
    first = min((ranks[doc] for doc in others if doc in ranks), default=math.inf)
    late = [doc for doc in documents if doc not in ranks or ranks[doc] > first]
    last = max((ranks[doc] for doc in late if doc in ranks), default=0)
    early = [doc for doc in others if doc in ranks and ranks[doc] < last]
    return [*late, *early]
