"""The retriever in production, and those that may replace it (rankcheck_candidates)."""

from __future__ import annotations

from zlib import crc32

from handbook.retrievers import Retriever, bm25, by_trigrams


def flaky(search: Retriever) -> Retriever:
    """Return a retriever that fails now and then, as one behind a network does."""

    def retrieve(query: str) -> list[str]:
        if crc32(query.encode()) % 120 == 11:
            raise TimeoutError("the index did not answer")
        return search(query)

    return retrieve


def current() -> Retriever:
    """Return the retriever that ships: BM25 over single sentences, behind a network."""
    return flaky(bm25(sentences=1))


def local() -> Retriever:
    """Return the same retriever without the network, to record the baseline."""
    return bm25(sentences=1)


def longer_chunks() -> Retriever:
    """Return BM25 over chunks of three sentences."""
    return bm25(sentences=3)


def character_trigrams() -> Retriever:
    """Return the cosines of trigrams over single sentences."""
    return by_trigrams(sentences=1)


def longer_trigrams() -> Retriever:
    """Return the cosines of trigrams over chunks of three sentences."""
    return by_trigrams(sentences=3)


def forgetful() -> Retriever:
    """Return a retriever that sees only the first word, to see a regression blocked."""
    search = bm25(sentences=1)
    return lambda query: search(query.split()[0])
