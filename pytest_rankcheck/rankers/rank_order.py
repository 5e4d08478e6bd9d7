"""Tables without scores, in which the rank decides the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.rankers.ranking import IncompleteRanks, Ranking, Ties, by_score

__all__ = ["by_rank", "has_all_ranks", "refuse_incomplete_ranks", "without_ranks"]


def has_all_ranks(ranks: Sequence[float]) -> bool:
    """Whether the ranks of a query, in any order, are 1, 2, 3, ... or 0, 1, 2, ..."""
    ordered = sorted(ranks)
    return any(ordered == list(range(start, start + len(ordered))) for start in (1, 0))


def refuse_incomplete_ranks(ranks: Sequence[float], query_id: str, rule: IncompleteRanks) -> None:
    """Check that the ranks of a query are complete, unless they give only the order.

    Raises:
        RunError: a rank is missing or repeated.
    """
    if rule == "close_gaps" or has_all_ranks(ranks):
        return
    first = 0 if min(ranks) == 0 else 1
    pairs = enumerate(sorted(ranks), start=first)
    expected, rank = next((expected, rank) for expected, rank in pairs if rank != expected)
    is_repeat = rank == expected - 1 and expected > first
    problem = f"rank {rank:g} is given twice" if is_repeat else f"rank {expected} is missing"
    raise RunError(
        f"query '{quoted(query_id)}': {problem}; without scores the ranks decide, and must be "
        "1, 2, 3, ... or 0, 1, 2, .... Add the missing documents or a column score, or, if the "
        "ranks give only the order, read the run with incomplete_ranks='close_gaps' (in pytest and "
        "on the command line: rankcheck_incomplete_ranks = close_gaps)"
    )


def without_ranks(ranking: Ranking) -> Ranking:
    """Return a ranking whose scores are negated ranks without them, unless some are repeated."""
    is_complete = has_all_ranks([-score for score in ranking.scores or ()])
    return replace(ranking, scores=None) if is_complete else ranking


def by_rank(
    doc_ids: Sequence[str],
    ranks: Sequence[float],
    query_id: str,
    ties: Ties = "doc_id",
    incomplete_ranks: IncompleteRanks = "error",
) -> Ranking:
    """Return the documents sorted by rank, lowest first.

    Raises:
        RunError: a rank is missing or repeated, and ``incomplete_ranks`` is ``"error"``; or ranks
            are repeated and ``ties`` is ``"error"``.
    """
    refuse_incomplete_ranks(ranks, query_id, incomplete_ranks)
    return without_ranks(by_score(doc_ids, [-rank for rank in ranks], query_id, ties))
