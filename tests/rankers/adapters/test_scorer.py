"""Rerankers: a score for each candidate."""

import inspect

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, Query, RankerError, Run, rank
from pytest_rankcheck.rankers import scorer

GOLDEN = GoldenSet.from_dict(
    {"q1": {"aa": 1, "b": 0, "cccc": 0}, "q2": {"b": 1}}, {"q1": "red", "q2": "blue"}
)
BY_LENGTH = {"q1": ["cccc", "aa", "b"], "q2": ["b"]}


def rankings_of(ranker: object, golden: GoldenSet = GOLDEN) -> dict[str, list[str]]:
    run = rank(ranker, golden)
    return {query_id: list(run[query_id]) for query_id in run}


def test_scores_in_every_form() -> None:
    for score in (
        lambda text, docs: [len(doc) for doc in docs],
        lambda text, docs: (float(len(doc)) for doc in docs),
        lambda text, docs: np.array([len(doc) for doc in docs], dtype=np.float32),
        lambda text, docs: np.array([[len(doc)] for doc in docs]),
        lambda text, docs: {doc: len(doc) for doc in docs},
        lambda text, docs: pd.Series([len(doc) for doc in docs]),
        lambda text, docs: pd.Series([len(doc) for doc in docs], docs).sort_values(),
        lambda text, docs: pd.DataFrame({"s": [len(doc) for doc in docs]}, docs).iloc[::-1],
    ):
        assert rankings_of(scorer(score)) == BY_LENGTH


def test_candidates_come_from_a_first_stage() -> None:
    first = Run.from_dict({"q1": ["x", "yyy"], "extra": ["z"]})
    score = scorer(lambda text, docs: [len(doc) for doc in docs], candidates=first)
    assert rankings_of(score) == {"q1": ["yyy", "x"], "q2": []}
    given = {"q2": ["x", "yy", "x"]}
    score = scorer(lambda text, docs: [len(doc) for doc in docs], candidates=given)
    assert rankings_of(score) == {"q1": [], "q2": ["yy", "x"]}


def test_the_model_can_use_texts_and_queries() -> None:
    seen = []

    def score(query: Query, docs: list[str]) -> list[int]:
        seen.append((query.id, docs))
        return [len(doc) for doc in docs]

    documents = {"aa": "short", "b": "much longer", "cccc": "x"}
    assert rankings_of(scorer(score, documents=documents)) == {
        "q1": ["b", "aa", "cccc"],
        "q2": ["b"],
    }
    assert seen == [("q1", ["short", "much longer", "x"]), ("q2", ["much longer"])]
    with pytest.raises(RankerError, match="candidate 'cccc' is not among the documents"):
        rank(scorer(score, documents={"aa": "", "b": ""}), GOLDEN)


class CrossEncoder:
    """The interface of a CrossEncoder of sentence-transformers."""

    def predict(self, sentences: list[tuple[str, str]]) -> np.ndarray:
        assert all(isinstance(pair, tuple) for pair in sentences)
        return np.array([len(passage) for _, passage in sentences], dtype=np.float32)

    def rank(self, query: str, documents: list[str]) -> None:
        """It is not asked."""


def test_a_cross_encoder_is_called_by_its_own_interface() -> None:
    encoder = CrossEncoder()
    for ranker in (encoder, encoder.predict):
        assert rankings_of(scorer(ranker)) == BY_LENGTH
    in_pairs = scorer(lambda pairs: [len(doc) for _, doc in pairs], pairs=True)
    assert rankings_of(in_pairs) == BY_LENGTH


@pytest.mark.needs("sentence_transformers")
def test_the_real_cross_encoder_has_the_interface_of_our_double() -> None:
    """Without its weights, only the signatures are compared with those of the double above."""
    import sentence_transformers

    for way in ("predict", "rank"):
        real = inspect.signature(getattr(sentence_transformers.CrossEncoder, way)).parameters
        ours = inspect.signature(getattr(CrossEncoder, way)).parameters
        assert list(real)[: len(ours)] == list(ours)


def half(text: str, docs: list[str]) -> list[float]:
    if text == "blue":
        raise RuntimeError("out of memory")
    return [1.0] * len(docs)


def test_a_wrong_answer_is_refused() -> None:
    for score, message in (
        (lambda text, docs: [1.0], r"returned numbers of the shape 1, not one for each of 3"),
        (lambda text, docs: np.ones((len(docs), 2)), r"of the shape 3 x 2, not one for each of 3"),
        (lambda text, docs: 5, "of the shape a single number"),
        (
            lambda text, docs: None,
            "the scorer returned NoneType, not numbers|shape a single number",
        ),
        (lambda text, docs: docs, "the scorer returned list, not numbers"),
        (
            lambda text, docs: {"stranger": 1.0},
            "returned 1 score for . candidates, which differ in .*stranger",
        ),
        (
            lambda text, docs: {docs[0]: 1.0},
            r"returned 1 score for 3 candidates, which differ in \w+, \w+. Score every",
        ),
        (
            lambda text, docs: pd.Series([1.0, 2.0, 3.0][: len(docs)]).iloc[::-1],
            r"the scorer returned a pandas Series with the index 2, 1, 0, not aa, b, cccc; return",
        ),
        (half, "first on 'q2' \"blue\": RuntimeError: out of memory"),
    ):
        with pytest.raises(RankerError, match=message):
            rank(scorer(score), GOLDEN)
