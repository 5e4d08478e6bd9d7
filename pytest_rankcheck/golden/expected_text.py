"""Expected texts: what a returned chunk must contain, if texts are judged, not documents.

An expected text is a judged document with the grade 1, under an id of its own.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable

from pytest_rankcheck.files.plain_values import is_blank

EXPECTED_TEXT = "expected_text"
"""The key of the expected texts of a query."""
TEXT_COLUMN = "text"
"""The column of the documents that has their texts."""
BOTH = "a query has both expected texts and judged documents; judge it by one of them"
"""Why a golden set is refused."""

_UNIT = "expected text: "
_FEWEST_WORDS = 8
"""Shorter texts may share most of their words by chance."""


def unit_of(text: str) -> str:
    """Return the id under which an expected text is judged and ranked, like a document."""
    return _UNIT + " ".join(text.split())


def is_unit(doc_id: str) -> bool:
    """Whether an id is that of an expected text."""
    return doc_id.startswith(_UNIT)


def text_of(unit: str) -> str:
    """Return the expected text that has an id."""
    return unit.removeprefix(_UNIT)


def passages_of(doc_ids: Iterable[str]) -> dict[str, Passage]:
    """Return the expected texts among judged documents, by their ids."""
    return {unit: Passage(text_of(unit)) for unit in doc_ids if is_unit(unit)}


class Passage:
    """A text in the form in which it is compared: without case, white space and Unicode form."""

    def __init__(self, text: object) -> None:
        folded = unicodedata.normalize("NFKC", "" if is_blank(text) else str(text)).casefold()
        self._words = unicodedata.normalize("NFKC", folded).split()
        self.text = " ".join(self._words)
        self._places = defaultdict[str, int](int)  # where each word is, as bits
        for place, word in enumerate(self._words):
            self._places[word] |= 1 << place

    def contains(self, expected: Passage) -> bool:
        """Return whether it contains a text, or nearly all words of the shorter one in order.

        Nearly all means 80%, if there are at least 8.
        """
        known = sum(map(self._places.__contains__, expected._words))  # quick, and never too few
        if known + 2 >= len(expected._words) and expected.text in self.text:
            return True  # it may begin and end within a word
        count = min(len(self._words), len(expected._words))
        may_do = count >= _FEWEST_WORDS and 5 * known >= 4 * count
        return may_do and 5 * self._common_words(expected) >= 4 * count

    def _common_words(self, other: Passage) -> int:
        """Return the length of the longest common subsequence of words.

        Hyyro, Bit-parallel LCS-length computation revisited, 2004: up to each place, the length is
        the number of bits that are 0.
        """
        every = (1 << len(self._words)) - 1
        bits = every
        for word in other._words:
            here = bits & self._places.get(word, 0)
            bits = ((bits + here) | (bits - here)) & every
        return len(self._words) - bits.bit_count()
