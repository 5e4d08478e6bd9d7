"""What an index is built from, and by what: every form of documents, and builds that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from index_cases import ALL, CORPUS, SHOP, SMALL, WEB, failing, failure_of
from toy_engines import Search, bm25, matching

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    Query,
    RankerError,
    RunError,
    assert_index_invariant,
)
from pytest_rankcheck.behaviour.index_documents import IndexDocuments
from pytest_rankcheck.behaviour.relation_rules import Relation

# --- documents ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shoe:
    title: str
    price: float


def titles(documents: Any) -> Search:
    """Build from a dict or a list of records with titles."""
    if isinstance(documents, list):
        documents = {record["id"]: record for record in documents}
    named = {
        key: record["title"] if isinstance(record, dict) else record.title
        for key, record in documents.items()
    }
    return matching(named)


@pytest.mark.parametrize("relation", ALL)
@pytest.mark.parametrize(
    "documents",
    [
        {key: {"title": text, "price": 3} for key, text in SMALL.items()},
        {key: {"id": key, "title": text} for key, text in SMALL.items()},
        [{"id": key, "title": text} for key, text in SMALL.items()],
        {key: Shoe(text, 3.0) for key, text in SMALL.items()},
        dict(enumerate([{"title": text} for text in SMALL.values()], 1)),
        [{"id": number, "title": text} for number, text in enumerate(SMALL.values())],
        {np.int64(number): {"title": text} for number, text in enumerate(SMALL.values())},
    ],
    ids=["records", "with ids", "list", "dataclasses", "numbers", "list with numbers", "numpy"],
)
def test_every_form_of_documents(documents: Any, relation: Relation) -> None:
    given: list[Any] = []

    def build(documents: Any) -> Search:
        given.append(documents)
        return titles(documents)

    assert_index_invariant(build, documents, SHOP, relation)
    assert {type(each) for each in given} == {type(documents)}
    keys = [
        [record["id"] for record in each] if isinstance(each, list) else list(each)
        for each in given
    ]
    assert all(len(set(each)) == len(each) for each in keys)
    kinds = {isinstance(key, str) for each in keys for key in each}
    assert len(kinds) == 1, "new ids are texts or numbers, as the others"


def test_documents_are_not_changed_and_build_may_change_its_own() -> None:
    documents = [{"id": key, "title": text} for key, text in SMALL.items()]
    before = [dict(record) for record in documents]

    def consuming(given: list[dict[str, str]]) -> Search:
        texts = {record.pop("id"): record.pop("title") for record in given}
        given.clear()
        return matching(texts)

    for relation in ALL:
        assert_index_invariant(consuming, documents, SHOP, relation)
    assert documents == before


def test_a_copy_of_a_record_has_its_own_id_in_it() -> None:
    records = [{"_id": "a", "title": "x"}, {"_id": "b", "title": "y"}]
    more, _ = IndexDocuments.of(records).with_copies(["a"])
    assert more.given() == [
        {"_id": "a", "title": "x"},
        {"_id": "a-copy", "title": "x"},
        {"_id": "b", "title": "y"},
    ]


def test_queries_may_have_no_text_and_the_ranker_may_take_queries() -> None:
    golden = GoldenSet.from_dict({"u1": {"a": 1}, "u2": {"b": 1}})

    def build(documents: Mapping[str, str]) -> Callable[[Query], list[str]]:
        def recommend(query: Query) -> list[str]:
            return sorted(documents)

        return recommend

    for relation in ("order", "duplicate", "irrelevant", "remove_top"):
        assert_index_invariant(build, SMALL, golden, relation, k=3)  # type: ignore[arg-type]
    with pytest.raises(
        ConfigurationError, match="'append_query_term' changes a top document for 0"
    ):
        assert_index_invariant(build, SMALL, golden, "append_query_term")


# --- a build that ignores its documents ------------------------------------------------------------


@pytest.mark.parametrize("relation", [name for name in ALL if name != "remove_top"])
def test_a_build_that_ignores_its_documents_is_refused(relation: Relation) -> None:
    """Whether it returns the same ranker, a new one around one index, or answers from a cache."""
    index, answers = matching(CORPUS), {}

    def cached(documents: Mapping[str, str]) -> Search:
        search = matching(documents)
        return lambda text, depth: answers.setdefault(text, search(text, depth))

    class Engine:
        def search(self, text: str, depth: int) -> Any:
            return index(text, depth)

    engine = Engine()
    message = (
        "was given the documents without 'd11', but its ranker .* still ranks it for query 'q0'"
    )
    for build in (
        lambda documents: index,
        lambda documents: engine.search,
        lambda documents: partial(index),
        cached,
    ):
        with pytest.raises(ConfigurationError, match=message):
            assert_index_invariant(build, CORPUS, WEB, relation, allowed_queries=2)


def test_ignored_documents_also_break_the_removal() -> None:
    index = matching(CORPUS)
    text = failing(lambda documents: index, "remove_top")
    assert "is still ranked, though build was not given it" in text


def test_an_index_may_be_replaced_in_place() -> None:
    class Engine:
        documents: Mapping[str, str] = {}

        def search(self, text: str, depth: int) -> Any:
            return bm25(self.documents)(text, depth)

    engine = Engine()

    def rebuilt(documents: Mapping[str, str]) -> Any:
        engine.documents = documents
        return engine.search

    text = failure_of(lambda: assert_index_invariant(rebuilt, SMALL, SHOP, "order"))
    assert "1 of 2 queries breaks it" in text

    assert_index_invariant(rebuilt, SMALL, SHOP, "append_query_term")


# --- invalid input -----------------------------------------------------------------------------


def breaks_when_built(documents: Mapping[str, str]) -> Search:
    if len(documents) != len(SMALL):
        raise OSError("disk\x1b full")
    return matching(documents)


def test_a_build_that_fails_is_an_error_that_names_the_documents() -> None:
    with pytest.raises(
        RankerError, match=r"failed on the documents without 'a': OSError: disk\\x1b"
    ):
        assert_index_invariant(breaks_when_built, SMALL, SHOP, "remove_top")
    with pytest.raises(RankerError, match="failed on the documents: ZeroDivisionError"):
        assert_index_invariant(lambda documents: 1 / 0, SMALL, SHOP, "order")
    with pytest.raises(
        RankerError, match=r"must build an index .* return its ranker: the ranker is"
    ):
        assert_index_invariant(lambda documents: None, SMALL, SHOP, "order")


def test_a_ranker_that_fails_after_the_change_always_fails() -> None:
    def build(documents: Mapping[str, str]) -> Search:
        def search(text: str, depth: int) -> Any:
            if next(iter(documents)) != "a" and text == "red":
                raise KeyError(text)
            return matching(documents)(text, depth)

        return search

    text = failure_of(
        lambda: assert_index_invariant(build, SMALL, SHOP, "order", allowed_queries=1)
    )
    assert "\n  the ranker fails on 1 query: q1\n" in text
    assert "      after   KeyError: 'red'\n" in text


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ({}, "fewer than 2 documents were given"),
        ({"a": "x"}, "fewer than 2 documents were given"),
        ([], "fewer than 2 documents were given|no common field"),
        ([{"id": "a"}, "text"], "contains 'text', which is not a record with an id"),
        ([{"name": "a"}, {"name": "b"}], r"no common field for the id \(doc_id, .*has name"),
        ([{"id": "a"}, {"id": "a"}], "two documents have the id 'a'"),
        ({1: "x", "1": "y"}, "two documents have the id '1'"),
        ({1.5: "x", "1": "y"}, "the id 1.5 of a document is neither a text nor a whole number"),
        ({None: "x", "1": "y"}, "the id None of a document"),
        (7, "documents must be a mapping or a list"),
        ("ab", "documents must be a mapping or a list"),
        (pd.DataFrame({"id": ["a", "b"]}), "documents must be a mapping or a list"),
    ],
)
def test_invalid_documents_are_refused(documents: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        assert_index_invariant(matching, documents, SHOP, "order")


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (
            (3, SMALL, SHOP, "order"),
            {},
            ConfigurationError,
            "build must be a function that takes documents and returns a ranker of them, not int",
        ),
        ((matching, SMALL, SHOP, "orders"), {}, ConfigurationError, "did you mean 'order'"),
        ((matching, SHOP, SMALL, "order"), {}, ConfigurationError, "swapped"),
        ((matching, SMALL, SHOP, "order"), {"k": 0}, ConfigurationError, "k=0 is invalid"),
        ((matching, SMALL, SHOP, "order"), {"queries": 0}, ConfigurationError, "queries=0 is"),
        ((matching, SMALL, SHOP, "order"), {"min_rbo": 2}, ConfigurationError, "min_rbo=2"),
        ((matching, SMALL, SHOP, "order"), {"min_rbo": 0}, ConfigurationError, "can never fail"),
        (
            (matching, SMALL, SHOP, "order"),
            {"max_drop": 1},
            ConfigurationError,
            "max_drop=1 can never fail: nDCG@10 cannot fall by more than 1; give a smaller number",
        ),
        (
            (matching, SMALL, SHOP, "append_query_term"),
            {"allowed_queries": 2},
            ConfigurationError,
            "allowed_queries=2 can never fail on 2 checked queries; give a smaller number",
        ),
        (
            (matching, SMALL, SHOP, "order"),
            {"allowed_queries": -1},
            ConfigurationError,
            "allowed_queries=-1",
        ),
        (
            (matching, SMALL, SHOP, "duplicate"),
            {"depth": 10},
            ConfigurationError,
            "depth=10 is too small: relation 'duplicate' of the top 10 needs 20 documents",
        ),
        ((matching, SMALL, SHOP, "order"), {"dept": 10}, ConfigurationError, "unknown option"),
        (
            (lambda documents: lambda text: ["z"], SMALL, SHOP, "order"),
            {},
            ConfigurationError,
            "ranks 'z' for query 'q1', which is not the id of any document",
        ),
        (
            (lambda documents: lambda text: [], SMALL, SHOP, "order"),
            {},
            RunError,
            "every ranking is empty",
        ),
        (
            (titles, {"a": {"title": "red"}, "b": {"title": "red"}}, SHOP, "append_query_term"),
            {"fields": ["body"]},
            ConfigurationError,
            "document 'a' has no text in the fields body",
        ),
        (
            (
                lambda documents: lambda text: sorted(documents),
                {"a": 3, "b": 4},
                SHOP,
                "irrelevant",
            ),
            {},
            ConfigurationError,
            "has no text; this relation changes the texts of documents",
        ),
        (
            (matching, SMALL, GoldenSet.from_dict({"q": {}}, {"q": "red"}), "order"),
            {"max_drop": 0.1},
            ConfigurationError,
            "no query is judged",
        ),
    ],
)
def test_invalid_arguments_are_refused(
    arguments: Sequence[Any], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        assert_index_invariant(*arguments, **options)


def test_a_larger_depth_may_be_requested() -> None:
    depths: set[int] = set()

    def build(documents: Mapping[str, str]) -> Search:
        return lambda text, depth: (depths.add(depth), matching(documents)(text, depth))[1]

    for relation, needed in zip(ALL, (10, 20, 10, 11, 20), strict=True):
        depths.clear()
        assert_index_invariant(build, CORPUS, WEB, relation)
        assert depths == {needed}
    depths.clear()
    assert_index_invariant(build, CORPUS, WEB, "order", depth=50)
    assert depths == {50}
