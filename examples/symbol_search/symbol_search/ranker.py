"""The ranker: BM25 over names and docstrings, and matching of incomplete names.

A query is matched in two ways, whose scores add up. As *text*: BM25 over the words of the name
(which count several times) and of the docstring's first paragraph. As *a name*: the whole name, its
beginning, its camel humps (``OrdDi``), its initials (``nt``), or something spelt much like it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from symbol_search.corpus import Symbol, symbols

K1, B = 1.2, 0.75
"""BM25's saturation and length normalisation, the usual values."""

NAME_WEIGHT = 4
"""How many times a word of the name counts."""

EXACT, PREFIX, HUMPS, INITIALS, FUZZY = 30.0, 12.0, 11.0, 14.0, 16.0
"""The score of each kind of match with a name; a BM25 score is rarely above 15."""

LEAST_SIMILAR = 0.75
"""How similar a misspelt name must be to the name, from 0 to 1."""

_LITTLE_WORDS = (
    "a an and are as at be by for from how i in into is it of on or that the this to with"
)
STOPWORDS = frozenset(_LITTLE_WORDS.split())

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True)
class Document:
    """A symbol, prepared for search."""

    symbol: Symbol
    words: Counter[str]
    length: int
    humps: tuple[str, ...]
    """The words of the short name: ``("ordered", "dict")``."""

    @property
    def name(self) -> str:
        """The short name as it is typed: lower case, without underscores."""
        return "".join(self.humps)


class Index:
    """The inverted statistics of the corpus."""

    def __init__(self, corpus: Iterable[Symbol]) -> None:
        self.documents = [_document(symbol) for symbol in corpus]
        self.mean_length = sum(d.length for d in self.documents) / len(self.documents)
        self.frequency = Counter(word for d in self.documents for word in d.words)

    def bm25(self, words: Iterable[str], document: Document) -> float:
        """Return the BM25 score: Robertson and Zaragoza 2009, equations 3.3 and 3.15."""
        score = 0.0
        for word in words:
            count = document.words[word]
            if count:
                seen = self.frequency[word]
                rarity = math.log(1 + (len(self.documents) - seen + 0.5) / (seen + 0.5))
                norm = K1 * (1 - B + B * document.length / self.mean_length)
                score += rarity * count * (K1 + 1) / (count + norm)
        return score

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """Return the best ``k`` symbols with their scores; ties are sorted by name."""
        words = [stem(word) for word in split(query) if word not in STOPWORDS]
        typed = re.sub(r"[\s_.]", "", query).lower()
        # Three or more words are a question, not a name.
        is_name = len(query.split()) <= 2 and bool(typed)
        scored = []
        for document in self.documents:
            score = self.bm25(words, document)
            if is_name:
                score += name_score(query, typed, document)
            if score > 0:
                scored.append((document.symbol.name, score))
        return sorted(scored, key=lambda item: (-item[1], item[0]))[:k]


def name_score(query: str, typed: str, document: Document) -> float:
    """Return how well a query matches the document's name: the best of all kinds of match."""
    name, full = document.name, document.symbol.name.lower().replace(".", "").replace("_", "")
    if typed in (name, full):
        return EXACT
    best = 0.0
    if name.startswith(typed) or full.startswith(typed):
        best = PREFIX * (1 + len(typed) / len(name)) / 2
    elif typed == "".join(hump[0] for hump in document.humps) and len(typed) > 1:
        best = INITIALS
    elif len(typed) > 1 and abbreviates(typed, document.humps):
        best = HUMPS * (1 + len(typed) / len(name)) / 2
    if len(typed) > 3:
        best = max(best, FUZZY * likeness(typed, name), FUZZY * likeness(typed, full))
    return best


def abbreviates(typed: str, humps: tuple[str, ...]) -> bool:
    """Whether ``typed`` consists of prefixes of humps, in order, with the first: ``orddi``."""
    if not typed:
        return True
    if not humps:
        return False
    first, rest = humps[0], humps[1:]
    longest = next(
        (n for n in range(min(len(first), len(typed)), 0, -1) if first.startswith(typed[:n])), 0
    )
    return any(
        not typed[n:] or any(abbreviates(typed[n:], rest[skip:]) for skip in range(len(rest)))
        for n in range(longest, 0, -1)
    )


def likeness(typed: str, name: str) -> float:
    """Return how similar two spellings are, from 0 below `LEAST_SIMILAR` to 1 if they are equal."""
    if abs(len(typed) - len(name)) > max(2, len(name) // 4):
        return 0.0
    matcher = SequenceMatcher(None, name, typed, autojunk=False)
    if matcher.quick_ratio() < LEAST_SIMILAR:
        return 0.0
    ratio = matcher.ratio()
    return max(0.0, ratio - LEAST_SIMILAR) / (1 - LEAST_SIMILAR) * 0.5 + (
        0.5 if ratio >= LEAST_SIMILAR else 0.0
    )


def split(text: str) -> list[str]:
    """Return the words of text and identifiers, lower case: ``OrderedDict`` has two."""
    return [word.lower() for word in _WORD.findall(text)]


def stem(word: str) -> str:
    """Return a word without the endings that English puts on verbs and plurals."""
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def _document(symbol: Symbol) -> Document:
    named = [stem(word) for word in split(symbol.name)]
    described = [stem(word) for word in split(symbol.summary) if word not in STOPWORDS]
    words = Counter(described)
    for word in named:
        words[word] += NAME_WEIGHT
    humps = tuple(split(symbol.short_name)) or (symbol.short_name.lower(),)
    return Document(symbol, words, sum(words.values()), humps)


@cache
def _index() -> Index:
    return Index(symbols())


def search(query: str, k: int = 100) -> list[tuple[str, float]]:
    """Return the ``k`` symbols that answer ``query`` best, best first, with their scores."""
    return _index().search(query, k)
