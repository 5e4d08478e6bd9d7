"""Counts of retrieved, judged and relevant documents, by hand."""

import pytest
from worked import MIXED, value

from pytest_rankcheck import (
    ConfigurationError,
    Gate,
    GoldenSet,
    Metric,
    MetricError,
    Run,
    assert_at_least,
    evaluate,
)

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

LAW_VARIANTS = ["NumRet(rel=2)@3"]
ON_AN_EMPTY_RANKING = {"NumRel": 1, "TotalRel": 1}
WITH_NOTHING_RELEVANT = {"Judged@5": 1 / 5, "Unjudged@5": 1 / 5, "NumRet@5": 2, "TotalRet@5": 2}


def test_counts() -> None:
    for metric, expected in (
        ("Judged", 4 / 6),
        ("Judged@4", 3 / 4),
        ("Judged@10", 4 / 10),
        ("Unjudged", 2 / 6),
        ("Unjudged@4", 1 / 4),
        ("Unjudged@10", 2 / 10),
        ("NumRet", 6),
        ("NumRet@4", 4),
        ("NumRet@10", 6),
        ("NumRet(rel=2)", 2),
        ("NumRel", 5),
        ("NumRel(rel=2)", 3),
        ("NumRelRet", 3),
        ("NumRelRet@4", 2),
        ("NumRelRet(rel=2)", 2),
    ):
        assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-12), metric


GOLDEN = GoldenSet.from_dict({"q": {"a": 1, "b": 2}, "r": {"a": 1}, "missing": {"a": 1}})
EVALUATION = evaluate(Run.from_dict({"q": ["a", "x", "b"], "r": ["x"]}), GOLDEN)


@pytest.mark.parametrize(
    ("name", "total"), [("num_ret", 4), ("num_rel", 4), ("num_rel_ret", 2), ("TotalRet@1", 2)]
)
def test_totals_are_sums_over_the_queries(name: str, total: float) -> None:
    assert EVALUATION.mean(name) == total
    assert EVALUATION.mean(str(Metric.parse(name)).replace("Total", "Num")) == total / 3


def test_the_total_of_a_slice_is_its_own_sum() -> None:
    assert EVALUATION.mean_at("num_ret", [0]) == 3


def test_a_total_has_no_interval() -> None:
    with pytest.raises(MetricError, match="TotalRet has no interval here"):
        EVALUATION.interval("num_ret")
    with pytest.raises(ConfigurationError, match="TotalRet is a sum, but confidence= is for means"):
        assert_at_least(EVALUATION, "num_ret", 1, confidence=0.95)
    with pytest.raises(ConfigurationError, match="TotalRet is a sum over the queries"):
        Gate.significant().rule.refuse_misfit(Metric.parse("num_ret"))
