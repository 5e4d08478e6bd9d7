"""Embeddings: exact search by inner product."""

import numpy as np
import pytest

from pytest_rankcheck import GoldenSet, RankerError, rank
from pytest_rankcheck.rankers import embedder

CORPUS = {"d1": "aab", "d2": "ab", "d3": "bbb", "d4": ""}
GOLDEN = GoldenSet.from_dict({"q1": {"d1": 1}, "q2": {"d3": 1}}, {"q1": "a", "q2": "b"})


def letters(texts: list[str]) -> np.ndarray:
    return np.array([[text.count("a"), text.count("b")] for text in texts], dtype=np.float32)


def test_the_largest_products_come_first() -> None:
    run = rank(embedder(letters, CORPUS), GOLDEN)
    assert list(run["q1"]) == ["d1", "d2", "d4", "d3"]  # 2, 1, 0, 0: tied by id, descending
    assert list(run["q2"]) == ["d3", "d2", "d1", "d4"]
    cosine = rank(embedder(letters, CORPUS, cosine=True), GOLDEN)
    assert list(cosine["q1"]) == ["d1", "d2", "d4", "d3"]  # 2/sqrt(5), 1/sqrt(2), 0, 0
    assert rank(embedder(letters, CORPUS), GOLDEN, depth=1)["q2"] == ("d3",)


def test_lists_and_another_encoder_for_documents() -> None:
    run = rank(
        embedder(
            lambda texts: letters(texts).tolist(), CORPUS,
            encode_corpus=lambda texts: letters([text.replace("a", "bb") for text in texts]),
        ),
        GOLDEN,
    )  # fmt: skip
    assert list(run["q2"]) == ["d1", "d3", "d2", "d4"]


def test_the_corpus_is_embedded_once_in_batches() -> None:
    asked: list[list[str]] = []

    def encode(texts: list[str]) -> np.ndarray:
        asked.append(list(texts))
        return letters(texts)

    ranker = embedder(encode, CORPUS, size=3)
    rank(ranker, GOLDEN)
    rank(ranker, GOLDEN)
    assert asked == [["aab", "ab", "bbb"], [""], ["a", "b"], ["a", "b"]]


def fails_on_queries(texts: list[str]) -> np.ndarray:
    if texts == ["a", "b"]:
        raise RuntimeError("out of memory")
    return letters(texts)


def test_a_wrong_embedding_is_refused() -> None:
    for encode, message in (
        (
            lambda texts: letters(texts)[:-1],
            r"the encoder of the corpus returned .* shape 3 x 2, not",
        ),
        (lambda texts: letters(texts)[:, 0], "of the shape 4, not one row for each of 4"),
        (lambda texts: letters(texts) * np.nan, "a number that is not finite, in row 1"),
        (
            lambda texts: np.ones((len(texts), len(texts))),
            "the embedding of a query has 2 numbers, that of a doc",
        ),
        (fails_on_queries, "failed on 2 of 2 queries, first on 'q1' .*RuntimeError: out of memory"),
    ):
        with pytest.raises(RankerError, match=message):
            rank(embedder(encode, CORPUS), GOLDEN)


def test_an_invalid_embedder_is_refused() -> None:
    with pytest.raises(RankerError, match="embedder: str cannot be called"):
        embedder("model", CORPUS)  # type: ignore[arg-type]
    with pytest.raises(RankerError, match="embedder: the corpus is empty"):
        embedder(letters, {})
