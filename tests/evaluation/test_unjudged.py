"""How much of a difference documents without a judgment could be, worked by hand."""

from __future__ import annotations

from math import log2

import pytest

from pytest_rankcheck import Evaluation, GoldenSet, Metric, Record, Run, compare, evaluate

GOLDEN = GoldenSet.from_dict({"a": {"x": 3, "y": 0}, "b": {"x": 1}, "c": {"x": 3}})
BEFORE = {"a": ["x", "y"], "b": ["x", "old"], "c": ["x"]}
AFTER = {"a": ["new", "x", "y"], "b": ["x", "old", "other"], "c": ["x"]}


def evaluation_of(rankings: dict[str, list[str]], golden: GoldenSet = GOLDEN) -> Evaluation:
    return evaluate(Run.from_dict(rankings), golden)


def test_the_bounds_of_reciprocal_rank_by_hand() -> None:
    found = compare(evaluation_of(AFTER), evaluation_of(BEFORE)).unjudged("RR")
    assert (found.documents, found.queries, found.k, found.grade) == (2, 2, 10, 3)
    # a falls from 1 to 1/2, unless "new" is relevant; b and c stay at 1.
    assert found.if_irrelevant == pytest.approx(-0.5 / 3)
    assert found.if_relevant == pytest.approx(0)


def test_the_judged_share_before_and_now() -> None:
    found = compare(evaluation_of(AFTER), evaluation_of(BEFORE)).unjudged("P@2")
    # Of the top two: a 2 then, 1 now; b 1 and 1; c 1 and 1. "other" of b is below.
    assert (found.judged_before, found.judged_after) == pytest.approx((4 / 6, 3 / 6))
    assert found.documents == 1


def ndcg_if_relevant(before: bool) -> float:
    """The mean nDCG@3 if "new" and "other" have grade 3, both ideals included."""
    ideal_a, ideal_b = 3 + 3 / log2(3), 3 + 1 / log2(3)
    if before:
        return (3 / ideal_a + 1 / ideal_b + 1) / 3
    return ((3 + 3 / log2(3)) / ideal_a + (1 + 3 / log2(4)) / ideal_b + 1) / 3


@pytest.mark.parametrize("recorded", [True, False])
def test_a_document_that_turns_relevant_changes_both_ideal_rankings(recorded: bool) -> None:
    before: Evaluation | Record = evaluation_of(BEFORE)
    if recorded:
        before = Record.of(evaluation_of(BEFORE), [Metric.parse("nDCG@3")])
    found = compare(evaluation_of(AFTER), before).unjudged("nDCG@3")
    expected = ndcg_if_relevant(before=False) - ndcg_if_relevant(before=True)
    assert found.if_relevant == pytest.approx(expected, abs=2e-6)


def test_judging_the_documents_gives_the_bound() -> None:
    """The bound is what comes out when the documents are judged so and measured again."""
    for grade in (0, 3):
        judged = {"a": {"x": 3, "y": 0, "new": grade}, "b": {"x": 1, "other": grade}, "c": {"x": 3}}
        golden = GoldenSet.from_dict(judged)
        comparison = compare(evaluation_of(AFTER), evaluation_of(BEFORE))
        for name in ("nDCG@10", "AP", "ERR", "RBP(p=0.8)", "Bpref"):
            anew = compare(evaluation_of(AFTER, golden), evaluation_of(BEFORE, golden))
            found = comparison.unjudged(name)
            bound = found.if_relevant if grade else found.if_irrelevant
            assert bound == pytest.approx(anew.mean_difference(name), abs=3e-6), (name, grade)


def test_without_new_documents_there_is_nothing_to_bound() -> None:
    found = compare(evaluation_of(BEFORE), evaluation_of(BEFORE)).unjudged("AP")
    assert (found.documents, found.if_irrelevant, found.if_relevant) == (0, 0, 0)
