"""A cutoff beyond the ranked depth: an error where the depth is known, else a warning."""

import warnings
from collections.abc import Mapping, Sequence

import pandas as pd
import pytest

from pytest_rankcheck import (
    GoldenSet,
    MetricError,
    MetricWarning,
    Run,
    assert_not_regressed,
    assert_recall_at_least,
    compare,
    evaluate,
    rank,
)

DOCUMENTS = [f"d{number}" for number in range(50)]
GOLDEN = GoldenSet.from_dict(
    {"q1": {"d3": 2, "d30": 1}, "q2": {"d0": 1}, "q3": {"d40": 1}},
    queries={"q1": "one", "q2": "two", "q3": "three"},
)
ASKED = rank(lambda text: DOCUMENTS, GOLDEN, depth=20)
MESSAGE = (
    "R@25 looks at the first 25 documents of each ranking, but only 20 were asked for; measure at "
    r"most 20, or rank to a depth of at least 25: rankcheck_depth = 25 in the configuration, or depth=25 in rank\(\)"
)


def test_a_cutoff_beyond_the_depth_that_was_asked_for_is_an_error() -> None:
    evaluation = evaluate(ASKED, GOLDEN)
    for measure in (
        lambda: evaluation.mean("R@25"),
        lambda: assert_recall_at_least(evaluation, 0.1, k=25),
        lambda: assert_not_regressed(evaluation, evaluation, "R@25"),
        lambda: compare(evaluation, evaluation).values("R@25"),
        lambda: evaluate(ASKED.top(40), GOLDEN).mean("R@25"),
    ):
        with pytest.raises(MetricError, match=MESSAGE):
            measure()


def test_a_cutoff_within_the_depth_is_none_and_so_is_the_whole_ranking() -> None:
    evaluation = evaluate(ASKED, GOLDEN)
    assert evaluation.mean("R@20") == evaluation.mean("R") == pytest.approx(0.5)


def test_cutting_a_run_further_down_than_it_goes_keeps_its_depth() -> None:
    assert ASKED.top(40).depth == 20
    assert ASKED.top(10).depth == 10
    assert Run.from_dict({"q1": DOCUMENTS}).top(10).depth == 10


def test_candidates_that_end_above_the_depth_are_ranked_whole() -> None:
    golden = priced(20)
    assert golden.contents.candidates
    run = Run.from_dict({"q1": DOCUMENTS[:20]}, depth=20)
    assert evaluate(run, golden).mean("R@25") == 1.0
    with pytest.raises(MetricError, match="only 19 were asked for"):
        evaluate(run.top(19), golden).mean("R@25")


def priced(judged: int) -> GoldenSet:
    rows = [("q1", f"d{n}", n % 2, float(n)) for n in range(judged)]
    return GoldenSet.from_frame(
        pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "price"])
    )


def test_a_column_of_documents_does_not_make_a_reranker() -> None:
    """The ranker searches everything, and a document with a price is just judged."""
    golden = priced(5)
    ranking = {"q1": ["d1", *DOCUMENTS[30:49]]}
    with pytest.raises(MetricError, match="only 20 were asked for"):
        evaluate(Run.from_dict(ranking, depth=20), golden).mean("R@25")
    with pytest.warns(MetricWarning, match="ends at rank 20"):
        evaluate(Run.from_dict(ranking), golden).mean("R@25")


def test_rankings_of_candidates_that_are_shorter_than_the_depth_are_whole() -> None:
    run = Run.from_dict({"q1": DOCUMENTS[:9]}, depth=10)  # a reranker may leave candidates out
    assert evaluate(run, priced(12)).mean("R@25") == pytest.approx(4 / 6)
    with pytest.raises(MetricError, match="only 9 were asked for"):
        evaluate(run.top(9), priced(12)).mean("R@25")


def warned(rankings: Mapping[str, Sequence[str]], metric: str = "R@25") -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate(Run.from_dict(rankings, name="old.run"), GOLDEN).mean(metric)
    assert {warning.category for warning in caught} <= {MetricWarning}
    assert {warning.filename for warning in caught} <= {__file__}
    return [str(warning.message) for warning in caught]


def test_a_run_of_unknown_depth_that_ends_above_the_cutoff_causes_a_warning() -> None:
    cut = dict.fromkeys(["q1", "q2", "q3"], DOCUMENTS[:20])
    expected = (
        "R@25: no ranking of run 'old.run' has 25 documents; the longest (3 of 3) ends at "
        "rank 20, so relevant documents further down are not counted; give a run that goes further "
        "down, or a cutoff of 20"
    )
    assert warned(cut) == [expected]
    assert warned(cut, "R@20") == warned(cut, "R") == []


def test_a_ranker_that_ignores_the_depth_causes_a_warning() -> None:
    run = rank(lambda text: DOCUMENTS[:10], GOLDEN, depth=100)
    with pytest.warns(
        MetricWarning, match=r"R@25: no ranking .* longest \(3 of 3\) ends at rank 10"
    ):
        evaluate(run, GOLDEN).mean("R@25")


def test_rankings_of_various_lengths_cause_a_warning_only_if_their_depth_is_unknown() -> None:
    lengths = {"q1": 10, "q2": 3, "q3": 7}
    [text] = warned({query: DOCUMENTS[:length] for query, length in lengths.items()})
    assert "the longest (1 of 3) ends at rank 10" in text
    texts = {GOLDEN.query(query).text: length for query, length in lengths.items()}
    matches = rank(lambda text: DOCUMENTS[: texts[text]], GOLDEN, depth=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(matches, GOLDEN).mean("R@25")
