"""Typing slips on a QWERTY keyboard, in words that people type on one."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache

from pytest_rankcheck.behaviour.letter_marks import is_of_script

__all__ = ["slips"]

_LETTERS = re.compile(r"[^\W\d_]+")
_LONG_ENOUGH = 4
"""The shortest word to mistype; a slip turns shorter ones into other words."""
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def slips(text: str, seed: int) -> Iterator[str]:
    """Yield variants of the text, each with one slip, without end; nothing if no word fits.

    A slip is in a word of at least four Latin letters, but not in its first letter. Words with
    combining marks and words of other scripts, which have other keyboards, stay. The draws depend
    only on the seed and the text, not on the position of the query.
    """
    words = list(_words(text))
    if not words:
        return
    # Only random() is guaranteed to stay the same in later versions of Python.
    drawn = random.Random(f"{seed} {text}".encode("utf-8", "surrogatepass"))
    while True:
        start, end = words[int(drawn.random() * len(words))]
        yield text[:start] + _mistyped(text[start:end], drawn) + text[end:]


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each run of Latin letters that is long enough."""
    for run in _LETTERS.finditer(text):
        around = text[max(0, run.start() - 1) : run.start()] + text[run.end() :][:1]
        if not any(unicodedata.combining(char) for char in around):
            spans = [run.span()] if run[0].isascii() else _latin_spans(run[0], run.start())
            yield from (span for span in spans if span[1] - span[0] >= _LONG_ENOUGH)


def _latin_spans(letters: str, offset: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of Latin letters, which may touch letters of other scripts: 手机iphone."""
    start = 0
    for place in range(len(letters) + 1):
        if place == len(letters) or not is_of_script(letters[place], ("LATIN",)):
            yield offset + start, offset + place
            start = place + 1


def _mistyped(word: str, drawn: random.Random) -> str:
    """Return a word with one slip, which is never in its first letter."""
    place = 1 + int(drawn.random() * (len(word) - 1))
    others = [slip(word, place, drawn) for slip in _SLIPS]
    first = int(drawn.random() * len(others))
    # Some slips leave the word as it is: swapping equal letters, or a letter not on the keyboard.
    return next(other for other in (*others[first:], *others[:first]) if other != word)


def _beside(word: str, place: int, drawn: random.Random) -> str:
    """Return the word with a letter replaced by its neighbour on the keyboard, if it has one."""
    char = word[place]
    near = _neighbours().get(char.lower(), "")
    if not near:
        return word
    other = near[int(drawn.random() * len(near))]
    return word[:place] + (other.upper() if char.isupper() else other) + word[place + 1 :]


def _swapped(word: str, place: int, drawn: random.Random) -> str:
    """Return the word with a letter and the one before swapped; for the second, the one after."""
    before = max(1, place - 1)
    return word[:before] + word[before + 1] + word[before] + word[before + 2 :]


def _lost(word: str, place: int, drawn: random.Random) -> str:
    return word[:place] + word[place + 1 :]


def _doubled(word: str, place: int, drawn: random.Random) -> str:
    return word[:place] + word[place] + word[place:]


_SLIPS: tuple[Callable[[str, int, random.Random], str], ...] = (_beside, _swapped, _lost, _doubled)


@cache
def _neighbours() -> dict[str, str]:
    """Return the keys that touch each key: in its row, and in the rows above and below."""
    near: dict[str, str] = {}
    for row, keys in enumerate(_ROWS):
        for place, key in enumerate(keys):
            above = _ROWS[row - 1][place : place + 2] if row else ""
            below = _ROWS[row + 1][max(0, place - 1) : place + 1] if row + 1 < len(_ROWS) else ""
            beside = keys[max(0, place - 1) : place] + keys[place + 1 : place + 2]
            near[key] = beside + above + below
    return near
