"""Two retrievers over chunks of the handbook: BM25 on words, and cosines of character trigrams."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

HANDBOOK = Path(__file__).parent.parent / "corpus" / "handbook.txt"
K1, B = 1.2, 0.75

Retriever = Callable[[str], list[str]]
"""Returns the ids of chunks, best first."""


def chunks_of(sentences: int) -> dict[str, str]:
    """Return chunks with this number of sentences, by ids such as ``refunds#2``."""
    chunks = {}
    for line in HANDBOOK.read_text("utf-8").splitlines():
        section, text = re.fullmatch(r"\[(.+?)\] (.+)", line).groups()
        parts = re.split(r"(?<=\.) ", text)
        for number in range(0, len(parts), sentences):
            chunks[f"{section}#{number}"] = " ".join(parts[number : number + sentences])
    return chunks


def words(text: str) -> list[str]:
    """Return the words of a text, without the usual endings."""
    return [re.sub(r"(ing|ed|es|s)$", "", word) for word in re.findall(r"[a-z]+", text.lower())]


def trigrams(text: str) -> list[str]:
    """Return the sequences of three characters of a text."""
    padded = " ".join(["", *re.findall(r"[a-z]+", text.lower()), ""])
    return [padded[place : place + 3] for place in range(len(padded) - 2)]


def ranked(ids: list[str], scores: np.ndarray) -> list[str]:
    """Return the chunks with a positive score, best first; ties stay in order."""
    order = np.argsort(-scores, kind="stable")
    return [ids[place] for place in order if scores[place] > 0]


def bm25(sentences: int) -> Retriever:
    """Return a BM25 retriever (Robertson and Zaragoza 2009) over chunks of some sentences."""
    chunks = chunks_of(sentences)
    ids, texts = list(chunks), [Counter(words(text)) for text in chunks.values()]
    lengths = np.array([text.total() for text in texts])
    norms = K1 * (1 - B + B * lengths / lengths.mean())
    found_in = Counter(word for text in texts for word in text)

    def search(query: str) -> list[str]:
        scores = np.zeros(len(ids))
        for word in words(query):
            counts = np.array([text[word] for text in texts])
            rarity = np.log(1 + (len(ids) - found_in[word] + 0.5) / (found_in[word] + 0.5))
            scores += rarity * counts * (K1 + 1) / (counts + norms)
        return ranked(ids, scores)

    return search


def by_trigrams(sentences: int) -> Retriever:
    """Return a retriever by the cosine of weighted character trigrams, which forgives typos."""
    chunks = chunks_of(sentences)
    ids, texts = list(chunks), [Counter(trigrams(text)) for text in chunks.values()]
    found_in = Counter(gram for text in texts for gram in text)
    place = {gram: number for number, gram in enumerate(found_in)}
    rarity = np.log(len(ids) / np.array(list(found_in.values())))

    def vector(counts: Counter[str]) -> np.ndarray:
        weights = np.zeros(len(place))
        for gram, count in counts.items():
            if gram in place:
                weights[place[gram]] = (1 + np.log(count)) * rarity[place[gram]]
        return weights / (np.linalg.norm(weights) or 1.0)

    matrix = np.stack([vector(text) for text in texts])
    return lambda query: ranked(ids, matrix @ vector(Counter(trigrams(query))))
