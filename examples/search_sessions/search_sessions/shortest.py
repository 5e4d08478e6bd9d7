"""A worse reranker, of the kind that wins a demo: the shortest name first."""

from __future__ import annotations


def rerank(query: str, candidates: list[str]) -> list[str]:
    """Return the candidates with the shortest name first."""
    return sorted(candidates, key=len)
