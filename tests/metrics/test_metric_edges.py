"""Every metric at the edges: empty rankings, nothing relevant, odd grades, enormous cutoffs."""

import pytest
from family_tables import names_at_a_cutoff, on_an_empty_ranking, with_nothing_relevant
from worked import UNJUDGED, evaluation_of, value

from pytest_rankcheck import GoldenSet, MetricError, Run, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")


def test_scores_of_an_empty_ranking_and_of_a_query_with_nothing_relevant() -> None:
    evaluation = evaluate(
        Run.from_dict({"other": ["a"]}), GoldenSet.from_dict({"q": {"a": 1}, "other": {"a": 1}})
    )
    nothing = evaluation_of((0, UNJUDGED), other={"x": 1})
    for metric in names_at_a_cutoff():
        expected = on_an_empty_ranking().get(metric, 0)
        assert evaluation.per_query(metric)["q"] == pytest.approx(expected, abs=0, nan_ok=True), (
            metric
        )
        expected = with_nothing_relevant().get(metric, 0)
        assert nothing.per_query(metric)["q"] == pytest.approx(expected, abs=1e-12, nan_ok=True), (
            metric
        )


def test_the_families_name_metrics_that_are_tested() -> None:
    named = {*on_an_empty_ranking(), *with_nothing_relevant()}
    assert named <= set(names_at_a_cutoff())


def test_a_perfect_ranking_of_one_relevant_document_scores_one() -> None:
    for metric in ("nDCG", "R", "Success", "RR", "AP"):
        for cutoff in ("", "@1", "@3", "@1000"):
            assert value(metric + cutoff, (2, 0, UNJUDGED)) == 1, (metric, cutoff)


def test_a_negative_grade_counts_as_zero() -> None:
    for metric in ("nDCG", "nDCG(gain=exponential)", "ERR", "AP", "RR", "P@3"):
        # the second query keeps the highest grade the same
        assert value(metric, (-2, 1, -1), (2,)) == value(metric, (0, 1, 0), (2,)) > 0


def test_an_enormous_cutoff_is_a_value_or_refused() -> None:
    for metric in ("nDCG", "P", "AP", "RR", "R", "Success", "ERR"):
        assert value(f"{metric}@{10**15}", (1, 2)) >= 0
        with pytest.raises(MetricError, match="a cutoff must be a whole number"):
            value(f"{metric}@{10**400}", (1, 2))
