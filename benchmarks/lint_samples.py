"""Clean golden sets for the linter: samples of real collections, and simulated ones.

The simulated sets are hard for a linter on purpose. Their texts differ in little that matters
(``iphone 12`` and ``iphone 13``, ``c`` and ``c++``, ``berlin paris`` and ``paris berlin``), queries
on one topic share relevant documents, and ids differ only in case.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path

import cranfield_bm25
import numpy as np

from pytest_rankcheck import GoldenSet, LintFinding

__all__ = ["POPULATIONS", "Sample"]

Judgments = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Sample:
    """A golden set as plain data, so that it can be corrupted, with the corpus it belongs to."""

    judgments: Judgments
    texts: Mapping[str, str]
    corpus: Sequence[str]
    attributes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def golden(self) -> GoldenSet:
        """The golden set."""
        return GoldenSet.from_dict(self.judgments, self.texts, attributes=self.attributes)

    def findings(self, *, has_corpus: bool = True) -> list[LintFinding]:
        """Return what the linter finds, with the corpus or without it."""
        return self.golden.lint(corpus=self.corpus if has_corpus else None)

    def of_queries(self, query_ids: Sequence[str]) -> Sample:
        """Return the part of the set with these queries."""
        return Sample(
            {each: self.judgments[each] for each in query_ids},
            {each: self.texts[each] for each in query_ids if each in self.texts},
            self.corpus,
            {each: self.attributes[each] for each in query_ids if each in self.attributes},
        )


Population = Callable[[np.random.Generator, Path], Sample]


def _sampled(random: np.random.Generator, whole: Sample) -> Sample:
    """Return a part of a set with 40 queries to all of them, in its own order."""
    query_ids = list(whole.judgments)
    count = int(random.integers(40, max(41, min(len(query_ids), 150)) + 1))
    chosen = random.choice(len(query_ids), min(count, len(query_ids)), replace=False)
    return whole.of_queries([query_ids[place] for place in sorted(chosen.tolist())])


def cranfield(random: np.random.Generator, data: Path) -> Sample:
    """Return a sample of Cranfield, with its codes mapped to grades."""
    return _sampled(random, _cranfield(data / "cranfield"))


@cache
def _cranfield(folder: Path) -> Sample:
    golden = cranfield_bm25.golden_set(folder)
    texts = dict(zip(golden.query_ids, cranfield_bm25.queries(folder), strict=True))
    judgments = {query_id: dict(golden.grades(query_id)) for query_id in golden.query_ids}
    return Sample(judgments, texts, [str(number) for number in range(1, 1401)])


def trec_sessions(random: np.random.Generator, data: Path) -> Sample:
    """Return a sample of the judgments of the TREC Session Track 2013, without spam."""
    return _sampled(random, _trec_sessions(data))


@cache
def _trec_sessions(data: Path) -> Sample:
    judgments: Judgments = {}
    with gzip.open(data / "trec-session-2013" / "graded.qrels.gz", "rt") as lines:
        for line in lines:
            query_id, _, doc_id, grade = line.split()
            judgments.setdefault(query_id, {})[doc_id] = max(float(grade), 0)
    corpus = dict.fromkeys(doc_id for judged in judgments.values() for doc_id in judged)
    return Sample(judgments, {}, list(corpus))


def lambdarank(random: np.random.Generator, data: Path) -> Sample:
    """Return a sample of LightGBM's example of LambdaRank, without its features."""
    return _sampled(random, _lambdarank(data))


@cache
def _lambdarank(data: Path) -> Sample:
    golden = GoldenSet.load(data / "lightgbm-lambdarank" / "rank.train")
    judgments = {
        f"q{query_id}": {f"q{query_id}d{doc_id}": grade for doc_id, grade in judged.items()}
        for query_id in golden.query_ids
        if len(set((judged := dict(golden.grades(query_id))).values())) > 1
    }
    corpus = [doc_id for judged in judgments.values() for doc_id in judged]
    return Sample(judgments, {}, corpus)


def _judged(
    random: np.random.Generator, texts: Sequence[tuple[str, str]], doc_id: Callable[[int], str]
) -> Sample:
    """Return judgments for texts, each with its topic: queries on one topic share documents."""
    places = {
        topic: place for place, topic in enumerate(dict.fromkeys(topic for _, topic in texts))
    }
    judgments: Judgments = {}
    pool = 40
    for number, (_, topic) in enumerate(texts):
        count = int(random.integers(8, 25))
        chosen = random.choice(pool, count, replace=False) + pool * places[topic]
        grades = random.choice([0, 1, 2, 3], count, p=[0.5, 0.25, 0.15, 0.1])
        grades[:2] = 0, 2
        judgments[f"q{number}"] = {
            doc_id(int(place)): float(grade) for place, grade in zip(chosen, grades, strict=True)
        }
    corpus = [doc_id(place) for place in range(pool * len(places) + 5000)]
    words = {f"q{number}": text for number, (text, _) in enumerate(texts)}
    attributes = {
        query_id: {"device": ("mobile", "desktop")[place % 2], "note": f"n{place}"}
        for place, query_id in enumerate(judgments)
    }
    return _sampled(random, Sample(judgments, words, corpus, attributes))


_THINGS = """running shoes|hiking boots|rain jacket|coffee maker|desk lamp|phone case|dessert bowl
desert boots|bass guitar|base layer|stationery set|stationary bike|men shirt|women shirt
office chair|wireless mouse|usb c cable|usb a cable|vitamin c|vitamin d
garden hose|kitchen knife|bread knife"""
_KINDS = """red|blue|black|size 8|size 9|size 10|cheap|for kids|waterproof|2 pack|3 pack"""
_OTHERS = """iphone 12|iphone 13|iphone 13 pro|galaxy s21|galaxy s22|2 for 1|1 for 2|c|c++|c#|.net
net|berlin paris|paris berlin|the who|who|vitamin a|vitamin|10% off|10 off|a4 paper|a5 paper
henry iv|henry vi|windows 10|windows 11|1/2 inch pipe|12 inch pipe|python 3.1|python 3.11"""


def _split(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in line.split("|")]


def shop(random: np.random.Generator, data: Path) -> Sample:
    """Return a shop: products with attributes, and article numbers with leading zeros."""
    del data
    texts = [(f"{kind} {thing}", thing) for thing, kind in product(_split(_THINGS), _split(_KINDS))]
    texts += [(text, text) for text in _split(_OTHERS)]
    return _judged(random, texts, lambda place: f"{7 * place + 11:07d}")


_LANGUAGES = {
    ("où acheter un {}", "où louer un {}", "réparer mon {} à Orléans"): (
        *("vélo", "rosé", "café", "téléphone", "théâtre", "château", "bébé", "gâteau", "œuf"),
    ),
    ("wo kaufe ich {}", "{} für Anfänger", "größte Auswahl {}"): (
        *("Möbel", "Käse", "Brötchen", "Fahrräder", "Schlüssel", "Bücher", "Stühle", "Gürtel"),
    ),
    ("dónde comprar {}", "{} más barato", "¿qué es {}?"): (
        *("jamón", "café", "sillón", "piña", "niño", "año", "camión", "acción"),
    ),
    ("где купить {}", "что такое {}", "{} своими руками"): (
        *("велосипед", "ёлка", "чай", "мебель", "сыр", "книга", "ключ", "стул"),
    ),
    ("{}とは", "{} 価格", "{}の使い方"): (
        *("東京", "東宮", "自転車", "お茶", "家具", "鍵", "本", "椅子"),
    ),
}


def languages(random: np.random.Generator, data: Path) -> Sample:
    """Return questions in five languages, with numbers as ids."""
    del data
    texts = [
        (form.format(thing), f"{forms[0]} {thing}")
        for forms, things in _LANGUAGES.items()
        for thing, form in product(things, forms)
    ]
    return _judged(random, texts, lambda place: str(3 * place + 1))


_VERBS = """get|set|parse|load|save|find|create|delete|update|is|has|to|from|read|write"""
_NOUNS = """User|Users|Name|Json|Xml|Path|Config|Index|Query|Token|Node|Nodes|Buffer|Event"""
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _code_id(place: int) -> str:
    """Return an id whose case matters; ids of neighbouring places look unrelated."""
    number, text = (place * 2_654_435_761) % 62**6, ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        text += _DIGITS[digit]
    return f"k{text}"


def symbols(random: np.random.Generator, data: Path) -> Sample:
    """Return a search for symbols in code, with ids whose case matters."""
    del data
    texts = [(f"{verb}{noun}", noun) for verb, noun in product(_split(_VERBS), _split(_NOUNS))]
    texts += [(f"error {code}", "error") for code in (404, 500, 502, 503)]
    return _judged(random, texts, _code_id)


POPULATIONS: Mapping[str, Population] = {
    "Cranfield": cranfield,
    "TREC sessions": trec_sessions,
    "LambdaRank": lambdarank,
    "shop": shop,
    "languages": languages,
    "symbols": symbols,
}
"""The clean sets by name; the first three need the reference data."""
