"""Relations of real indexes on Cranfield: bm25s, hnswlib and FAISS, run by ``nox -s engines``.

The table in docs/behaviour.md has these numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from reference import data

from pytest_rankcheck import GoldenSet, assert_index_invariant
from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.depth_consistency import check_depths
from pytest_rankcheck.reports.notes import Note

Build = Callable[[Mapping[str, str]], Callable[[str, int], Any]]

LINKS, BUILT, SEARCHED = 16, 200, 10
"""The parameters M, efConstruction and ef of HNSW."""


@pytest.fixture(scope="module")
def abstracts() -> dict[str, str]:
    text = data("cranfield/cran.all.1400").read_text()
    found = {}
    for part in re.split(r"^\.I ", text, flags=re.MULTILINE)[1:]:
        number, _, rest = part.partition("\n")
        found[number.strip()] = " ".join(rest.partition(".W\n")[2].split())
    return found


@pytest.fixture(scope="module")
def questions() -> GoldenSet:
    parts = re.split(r"^\.I ", data("cranfield/cran.qry").read_text(), flags=re.MULTILINE)[1:]
    texts = [" ".join(part.partition(".W\n")[2].split()) for part in parts]
    # The qrels number the queries from 1 on; the codes run from 1, the best, to 4.
    grades: dict[str, dict[str, float]] = {}
    for line in data("cranfield/cran.qrels").read_text().splitlines():
        query_id, _, doc_id, code = line.split()
        grades.setdefault(query_id, {})[doc_id] = max(0, 5 - int(code)) if int(code) > 0 else 0
    queries = {str(number): text for number, text in enumerate(texts, 1)}
    return GoldenSet.from_dict(grades, queries, name="cranfield").sample(60)


@pytest.fixture(scope="module")
def encode(abstracts: dict[str, str]) -> Callable[[list[str]], Any]:
    """Return an encoder of 64 dimensions, trained once, so that only the index differs."""
    text = pytest.importorskip("sklearn.feature_extraction.text")
    decomposition = pytest.importorskip("sklearn.decomposition")
    terms = text.TfidfVectorizer(sublinear_tf=True).fit(abstracts.values())
    reduced = decomposition.TruncatedSVD(64, random_state=0)
    reduced.fit(terms.transform(abstracts.values()))

    def encode(texts: list[str]) -> Any:
        rows = reduced.transform(terms.transform(texts)).astype(np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths == 0, 1, lengths)

    return encode


def bm25s_build(encode: Any) -> Build:
    bm25s = pytest.importorskip("bm25s")

    def build(documents: Mapping[str, str]) -> Callable[[str, int], Any]:
        ids = list(documents)
        index = bm25s.BM25(k1=1.2, b=0.75)
        index.index(
            bm25s.tokenize(list(documents.values()), show_progress=False), show_progress=False
        )

        def search(text: str, depth: int) -> list[tuple[str, float]]:
            terms = bm25s.tokenize([text], show_progress=False)
            places, scores = index.retrieve(terms, k=depth, show_progress=False)
            return [(ids[at], float(score)) for at, score in zip(places[0], scores[0], strict=True)]

        return search

    return build


def hnswlib_build(encode: Any) -> Build:
    hnswlib = pytest.importorskip("hnswlib")

    def build(documents: Mapping[str, str]) -> Callable[[str, int], Any]:
        ids, rows = list(documents), encode(list(documents.values()))
        index = hnswlib.Index("cosine", rows.shape[1])
        index.init_index(len(ids), ef_construction=BUILT, M=LINKS, random_seed=100)
        index.add_items(rows, np.arange(len(ids)), num_threads=1)
        index.set_num_threads(1)
        index.set_ef(SEARCHED)

        def search(text: str, depth: int) -> list[tuple[str, float]]:
            places, distances = index.knn_query(encode([text]), k=depth)
            return [(ids[at], -float(far)) for at, far in zip(places[0], distances[0], strict=True)]

        return search

    return build


def faiss_build(encode: Any) -> Build:
    faiss = pytest.importorskip("faiss")

    def build(documents: Mapping[str, str]) -> Callable[[str, int], Any]:
        faiss.omp_set_num_threads(1)
        ids, rows = list(documents), encode(list(documents.values()))
        index = faiss.IndexHNSWFlat(rows.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efSearch, index.hnsw.efConstruction = SEARCHED, BUILT
        index.add(rows)

        def search(text: str, depth: int) -> list[tuple[str, float]]:
            scores, places = index.search(encode([text]), depth)
            pairs = zip(places[0], scores[0], strict=True)
            return [(ids[at], float(score)) for at, score in pairs if at >= 0]

        return search

    return build


def exact_build(encode: Any) -> Build:
    def build(documents: Mapping[str, str]) -> Callable[[str, int], Any]:
        ids, rows = list(documents), encode(list(documents.values()))

        def search(text: str, depth: int) -> list[tuple[str, float]]:
            scores = rows @ encode([text])[0]
            best = np.argsort(-scores, kind="stable")[:depth]
            return [(ids[at], float(scores[at])) for at in best]

        return search

    return build


def broken(entered: list[Note], *arguments: Any, **options: Any) -> int:
    """Return how many of the 60 queries break a relation."""
    try:
        assert_index_invariant(*arguments, **options)
    except AssertionError as failure:
        counts = re.findall(r"(\d+) of \d+ queries (?:breaks?|do|does)", str(failure))
        return int(counts[0])
    assert entered, "the check was made"
    return 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "relation", "options", "low", "high"),
    [
        (bm25s_build, "order", {}, 0, 6),
        (bm25s_build, "order", {"k": 100}, 1, 20),  # ties
        (bm25s_build, "duplicate", {}, 10, 45),
        (bm25s_build, "irrelevant", {}, 20, 50),
        (hnswlib_build, "order", {}, 5, 40),
        (hnswlib_build, "duplicate", {}, 0, 10),
        (hnswlib_build, "irrelevant", {}, 0, 10),
        (faiss_build, "order", {}, 5, 40),
        (faiss_build, "duplicate", {}, 5, 40),
        (faiss_build, "irrelevant", {}, 5, 40),
        (exact_build, "order", {}, 0, 0),
        (exact_build, "duplicate", {}, 0, 0),
        (exact_build, "irrelevant", {}, 0, 0),
        (bm25s_build, "remove_top", {}, 5, 40),
        (hnswlib_build, "remove_top", {}, 0, 30),
        (faiss_build, "remove_top", {}, 5, 40),
        (exact_build, "remove_top", {}, 0, 0),
        (bm25s_build, "append_query_term", {}, 0, 0),
        (hnswlib_build, "append_query_term", {}, 0, 6),
        (faiss_build, "append_query_term", {}, 0, 6),
        (exact_build, "append_query_term", {}, 0, 0),
    ],
)
def test_real_indexes_break_the_relations_as_often_as_the_manual_says(
    entered: list[Note],
    abstracts: dict[str, str],
    questions: GoldenSet,
    encode: Callable[[list[str]], Any],
    make: Callable[[Any], Build],
    relation: str,
    options: dict[str, Any],
    low: int,
    high: int,
) -> None:
    """The bounds are wide, because versions and machines differ."""
    options = {"queries": 60, **options}
    count = broken(entered, make(encode), abstracts, questions, relation, **options)
    print(f"\n{make.__name__} {relation}: {count} of {options['queries']}")
    assert low <= count <= high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "low", "high"),
    [(hnswlib_build, 5, 40), (faiss_build, 0, 0), (bm25s_build, 0, 0), (exact_build, 0, 0)],
)
def test_the_top_depends_on_the_depth_as_often_as_the_manual_says(
    abstracts: dict[str, str],
    questions: GoldenSet,
    encode: Callable[[list[str]], Any],
    make: Callable[[Any], Build],
    low: int,
    high: int,
) -> None:
    """hnswlib searches as far as the depth, if that is more than ``ef``; FAISS stops at ``ef``."""
    search = make(encode)(abstracts)
    result = check_depths(RepeatedRanker.of(search, questions, {}), questions, (10, 100))
    (pair,) = result.pairs
    print(f"\n{make.__name__} depths: {len(pair.differences)} of 60; nDCG@10 {result.means}")
    assert low <= len(pair.differences) <= high
    assert not result.is_random
    assert result.means is not None
    assert (result.means[10] == result.means[100]) == (not pair.differences)


@pytest.mark.slow
def test_the_changes_of_bm25s_are_as_small_as_the_manual_says(
    entered: list[Note], abstracts: dict[str, str], questions: GoldenSet
) -> None:
    for relation, options in (
        ("order", {}),
        ("order", {"k": 100}),
        ("duplicate", {"allowed_queries": 59}),  # of copies that are not beside their originals
        ("irrelevant", {}),
        ("remove_top", {}),
    ):
        limits: dict[str, Any] = {"min_mean_rbo": 0.97, "max_mean_drop": 0.005, **options}
        build = bm25s_build(None)
        assert_index_invariant(build, abstracts, questions, relation, queries=60, **limits)  # type: ignore[arg-type]
    print("\n", *(note.text for note in entered), sep="\n")
