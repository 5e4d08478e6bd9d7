"""What moved a value is shown: the documents that crossed the cutoff, however far down."""

import json

import pytest

from pytest_rankcheck import (
    Gate,
    GoldenSet,
    Metric,
    Record,
    Run,
    assert_not_regressed,
    evaluate,
    rank,
)
from pytest_rankcheck.baselines.metric_check import MetricAssertion
from pytest_rankcheck.baselines.register import Defaults, next_record

GOLDEN = GoldenSet.from_dict({"q": {"first": 3, "second": 3, "lost": 3, "gone": 1, "bad": 0}})


def ranked(order: tuple[str, str], lost: int, gone: int | None) -> Run:
    """Return a ranking of 60 documents; the first two in this order."""
    ranking = [*order, *(f"x{rank}" for rank in range(58))]
    places = {lost: "lost"} | ({gone: "gone"} if gone else {})
    for place, doc in places.items():
        ranking[place - 1] = doc
    return Run.from_dict({"q": ranking})


BEFORE = evaluate(ranked(("first", "second"), 42, 45), GOLDEN)
NOW = evaluate(ranked(("second", "first"), 57, None), GOLDEN)
R50, RR = Metric.parse("R@50"), Metric.parse("RR")


def text_of(before: Record | object, metric: str = "R@50") -> str:
    with pytest.raises(AssertionError) as failure:
        assert_not_regressed(NOW, before, metric)  # type: ignore[arg-type]
    return str(failure.value)


def test_of_a_deep_recall_the_documents_that_left_are_named_and_no_harmless_swap() -> None:
    """Against another run, and against a record, which keeps their ranks."""
    for before in (BEFORE, Record.of(BEFORE, [R50])):
        text = text_of(before)
        assert "      lost (grade 3)  42 -> 57      gone (grade 1)  45 -> not ranked" in text
        assert "first (grade 3)" not in text
    assert "first (grade 3)  1 -> 2" in text_of(BEFORE, "nDCG@50")


def test_a_record_keeps_relevant_documents_below_its_top_down_to_the_largest_cutoff() -> None:
    record = Record.of(BEFORE, [R50, RR])
    (line,) = json.loads(record.text)["queries"]
    assert line["below"] == {"lost": 42, "gone": 45}
    assert len(line["top"]) == 10
    assert Record.from_text(record.text).text == record.text
    assert record.ranks("q")["lost"] == 42
    assert Record.of(BEFORE, [Metric.parse("R@43")]).queries.below == [{"lost": 42}]
    for kept in (
        Record.of(BEFORE, [RR], [R50]),  # the deep metric is only recorded
        Record.of(BEFORE, [R50], kept_depth=0),  # no document is kept
        Record.of(BEFORE, [R50], kept_depth=50),
    ):
        assert "below" not in json.loads(kept.text)["queries"][0]


def test_a_record_without_them_guesses_nothing() -> None:
    text = text_of(Record.of(BEFORE, [RR], [R50]))
    assert "      first (grade 3)  1 -> 2      second (grade 3)  2 -> 1\n" in f"{text}\n"
    assert "lost" not in text  # nobody knows where it was


def test_an_update_that_keeps_the_lines_keeps_them_too() -> None:
    record = Record.of(BEFORE, [R50])
    asserted = [MetricAssertion({R50: Gate.tolerance(0.9)})]
    kept = next_record(NOW, asserted, Defaults(), record)
    assert kept.queries.below == [{"lost": 42, "gone": 45}]
    approved = next_record(NOW, asserted, Defaults(), record, is_approved=True)
    assert approved.queries.below == [{}]  # lost is at rank 57
    raised = next_record(BEFORE, asserted, Defaults(), Record.of(NOW, [R50]), rewritten={R50})
    assert raised.queries.below == [{"lost": 42, "gone": 45}]


@pytest.mark.parametrize(("kept", "before"), [(10, "not ranked"), (9, "not kept")])
def test_a_record_that_keeps_whole_rankings_knows_what_was_not_ranked(
    kept: int, before: str
) -> None:
    """A recommender is asked for ten items, as many as a record keeps."""
    docs = ["first", *(f"x{rank}" for rank in range(9))]
    rankers = [lambda _: docs, lambda _: ["new", *docs[1:]]]
    golden = GoldenSet.from_dict({"q": {"first": 3, "bad": 0}}, {"q": "text"})
    then, now = (evaluate(rank(ranker, golden, depth=10), golden) for ranker in rankers)
    with pytest.raises(AssertionError, match=f"new .unjudged.  {before} -> 1"):
        assert_not_regressed(now, Record.of(then, [RR], kept_depth=kept), "RR")


def test_a_metric_without_a_cutoff_names_what_moved_below_the_top() -> None:
    golden = GoldenSet.from_dict({"q": {"deep": 1}})
    then, now = (
        evaluate(Run.from_dict({"q": [*(f"x{n}" for n in range(rank)), "deep"]}), golden)
        for rank in (20, 30)
    )
    with pytest.raises(AssertionError, match=r"\n      deep .grade 1.  21 -> 31$"):
        assert_not_regressed(now, then, "FirstRank")
