"""Twenty rankers that always answer the same, of every kind: none may be called nondeterministic.

Each is made by a function of this module, so that a new instance and a new process can make it.
"""

from __future__ import annotations

import asyncio
import functools
import math
import threading
import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from pytest_rankcheck import GoldenSet, Query
from pytest_rankcheck.rankers import batch, embedder, model, scorer, transformer

TITLES = {
    "d1": "red shoes for running",
    "d2": "blue shoes",
    "d3": "zapatos rojos niño",
    "d4": "赤い 靴",
    "d5": "červené boty",
    "d6": "shoes shoes shoes",
    "d7": "trousers, red and blue",
    "d8": "red red red",
    "d9": "shirt",
    "d10": "running shirt",
}
TEXTS = {
    "q1": "red shoes",
    "q2": "zapatos",
    "q3": "赤い",
    "q4": "RED",
    "q5": "e\u0301te\u0301",
    "q6": "shoes red",
    "q7": "running",
    "q8": " shirt  ",
    "q9": "\u202eblue",
    "q\n10": "\x00boty",
    "q11": "",
    "q12": "trousers blue red",
}
GOLDEN = GoldenSet.from_dict(
    {query_id: dict.fromkeys(TITLES, 1) for query_id in TEXTS},
    {query_id: text or "empty" for query_id, text in TEXTS.items()},
    attributes={query_id: {"locale": "de" if query_id < "q5" else "en"} for query_id in TEXTS},
    name="sound",
)
LETOR = GoldenSet.from_frame(
    pd.DataFrame(
        [
            {
                "query_id": query_id,
                "query": text or "empty",
                "doc_id": doc_id,
                "relevance": 1,
                "length": len(title),
                "common": len(set(text) & set(title)),
            }
            for query_id, text in TEXTS.items()
            for doc_id, title in TITLES.items()
        ]
    ),
    name="features",
)


def words(text: str) -> list[str]:
    return text.casefold().split()


def by_score(text: str, score: Callable[[str, str], float]) -> list[str]:
    return sorted(TITLES, key=lambda doc: (-score(text, TITLES[doc]), doc))


def overlap(text: str, title: str) -> float:
    return float(len(set(words(text)) & set(words(title))))


def table() -> Callable[[str], list[str]]:
    """Answers from a dict."""
    answers = {text or "empty": by_score(text, overlap) for text in TEXTS.values()}
    return answers.__getitem__


def bm25(text: str) -> list[tuple[str, float]]:
    """Returns (id, score) pairs, with tied scores."""
    counts = {doc: Counter(words(title)) for doc, title in TITLES.items()}

    def score(doc: str) -> float:
        total = 0.0
        for word in dict.fromkeys(words(text)):
            found = sum(word in count for count in counts.values())
            idf = math.log(1 + (len(TITLES) - found + 0.5) / (found + 0.5))
            tf = counts[doc][word]
            total += idf * tf * 2.2 / (tf + 1.2)
        return total

    return sorted(((doc, score(doc)) for doc in TITLES), key=lambda pair: (-pair[1], pair[0]))


def make_bm25() -> object:
    return bm25


def scores_in_a_dict(text: str) -> dict[str, float]:
    """Leaves the order of ties to the rule."""
    return {doc: overlap(text, title) for doc, title in TITLES.items()}


def make_scores() -> object:
    return scores_in_a_dict


def frame(text: str) -> pd.DataFrame:
    return pd.DataFrame({"doc_id": by_score(text, overlap)})


def make_frame() -> object:
    return frame


def lazily(text: str) -> Iterator[str]:
    yield from by_score(text, overlap)


def make_generator() -> object:
    return lazily


class Engine:
    """An index in an object, with a cache whose keys are whole queries."""

    def __init__(self) -> None:
        self.index = {doc: frozenset(words(title)) for doc, title in TITLES.items()}
        self.cache: OrderedDict[str, list[str]] = OrderedDict()
        self.lock = threading.Lock()

    def search(self, text: str) -> list[str]:
        with self.lock:
            if text not in self.cache:
                self.cache[text] = sorted(
                    self.index, key=lambda doc: (-len(self.index[doc] & set(words(text))), doc)
                )
                if len(self.cache) > 3:
                    self.cache.popitem(last=False)
            return list(self.cache[text])

    __call__ = search


def make_method() -> object:
    return Engine().search


@functools.lru_cache(maxsize=4)
def memoised(text: str) -> tuple[str, ...]:
    return tuple(by_score(text, overlap))


def make_memoised() -> object:
    return lambda text: list(memoised(text))


def with_depth(text: str, k: int) -> list[str]:
    return by_score(text, overlap)[:k]


def make_with_depth() -> object:
    return with_depth


def make_partial() -> object:
    return functools.partial(by_score, score=overlap)


def by_attribute(query: Query) -> list[str]:
    text = query.text or ""
    return by_score(text, overlap) if query.attributes["locale"] == "de" else [*TITLES]


def make_by_attribute() -> object:
    return by_attribute


def rerank(text: str, candidates: list[str]) -> list[str]:
    return sorted(candidates, key=lambda doc: (-overlap(text, TITLES[doc]), doc))


def make_reranker() -> object:
    return rerank


async def awaited(text: str) -> list[str]:
    """Waits a different number of turns for each query."""
    for _ in range(len(text) % 3):
        await asyncio.sleep(0)
    return by_score(text, overlap)


def make_async() -> object:
    return awaited


def seeded(text: str) -> list[str]:
    """Draws at random, with a seed of its own for each query."""
    draw = np.random.default_rng(zlib.crc32(text.encode("utf-8", "surrogatepass")))
    return [f"d{number}" for number in draw.permutation(10) + 1]


def make_seeded() -> object:
    return seeded


def make_batch() -> object:
    return batch(lambda texts: [by_score(text, overlap) for text in texts], size=5)


def make_scorer() -> object:
    return scorer(lambda text, docs: [overlap(text, TITLES[doc]) for doc in docs])


class Estimator:
    def predict(self, rows: np.ndarray) -> np.ndarray:
        scores: np.ndarray = rows[:, 1] - rows[:, 0] / 100
        return scores


def make_model() -> object:
    return model(Estimator(), features=["length", "common"])


def vectors(texts: list[str]) -> np.ndarray:
    """Whole numbers, so that sums are exact in any order."""
    return np.array([[text.casefold().count(letter) for letter in "aeiorst"] for text in texts])


def make_embedder() -> object:
    return embedder(vectors, TITLES)


def pipeline(queries: pd.DataFrame) -> pd.DataFrame:
    rows = [
        {"qid": row.qid, "docno": doc, "score": overlap(row.query, title)}
        for row in queries.itertuples()
        for doc, title in TITLES.items()
    ]
    return pd.DataFrame(rows)


def make_transformer() -> object:
    return transformer(pipeline)


def nothing_for_some(text: str) -> list[str]:
    """Finds nothing for some queries."""
    return [doc for doc in by_score(text, overlap) if overlap(text, TITLES[doc])]


def make_nothing_for_some() -> object:
    return nothing_for_some


def fused(text: str) -> list[str]:
    """Fuses two rankings by their reciprocal ranks, as hybrid search does."""
    ranks: Counter[str] = Counter()
    for order in (by_score(text, overlap), [doc for doc, _ in bm25(text)]):
        for rank, doc in enumerate(order, 1):
            ranks[doc] += 1_000_000 // (60 + rank)
    return sorted(ranks, key=lambda doc: (-ranks[doc], doc))


def make_fused() -> object:
    return fused


MAKERS: dict[str, Callable[[], object]] = {
    "a dict": table,
    "pairs with ties": make_bm25,
    "scores with ties": make_scores,
    "a frame": make_frame,
    "a generator": make_generator,
    "an object with a cache": Engine,
    "a method": make_method,
    "lru_cache": make_memoised,
    "a depth": make_with_depth,
    "a partial": make_partial,
    "attributes": make_by_attribute,
    "candidates": make_reranker,
    "async": make_async,
    "a seeded draw": make_seeded,
    "batch": make_batch,
    "scorer": make_scorer,
    "model": make_model,
    "embedder": make_embedder,
    "transformer": make_transformer,
    "no results": make_nothing_for_some,
    "fusion": make_fused,
}
