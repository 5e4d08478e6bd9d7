"""Every metric at the edges: empty rankings, nothing relevant, odd grades, enormous cutoffs."""

from __future__ import annotations

import numpy as np
import pytest
from family_tables import names_at_a_cutoff, on_an_empty_ranking, with_nothing_relevant
from worked import UNJUDGED, evaluation_of, value

from pytest_rankcheck import GoldenSet, MetricError, Run, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")


@pytest.mark.parametrize("metric", names_at_a_cutoff())
def test_scores_of_an_empty_ranking(metric: str) -> None:
    evaluation = evaluate(
        Run.from_dict({"other": ["a"]}), GoldenSet.from_dict({"q": {"a": 1}, "other": {"a": 1}})
    )
    assert evaluation.per_query(metric)["q"] == on_an_empty_ranking().get(metric, 0)


@pytest.mark.parametrize("metric", names_at_a_cutoff())
def test_scores_of_a_query_with_nothing_relevant(metric: str) -> None:
    evaluation = evaluation_of((0, UNJUDGED), other={"x": 1})
    expected = with_nothing_relevant().get(metric, 0)
    assert evaluation.per_query(metric)["q"] == pytest.approx(expected, abs=1e-12)


def test_the_families_name_metrics_that_are_tested() -> None:
    named = {*on_an_empty_ranking(), *with_nothing_relevant()}
    assert named <= set(names_at_a_cutoff())


# --- the best-known metrics, with and without a cutoff --------------------------------------------

EVERY = ["nDCG", "RR", "AP", "P", "R", "Success", "ERR"]
EVERY_AND_AT = [*EVERY, *(f"{name}@3" for name in EVERY)]


@pytest.mark.parametrize("metric", EVERY_AND_AT)
def test_an_empty_ranking_scores_zero(metric: str) -> None:
    run = Run.from_dict({"q": [], "other": ["d"]})
    golden = GoldenSet.from_dict({"q": {"d": 1}, "other": {"d": 1}})
    assert evaluate(run, golden).per_query(metric)["q"] == 0


@pytest.mark.parametrize("metric", EVERY_AND_AT)
@pytest.mark.parametrize("judged", [{}, {"d0": 0}, {"d0": -1, "d1": 0}])
def test_a_query_without_relevant_documents_scores_zero(
    metric: str, judged: dict[str, float]
) -> None:
    run = Run.from_dict({"q": ["d0", "d1"]})
    golden = GoldenSet.from_dict({"q": judged, "p": {"d": 1}})
    assert evaluate(run, golden).per_query(metric)["q"] == 0


@pytest.mark.parametrize("metric", ["nDCG", "R", "Success", "RR", "AP"])
@pytest.mark.parametrize("cutoff", ["", "@1", "@3", "@1000"])
def test_a_perfect_ranking_of_one_relevant_document_scores_one(metric: str, cutoff: str) -> None:
    assert value(metric + cutoff, (2, 0, UNJUDGED)) == 1


@pytest.mark.parametrize("metric", ["nDCG", "nDCG(gain=exponential)", "ERR", "AP", "RR", "P@3"])
def test_a_negative_grade_counts_as_zero(metric: str) -> None:
    # the second query keeps the highest grade the same
    assert value(metric, (-2, 1, -1), (2,)) == value(metric, (0, 1, 0), (2,)) > 0


@pytest.mark.parametrize("metric", ["nDCG", "P", "AP", "RR", "R", "Success", "ERR"])
def test_an_enormous_cutoff_is_a_value_or_refused(metric: str) -> None:
    assert value(f"{metric}@{10**15}", (1, 2)) >= 0
    with pytest.raises(MetricError, match="a cutoff must be a whole number"):
        value(f"{metric}@{10**400}", (1, 2))


def test_values_are_float64() -> None:
    evaluation = evaluate(Run.from_dict({"q": ["d"]}), GoldenSet.from_dict({"q": {"d": 1}}))
    for metric in EVERY_AND_AT:
        assert evaluation.values(metric).dtype == np.float64


def test_a_missing_query_counts_zero_in_the_mean() -> None:
    """pytrec_eval drops it: its mean would be 1."""
    golden = GoldenSet.from_dict({"p": {"a": 1}, "q": {"a": 1}})
    assert evaluate(Run.from_dict({"p": ["a"]}), golden).mean("RR") == 0.5
