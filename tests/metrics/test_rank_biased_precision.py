"""RBP and its residual worked out by hand, with the working above each value."""

import pytest
from worked import MIXED, value

from pytest_rankcheck import MetricError

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

LAW_VARIANTS = ["RBP(p=0.5,graded=true)", "RBP(p=0.95)@4", "RBP(p=0.6,graded=true,max_grade=query)"]
# p = 0.8: nothing judged, everything may be relevant; with one judged at rank 1, all but 1 - p
ON_AN_EMPTY_RANKING = {"RBPResidual@5": 1}
WITH_NOTHING_RELEVANT = {"RBPResidual@5": 1 - 0.2}


def test_rank_biased_precision() -> None:
    for metric, expected in (
        # (1 - p) (p^2 + p^3 + p^5)
        ("RBP", 0.2 * (0.64 + 0.512 + 0.32768)),
        ("RBP(p=0.5)", 0.5 * (0.25 + 0.125 + 0.03125)),
        ("RBP(p=0.5)@4", 0.5 * 0.375),
        ("RBP(p=0.5,rel=2)", 0.5 * (0.125 + 0.03125)),
        # gains 1/3, 2/3, 1
        ("RBP(p=0.5,graded=true)", 0.5 * (0.25 / 3 + 0.25 / 3 + 0.03125)),
        ("RBP(p=0.5,graded=true,max_grade=6)", 0.5 * (0.25 / 6 + 0.25 / 6 + 0.03125 / 2)),
        # judged at 2, 3, 4, 6
        ("RBPResidual(p=0.5)", 1 - 0.5 * (0.5 + 0.25 + 0.125 + 0.03125)),
        ("RBPResidual(p=0.5)@3", 1 - 0.5 * 0.75),
    ):
        assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-12), metric


def test_graded_rbp_has_no_relevance_level() -> None:
    with pytest.raises(MetricError, match="graded=true cannot be combined with rel"):
        value("RBP(graded=true,rel=2)", (1, 2))


def test_graded_rbp_takes_the_highest_grade_of_each_query_if_asked() -> None:
    # gains 1/2 and 1, in a set with a 4
    name = "RBP(p=0.5,graded=true,max_grade=query)"
    assert value(name, (1, 2), other={"x": 4}) == pytest.approx(0.5 * (1 / 2 + 1 / 2))
    assert value("RBP(p=0.5,graded=true)", (1, 2), other={"x": 4}) == pytest.approx(0.25)
    assert value(name, (0, 0), other={"x": 4}) == 0
    with pytest.raises(MetricError, match="RBP: max_grade=query has no effect without graded"):
        value("RBP(max_grade=query)", (1, 2))
    with pytest.raises(
        MetricError, match=r"RBP\(max_grade=1\): the golden set's scale goes up to 2"
    ):
        value("RBP(graded=true,max_grade=1)", (1, 2))
