"""The hits of one query: the ranks of its judged documents, and the top of its ranking."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.rankers.ranking import (
    Duplicates,
    IncompleteRanks,
    Ranking,
    Ties,
    by_score,
    duplicates_settled,
)
from pytest_rankcheck.rankers.score_ranks import Id, ranks_of, top_by_score

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdMap

__all__ = ["TOP", "QueryHits", "RunSource", "Wanted", "hits_by_score", "hits_in_order"]

TOP = 20
"""How many documents of each ranking are kept, if not all, to show what moved."""

_FEW = 4
"""Up to this many documents are searched one by one, more in one pass over the ranking."""

Wanted = Callable[[str], Collection[str] | None]
"""The documents of a query whose ranks are wanted; None for a query that is not evaluated."""


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run file and the conventions for reading it."""

    path: Path
    ties: Ties = "doc_id"
    duplicates: Duplicates = "error"
    columns: Mapping[str, str] = field(default_factory=dict)
    """``{role: column}`` for table columns with unusual names."""
    to_id: DocIdMap | None = None
    """Maps the ids; the file is then read into memory."""
    incomplete_ranks: IncompleteRanks = "error"


@dataclass(frozen=True, slots=True)
class QueryHits:
    """The ranks of the wanted documents of a query."""

    retrieved: int
    """How many documents were ranked."""
    ranks: Sequence[int]
    """The ranks of the wanted documents that were retrieved, from 1, best first."""
    doc_ids: Sequence[str]
    """The same documents."""
    top: Sequence[str] = ()
    """The first documents, if the whole ranking is not kept."""

    def cut(self, depth: int) -> QueryHits:
        """Return the hits as if only ``depth`` documents had been ranked."""
        kept = sum(rank <= depth for rank in self.ranks)
        return QueryHits(
            min(self.retrieved, depth), self.ranks[:kept], self.doc_ids[:kept], self.top[:depth]
        )


def hits_in_order(doc_ids: Sequence[str], wanted: Collection[str]) -> QueryHits:
    """Return the ranks of the wanted documents in a ranking, best first.

    Of a duplicate document only the first place counts.
    """
    if len(wanted) <= _FEW:
        pairs = sorted((doc_ids.index(doc) + 1, doc) for doc in wanted if doc in doc_ids)
    else:
        judged = frozenset(wanted)
        pairs = [(rank, doc) for rank, doc in enumerate(doc_ids, start=1) if doc in judged]
        first = {doc: rank for rank, doc in reversed(pairs)}
        if len(first) < len(pairs):
            pairs = sorted((rank, doc) for doc, rank in first.items())
    return QueryHits(
        retrieved=len(doc_ids),
        ranks=[rank for rank, _ in pairs],
        doc_ids=[doc for _, doc in pairs],
        top=doc_ids[:TOP],
    )


def hits_by_score(
    source: RunSource,
    query_id: str,
    docs: Sequence[Id],
    scores: Sequence[float],
    wanted: Collection[Id],
) -> QueryHits:
    """Return the ranks of the wanted documents, given all documents and scores in file order.

    Raises:
        RunError: a document is duplicated, or scores are tied, where that is an error.
    """
    distinct, ties = set(docs), source.ties
    if len(distinct) < len(docs) or (ties == "error" and len(set(scores)) < len(scores)):
        ranking = _checked_ranking(source, query_id, docs, scores)
        return hits_in_order(ranking.doc_ids, [_text(doc) for doc in wanted])
    ordered = sorted(scores)
    retrieved = distinct.intersection(wanted)
    score_of = {doc: scores[docs.index(doc)] for doc in retrieved}
    pairs = ranks_of(retrieved, score_of.get, docs, scores, ordered=ordered, ties=ties)
    top = top_by_score(docs, scores, ordered, ties, TOP)
    return QueryHits(
        retrieved=len(docs),
        ranks=[rank for rank, _ in pairs],
        doc_ids=[_text(doc) for _, doc in pairs],
        top=[_text(doc) for doc in top],
    )


def _checked_ranking(
    source: RunSource, query_id: str, docs: Sequence[Id], scores: Sequence[float]
) -> Ranking:
    ranking = by_score([_text(doc) for doc in docs], scores, query_id, source.ties)
    return duplicates_settled(ranking, query_id, source.duplicates)


def _text(doc_id: str | bytes) -> str:
    return doc_id if isinstance(doc_id, str) else doc_id.decode("utf-8", "surrogatepass")
