"""Marks on letters: texts without accents, and German umlauts written as two letters.

Only scripts in which people leave marks out when typing are changed. In other scripts, a mark makes
a different letter or a vowel: で without its mark is て, and हिन्दी would lose its vowels.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

__all__ = ["is_of_script", "without_accents", "without_umlauts"]

_WITH_ACCENTS = ("LATIN", "GREEK", "CYRILLIC")
_OWN_LETTERS = frozenset("йўїѓќ")
"""Composed Cyrillic letters that have keys of their own; ё is not one, since people type е."""
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ẞ": "SS"}
_UMLAUT = re.compile("[äöüßÄÖÜẞ]")
_COMPOSABLE = re.compile("[aouAOU]\u0308")


def without_accents(text: str) -> str:
    """Return a text without the marks on Latin, Greek and Cyrillic letters; the rest stays."""
    return text if text.isascii() else "".join(map(_bare, _letters(text)))


def _letters(text: str) -> Iterator[str]:
    """Yield each character with the combining marks that follow it."""
    start = 0
    for end in range(1, len(text)):
        if unicodedata.category(text[end]) != "Mn":
            yield text[start:end]
            start = end
    yield text[start:]


def _bare(letter: str) -> str:
    """Return a letter without its marks, if it is one that people type without them."""
    apart = unicodedata.normalize("NFD", letter)
    if len(apart) == 1 or not is_of_script(apart[0], _WITH_ACCENTS):
        return letter
    own = unicodedata.normalize("NFC", apart[:2])
    if own.lower() in _OWN_LETTERS:
        return apart[:2] if letter == apart else own
    return "".join(char for char in apart if unicodedata.category(char) != "Mn")


def without_umlauts(text: str) -> str:
    """Return a German text with ae, oe, ue and ss; in capitals if the word is in capitals."""
    composed = _COMPOSABLE.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)

    def typed(match: re.Match[str]) -> str:
        around = composed[max(0, match.start() - 1) : match.start()] + composed[match.end() :][:1]
        letters = _UMLAUTS[match[0]]
        return letters.upper() if match[0].isupper() and around.isupper() else letters

    return _UMLAUT.sub(typed, composed)


@cache
def is_of_script(char: str, scripts: tuple[str, ...]) -> bool:
    """Return whether a character is a letter of one of these scripts, by its Unicode name."""
    return char.isalpha() and unicodedata.name(char, "").startswith(scripts)
