"""Relations between indexes: each fault is found with an engine that has it, and sound ones pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from index_cases import ALL, CORPUS, SHOP, SMALL, WEB, failing, failure_of
from toy_engines import Search, bm25, graph, matching, words

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    assert_index_invariant,
)
from pytest_rankcheck.behaviour.index_documents import IndexDocuments
from pytest_rankcheck.behaviour.irrelevant_documents import irrelevant_maker
from pytest_rankcheck.behaviour.relation_rules import Relation
from pytest_rankcheck.reports.notes import Note, Topic

# --- sound engines -----------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ALL)
def test_an_engine_without_ties_and_idf_obeys_all(relation: Relation) -> None:
    assert_index_invariant(matching, CORPUS, WEB, relation, queries=20)
    assert_index_invariant(matching, CORPUS, WEB, relation, k=1)
    assert_index_invariant(matching, SMALL, SHOP, relation, seed=3)


def by_text(documents: Mapping[str, str]) -> Search:
    """BM25 with ties by text, so that only its statistics depend on the other documents."""

    def search(text: str, depth: int) -> list[tuple[str, float]]:
        found = bm25(documents)(text, len(documents))
        return sorted(found, key=lambda item: (-round(item[1], 9), documents[item[0]]))[:depth]

    return search


def test_bm25_obeys_order_and_appended_queries_and_the_rest_within_limits() -> None:
    assert_index_invariant(by_text, CORPUS, WEB, "order")
    assert_index_invariant(by_text, CORPUS, WEB, "append_query_term", queries=20)
    for relation in ("duplicate", "irrelevant", "remove_top"):
        assert_index_invariant(by_text, CORPUS, WEB, relation, min_mean_rbo=0.9)  # type: ignore[arg-type]


# --- order -------------------------------------------------------------------------------------


def test_ties_by_position_are_found_by_another_order() -> None:
    """The seed 0 draws the order d c e b a: the tied a and b change places."""
    assert list(IndexDocuments.of(SMALL).permuted(0).given()) == ["d", "c", "e", "b", "a"]
    text = failure_of(lambda: assert_index_invariant(bm25, SMALL, SHOP, "order"))
    # Two documents that change places, before a third: agreements 0, 1, 1 at the depths 1 to 3, and
    # 1 beyond, so RBO = 0.1 (0 + 0.9 + 0.81) + 0.729 = 0.9. q2 is the same: mean 0.95.
    # nDCG@10 of q1 was 1 and is (1 + 2 / log2 3) / (2 + 1 / log2 3) = 0.8597.
    assert text == (
        "relation 'order' does not hold for ranker 'bm25.<locals>.search' on golden set 'shop' (2 "
        "queries, 5 documents)\n"
        "  if the documents are in another order, the top 10 stays the same\n"
        "  1 of 2 queries breaks it: mean RBO 0.9500 (p=0.9)\n"
        "  3 indexes built, 5 calls\n"
        "  every ranking must be the same: 1 of 2 queries is not\n"
        "  nDCG@10 1.0000 -> 0.9299, -0.0701 over 2 judged queries\n"
        "  worst queries\n"
        '    q1 "red"   RBO 0.900, nDCG@10 1.000 -> 0.860\n'
        "      before  1 a   2 b   3 c\n"
        "      after   1 b   2 a   3 c\n"
        "  not a law: equal scores may be ordered by position, and an approximate index depends on "
        "the order in which it is built\n"
        "  to allow what is harmless: allowed_queries=, min_rbo= or max_drop="
    )


def test_each_limit_of_the_order() -> None:
    for limits in (
        {"allowed_queries": 1},
        {"min_rbo": 0.9},
        {"min_mean_rbo": 0.95},
        {"max_drop": 0.1404},
        {"max_mean_drop": 0.0702},
    ):
        assert_index_invariant(bm25, SMALL, SHOP, "order", **limits)  # type: ignore[arg-type]
    for limits, told in (
        ({"min_rbo": 0.91}, "every ranking must reach RBO 0.9100: 1 of 2 queries does not"),
        ({"min_mean_rbo": 0.951}, "the mean RBO must reach 0.9510: it does not"),
        ({"max_drop": 0.14}, "no query may fall by more than 0.1400: 1 of 2 judged queries does"),
        ({"max_mean_drop": 0.07}, "the mean may not fall by more than 0.0700: it does"),
    ):
        text = failure_of(
            lambda limits=limits: assert_index_invariant(bm25, SMALL, SHOP, "order", **limits)  # type: ignore[misc]
        )
        assert f"\n  {told}\n" in text


def test_an_approximate_index_depends_on_the_order() -> None:
    text = failing(graph, "order")
    assert "of 20 queries break it" in text
    differing = int(text.split("\n")[2].split()[0])
    assert 3 <= differing <= 20
    assert_index_invariant(graph, CORPUS, WEB, "order", allowed_queries=differing)
    failing(graph, "order", allowed_queries=differing - 1)


def test_another_seed_is_another_order_and_two_documents_change_places() -> None:
    documents = IndexDocuments.of(CORPUS)
    orders = {tuple(documents.permuted(seed).keys) for seed in range(5)}
    assert len(orders) == 5
    assert tuple(CORPUS) not in orders
    two = IndexDocuments.of({"a": "x", "b": "y"})
    assert {two.permuted(seed).keys for seed in range(20)} == {("b", "a")}


# --- duplicate ---------------------------------------------------------------------------------


def boosted(documents: Mapping[str, str]) -> Search:
    """Clicks are known by id, so a copy has none."""
    clicks = dict.fromkeys(CORPUS, 0.5)

    def search(text: str, depth: int) -> list[tuple[str, float]]:
        found = matching(documents)(text, len(documents))
        scored = [(doc_id, score + clicks.get(doc_id, 0)) for doc_id, score in found]
        return sorted(scored, key=lambda item: (-item[1], item[0]))[:depth]

    return search


def ids_only(build: Callable[[Mapping[str, str]], Search]) -> Callable[[Mapping[str, str]], Any]:
    def built(documents: Mapping[str, str]) -> Callable[[str, int], list[str]]:
        search = build(documents)
        return lambda text, depth: [doc_id for doc_id, _ in search(text, depth)]

    return built


def without_duplicates(documents: Mapping[str, str]) -> Search:
    """Merge documents with equal texts: of each text, the first one counts."""
    first = {text: doc_id for doc_id, text in reversed(documents.items())}
    return matching({doc_id: text for text, doc_id in first.items()})


def test_a_copy_must_have_the_score_of_its_original() -> None:
    text = failing(boosted, "duplicate")
    assert "  every copy must be ranked like its original: 20 of 20 queries do not\n" in text
    assert "      the copy of d11 has the score 6, and its original 6.5\n" in text
    with pytest.raises(AssertionError, match=r"20 of 20 queries do not, 19 allowed\n"):
        assert_index_invariant(boosted, CORPUS, WEB, "duplicate", allowed_queries=19)
    with pytest.raises(AssertionError, match="every copy must be ranked like its original"):
        assert_index_invariant(boosted, CORPUS, WEB, "duplicate", min_rbo=0.5)
    with pytest.raises(ConfigurationError, match="=20 can never fail on 20 checked queries"):
        assert_index_invariant(boosted, CORPUS, WEB, "duplicate", allowed_queries=20)


def test_without_scores_a_copy_must_be_next_to_its_original() -> None:
    assert_index_invariant(ids_only(by_text), SMALL, SHOP, "duplicate", allowed_queries=1)
    text = failing(ids_only(boosted), "duplicate")
    assert "is at 2, and its original at 1" not in text, "next to it is fine"
    assert "the copy of " in text


def test_a_copy_that_is_merged_is_named() -> None:
    text = failing(without_duplicates, "duplicate")
    assert " is not ranked, and d" in text
    # Nothing else moves, so there is no ranking that should have been the same.
    assert "\n  20 of 20 queries break it: mean RBO 1.0000 (p=0.9)\n" in text
    assert "every ranking must be the same" not in text
    assert text.endswith("\n  to allow what is harmless: allowed_queries=")
    text = failing(bm25, "duplicate", min_mean_rbo=0.9999)
    assert text.endswith("\n  to allow what is harmless: min_mean_rbo= or max_mean_drop=")


def test_a_copy_moves_others_through_idf() -> None:
    """Copies make the words of the top documents less rare."""
    text = failing(bm25, "duplicate")
    assert "every ranking must be the same" in text
    assert "every copy must be ranked" not in text, "the copies have the scores of their originals"


def test_copies_follow_their_originals_with_new_ids() -> None:
    more, copies = IndexDocuments.of(SMALL).with_copies(["c", "a"])
    assert copies == {"a": "a-copy", "c": "c-copy"}
    assert list(more.given().items())[:2] == [("a", "red shoes"), ("a-copy", "red shoes")]  # type: ignore[union-attr]
    again, more_copies = more.with_copies(["a"])
    assert more_copies == {"a": "a-copy'"}
    assert len(again.keys) == 8


# --- irrelevant --------------------------------------------------------------------------------


def newest_first(documents: Mapping[str, str]) -> Search:
    """Fill an answer up with the newest documents."""

    def search(text: str, depth: int) -> list[str]:
        found = [doc_id for doc_id, _ in matching(documents)(text, depth)]
        newest = [doc_id for doc_id in reversed(list(documents)) if doc_id not in found]
        return [*found, *newest][:depth]

    return search


def test_irrelevant_documents_must_not_be_in_the_top() -> None:
    text = failing(newest_first, "irrelevant", k=40)
    assert (
        "if documents without any term of the queries are added, the top 40 stays the same" in text
    )
    text = failure_of(lambda: assert_index_invariant(newest_first, SMALL, SHOP, "irrelevant", k=5))
    assert "      before  1 a   2 b   3 c   4 e   5 d\n" in text
    assert "      after   1 a   2 b   3 c   4 irrelevant-1   5 e\n" in text


def test_irrelevant_documents_share_no_trigram_with_queries_and_have_the_usual_length() -> None:
    texts = ["red shoes", "ZZTOP bcdfg", ""]
    make = irrelevant_maker(texts, None, 0)
    more, new_ids = IndexDocuments.of(CORPUS).with_more(200, make, 0)
    lengths = {len(words(text)) for text in CORPUS.values()}
    asked = [word for text in texts for word in words(text)]
    parts = {word[at : at + 3] for word in asked for at in range(len(word) - 2)}
    given = more.given()
    assert isinstance(given, dict)
    for doc_id in new_ids:
        assert len(words(given[doc_id])) in lengths
        assert not any(part in given[doc_id] for part in parts)
    assert len({given[doc_id] for doc_id in new_ids}) > 190
    assert irrelevant_maker(texts, None, 0)("a b c", "d") == irrelevant_maker(texts, None, 0)(
        "a b c", "d"
    )


def test_words_with_three_letters_of_a_query_are_not_drawn() -> None:
    """A query with all combinations of three letters that begin with b."""
    letters = "bcdfghjklmnpqrstvwxz"
    query = " ".join(f"b{second}{third}" for second in letters for third in letters)
    make = irrelevant_maker([query], None, 0)
    drawn = words(make("one " * 2_000, "d"))
    assert not any("b" in word[:-2] for word in drawn)
    assert any("b" in word[-2:] for word in drawn), "elsewhere the letter may occur"
    free = words(irrelevant_maker([""], None, 0)("one " * 2_000, "d"))
    assert any("b" in word[:-2] for word in free)


def test_in_records_all_texts_but_the_id_become_irrelevant() -> None:
    record = {
        "id": "s1", "title": "red shoes", "tags": ["red", "wool"], "price": 3, "of": {"x": "red"},
    }  # fmt: skip
    make = irrelevant_maker(["red shoes wool"], None, 0)
    made = make(record, "s1")
    assert (made["id"], made["price"]) == ("s1", 3)
    assert "red" not in str(made)
    assert "wool" not in str(made)
    assert len(made["title"].split()) == 2
    chosen = irrelevant_maker(["red"], ["title"], 0)(record, "s1")
    assert chosen["tags"] == ["red", "wool"]
    assert "red" not in chosen["title"]


# --- remove_top --------------------------------------------------------------------------------


def in_two_halves(documents: Mapping[str, str]) -> Search:
    """Rank backwards if the number of documents is odd."""

    def search(text: str, depth: int) -> list[str]:
        found = [doc_id for doc_id, _ in matching(documents)(text, len(documents))]
        return (found[::-1] if len(documents) % 2 else found)[:depth]

    return search


def pinned(documents: Mapping[str, str]) -> Search:
    """Show the best bet of each query first, whether or not it is in the index."""
    bets = {query.text: matching(CORPUS)(str(query.text), 1)[0][0] for query in WEB}

    def search(text: str, depth: int) -> list[str]:
        found = [doc_id for doc_id, _ in matching(documents)(text, depth)]
        return list(dict.fromkeys([bets[text], *found]))[:depth]

    return search


def test_documents_below_a_removed_one_keep_their_order() -> None:
    text = failing(in_two_halves, "remove_top")
    assert "(10 of 20 queries, 60 documents)" in text
    assert "if the top document is removed, the documents below it move up in their order" in text
    assert "every ranking must be the same: 10 of 10 queries are not" in text


def test_a_removed_document_must_not_be_ranked() -> None:
    text = failing(pinned, "remove_top", queries=20)
    assert "the removed document is still ranked for q0, q1, q2, q3, q4 and 15 more\n" in text
    assert "is still ranked, though build was not given it" in text


def test_queries_with_the_same_top_share_an_index(entered: list[Note]) -> None:
    golden = GoldenSet.from_dict(
        {key: {} for key in ("q1", "q2", "q3", "q4")},
        {"q1": "red shoes", "q2": "shoes red", "q3": "blue", "q4": "nothing"},
    )
    assert_index_invariant(matching, SMALL, golden, "remove_top")
    # The tops are a, a and d: three indexes, asked for 4, 2 and 1 queries; q4 has no ranking.
    assert entered[-1].text.endswith(
        "0 of 3 queries break it in the top 10, mean RBO 1.0000; no document is ranked "
        "for q4; 3 indexes built, 7 calls"
    )


# --- append_query_term -------------------------------------------------------------------------


def too_short(documents: Mapping[str, str]) -> Search:
    """Divide by the square of the length, so that a longer document always loses."""

    def search(text: str, depth: int) -> list[tuple[str, float]]:
        found = matching(documents)(text, len(documents))
        scored = [(doc_id, score / len(words(documents[doc_id])) ** 3) for doc_id, score in found]
        return sorted(scored, key=lambda item: (-item[1], item[0]))[:depth]

    return search


def test_a_document_must_not_fall_when_the_query_is_appended() -> None:
    text = failing(too_short, "append_query_term")
    lines = text.splitlines()
    assert lines[0] == (
        "relation 'append_query_term' moves documents in the wrong direction: ranker "
        "'too_short.<locals>.search' on golden set 'web' (10 of 20 queries, 60 documents)"
    )
    assert lines[1] == "  12 indexes built, 21 calls"
    assert lines[2] == (
        "  if the text of the query is appended to the document at rank 6, that document does not "
        "fall"
    )
    assert "no document may fall: " in lines[3]
    assert lines[-2].startswith("  not a law: length normalisation")
    fallen = int(lines[3].split(": ")[1].split()[0])
    assert fallen >= 3
    assert_index_invariant(too_short, CORPUS, WEB, "append_query_term", allowed_queries=fallen)
    failing(too_short, "append_query_term", allowed_queries=fallen - 1)


def test_the_document_at_rank_6_is_changed_or_the_middle_of_a_shorter_ranking() -> None:
    seen: list[dict[str, str]] = []

    def watched(documents: Mapping[str, str]) -> Search:
        seen.append(dict(documents))
        return matching(documents)

    seven = {f"d{n}": "red" for n in range(7)}
    golden = SHOP.subset(["q1"])
    assert_index_invariant(watched, seven, golden, "append_query_term")
    assert "d0" not in seen[1], "built first without the top document"
    assert [key for key in seven if seen[2][key] != seven[key]] == ["d5"]
    assert seen[2]["d5"] == "red red"
    seen.clear()
    three = {"x": "blue", **{f"d{n}": "red" for n in range(3)}}
    assert_index_invariant(watched, three, golden, "append_query_term")
    assert [key for key in three if seen[2][key] != three[key]] == ["d1"]


def test_appending_has_no_limit_but_the_number_of_queries() -> None:
    with pytest.raises(ConfigurationError, match="its only limit is allowed_queries="):
        assert_index_invariant(matching, CORPUS, WEB, "append_query_term", min_rbo=0.5)


# --- cost and note -----------------------------------------------------------------------------


def test_the_note_says_what_was_compared_and_what_it_cost(entered: list[Note]) -> None:
    for relation in ALL:
        assert_index_invariant(matching, CORPUS, WEB, relation)
    # The ten sampled queries have eight or more different tops.
    assert [note.topic for note in entered] == [*[Topic.INVARIANCE] * 4, Topic.DIRECTION]
    name = "ranker 'matching.<locals>.search' on golden set 'web'"
    start = "0 of 20 queries break it in the top 10, mean RBO 1.0000; nDCG@10"
    for note, relation in zip(entered[:3], ALL, strict=False):
        head = f"relation '{relation}', {name} (20 queries, 60 documents): {start}"
        assert note.text.startswith(head)
        assert note.text.endswith("over 20 judged queries; 3 indexes built, 41 calls")
    assert f"{name} (10 of 20 queries, 60 documents): 0 of 10 queries" in entered[3].text
    assert entered[4].text.startswith(
        f"relation 'append_query_term', {name} (10 of 20 queries, 60 documents): no document may "
        "fall; "
    )
    assert entered[4].text.endswith("12 indexes built, 21 calls")


def test_the_stated_numbers_of_builds_and_calls_are_right(entered: list[Note]) -> None:
    for relation in ALL:
        built, asked = [], []

        def counted(documents: Mapping[str, str]) -> Search:
            built.append(len(documents))  # noqa: B023
            search = matching(documents)

            def counting(text: str, depth: int) -> Any:
                asked.append(text)  # noqa: B023
                return search(text, depth)

            return counting

        assert_index_invariant(counted, CORPUS, WEB, relation, queries=5)
        assert entered[-1].text.endswith(f"{len(built)} indexes built, {len(asked)} calls")


def test_a_sample_is_drawn_by_the_seed_and_never_larger_than_the_set() -> None:
    asked: set[str] = set()

    def build(documents: Mapping[str, str]) -> Search:
        search = matching(documents)
        return lambda text, depth: (asked.add(text), search(text, depth))[1]

    samples = []
    for seed in range(3):
        asked.clear()
        assert_index_invariant(build, CORPUS, WEB, "order", queries=4, seed=seed)
        samples.append(frozenset(asked))
    assert {len(sample) for sample in samples} == {4}
    assert len(set(samples)) == 3
    asked.clear()
    assert_index_invariant(build, CORPUS, WEB, "remove_top", queries=500)
    assert len(asked) == 20


def test_the_metric_is_that_of_the_compared_top() -> None:
    """At k = 1 nDCG@10 says nothing, so it is not shown; nDCG@1 can be limited."""
    text = failure_of(lambda: assert_index_invariant(bm25, SMALL, SHOP, "order", k=1))
    assert "nDCG" not in text
    text = failure_of(
        lambda: assert_index_invariant(
            bm25, SMALL, SHOP, "order", k=1, metric="nDCG@1", max_drop=0.49
        )
    )
    assert "nDCG@1 1.0000 -> 0.7500, -0.2500 over 2 judged queries" in text  # q1: 1 of 2
    with pytest.raises(ConfigurationError, match="nDCG@10 looks below the compared top 1;"):
        assert_index_invariant(bm25, SMALL, SHOP, "order", k=1, max_drop=0.1)
    with pytest.raises(ConfigurationError, match="AP looks below the compared top 10"):
        assert_index_invariant(bm25, SMALL, SHOP, "order", metric="AP", max_drop=0.1)


@pytest.mark.filterwarnings("error")
def test_rankings_shorter_than_k_are_no_reason_to_warn() -> None:
    golden = GoldenSet.from_dict({"q1": {"a": 1}}, {"q1": "red"})
    for relation in ALL:
        assert_index_invariant(matching, SMALL, golden, relation)


# --- the text ----------------------------------------------------------------------------------


def copies_last(documents: Mapping[str, str]) -> Search:
    order = sorted(documents, key=lambda key: "copy" in key)
    return lambda text, depth: order[:depth]


def test_foreign_ids_and_texts_are_harmless() -> None:
    documents = {f"\x1b{key}": text for key, text in SMALL.items()}
    for build, relation in ((copies_last, "duplicate"), (bm25, "order")):
        text = failure_of(
            lambda build=build, relation=relation: assert_index_invariant(  # type: ignore[misc]
                build, documents, SHOP, relation
            )
        )
        assert "\x1b" not in text


def test_rankings_are_shown_where_they_differ() -> None:
    """With equal scores from rank 7 on, the first six documents are the same."""
    documents = {f"d{n:02}": "red " * max(1, 7 - n) for n in range(12)}

    def build(documents: Mapping[str, str]) -> Search:
        found = [(doc_id, len(words(text))) for doc_id, text in documents.items()]
        best = [doc_id for doc_id, _ in sorted(found, key=lambda item: -item[1])]
        return lambda text, depth: best[:depth]

    text = failure_of(
        lambda: assert_index_invariant(build, documents, SHOP.subset(["q1"]), "order")
    )
    before, after = text.split("worst queries\n")[1].splitlines()[1:3]
    assert before.startswith("      before  ...   6 d05   7 d06   8 d07   9 d08")
    assert after.startswith("      after   ...   6 d05   7 ")
    assert before != after
