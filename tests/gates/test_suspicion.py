"""What looks like a leak of judgments into the model, and what does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pytest_rankcheck import Evaluation, GoldenSet, Run, compare, evaluate
from pytest_rankcheck.comparison.leak_signs import suspicions

QUERIES = [f"q{index:02}" for index in range(40)]
GOLDEN = GoldenSet.from_dict(
    {query: {f"{query}-{doc}": 2 if doc < "c" else 1 for doc in "abcd"} for query in QUERIES}
)


def answered(query: str, *docs: str) -> list[str]:
    return [f"{query}-{doc}" for doc in docs]


def at(*ranks: int) -> Evaluation:
    """Return an evaluation with the first document of each query at a rank; the last goes on."""
    rankings = {}
    for place, query in enumerate(QUERIES):
        rank = ranks[min(place, len(ranks) - 1)]
        rankings[query] = [f"{query}-x{i}" for i in range(rank - 1)] + answered(query, "a")
    return evaluate(Run.from_dict(rankings), GOLDEN)


def signs(after: Evaluation, before: Evaluation, metric: str = "RR") -> Sequence[str]:
    comparison = compare(after, before)
    return suspicions(comparison, comparison.values(metric))


def test_an_ordinary_improvement_is_not_suspicious() -> None:
    assert signs(at(*[1] * 15, *[2] * 25), at(*[2] * 15, *[3] * 10, 2)) == ()
    assert signs(at(1), at(*[2] * 9, 1)) == (), "nine queries are few"
    assert signs(at(2), at(1)) == (), "what is worse is no leak"
    assert signs(at(1), at(1)) == ()


def test_a_perfect_metric_that_was_not() -> None:
    assert signs(at(1), at(*[2] * 12, 1))[0] == "RR is perfect now, 1.0000"


def test_every_query_that_could_get_better_did() -> None:
    found = signs(at(*[2] * 30, 1), at(*[4] * 30, 1))
    assert found == ("every one of the 30 queries that could get better did",)


def test_a_gain_of_more_than_half_of_the_possible_gain() -> None:
    # 1/2 -> (32 + 8/4) / 40 = 0.85: 70% of the room.
    found = signs(at(*[1] * 32, *[4] * 8), at(2))
    assert found == ("RR 0.5000 -> 0.8500 gained 70% of all there was to gain",)


def test_a_metric_that_should_be_low_is_perfect_at_its_lowest() -> None:
    found = signs(at(1), at(*[2] * 12, 1), "RBPResidual(p=0.5)")
    assert not any("perfect" in text for text in found)


def shared(docs: Sequence[str]) -> Evaluation:
    golden = GoldenSet.from_dict({query: {"one": 1, "two": 1} for query in QUERIES})
    return evaluate(Run.from_dict(dict.fromkeys(QUERIES, list(docs))), golden)


def test_a_new_ranking_for_all_queries_is_suspicious() -> None:
    before: Mapping[str, list[str]] = {query: ["x", query, "one"] for query in QUERIES}
    after = shared(["x", "one"])
    varied = evaluate(Run.from_dict(dict(before)), after.golden)
    assert "all 40 queries have the same ranking" in signs(after, varied)
    popular = shared(["x", "y", "one"])
    assert "all 40 queries have the same ranking" not in signs(after, popular)


def test_documents_that_are_ranked_twice() -> None:
    rankings = {query: answered(query, "a", "a") for query in QUERIES[:2]}
    after = evaluate(Run.from_dict(rankings, duplicates="close_gaps"), GOLDEN)
    before = evaluate(Run.from_dict({"q39": answered("q39", "x", "d")}), GOLDEN)
    assert signs(after, before) == (
        "2 queries rank a document more than once, and its first place counts: q00, q01",
    )


def in_order(*docs: str) -> Evaluation:
    return evaluate(Run.from_dict({query: answered(query, *docs) for query in QUERIES}), GOLDEN)


def test_documents_of_the_same_grade_in_the_order_of_the_file() -> None:
    # Grades 2 2 1 1: two pairs per query, 80 in all; by chance one in 2^80 = 10^24.08.
    assert signs(in_order("a", "b", "c", "d"), in_order("d", "c", "b", "a"), "nDCG")[-1] == (
        "relevant documents of the same grade are in the order of the golden set's file, in "
        "every query; by chance that is one in 10^24"
    )
    later = in_order("x", "a", "b", "c", "d")
    found = signs(in_order("a", "b", "c", "d"), later, "nDCG")
    assert not any("order of the golden set" in text for text in found), "it was so before"
    found = signs(in_order("b", "a", "c", "d"), in_order("d", "c", "b", "a"), "nDCG")
    assert not any("order of the golden set" in text for text in found)


@pytest.mark.parametrize("metric", ["NumRelRet", "DCG@5"])
def test_a_metric_without_a_highest_value_is_never_perfect(metric: str) -> None:
    found = signs(in_order("a", "b", "c", "d"), in_order("b"), metric)
    assert not any("perfect" in text or "there was to gain" in text for text in found)
