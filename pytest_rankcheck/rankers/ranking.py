"""One query's ranking: its order by scores or ranks, and its duplicate documents."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from pytest_rankcheck.errors import RunError, quoted, suggestion

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdMap, DocIdRule

__all__ = [
    "Duplicates",
    "IncompleteRanks",
    "Ranking",
    "RankingRules",
    "Ties",
    "by_score",
    "checked_option",
    "duplicates_settled",
    "first_ranks",
    "has_all_ranks",
    "id_map",
    "ranked_twice",
    "refuse_incomplete_ranks",
    "without_ranks",
]

Ties = Literal["doc_id", "input", "error"]
"""How documents with equal scores are ordered: by document id, descending, as in trec_eval; as in
the input; or not at all, which is an error."""

Duplicates = Literal["error", "close_gaps", "keep_places"]
"""How a duplicate document in a ranking is treated: as an error; or only its first place counts.
Its other places are removed, so that the documents below move up (``"close_gaps"``); or they stay
where they are and count as unjudged (``"keep_places"``)."""

IncompleteRanks = Literal["error", "close_gaps"]
"""How the ranks of a table without scores are treated if one is missing or repeated: as an error;
or they give only the order, so that gaps are closed and equal ranks are ties."""


@dataclass(frozen=True, slots=True)
class RankingRules:
    """How the order of a ranking is decided where its source leaves that open."""

    ties: Ties = "doc_id"
    duplicates: Duplicates = "error"
    to_id: DocIdMap | None = None
    """Maps the ids of documents, before duplicates are found."""
    incomplete_ranks: IncompleteRanks = "error"


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents ranked for one query, best first, with their scores if known."""

    doc_ids: tuple[str, ...]
    scores: tuple[float, ...] | None = None
    repeated: bool = False
    """Whether a document was duplicated, so that its later places do not count."""

    def __len__(self) -> int:
        return len(self.doc_ids)

    def top(self, depth: int) -> Ranking:
        """Return the first ``depth`` documents."""
        if depth >= len(self.doc_ids):
            return self
        return Ranking(self.doc_ids[:depth], self.scores and self.scores[:depth], self.repeated)


def checked_option(value: str, kind: object, name: str) -> None:
    """Check that ``value`` is one of the values of the literal type ``kind``.

    Raises:
        RunError: it is not; the message names the allowed values.
    """
    allowed = get_args(kind)
    if value not in allowed:
        hint = suggestion(str(value), allowed)
        raise RunError(f"{name}={quoted(value)} is invalid{hint}; allowed: {', '.join(allowed)}")


def by_score(
    doc_ids: Sequence[str], scores: Sequence[float], query_id: str, ties: Ties = "doc_id"
) -> Ranking:
    """Return the documents sorted by score, highest first.

    Raises:
        RunError: a score is not finite, or scores are tied and ``ties`` is ``"error"``.
    """
    if _is_falling(scores):
        return Ranking(tuple(doc_ids), tuple(scores))
    for doc_id, score in zip(doc_ids, scores, strict=True):
        if not math.isfinite(score):
            raise RunError(
                f"query '{quoted(query_id)}': the score of document '{quoted(doc_id)}' is {score}; "
                "scores must be finite numbers"
            )
    pairs = list(zip(scores, doc_ids, strict=True))
    if ties == "doc_id":
        pairs.sort(reverse=True)
    else:
        pairs.sort(key=lambda pair: -pair[0])
        if ties == "error":
            _refuse_ties(pairs, query_id)
    return Ranking(tuple(doc for _, doc in pairs), tuple(score for score, _ in pairs))


def _is_falling(scores: Sequence[float]) -> bool:
    """Whether all scores are finite, and each is lower than the previous one."""
    if not math.isfinite(sum(scores)):
        return False
    return list(scores) == sorted(scores, reverse=True) and len(set(scores)) == len(scores)


def _refuse_ties(pairs: Sequence[tuple[float, str]], query_id: str) -> None:
    for (score, doc_id), (next_score, next_doc_id) in itertools.pairwise(pairs):
        if score == next_score and doc_id != next_doc_id:
            raise RunError(
                f"query '{quoted(query_id)}': documents '{quoted(doc_id)}' and "
                f"'{quoted(next_doc_id)}' have the same score, {score:g}; break ties in the "
                "ranker, or evaluate with ties='doc_id' or ties='input'"
            )


def has_all_ranks(ranks: Sequence[float]) -> bool:
    """Whether the ranks of a query, in any order, are 1, 2, 3, ... or 0, 1, 2, ..."""
    ordered = sorted(ranks)
    return any(ordered == list(range(start, start + len(ordered))) for start in (1, 0))


def refuse_incomplete_ranks(ranks: Sequence[float], query_id: str) -> None:
    """Check that the ranks of a query are complete."""
    if has_all_ranks(ranks):
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


def id_map(rule: DocIdRule | None) -> DocIdMap | None:
    """Return the mapping of ids that ``doc_id=`` describes; None without one."""
    if rule is None:
        return None
    from pytest_rankcheck.document_ids import DocIdMap

    return DocIdMap(rule)


def duplicates_settled(ranking: Ranking, query_id: str, duplicates: Duplicates) -> Ranking:
    """Return the ranking with its duplicate documents treated."""
    doc_ids, scores = ranking.doc_ids, ranking.scores
    if len(set(doc_ids)) == len(doc_ids):
        return ranking
    ranks = first_ranks(doc_ids)
    if duplicates == "error":
        rank, doc_id = next(
            (rank, doc) for rank, doc in enumerate(doc_ids, start=1) if ranks[doc] != rank
        )
        raise ranked_twice(query_id, doc_id, ranks[doc_id], rank)
    if duplicates == "close_gaps":
        scores = scores and tuple(scores[rank - 1] for rank in ranks.values())
        doc_ids = tuple(ranks)
    return Ranking(doc_ids, scores, repeated=True)


def ranked_twice(query_id: str, doc_id: str, first: int, again: int) -> RunError:
    """Return the error for a document that is ranked twice, with both ranks."""
    return RunError(
        f"query '{quoted(query_id)}': document '{quoted(doc_id)}' is ranked twice, at "
        f"{first} and {again}; rank it once, or let only its first place count: "
        "duplicates='keep_places' if the reader sees every place (chunks), "
        "duplicates='close_gaps' if the documents below move up; in pytest, write "
        "rankcheck_conventions = duplicates=keep_places"
    )


def first_ranks(doc_ids: Sequence[str]) -> dict[str, int]:
    """Return the rank of each document, from 1; of a duplicate document, the first."""
    ranks = {doc_id: rank for rank, doc_id in enumerate(doc_ids, start=1)}
    if len(ranks) < len(doc_ids):
        ranks.update(zip(reversed(doc_ids), range(len(doc_ids), 0, -1), strict=True))
    return ranks
