"""The model under test: it reranks what was shown, as the symbol search would."""

from __future__ import annotations

from symbol_search.ranker import search

EVERYTHING = 100_000


def rerank(query: str, candidates: list[str]) -> list[str]:
    """Return the candidates, best first; what the ranker does not find comes last."""
    place = {name: rank for rank, (name, _) in enumerate(search(query, EVERYTHING))}
    return sorted(candidates, key=lambda name: place.get(name, EVERYTHING))
