"""Fingerprints of queries (text, judgments, candidates) and of whole golden sets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import Candidates

__all__ = ["fingerprint_of", "query_fingerprint"]

_LENGTH = 16
"""Hexadecimal digits, 64 bits: with a million contents, a collision has odds of 1 to 37 million."""


def query_fingerprint(
    query: Query,
    grades: Mapping[str, float],
    candidates: Candidates,
    weight: float | None = None,
) -> str:
    """Return the fingerprint of one query's id, text, judgments, candidates and weight."""
    judgments = sorted((doc_id, float(grade)) for doc_id, grade in grades.items())
    content: list[object] = [query.id, query.text or "", judgments]
    rows = candidates.rows(query.id)
    if rows:
        content.append(
            sorted(
                (candidates.doc_ids[row], json.dumps(candidates.row(row), sort_keys=True))
                for row in rows
            )
        )
    if weight is not None:
        content.append({"weight": weight})
    return _digest(json.dumps(content))


def fingerprint_of(query_fingerprints: Iterable[str], scale: float | None = None) -> str:
    """Return the fingerprint of a golden set.

    Args:
        query_fingerprints: those of its queries, in any order.
        scale: the scale, if it differs from the highest grade of the set.
    """
    of_scale = [] if scale is None else [f"scale {float(scale)!r}"]
    return _digest("\n".join([*sorted(query_fingerprints), *of_scale]))


def _digest(text: str) -> str:
    import hashlib  # loads OpenSSL, so only when needed

    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_LENGTH]
