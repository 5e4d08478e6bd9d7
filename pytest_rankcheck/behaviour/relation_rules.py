"""The index relations: what changes, what must hold, and why it is not a law."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_rankcheck.behaviour.index_builds import USUAL_SAMPLE

__all__ = ["RELATIONS", "Relation", "RelationRule"]

Relation = Literal["order", "duplicate", "irrelevant", "remove_top", "append_query_term"]
"""A change of the documents of an index, after which something must hold."""


@dataclass(frozen=True, slots=True)
class RelationRule:
    """A relation in words, and what it costs."""

    change: str
    holds: str
    """What must hold; ``{k}`` stands for k."""
    caveat: str
    """Why it is not a law."""
    depth: Callable[[int], int]
    """The depth to request, as a function of k."""
    sample: int | None = None
    """The default number of queries; None: all, because one index serves all of them."""


RELATIONS: Mapping[Relation, RelationRule] = {
    "order": RelationRule(
        "the documents are in another order",
        "the top {k} stays the same",
        "equal scores may be ordered by position, and an approximate index depends on the order in "
        "which it is built",
        depth=lambda k: k,
    ),
    "duplicate": RelationRule(
        "the top document of each query has a copy with a new id",
        "the top {k} stays the same without the copies, and each copy has the score of its "
        "original, or is next to it",
        "copies make their terms less rare, an approximate index is rebuilt, and an engine may "
        "merge duplicates",
        depth=lambda k: 2 * k,
    ),
    "irrelevant": RelationRule(
        "documents without any term of the queries are added",
        "the top {k} stays the same",
        "more documents change how rare terms are, an approximate index is rebuilt, and dense "
        "encoders give every text some similarity",
        depth=lambda k: k,
    ),
    "remove_top": RelationRule(
        "the top document is removed",
        "the documents below it move up in their order",
        "one document fewer changes how rare terms are, and an approximate index is rebuilt",
        depth=lambda k: k + 1,
        sample=USUAL_SAMPLE,
    ),
    "append_query_term": RelationRule(
        "the text of the query is appended to the document at rank 6",
        "that document does not fall",
        "length normalisation, truncation of long documents and dense encoders can lower it",
        depth=lambda k: 2 * k,
        sample=USUAL_SAMPLE,
    ),
}
