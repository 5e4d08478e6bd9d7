"""The model under test: it reranks the results shown, as the symbol search would."""

from __future__ import annotations

from symbol_search.ranker import search

EVERYTHING = 100_000


def rerank(query: str, candidates: list[str]) -> list[str]:
    """Return the candidates, best first; those that the ranker does not find come last."""
    place = {name: rank for rank, (name, _) in enumerate(search(query, EVERYTHING))}
    return sorted(candidates, key=lambda name: place.get(name, EVERYTHING))
