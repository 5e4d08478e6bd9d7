"""A worse ranker, of the kind that gets merged on a Friday: "a substring match is enough".

It finds names that are spelt exactly, and misses abbreviations, misspellings and questions.
"""

from __future__ import annotations

from symbol_search.corpus import symbols


def search(query: str, k: int = 100) -> list[str]:
    """Return the symbols with the query, or a word of it, in their name; short names first."""
    words = query.lower().split()
    found = [
        (-sum(word in symbol.name.lower() for word in words), len(symbol.name), symbol.name)
        for symbol in symbols()
        if any(word in symbol.name.lower() for word in words)
    ]
    return [name for _, _, name in sorted(found)[:k]]
