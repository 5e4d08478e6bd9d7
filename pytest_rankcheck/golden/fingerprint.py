"""Fingerprints: of a query's text, judgments and candidates, and of a whole golden set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import Candidates

__all__ = ["fingerprint_of", "query_fingerprint"]

_LENGTH = 16
"""Hexadecimal digits, 64 bits: among a million contents, one in 37 million pairs of sets clash."""


def query_fingerprint(
    query: Query,
    grades: Mapping[str, float],
    candidates: Candidates,
    weight: float | None = None,
) -> str:
    """Return the fingerprint of one query's id, text and judgments, candidates and weight."""
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


def fingerprint_of(query_fingerprints: Iterable[str]) -> str:
    """Return the fingerprint of a golden set from those of its queries, in any order."""
    return _digest("\n".join(sorted(query_fingerprints)))


def _digest(text: str) -> str:
    import hashlib  # loads OpenSSL, for those who ask for a fingerprint

    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_LENGTH]
