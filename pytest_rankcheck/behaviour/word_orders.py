"""The words of a query in another order, as far as the query's syntax allows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

__all__ = ["ends_freely", "word_orders"]

_UNIT = re.compile(
    r"""(?:[+\-!]?(?:[^\W\d][\w.]*:)?               # -"new york", title:(red OR blue)
        (?:"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」
          |\((?:[^()]|\([^()]*\))*+\)|\[[^\[\]]*\])  # quoted text, a group, a range
        (?!\w)\S*)
      |\S+""",
    re.VERBOSE,
)
_BRACKETS = (("(", ")"), ("[", "]"))
_BETWEEN = frozenset({"AND", "OR", "NEAR", "&&", "||", "|"})
_BEFORE = frozenset({"NOT"})
_BOUND = re.compile(r"[+\-!]\S|[^\W\d][\w.]*:\S|[(\[]")
"""The start of a unit with an operator: -word, +word, !word, field:value, (group), [range]."""


def word_orders(text: str) -> Iterator[str]:
    """Yield the words reversed; then with the last one first; then with the first one last.

    Quoted text moves as one word. Operators in capitals stay in their places with the words that
    they join; so do words with an operator of their own, signs such as a lone ``&``, and the words
    beside them. A text whose brackets are unclosed, or nested more than twice, is not reordered.
    """
    units = _units(text)
    if any(unit.count(left) != unit.count(right) for unit in units for left, right in _BRACKETS):
        return
    fixed = _fixed(units) | _beside_signs(units)
    places = [place for place in range(len(units)) if place not in fixed]
    words = [units[place] for place in places]
    if len(words) > 1:
        for order in (words[::-1], [words[-1], *words[:-1]], [*words[1:], words[0]]):
            moved = dict(zip(places, order, strict=True))
            yield " ".join(moved.get(place, unit) for place, unit in enumerate(units))


def ends_freely(text: str) -> bool:
    """Whether the last word is neither an operator nor bound by one."""
    units = _units(text)
    return len(units) - 1 not in _fixed(units)


def _units(text: str) -> list[str]:
    return [match[0] for match in _UNIT.finditer(text)]


def _beside_signs(units: list[str]) -> set[int]:
    """Return the places of punctuation and mathematical signs, and of the words beside them."""
    signs = [
        place
        for place, unit in enumerate(units)
        if all(unicodedata.category(char)[0] == "P" or char in "+<=>|~^" for char in unit)
    ]
    return {place + step for place in signs for step in (-1, 0, 1)}


def _fixed(units: list[str]) -> set[int]:
    """Return the places of the units that must not move."""
    fixed = {place for place, unit in enumerate(units) if _BOUND.match(unit)}
    for place, unit in enumerate(units):
        if unit in _BETWEEN:
            fixed |= {place - 1, place, place + 1}
        elif unit in _BEFORE:
            fixed |= {place, place + 1}
    return fixed
