"""Small search engines in plain Python, some with the faults that real ones have."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

Search = Callable[[str, int], Any]

K1, B = 1.2, 0.75


def words(text: str) -> list[str]:
    return text.lower().split()


def bm25_scores(documents: Mapping[str, str], query: str) -> dict[str, float]:
    """Return the BM25 score of each document, in the order of the documents.

    Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009, equation
    3.15, with the IDF of Lucene, ln(1 + (N - df + 0.5) / (df + 0.5)).
    """
    counts = {doc_id: Counter(words(text)) for doc_id, text in documents.items()}
    mean = sum(count.total() for count in counts.values()) / len(counts)
    scores = dict.fromkeys(documents, 0.0)
    for term in words(query):
        having = sum(term in count for count in counts.values())
        idf = math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))
        for doc_id, count in counts.items():
            norm = K1 * (1 - B + B * count.total() / mean)
            scores[doc_id] += idf * count[term] * (K1 + 1) / (count[term] + norm)
    return scores


def bm25(documents: Mapping[str, str]) -> Search:
    """BM25; documents with equal scores are in the order in which they were indexed."""

    def search(text: str, depth: int) -> list[tuple[str, float]]:
        scores = bm25_scores(documents, text)
        best = sorted(scores.items(), key=lambda item: -item[1])  # sorting is stable
        return [(doc_id, score) for doc_id, score in best if score > 0][:depth]

    return search


def matching(documents: Mapping[str, str]) -> Search:
    """The number of matching words per document; ties by id. It obeys every relation."""

    def search(text: str, depth: int) -> list[tuple[str, float]]:
        wanted = words(text)
        scores = {
            doc_id: float(sum(words(document).count(word) for word in wanted))
            for doc_id, document in documents.items()
        }
        found = [item for item in scores.items() if item[1] > 0]
        return sorted(found, key=lambda item: (-item[1], item[0]))[:depth]

    return search


def graph(documents: Mapping[str, str], links: int = 3) -> Search:
    """An approximate index: a graph in which each new document links to its nearest neighbours.

    It is searched greedily from the first document, so the answers depend on the order in which
    the documents came, as those of HNSW do.
    """
    vectors: dict[str, list[float]] = {}
    near: dict[str, list[str]] = {}
    for doc_id, text in documents.items():
        vector = _vector(text)
        nearest = sorted(vectors, key=lambda other: (-_dot(vector, vectors[other]), other))
        near[doc_id] = nearest[:links]
        for other in nearest[:links]:
            near[other] = sorted(
                {*near[other], doc_id}, key=lambda each: -_dot(vectors[other], {**vectors, doc_id: vector}[each])
            )[: 2 * links]  # fmt: skip
        vectors[doc_id] = vector

    def search(text: str, depth: int) -> list[tuple[str, float]]:
        wanted = _vector(text)
        first = next(iter(vectors))
        seen, beam = {first}, [first]
        while True:
            reached = {other for doc_id in beam for other in near[doc_id]} - seen
            seen |= reached
            scored = {each: _dot(wanted, vectors[each]) for each in {*beam, *reached}}
            better = sorted(scored, key=lambda each: (-scored[each], each))[:depth]
            if better == beam:
                return [(doc_id, scored[doc_id]) for doc_id in better]
            beam = better

    return search


def _vector(text: str, size: int = 16) -> list[float]:
    """Return a hashed bag of words of length 1; the hash is the same in every process."""
    vector = [0.0] * size
    for word in words(text):
        code = zlib.crc32(word.encode())
        vector[code % size] += 1.0 if code & 1024 else -1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


def _dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
