"""The toy engines of the tests: BM25 against values worked by hand, the graph against its faults."""

from __future__ import annotations

import pytest
from toy_engines import bm25, bm25_scores, graph, matching

DOCUMENTS = {"d1": "red shoes", "d2": "red red hat", "d3": "blue hat"}


def test_bm25_by_hand() -> None:
    # N = 3, mean length 7/3. "red" is in 2 documents: idf = ln(1 + 1.5 / 2.5) = ln 1.6 = 0.470004.
    # d1: tf 1, length 2: norm 1.2 (0.25 + 0.75 * 2 * 3/7) = 1.071429; 2.2 / 2.071429 = 1.062069;
    #     score 0.470004 * 1.062069 = 0.499176.
    # d2: tf 2, length 3: norm 1.2 (0.25 + 0.75 * 9/7) = 1.457143; 4.4 / 3.457143 = 1.272727;
    #     score 0.470004 * 1.272727 = 0.598187.
    scores = bm25_scores(DOCUMENTS, "Red")
    assert scores == {
        "d1": pytest.approx(0.499176, abs=1e-6),
        "d2": pytest.approx(0.598187, abs=1e-6),
        "d3": 0,
    }
    # "blue" is in 1 document: idf = ln(1 + 2.5 / 1.5) = 0.980829; d3 has the length of d1:
    # 0.980829 * 1.062069 = 1.041708. "hat" is in 2: 0.499176 for d3.
    assert bm25_scores(DOCUMENTS, "blue hat")["d3"] == pytest.approx(1.041708 + 0.499176, abs=1e-6)
    assert [doc_id for doc_id, _ in bm25(DOCUMENTS)("red", 10)] == ["d2", "d1"]


def test_bm25_orders_ties_by_position() -> None:
    tied = {"a": "red hat", "b": "red cap", "c": "blue cap"}
    assert [doc_id for doc_id, _ in bm25(tied)("red", 10)] == ["a", "b"]
    other = {key: tied[key] for key in ("c", "b", "a")}
    assert [doc_id for doc_id, _ in bm25(other)("red", 10)] == ["b", "a"]
    assert [doc_id for doc_id, _ in matching(other)("red", 10)] == ["a", "b"]


def test_the_graph_finds_a_document_by_its_own_text() -> None:
    documents = {f"d{n}": f"word{n} word{n + 1} word{2 * n}" for n in range(30)}
    search = graph(documents)
    found = sum(search(text, 10)[0][1] > 0.999 for text in documents.values())
    assert found >= 20, "it is approximate, but of use"
