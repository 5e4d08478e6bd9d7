"""The model under test: it reranks the results shown by how the query matches their names."""

from __future__ import annotations

import re

EXACT, BEGINNING, INITIALS, HUMPS = 4.0, 3.0, 2.0, 1.5
"""The score of each kind of match; the share of the query's words in the name is at most 1."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def rerank(query: str, candidates: list[str]) -> list[str]:
    """Return the candidates, best first; equally good ones stay in the order shown."""
    return sorted(candidates, key=lambda name: match(query, name), reverse=True)


def match(query: str, name: str) -> float:
    """Return how well the query matches the name, the best of all kinds of match."""
    short = name.rpartition(".")[2]
    if query.lower() in (name.lower(), short.lower()):
        return EXACT
    if short.lower().startswith(query.lower()):
        return BEGINNING
    typed, humps = words(query), words(short)
    if query.lower() == "".join(hump[0] for hump in humps):
        return INITIALS
    rest = iter(humps)
    if all(any(hump.startswith(word) for hump in rest) for word in typed):
        return HUMPS
    return len(set(typed) & set(words(name))) / len(typed)


def words(text: str) -> list[str]:
    """Return the words of text or of a name, lower case: ``OrderedDict`` has two."""
    return [word.lower() for word in _WORD.findall(text)]
