"""Typing slips on a QWERTY keyboard, in words that people type on one."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache

_WORD = re.compile(r"(?<![A-Za-zÀ-ÖØ-öø-ɏ\u0300-\u036f])[A-Za-zÀ-ÖØ-öø-ɏ]{4,}+(?![\u0300-\u036f])")
"""A run of at least four Latin letters: a slip turns shorter words into other words."""
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def slips(text: str, seed: int) -> Iterator[str]:
    """A slip on a QWERTY keyboard: the key beside, two letters swapped, one lost or doubled.

    Yields variants of the text, each with one slip, without end; nothing if no word fits. A slip is
    in a word of at least four Latin letters, but not in its first letter. Other scripts,
    which have other keyboards, stay. The draws depend only on the seed and the text, not on the
    position of the query.
    """
    words = [match.span() for match in _WORD.finditer(text)]
    if not words:
        return
    # Only random() is guaranteed to stay the same in later versions of Python.
    drawn = random.Random(f"{seed} {text}".encode("utf-8", "surrogatepass"))
    while True:
        start, end = words[int(drawn.random() * len(words))]
        yield text[:start] + _mistyped(text[start:end], drawn) + text[end:]


def _mistyped(word: str, drawn: random.Random) -> str:
    """Return a word with one slip, which is never in its first letter."""
    place = 1 + int(drawn.random() * (len(word) - 1))
    before, char, after = word[:place], word[place], word[place + 1 :]
    near = _neighbours().get(char.lower(), "")
    beside = near[int(drawn.random() * len(near))] if near else char
    if char.isupper():
        beside = beside.upper()
    first = max(1, place - 1)
    swapped = word[first + 1] + word[first]
    others = (
        before + beside + after,
        word[:first] + swapped + word[first + 2 :],
        before + after,  # lost
        before + char + char + after,  # doubled
    )
    chosen = int(drawn.random() * len(others))
    # Some slips leave the word as it is: swapping equal letters, or a letter not on the keyboard.
    return next(other for other in (*others[chosen:], *others[:chosen]) if other != word)


@cache
def _neighbours() -> dict[str, str]:
    """Return the keys that touch each key: in its row, and in the rows above and below."""
    near: dict[str, str] = {}
    for above, keys, below in zip(("", *_ROWS), _ROWS, (*_ROWS[1:], ""), strict=False):
        for place, key in enumerate(keys):
            left = max(0, place - 1)
            beside = keys[left:place] + keys[place + 1 : place + 2]
            near[key] = beside + above[place : place + 2] + below[left : place + 1]
    return near
