"""Pairs of texts that differ only in spelling, an article, a plural or a typo.

The order of words matters, and so do signs that belong to a word (``c++``, ``.net``, ``-jaguar``),
numbers and their units (``5 €``), and words with digits: ``iphone 12`` is not ``iphone 13``. Texts
are compared only within buckets of a common key, so the work is linear in the number of texts, not
quadratic.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from pytest_rankcheck.golden.english_plurals import singular

__all__ = ["Words", "close_pairs", "words_of"]

Words: TypeAlias = tuple[str, ...]

_UNITS = "%$¢£¤¥€₩₪₫₱₹₺₽₿"
"""Unit signs, which matter before a number, after it, and alone."""
_TOKEN = re.compile(
    rf"(?:(?<!\S)[-.@#+{_UNITS}])?\w+(?:[.,:/]\d+)*[+#*{_UNITS}]*|(?<!\S)[{_UNITS}](?!\S)"
)
"""A word with the signs that belong to it, or a unit sign."""
_ARTICLES = frozenset(
    {
        *("the", "a", "an", "der", "die", "das", "den", "dem", "ein", "eine", "einen"),
        *("le", "la", "les", "un", "une", "el", "los", "las", "una", "il", "lo", "gli", "uno"),
        *("o", "os", "as", "um", "uma", "de", "het", "een"),
    }
)
_LEAST_TYPO = 4
"""The fewest letters of a word in which a typo counts."""
_LEAST_PLURAL = 3
"""A plural has more letters than this."""
_LAST_CASED = "\u052f"
"""The last letter of Latin, Greek and Cyrillic; in other scripts one sign may be a word."""
_COMPARED = 8
"""How many preceding texts of its bucket each text is compared with."""


def words_of(text: str) -> Words:
    """Return the words of a text in lower case; the text itself if it has none."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return tuple(_TOKEN.findall(plain)) or (plain,)


def close_pairs(texts: Mapping[str, Words]) -> Iterator[tuple[str, str]]:
    """Yield pairs of keys whose words are close; a pair may occur several times.

    Texts are close if they differ only in articles, plurals, accents or joined words, or if one
    letter of one word, but not its first, is added, lost, replaced or swapped with the next.
    """
    plain = {
        key: _without_articles(tuple(map(_without_accents, words))) for key, words in texts.items()
    }
    for form in (_stems, _joined):
        buckets: dict[object, list[str]] = {}
        for key, words in plain.items():
            buckets.setdefault(form(words), []).append(key)
        for bucket in buckets.values():
            yield from _neighbours(bucket)
    yield from _typos(plain)


def _neighbours(keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, key in enumerate(keys):
        for before in keys[max(0, place - _COMPARED) : place]:
            yield before, key


def _without_accents(word: str) -> str:
    if word.isascii() or max(word) > _LAST_CASED:
        return word
    parts = unicodedata.normalize("NFD", word)
    return "".join(char for char in parts if not unicodedata.combining(char))


def _without_articles(words: Words) -> Words:
    """Return words without articles, except at the end: ``vitamin a`` keeps its ``a``."""
    kept = tuple(word for word in words[:-1] if word not in _ARTICLES)
    return (*kept, *words[-1:])


def _is_word(word: str) -> bool:
    """Whether a word has only letters, of a script in which typos are detected."""
    return word.isalpha() and max(word) <= _LAST_CASED


def _stems(words: Words) -> Words:
    return tuple(
        singular(word) if len(word) > _LEAST_PLURAL and _is_word(word) else word for word in words
    )


def _joined(words: Words) -> str:
    """Return the words joined together, with a space only between two numbers."""
    pieces = [words[0]]
    for before, word in pairwise(words):
        pieces += [" ", word] if before[-1].isdigit() and word[0].isdigit() else [word]
    return "".join(pieces)


def _typos(texts: Mapping[str, Words]) -> Iterator[tuple[str, str]]:
    """Yield pairs of texts that differ in one word, by a typo.

    Texts that agree in all words except the one at some place share a mask. If one change turns a
    word into another, removing at most one letter from each makes them equal.
    """
    masks: dict[int, list[tuple[str, str]]] = {}
    for key, words in texts.items():
        for place, word in enumerate(words):
            if len(word) >= _LEAST_TYPO - 1 and _is_word(word):
                mask = hash((place, words[:place], words[place + 1 :]))
                masks.setdefault(mask, []).append((key, word))
    for members in masks.values():
        if len(members) == 1:
            continue
        parts: dict[str, list[tuple[str, str]]] = {}
        for key, word in members:
            cut = {word[:at] + word[at + 1 :] for at in range(1, len(word))}
            for part in (word, *cut):
                for before, other in parts.get(part, ())[-_COMPARED:]:
                    if _is_typo(word, other):
                        yield before, key
                parts.setdefault(part, []).append((key, word))


def _is_typo(one: str, other: str) -> bool:
    """Whether one change, but not of the first letter, turns a word into another."""
    if one[0] != other[0] or one == other or max(len(one), len(other)) < _LEAST_TYPO:
        return False
    short, long = sorted((one, other), key=len)
    start = next(
        (at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short)
    )
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    swapped = short[:start] + short[start + 1 : start + 2] + short[start] + short[start + 2 :]
    return short[start + 1 :] == long[start + 1 :] or swapped == long
