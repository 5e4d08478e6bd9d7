"""What an evaluation keeps of one query's ranking: where its judged documents are, and its top."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_rankcheck.rankers.ranking import (
    Duplicates,
    Ranking,
    Ties,
    by_score,
    without_duplicates,
)
from pytest_rankcheck.rankers.score_ranks import Id, ranks_of, top_of

__all__ = ["TOP", "Found", "Reading", "Wanted", "found_by_score", "found_in_order"]

TOP = 20
"""How many documents of each ranking are kept where not all are, to show what moved."""

_FEW = 4
"""So few documents are looked for one by one, more of them in one pass over the ranking."""

Wanted = Callable[[str], Collection[str] | None]
"""The documents of a query whose ranks are wanted; None for a query that is not evaluated."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A run file and the conventions by which it is read."""

    path: Path
    ties: Ties = "doc_id"
    duplicates: Duplicates = "error"
    columns: Mapping[str, str] = field(default_factory=dict)
    """What columns of a table mean that have unusual names, by our names."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where the wanted documents of a query are."""

    retrieved: int
    """How many documents were ranked."""
    ranks: Sequence[int]
    """The ranks of the wanted documents that were retrieved, from 1, best first."""
    doc_ids: Sequence[str]
    """The same documents."""
    top: Sequence[str] = ()
    """The first documents, where the whole ranking is not kept."""

    def cut(self, depth: int) -> Found:
        """Return what would have been found had only ``depth`` documents been ranked."""
        kept = sum(rank <= depth for rank in self.ranks)
        return Found(
            min(self.retrieved, depth), self.ranks[:kept], self.doc_ids[:kept], self.top[:depth]
        )


def found_in_order(doc_ids: Sequence[str], wanted: Collection[str]) -> Found:
    """Return where the wanted documents are in a ranking, best first."""
    if len(wanted) <= _FEW:
        found = (doc for doc in wanted if doc in doc_ids)
        pairs = sorted((doc_ids.index(doc) + 1, doc) for doc in found)
    else:
        judged = frozenset(wanted)
        pairs = [(rank, doc) for rank, doc in enumerate(doc_ids, start=1) if doc in judged]
    return Found(
        retrieved=len(doc_ids),
        ranks=[rank for rank, _ in pairs],
        doc_ids=[doc for _, doc in pairs],
        top=doc_ids[:TOP],
    )


def found_by_score(
    reading: Reading,
    query_id: str,
    docs: Sequence[Id],
    scores: Sequence[float],
    wanted: Collection[Id],
) -> Found:
    """Return where the wanted documents are, given all documents and scores as a file has them.

    Raises:
        RunError: a document stands twice, or scores are tied and that is an error.
    """
    distinct, ties = set(docs), reading.ties
    if len(distinct) < len(docs) or (ties == "error" and len(set(scores)) < len(scores)):
        ranking = _checked_ranking(reading, query_id, docs, scores)
        return found_in_order(ranking.doc_ids, [_text(doc) for doc in wanted])
    ordered = sorted(scores)
    known = distinct.intersection(wanted)
    score_of = {doc: scores[docs.index(doc)] for doc in known}
    pairs = ranks_of(known, score_of.get, docs, scores, ordered=ordered, ties=ties)
    top = top_of(docs, scores, ordered, ties, TOP)
    return Found(
        retrieved=len(docs),
        ranks=[rank for rank, _ in pairs],
        doc_ids=[_text(doc) for _, doc in pairs],
        top=[_text(doc) for doc in top],
    )


def _checked_ranking(
    reading: Reading, query_id: str, docs: Sequence[Id], scores: Sequence[float]
) -> Ranking:
    ranking = by_score([_text(doc) for doc in docs], scores, query_id, reading.ties)
    return without_duplicates(ranking, query_id, reading.duplicates)


def _text(doc_id: str | bytes) -> str:
    return doc_id if isinstance(doc_id, str) else doc_id.decode("utf-8", "surrogatepass")
