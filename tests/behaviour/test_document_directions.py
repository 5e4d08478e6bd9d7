"""Changed documents must move in a known direction: prices, stock and dates, faulty and sound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from pytest_rankcheck import (
    ChangedDocument,
    ConfigurationError,
    GoldenSet,
    RankerError,
    assert_direction,
)
from pytest_rankcheck.reports.notes import Note, Topic

SHOES: dict[str, dict[str, Any]] = {
    f"s{number}": {"title": f"shoe {colour}", "price": 10 * number, "stock": number % 3}
    for number, colour in enumerate(["red", "blue"] * 4, 1)
}
GOLDEN = GoldenSet.from_dict(
    {"q1": {}, "q2": {}, "q3": {}}, {"q1": "red", "q2": "blue", "q3": "shoe"}, name="shop"
)
Records = Mapping[str, Mapping[str, Any]]
Search = Callable[[str], list[str]]


def ranked_by(score: Callable[[Mapping[str, Any]], float]) -> Callable[[Records], Search]:
    """Return a build whose rankers sort the matching documents by a score, ties by id."""

    def build(documents: Records) -> Search:
        def search(text: str) -> list[str]:
            found = [key for key, each in documents.items() if text in each["title"]]
            return sorted(found, key=lambda key: (-score(documents[key]), key))

        return search

    return build


cheapest_first = ranked_by(lambda shoe: -shoe["price"])
dearest_first = ranked_by(lambda shoe: shoe["price"])
dearest_first_of_any = ranked_by(lambda shoe: shoe["price"] if type(shoe["price"]) is int else 0)
price_blind = ranked_by(lambda shoe: 0)
in_stock_first = ranked_by(lambda shoe: shoe["stock"] > 0)


def cheaper(shoe: dict[str, Any]) -> dict[str, Any]:
    return {**shoe, "price": shoe["price"] - 25}


def in_stock(shoe: dict[str, Any]) -> dict[str, Any]:
    return {**shoe, "stock": max(shoe["stock"], 1)}


def failure_of(check: Callable[[], None]) -> str:
    with pytest.raises(AssertionError) as failure:
        check()
    return str(failure.value)


def check(build: Any, change: Any, direction: Any = "not_worse", **options: Any) -> None:
    assert_direction(build, GOLDEN, change, direction, documents=SHOES, **options)


# --- directions --------------------------------------------------------------------------------


def test_a_ranker_that_is_turned_round_is_caught() -> None:
    text = failure_of(lambda: check(dearest_first, cheaper))
    # Red shoes cost 10, 30, 50 and 70, so dearest first: s7 s5 s3 s1. Of four, the middle is rank
    # 2: s5 falls from 50 to 25, below s3 (30), to rank 3. Blue: s8 s6 s4 s2; s6 falls from 60 to 35,
    # below s4 (40). All eight: s8 to s1; rank 6 is s3, which falls from 30 to 5, below s1, to 8.
    assert text == (
        "change 'cheaper' moves documents in the wrong direction: ranker "
        "'ranked_by.<locals>.build.<locals>.search' on golden set 'shop' (3 queries, 8 documents)\n"
        "  5 indexes built, 7 calls\n"
        "  no document may fall: 3 of 3 queries do\n"
        "  worst queries\n"
        '    q3 "shoe"   s3: rank 6 -> 8\n'
        "      changed  price: 30 -> 5\n"
        "      before  ...   5 s4   6 s3   7 s2   8 s1\n"
        "      after   ...   5 s4   6 s2   7 s1   8 s3\n"
        '    q1 "red"   s5: rank 2 -> 3\n'
        "      changed  price: 50 -> 25\n"
        "      before  1 s7   2 s5   3 s3   4 s1\n"
        "      after   1 s7   2 s3   3 s5   4 s1\n"
        '    q2 "blue"   s6: rank 2 -> 3\n'
        "      changed  price: 60 -> 35\n"
        "      before  1 s8   2 s6   3 s4   4 s2\n"
        "      after   1 s8   2 s4   3 s6   4 s2"
    )
    check(dearest_first, cheaper, "not_better")
    check(cheapest_first, cheaper)
    with pytest.raises(AssertionError, match="no document may rise: 3 of 3 queries do"):
        check(cheapest_first, cheaper, "not_better")


def test_the_slack_is_in_ranks_and_some_queries_or_the_mean_may_be_allowed() -> None:
    check(dearest_first, cheaper, slack=2)
    text = failure_of(lambda: check(dearest_first, cheaper, slack=1))
    assert "  no document may fall by more than 1 rank: 1 of 3 queries does\n" in text
    check(dearest_first, cheaper, slack=1, allowed_queries=1)
    check(dearest_first, cheaper, of="mean", slack=4 / 3)  # (2 + 1 + 1) / 3
    text = failure_of(lambda: check(dearest_first, cheaper, of="mean", slack=1.3))
    assert "  the mean rank must not fall by more than 1.3 ranks: -1.33 ranks\n" in text


def test_a_blind_ranker_passes_and_the_note_says_so(entered: list[Note]) -> None:
    check(price_blind, cheaper)
    assert entered[0] == Note(
        Topic.DIRECTION,
        "change 'cheaper', ranker 'ranked_by.<locals>.build.<locals>.search' on golden set 'shop' "
        "(3 queries, 8 documents): no document may fall; 0 of 3 documents moved, so the ranker may "
        "not depend on the change; 5 indexes built, 7 calls",
    )
    check(cheapest_first, cheaper)
    assert "; 3 of 3 documents moved; 5 indexes built" in entered[1].text


def test_a_function_catches_a_blind_ranker() -> None:
    def rises(trial: ChangedDocument) -> bool:
        assert trial.changed["price"] == trial.document["price"] - 25
        return trial.rank_after is not None and trial.rank_after < trial.rank_before

    text = failure_of(lambda: check(price_blind, cheaper, rises))
    assert "rises must hold for every changed document: 3 of 3 queries do not" in text
    check(cheapest_first, cheaper, rises)


def test_a_document_that_vanishes_falls() -> None:
    def only_dear(documents: Records) -> Search:
        search = dearest_first(documents)
        return lambda text: [key for key in search(text) if documents[key]["price"] >= 28]

    # Dear red shoes: s7 s5 s3; the middle s5 now costs 25 and is not found.
    text = failure_of(lambda: check(only_dear, cheaper))
    assert '    q1 "red"   s5: rank 2 -> not ranked\n' in text
    check(only_dear, cheaper, slack=2)
    with pytest.raises(AssertionError):
        check(only_dear, cheaper, slack=1)


def test_a_document_that_vanishes_with_those_below_it_falls() -> None:
    def all_or_one(documents: Records) -> Search:
        search = dearest_first(documents)
        is_cut = any(shoe["price"] < 5 for shoe in documents.values())
        return lambda text: search(text)[:1] if is_cut else search(text)

    def free(shoe: dict[str, Any]) -> dict[str, Any]:
        return {**shoe, "price": 0}

    # Red shoes: s7 s5 s3 s1. Without a price, s5 is at none of the ranks 1 to 4, so at 5: 3 lower.
    text = failure_of(lambda: check(all_or_one, free, queries=3, slack=2))
    assert '    q1 "red"   s5: rank 2 -> not ranked\n' in text


def test_of_unchanged_documents_the_nearest_changed_one_counts(entered: list[Note]) -> None:
    # Stock of s1 to s8: 1 2 0 1 2 0 1 2. In stock first: red s1 s5 s7 s3, blue s2 s4 s8 s6. Only s3
    # and s6 are out of stock; with stock they rise above s5 and s8.
    check(in_stock_first, in_stock)
    assert "3 of 3 documents moved; 4 indexes built, 7 calls" in entered[0].text
    backwards = ranked_by(lambda shoe: -shoe["stock"])
    text = failure_of(lambda: check(backwards, in_stock))
    assert "      changed  stock: 0 -> 1\n" in text
    with pytest.raises(ConfigurationError, match="changes a top document for 0 of 3 queries of"):
        check(in_stock_first, lambda shoe: shoe)
    check(in_stock_first, lambda shoe: shoe, min_queries=0)


def test_queries_without_a_changed_document_are_counted(entered: list[Note]) -> None:
    def red_only(shoe: dict[str, Any]) -> dict[str, Any]:
        return cheaper(shoe) if "red" in shoe["title"] else shoe

    check(cheapest_first, red_only)
    assert "; no document changed for 1 query; " in entered[0].text
    with pytest.raises(ConfigurationError, match="for 2 of 3 queries of golden set 'shop', fewer"):
        check(cheapest_first, red_only, min_queries=3)


# --- documents ---------------------------------------------------------------------------------


@dataclass
class Article:
    text: str
    year: int


def test_recency_of_objects_and_a_change_in_place() -> None:
    articles = {f"a{year}": Article("news", year) for year in range(2010, 2022)}
    golden = GoldenSet.from_dict({"q": {}}, {"q": "news"})

    def by_year(sign: int) -> Callable[[Mapping[str, Article]], Search]:
        def build(documents: Mapping[str, Article]) -> Search:
            order = sorted(documents, key=lambda key: (sign * documents[key].year, key))
            return lambda text: order

        return build

    def newer(article: Article) -> Article:
        article.year += 5
        return article

    assert_direction(by_year(-1), golden, newer, "not_worse", documents=articles)
    text = failure_of(
        lambda: assert_direction(by_year(1), golden, newer, "not_worse", documents=articles)
    )
    # Oldest first: rank 6 of 12 is 2015; as 2020, with a2020, it comes before it by id: rank 10.
    assert "a2015: rank 6 -> 10\n      changed  year: 2015 -> 2020\n" in text
    assert articles["a2015"] == Article("news", 2015), "the user's document is unchanged"
    assert replace(articles["a2015"]) == articles["a2015"]


def test_texts_can_be_changed_too() -> None:
    def build(documents: Mapping[str, str]) -> Search:
        return lambda text: sorted(documents, key=lambda key: (-len(documents[key]), key))

    texts = {"a": "long text", "b": "a text", "c": "text"}
    golden = GoldenSet.from_dict({"q": {}}, {"q": "text"})
    text = failure_of(
        lambda: assert_direction(build, golden, lambda text: text[:2], "not_worse", documents=texts)
    )
    assert "      changed  b: a text -> a \n" in text


def test_a_number_that_becomes_a_text_is_shown_as_changed() -> None:
    text = failure_of(
        lambda: check(dearest_first_of_any, lambda shoe: {**shoe, "price": str(shoe["price"])})
    )
    assert "      changed  price: 30 -> '30'\n" in text


def test_documents_for_which_the_ranker_fails_have_not_moved(entered: list[Note]) -> None:
    with pytest.raises(AssertionError, match="the ranker fails on 3 queries: q1, q2, q3"):
        check(cheapest_first, lambda shoe: {**shoe, "price": None})
    assert "; 0 of 3 documents moved; the ranker fails on q1, q2, q3; " in entered[0].text


def test_an_array_in_a_document_can_change() -> None:
    vectors = {f"v{n}": {"vector": np.full(2, float(n)), "id": f"v{n}"} for n in range(4)}

    def build(documents: Mapping[str, Any]) -> Search:
        return lambda text: sorted(documents, key=lambda key: documents[key]["vector"].sum())

    def moved(document: dict[str, Any]) -> dict[str, Any]:
        return {**document, "vector": document["vector"] + 5}

    text = failure_of(
        lambda: assert_direction(build, GOLDEN, moved, "not_worse", documents=vectors)
    )
    assert "v1: rank 2 -> 4" in text
    with pytest.raises(ConfigurationError, match="changes a top document for 0 of 3 queries"):
        assert_direction(build, GOLDEN, dict, "not_worse", documents=vectors)


# --- cost --------------------------------------------------------------------------------------


def test_ten_queries_are_the_default_and_another_number_can_be_given(entered: list[Note]) -> None:
    golden = GoldenSet.from_dict(
        {f"q{n}": {} for n in range(40)}, {f"q{n}": "red" for n in range(40)}
    )
    for queries, asked in ((None, 10), (3, 3), (400, 40)):
        assert_direction(
            cheapest_first, golden, cheaper, "not_worse", documents=SHOES, queries=queries
        )
        # All queries have the same answer, so they share one changed document and its index.
        assert entered[-1].text.endswith(f"3 indexes built, {2 * asked + 1} calls")


# --- invalid input -----------------------------------------------------------------------------


def fails(shoe: dict[str, Any]) -> dict[str, Any]:
    raise KeyError("cost")


@pytest.mark.parametrize(
    ("build", "change", "options", "error", "message"),
    [
        (
            cheapest_first,
            fails,
            {},
            ConfigurationError,
            "'fails' failed on document 's3': KeyError",
        ),
        (
            cheapest_first,
            lambda shoe: shoe.update(price=1),
            {},
            ConfigurationError,
            "returned None for document 's3'; it must return the changed document",
        ),
        (
            cheapest_first,
            lambda shoe: {**shoe, "price": None},
            {},
            AssertionError,
            "the ranker fails on 3 queries: q1, q2, q3",
        ),
        (cheapest_first, "case", {}, ConfigurationError, "perturbation='case' is invalid with"),
        (
            cheapest_first,
            cheaper,
            {"metric": "RR"},
            ConfigurationError,
            "the rank of the changed document decides; leave metric= out",
        ),
        (cheapest_first, cheaper, {"queries": 0}, ConfigurationError, "queries=0 is invalid"),
        (
            7,
            cheaper,
            {},
            ConfigurationError,
            "build must be a function that takes documents and returns a ranker of them, not int",
        ),
        (cheapest_first, cheaper, {"slack": -1}, ConfigurationError, "slack=-1"),
        (
            cheapest_first,
            cheaper,
            {"slack": 3},  # the documents are at rank 6 of 8, 2 of 4 and 2 of 4
            ConfigurationError,
            "slack=3 can never fail: nothing can become worse by more than 3; give a smaller",
        ),
        (
            cheapest_first,
            cheaper,
            {"allowed_queries": 3},
            ConfigurationError,
            "allowed_queries=3 can never fail on 3 checked queries",
        ),
        (
            lambda documents: 7,
            cheaper,
            {},
            RankerError,
            "must build an index of the documents and return its ranker: the ranker is int",
        ),
        (
            lambda documents: lambda text: text["x"],
            cheaper,
            {},
            RankerError,
            "the ranker failed on 3 of 3 queries",
        ),
    ],
)
def test_what_is_wrong_is_refused(
    build: Any, change: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        check(build, change, **options)


def test_the_id_of_a_document_may_not_change() -> None:
    records = [{"id": "s1", "title": "red", "price": 1}, {"id": "s2", "title": "red", "price": 2}]

    def build(documents: list[dict[str, Any]]) -> Search:
        return cheapest_first({each["id"]: each for each in documents})

    assert_direction(build, GOLDEN.subset(["q1"]), cheaper, "not_worse", documents=records)
    with pytest.raises(ConfigurationError, match="another id for document 's1'; only other fields"):
        assert_direction(
            build,
            GOLDEN.subset(["q1"]),
            lambda shoe: {**shoe, "id": "x"},
            "not_worse",
            documents=records,
        )


def test_a_build_that_ignores_its_documents_is_refused() -> None:
    index = cheapest_first(SHOES)
    for build in (lambda documents: index, lambda documents: partial(index)):
        with pytest.raises(ConfigurationError, match="it seems to ignore the documents"):
            check(build, cheaper)


def test_documents_are_needed_to_sample_queries() -> None:
    with pytest.raises(ConfigurationError, match="queries= is for documents="):
        assert_direction(lambda text: [text], GOLDEN, "case", "not_worse", queries=3)
