"""Engines as people use them: what an HNSW index does, and bm25s and a flat index do not.

`nox -s peers` installs them.
"""

import zlib
from typing import Any

import numpy as np
import pytest

from pytest_rankcheck import GoldenSet, assert_consistent_depth, assert_deterministic
from pytest_rankcheck.behaviour.determinism_check import check_depths
from pytest_rankcheck.behaviour.repeated_ranker import RepeatedRanker

pytestmark = [pytest.mark.needs("bm25s", "hnswlib")]

QUERIES, DOCUMENTS, DIMENSIONS = 60, 2_000, 48
_DRAW = np.random.default_rng(0)
_TOPICS = _DRAW.normal(size=(40, DIMENSIONS))


def drawn(count: int) -> np.ndarray:
    """Draw vectors around topics, as embeddings are, rather than equally far from each other."""
    near = _TOPICS[_DRAW.integers(len(_TOPICS), size=count)]
    vectors = near + 0.5 * _DRAW.normal(size=(count, DIMENSIONS))
    normed: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return normed.astype("float32")


VECTORS = drawn(DOCUMENTS)
ASKED = {f"query {n}": _DRAW.normal(size=DIMENSIONS).astype("float32") for n in range(QUERIES)}


def relevant(text: str) -> dict[str, float]:
    """Judge the twenty nearest documents by exact search: relevant, as the engine sees it."""
    nearest = np.argsort(-(VECTORS @ ASKED[text]), kind="stable")[:20]
    return {f"d{number}": 1.0 for number in nearest}


GOLDEN = GoldenSet.from_dict(
    {f"q{n}": relevant(f"query {n}") for n in range(QUERIES)},
    {f"q{n}": f"query {n}" for n in range(QUERIES)},
    name="random vectors",
)


def names(numbers: Any) -> list[str]:
    return [f"d{number}" for number in numbers if number >= 0]


def make_hnswlib(seed: int = 1, shuffle: int = 0) -> Any:
    """Build an index as most services do: several threads, and the search as deep as is asked."""
    import hnswlib

    index = hnswlib.Index(space="ip", dim=DIMENSIONS)
    index.init_index(max_elements=DOCUMENTS, ef_construction=100, M=12, random_seed=seed)
    order = np.random.default_rng(shuffle).permutation(DOCUMENTS) if shuffle else None
    numbers = np.arange(DOCUMENTS) if order is None else order
    index.add_items(VECTORS[numbers], numbers, num_threads=1)

    def search(text: str, k: int) -> list[str]:
        index.set_ef(max(10, k))
        found, _ = index.knn_query(ASKED[text], k=k, num_threads=1)
        return names(found[0])

    return search


WORDS = [f"word{n}" for n in range(400)]


def words_of(name: str, count: int) -> list[str]:
    draw = np.random.default_rng(zlib.crc32(name.encode()))
    return [WORDS[int(place)] for place in draw.zipf(1.3, size=count) % len(WORDS)]


def make_bm25s(*, ties: bool = False) -> Any:
    import bm25s

    index = bm25s.BM25()
    # No two documents are equally long, so that no scores are tied: bm25s orders ties by k.
    texts = [words_of(f"d{n % 60 if ties else n}", 30 + (0 if ties else n)) for n in range(600)]
    index.index(texts, show_progress=False)

    def search(text: str, k: int) -> list[str]:
        query = list(dict.fromkeys(words_of(text, 3)))
        found, _ = index.retrieve([query], k=k, show_progress=False)
        return names(found[0])

    return search


def test_an_hnsw_index_that_is_rebuilt_in_another_order_differs() -> None:
    orders = iter(range(1, 100))
    with pytest.raises(AssertionError) as failure:
        assert_deterministic(
            make_hnswlib(),
            GOLDEN,
            fresh=lambda: make_hnswlib(shuffle=next(orders)),
            insensitive_to="fresh",
            depth=10,
        )
    assert "is not deterministic: new instance" in str(failure.value)
    same = {"fresh": make_hnswlib, "insensitive_to": "fresh", "depth": 10}
    assert_deterministic(make_hnswlib(), GOLDEN, **same)  # one seed, one thread, one order


def test_an_hnsw_index_ranks_other_documents_at_a_larger_depth() -> None:
    ranker = RepeatedRanker.of(make_hnswlib(), {})
    result = check_depths(ranker, GOLDEN, (10, 100))
    (pair,) = result.broken
    assert len(pair.differences) >= 5
    assert result.means is not None
    assert result.means[10] < result.means[100]
    print(f"{len(pair.differences)} of {QUERIES} differ; nDCG@10 {result.means}")


def test_an_exact_engine_ranks_the_same_rebuilt_and_at_every_depth() -> None:
    assert_deterministic(make_bm25s(), GOLDEN, fresh=make_bm25s, depth=10)
    assert_consistent_depth(make_bm25s(), GOLDEN, (10, 20, 50, 100))


def test_the_order_of_ties_in_bm25s_depends_on_the_depth() -> None:
    """Each text is there ten times."""
    with pytest.raises(AssertionError, match="has a different top 10 when it is asked for") as text:
        assert_consistent_depth(make_bm25s(ties=True), GOLDEN, (10, 100))
    print(str(text.value).splitlines()[1])
